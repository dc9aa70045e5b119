// The page: its header, the view that the address selects, and dialogs over both.
import { useLayoutEffect } from 'preact/hooks';
import { connection, problem } from './connection.ts';
import { settleFocus } from './focus.ts';
import { shortNode, visible } from './format.ts';
import { Header } from './parts/header.tsx';
import { Help } from './parts/help.tsx';
import { LiveRegion } from './parts/live-region.tsx';
import { Peek } from './parts/peek.tsx';
import { SignIn } from './parts/sign-in.tsx';
import { isWall, type Route, route } from './route.ts';
import { server } from './store.ts';
import { Fleet } from './views/fleet.tsx';
import { Group } from './views/group.tsx';
import { Journal } from './views/journal.tsx';
import { Budgets, Drains, Updates } from './views/lists.tsx';
import { Node } from './views/node.tsx';
import { Update } from './views/update.tsx';
import { WorldBar } from './world/bar.tsx';
import { Tour } from './world/tour.tsx';

const Here = () => {
  const { view, name } = route.value;
  switch (view) {
    case 'fleet':
      return <Fleet />;
    case 'group':
      return <Group name={name} />;
    case 'node':
      return <Node name={name} />;
    case 'updates':
      return <Updates />;
    case 'update':
      return <Update id={name} />;
    case 'drains':
      return <Drains />;
    case 'budgets':
      return <Budgets />;
    case 'journal':
      return <Journal />;
  }
};

const titleOf = ({ view, name }: Route): string =>
  [view, ...(name === '' ? [] : [shortNode(visible(name))]), 'Drover'].join(' - ');

/** Runs after the view has been drawn: moves the focus and announces the change. */
const Arrival = () => {
  const { view, name } = route.value;
  useLayoutEffect(() => {
    document.title = titleOf({ ...route.peek(), view, name });
    settleFocus();
  }, [view, name]);
  return null;
};

const Body = () => {
  if (connection.value === 'refused') return <SignIn />;
  if (server.value === undefined) {
    const isLost = connection.value === 'lost';
    return <p class="empty">{isLost ? `${visible(problem.value)}; trying again` : 'Loading'}</p>;
  }
  return (
    <>
      <Here />
      <Arrival />
    </>
  );
};

export const App = () => (
  <div class={isWall.value ? 'page wall' : 'page'}>
    <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
      Skip to the content
    </button>
    <Header />
    <main id="main" tabIndex={-1} class={connection.value === 'lost' ? 'isold' : ''}>
      <Body />
    </main>
    {server.value?.world != null && !isWall.value && <WorldBar />}
    {server.value?.world != null && <Tour />}
    <Peek />
    <Help />
    <LiveRegion />
  </div>
);
