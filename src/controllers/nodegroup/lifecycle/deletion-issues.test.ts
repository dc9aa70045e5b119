import { describe, expect, it } from 'vitest';
import { type EpochMs, epochMs, formatTime } from '../../../api/brand.ts';
import type { NodeDisruption, WaitingOn } from '../../../api/disruption.ts';
import type { NodeGroup } from '../../../api/nodegroup.ts';
import { type HeldMemory, leaveIssues } from './deletion-issues.ts';

const start = epochMs(1_700_000_000_000);
const at = (seconds: number): EpochMs => epochMs(start + seconds * 1000);

const aGroup = (codes: readonly string[] = []): NodeGroup =>
  ({
    metadata: { name: 'ng' },
    status: {
      health: codes.map((code) => ({
        code,
        message: `The delete waits: node n1. a/p1 (budget a/web allows 0).`,
        resourceIds: [],
      })),
    },
  }) as unknown as NodeGroup;

const pdb = (pod: string, more: { budget?: string; neverAllows?: boolean } = {}): WaitingOn => ({
  kind: 'pdb',
  pod: `a/${pod}`,
  budgets: [`a/${more.budget ?? 'web'}`],
  message: '',
  neverAllows: more.neverAllows ?? false,
  since: formatTime(start),
});

const aDrain = (
  name: string,
  waitingOn: readonly WaitingOn[],
  { writtenAt = 0, total = waitingOn.length } = {},
): NodeDisruption =>
  ({
    metadata: { name },
    spec: { nodeName: name },
    status: {
      episode: 1,
      phase: 'Draining',
      markedAt: formatTime(start),
      progressAt: formatTime(at(writtenAt)),
      waitingOn,
      waitingOnTotal: total,
    },
  }) as unknown as NodeDisruption;

/**
 * The health issues at the given times (in seconds) for the given drains, checked every few
 * seconds.
 */
const told = (
  looks: readonly (readonly [seconds: number, draining: readonly NodeDisruption[]])[],
  group = aGroup(),
): readonly number[] => {
  const memory: HeldMemory = new Map();
  return looks
    .filter(([seconds, draining]) => {
      const issues = leaveIssues(group, { draining, memory, now: at(seconds) });
      return issues.length > 0;
    })
    .map(([seconds]) => seconds);
};

const pods = (from: number): readonly WaitingOn[] =>
  ['p1', 'p2', 'p3', 'p4', 'p5'].slice(from).map((pod) => pdb(pod));

describe('a delete under budgets', () => {
  it('reports nothing while one pod after another goes, however long the last one waits', () => {
    const looks = [0, 1, 2, 3, 4].map((gone) => {
      const writtenAt = Math.max(2, gone * 40);
      return [writtenAt + 1, [aDrain('n1', pods(gone), { writtenAt })]] as const;
    });
    expect(told(looks)).toEqual([]);
  });

  it('reports a budget that lets none go for a minute, and no more when one goes', () => {
    const rests = aDrain('n1', pods(0), { writtenAt: 2 });
    const moves = aDrain('n1', pods(1), { writtenAt: 100 });
    const looks = [
      [3, [rests]],
      [30, [rests]],
      [62, [rests]],
      [63, [rests]],
      [99, [rests]],
      [101, [moves]],
      [130, [moves]],
    ] as const;
    expect(told(looks)).toEqual([63, 99]);
  });

  it('knows that a budget moves by the pods of another node', () => {
    const first = aDrain('n1', [pdb('p1')], { writtenAt: 2 });
    const looks = [
      [3, [first, aDrain('n2', [pdb('p2'), pdb('p3')], { writtenAt: 2 })]],
      [50, [first, aDrain('n2', [pdb('p3')], { writtenAt: 49 })]],
      [90, [first, aDrain('n2', [pdb('p3')], { writtenAt: 49 })]],
    ] as const;
    expect(told(looks)).toEqual([]);
  });

  it('reports the budget that rests beside one that moves', () => {
    const db = pdb('db', { budget: 'db' });
    const looks = [
      [3, [aDrain('n1', [db], { writtenAt: 2 }), aDrain('n2', pods(0), { writtenAt: 2 })]],
      [63, [aDrain('n1', [db], { writtenAt: 2 }), aDrain('n2', pods(1), { writtenAt: 60 })]],
    ] as const;
    expect(told(looks)).toEqual([63]);
  });

  it('takes what was not written yet for no standstill', () => {
    // Written at 16 s and again from 128 s on; the state in between is unknown.
    const drain = aDrain('n1', pods(2), { writtenAt: 16 });
    const looks = [
      [17, [drain]],
      [100, [drain]],
      [132, [drain]],
      [133, [drain]],
    ] as const;
    expect(told(looks)).toEqual([133]);
  });

  it('sees that one goes of those that are only counted', () => {
    const looks = [
      [3, [aDrain('n1', pods(0), { writtenAt: 2, total: 30 })]],
      [60, [aDrain('n1', pods(0), { writtenAt: 59, total: 29 })]],
      [110, [aDrain('n1', pods(0), { writtenAt: 59, total: 29 })]],
    ] as const;
    expect(told(looks)).toEqual([]);
  });

  it('tells at once of what can never go', () => {
    const two: WaitingOn = { kind: 'multiplePdbs', pod: 'a/p', budgets: ['a/b', 'a/c'] };
    expect(told([[1, [aDrain('n1', [two])]]])).toEqual([1]);
    expect(told([[1, [aDrain('n1', [pdb('p1', { neverAllows: true })])]]])).toEqual([1]);
  });

  it('keeps reporting what another process has told', () => {
    const rests = aDrain('n1', pods(0), { writtenAt: 2 });
    expect(told([[90, [rests]]])).toEqual([]);
    expect(told([[90, [rests]]], aGroup(['PodEvictionFailure']))).toEqual([90]);
  });
});
