// The list beside the fleet: blockers by cause, the longest wait first.
import { type WaitGroup, waits } from '../derived.ts';
import { visible } from '../format.ts';
import { link } from '../route.ts';
import { NodeLink, Since, UpdateLink, Wait } from './basics.tsx';

const shownNodes = 3;
const shownCauses = 30;

const Cause = ({ group }: { readonly group: WaitGroup }) => {
  const { cause, oldest, nodes, updates } = group;
  const count = nodes.length + updates.length;
  return (
    <li>
      <p class="cause">
        <a href={link('fleet', '', { q: cause.toLowerCase() })}>{visible(cause)}</a>
        <span class="num">
          {count > 1 && `${count} × `}
          <Since at={oldest.since} />
        </span>
      </p>
      <p class="who">
        {updates.map((id) => (
          <UpdateLink key={id} id={id} />
        ))}
        {nodes.slice(0, shownNodes).map((name) => (
          <NodeLink key={name} name={name} />
        ))}
        {nodes.length > shownNodes && <span class="quiet">+{nodes.length - shownNodes}</span>}
      </p>
      <Wait wait={oldest} />
    </li>
  );
};

export const WaitingOn = () => (
  <aside class="waiting" aria-labelledby="waiting-on">
    <h2 id="waiting-on">Waiting on</h2>
    {waits.value.length === 0 ? (
      <p class="quiet">Nothing waits. Work that moves is shown with its group.</p>
    ) : (
      <ol>
        {waits.value.slice(0, shownCauses).map((group) => (
          <Cause key={group.cause} group={group} />
        ))}
      </ol>
    )}
  </aside>
);
