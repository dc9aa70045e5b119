import { describe, expect, it } from 'vitest';
import { type Kills, killedInTurn, killPoints } from './kills.ts';

const write = (name: string, status: object) => ({
  verb: 'patch',
  resource: 'nodedisruptions',
  body: { metadata: { name }, status },
});
const writes = [
  write('a', { phase: 'Pending' }),
  write('b', { phase: 'Pending', conditions: [{ type: 'Ready' }] }),
  write('a', { phase: 'Draining' }),
  write('a', { phase: 'Draining', podsRemaining: 3 }),
  write('b', { phase: 'Draining', podsRemaining: 1 }),
  { verb: 'TerminateInstances', resource: 'ec2' },
];

const numbersOf = (choice?: Parameters<typeof killPoints>[1]): readonly number[] =>
  killPoints(writes, choice).map(({ nth }) => nth);

describe('killPoints', () => {
  it('takes the first write of each kind: phases and fields count, names and numbers do not', () => {
    expect(numbersOf()).toEqual([1, 3, 4, 6]);
  });
  it('counts the kinds from the first write on', () => {
    expect(numbersOf({ first: 2 })).toEqual([2, 3, 4, 6]);
  });
  it('takes each write where that is wanted', () => {
    expect(numbersOf({ first: 2, isEach: true })).toEqual([2, 3, 4, 5, 6]);
  });
});

describe('killedInTurn', () => {
  /** Writes all of it; returns the numbers of the writes that a kill followed. */
  const written = (kills: Kills): readonly number[] =>
    writes.flatMap((one, index) => (kills.killsAfter(one) ? [index + 1] : []));

  it('kills after the first write of each kind, in few runs', async () => {
    const runs: (readonly number[])[] = [];
    await killedInTurn(writes, async (kills) => void runs.push(written(kills)));
    expect(runs.flat()).toEqual(numbersOf());
    expect(runs).toHaveLength(1);
  });
  it('kills alone after a write that a run with others did not reach', async () => {
    const runs: (readonly number[])[] = [];
    await killedInTurn(writes, async (kills) => {
      const isFirst = runs.length === 0;
      const reached = isFirst ? writes.slice(0, 3) : writes;
      const at = reached.flatMap((one, index) => (kills.killsAfter(one) ? [index + 1] : []));
      runs.push(at);
    });
    expect(runs).toEqual([[1, 3], [4], [6]]);
  });
  it('takes no earlier write of the kind, such as one that an earlier kill led to', async () => {
    const [pending, , draining, , , terminated] = writes;
    const after = [pending, terminated, pending, draining, draining, terminated] as const;
    const runs: (readonly number[])[] = [];
    const story = async (kills: Kills): Promise<void> => {
      const told = runs.length === 0 ? after : writes;
      runs.push(
        told.flatMap((one, i) => (one !== undefined && kills.killsAfter(one) ? [i + 1] : [])),
      );
    };
    await killedInTurn(writes, story);
    // The write of kind 4 did not come; the termination at place 2 is not the one at place 6.
    expect(runs).toEqual([[1, 4, 6], [4]]);
  });
  it('names the one write after which the story ended differently', async () => {
    const story = async (kills: Kills): Promise<void> => {
      if (written(kills).includes(4)) throw new Error('no');
    };
    const words = 'killed after write 4: patch nodedisruptions';
    await expect(killedInTurn(writes, story)).rejects.toThrow(words);
  });
  it('names all writes of a run if each of them alone changes nothing', async () => {
    const story = async (kills: Kills): Promise<void> => {
      if (written(kills).length > 1) throw new Error('no');
    };
    const words = 'killed after writes 1, 3, 4, 6 of one run';
    await expect(killedInTurn(writes, story)).rejects.toThrow(words);
  });
  it('refuses a story without a write', async () => {
    const none = killedInTurn(writes, () => Promise.resolve(), { first: 7 });
    await expect(none).rejects.toThrow('no write to kill the process after');
  });
});
