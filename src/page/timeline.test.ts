// The life of a node as moments and spans: in order of time, open while they last.
import { describe, expect, it } from 'vitest';
import {
  aDisruption,
  aManualCause,
  aMarkedNode,
  timePlus,
  tPlus,
} from '../../test/builders/core-termination.ts';
import type { NodeDisruptionStatus, WaitingOn } from '../api/disruption.ts';
import { healthIn } from '../core/overview/index.ts';
import { timelineOf } from './timeline.ts';

const pdb: WaitingOn = {
  kind: 'pdb',
  pod: 'demo/p1',
  budgets: ['demo/web'],
  message: 'full',
  neverAllows: false,
  since: timePlus(5),
};

/** Each moment as `seconds[..seconds|..] tone what`. */
const linesOf = (status: NodeDisruptionStatus): readonly string[] => {
  const disruptions = [aDisruption([aManualCause()], status)];
  const nodes = [aMarkedNode()];
  const [one] = healthIn({ nodes, groups: [], disruptions, repairs: [] }, tPlus(60));
  if (one === undefined) throw new Error('a node has a health');
  const seconds = (at: string): number => (Date.parse(at) - tPlus(0)) / 1_000;
  return timelineOf(one, []).map(({ at, until, isOpen, tone, what }) => {
    const end = isOpen ? '..' : until === null ? '' : `..${seconds(until)}`;
    return `${seconds(at)}${end} ${tone} ${what.slice(0, 45)}`;
  });
};

const begun = { episode: 1, startedAt: timePlus(1), markedAt: timePlus(2) } as const;

describe('the timeline of a node', () => {
  it('of a drain that a budget blocks: the drain and its wait are open', () => {
    expect(linesOf({ ...begun, phase: 'Draining', waitingOn: [pdb] })).toEqual([
      '-3600 good joined the cluster',
      '0 work Manual by somebody',
      '1..2 work excluded from load balancers and cordoned',
      '2.. work drain',
      '5.. wait pod demo/p1 waits for budget demo/web (full),',
    ]);
  });

  it('of a drain that is over: nothing is open, and waits that were left are not told', () => {
    const ended = { drainedAt: timePlus(20), endedAt: timePlus(30), outcome: 'Forced' } as const;
    const status = { ...begun, ...ended, phase: 'Ended', waitingOn: [pdb] } as const;
    expect(linesOf({ ...status, forcingSince: timePlus(10) })).toEqual([
      '-3600 good joined the cluster',
      '0 work Manual by somebody',
      '1..2 work excluded from load balancers and cordoned',
      '2..20 work drain',
      '10 bad pods are deleted, budgets or not',
      '20..30 work empty; the outcome is reported',
      '30 bad drain over: Forced',
    ]);
  });
});
