// Blue/green with the process killed after each kind of its writes in turn. One update succeeds,
// one is stopped while its old nodes are kept. Each run reaches the same end as without a kill.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/api/json.ts';
import type { Write } from '../../src/sim/ports/network.ts';
import { type Kills, killedInTurn, noKills } from '../support/kills.ts';
import { GroupLife } from '../support/nodegroup-world.ts';
import {
  askFor,
  endState,
  latest,
  makeGroup,
  newest,
  runApp,
  untilAtRest,
  untilOver,
} from '../support/update-world.ts';

interface Story {
  /** An operator stops the update while its old nodes are kept. */
  readonly isStopped: boolean;
  readonly ends: JsonObject;
}

const stories: Readonly<Record<string, Story>> = {
  'of an update': {
    isStopped: false,
    ends: { status: 'Successful', progress: { total: 2, done: 2 } },
  },
  'of an update that is stopped during its soak': {
    isStopped: true,
    ends: { status: 'Cancelled', progress: { total: 2, done: 0 } },
  },
};

interface Told {
  readonly writes: readonly Write[];
  /** The other story covers the writes before this one. */
  readonly from: number;
  readonly end: JsonObject;
}

const stop = async (life: GroupLife): Promise<void> => {
  const isKept = (): boolean => latest(life)?.status?.phase === 'Soaking';
  await life.until('the old ones are kept', isKept, 7200);
  life.patchUpdate(latest(life)?.metadata.name ?? '', { spec: { abort: 'Stop' } });
};

/** Runs the story with kills after writes since the update's request. */
const told = async ({ isStopped, ends }: Story, { killsAfter }: Kills): Promise<Told> => {
  const writes: Write[] = [];
  let begun = false;
  const life: GroupLife = await GroupLife.begin({
    afterWrite: (call) => {
      if (!begun) return;
      writes.push(call);
      if (killsAfter(call)) life.killFor(3);
    },
  });
  await makeGroup(life, { maxSize: 2 });
  const blueGreen = { soakSeconds: isStopped ? 600 : 30 };
  life.patch({ spec: { updateConfig: { updateStrategy: 'BLUE_GREEN', blueGreen } } });
  await runApp(life, 3, 1);
  begun = true;
  askFor(life, newest);
  if (isStopped) await stop(life);
  const from = isStopped ? writes.length : 1;
  await untilOver(life);
  await untilAtRest(life, 2);
  const end = endState(life);
  expect(end.updates).toMatchObject([ends]);
  expect(life.check().violations).toEqual([]);
  await life.end();
  return { writes, from, end };
};

describe('a process that is killed after each kind of write of blue/green', () => {
  it.each(Object.entries(stories))(
    'H31: %s comes to the same end',
    async (_, story) => {
      const { writes, from, end } = await told(story, noKills);
      // Fewer writes would mean that the story does not exercise all its steps.
      expect(writes.length - from).toBeGreaterThan(15);
      const ends = async (kills: Kills) => expect((await told(story, kills)).end).toEqual(end);
      await killedInTurn(writes, ends, { first: from });
    },
    600_000,
  );
});
