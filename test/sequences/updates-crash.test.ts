// One version update with the process killed after each kind of its writes in turn. One succeeds
// under a budget in each EKS strategy, a budget fails one, and the new nodes of another never join.
// Each run reaches the same end as without a kill, and the oracles report nothing.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/api/json.ts';
import type { Write } from '../../src/sim/ports/network.ts';
import type { FaultKind } from '../../world/faults/index.ts';
import { type Kills, killedInTurn, noKills } from '../support/kills.ts';
import { GroupLife } from '../support/nodegroup-world.ts';
import {
  askFor,
  endState,
  type GroupWish,
  makeGroup,
  newest,
  runApp,
  untilAtRest,
  untilOver,
} from '../support/update-world.ts';

interface Story {
  readonly wish?: GroupWish;
  /** Maximum number of the application's pods that may be unavailable. */
  readonly allowed: number;
  readonly fault?: FaultKind;
  readonly ends: JsonObject;
}

const updated: JsonObject = { status: 'Successful', progress: { total: 2, done: 2 } };

const stories: Readonly<Record<string, Story>> = {
  'of an update under a budget': { allowed: 1, ends: updated },
  'of an update without surplus': {
    wish: { updateConfig: { updateStrategy: 'MINIMAL' } },
    allowed: 1,
    ends: updated,
  },
  'of an update that a budget ends': {
    allowed: 0,
    ends: { status: 'Failed', errors: ['PodEvictionFailure'], progress: { done: 0 } },
  },
  'of an update whose new nodes never join': {
    allowed: 1,
    fault: 'never-join',
    ends: { status: 'Failed', errors: ['NodeCreationFailure'], progress: { done: 0 } },
  },
};

interface Told {
  readonly writes: readonly Write[];
  readonly end: JsonObject;
}

/** Runs the story with kills after writes since the update's request. */
const told = async (
  { wish, allowed, fault, ends }: Story,
  { killsAfter }: Kills,
): Promise<Told> => {
  const writes: Write[] = [];
  let begun = false;
  const life: GroupLife = await GroupLife.begin({
    afterWrite: (call) => {
      if (!begun) return;
      writes.push(call);
      if (killsAfter(call)) life.killFor(3);
    },
  });
  await makeGroup(life, wish);
  await runApp(life, 3, allowed);
  if (fault !== undefined) life.world.faults.inject(fault, {});
  begun = true;
  askFor(life, newest);
  await untilOver(life);
  await untilAtRest(life, 2);
  const end = endState(life);
  expect(end.updates).toMatchObject([ends]);
  expect(life.check().violations).toEqual([]);
  await life.end();
  return { writes, end };
};

const survives = async (story: Story): Promise<void> => {
  const { writes, end } = await told(story, noKills);
  // Fewer writes would mean that the story does not exercise all its steps.
  expect(writes.length).toBeGreaterThan(25);
  await killedInTurn(writes, async (kills) => {
    expect((await told(story, kills)).end).toEqual(end);
  });
};

describe('a process that is killed after each kind of write', () => {
  it.each(Object.entries(stories))(
    'H31: %s comes to the same end',
    async (_, story) => {
      await survives(story);
    },
    600_000,
  );
});
