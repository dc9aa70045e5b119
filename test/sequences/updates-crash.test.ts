// One version update with the process killed after each of its writes in turn: one that succeeds
// under a budget, in each strategy of EKS, one that a budget ends, one whose new nodes never join.
// Whenever the process dies, the end is the one that there is without a kill, and the oracles find
// nothing.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/api/json.ts';
import type { FaultKind } from '../../world/faults/index.ts';
import { type Call, GroupLife } from '../support/nodegroup-world.ts';
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
  /** How many pods of the application may be away at a time. */
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
  readonly writes: readonly Call[];
  readonly end: JsonObject;
}

/** The story with a kill after the `nth` write since the update was asked for; 0 = none. */
const told = async ({ wish, allowed, fault, ends }: Story, nth: number): Promise<Told> => {
  const writes: Call[] = [];
  let begun = false;
  const life: GroupLife = await GroupLife.begin({
    afterWrite: (call) => {
      if (!begun) return;
      writes.push(call);
      if (writes.length === nth) life.killFor(3);
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
  const { writes, end } = await told(story, 0);
  // Fewer would mean that the story no longer tells what it should.
  expect(writes.length).toBeGreaterThan(25);
  for (let nth = 1; nth <= writes.length; nth++) {
    try {
      expect((await told(story, nth)).end).toEqual(end);
    } catch (error) {
      throw new Error(`killed after write ${nth}: ${JSON.stringify(writes[nth - 1])}`, {
        cause: error,
      });
    }
  }
};

describe('a process that is killed after any write', () => {
  it.each(Object.entries(stories))(
    'H31: %s comes to the same end',
    async (_, story) => {
      await survives(story);
    },
    600_000,
  );
});
