// Tests of the check timing: each case is a snapshot and the findings that the check reports.
import { describe, expect, it } from 'vitest';
import {
  aNode,
  aPod,
  aWorkload,
  briefOf,
  findingsOf,
  timeAgo,
} from '../../../../../test/builders/core-update-preflight.ts';
import type { Snapshot } from '../snapshot.ts';
import { timing } from './timing.ts';

const job = (backoffLimit: number, seconds: number): Partial<Snapshot> => ({
  pods: [aPod('p1', { owner: 'Job/web' })],
  workloads: [
    aWorkload('Job', 'web', { spec: { backoffLimit }, status: { startTime: timeAgo(seconds) } }),
  ],
});
const stateful = (
  podManagementPolicy: 'OrderedReady' | 'Parallel',
  count = 2,
): Partial<Snapshot> => ({
  pods: Array.from({ length: count }, (_, i) => aPod(`web-${i}`)),
  workloads: [aWorkload('StatefulSet', 'web', { spec: { podManagementPolicy } })],
});
const cases: readonly (readonly [string, Partial<Snapshot>, readonly string[]])[] = [
  ['a quiet group', { pods: [aPod('p1')] }, []],
  [
    'a window that is too short',
    { outlook: { holds: [], windowSeconds: 1799 } },
    ['warning NodeGroup ng'],
  ],
  ['a window that is just long enough', { outlook: { holds: [], windowSeconds: 1800 } }, []],
  [
    'a freeze that ends',
    { outlook: { holds: [{ kind: 'Freeze', reason: 'frozen', until: timeAgo(-7200) }] } },
    ['warning NodeGroup ng'],
  ],
  [
    'a window that never opens',
    { outlook: { holds: [{ kind: 'Window', reason: 'no window opens any more' }] } },
    ['blocker NodeGroup ng'],
  ],
  [
    'a window that cannot be read beside one that is open',
    { outlook: { holds: [], faults: ['"Mars/Base" is no time zone'] } },
    ['warning NodeGroup ng'],
  ],
  [
    'a window that cannot be read, and no other',
    {
      outlook: {
        holds: [{ kind: 'Freeze', reason: 'frozen; and after that no window opens any more' }],
        faults: ['"Mars/Base" is no time zone'],
      },
    },
    ['blocker NodeGroup ng'],
  ],
  [
    'an approval that is wanted',
    { outlook: { holds: [{ kind: 'Approval', reason: 'approve it' }] } },
    [],
  ],
  ['a job that may not fail', job(0, 60), ['warning Job demo/web']],
  ['a job of over an hour', job(6, 3601), ['warning Job demo/web']],
  ['a young job that may try again', job(6, 60), []],
  [
    'a StatefulSet that moves slowly, one by one',
    stateful('OrderedReady'),
    ['warning StatefulSet demo/web'],
  ],
  ['one that moves together', stateful('Parallel'), []],
  ['one of a single pod', stateful('OrderedReady', 1), []],
  ['a node that is not Ready', { nodes: [aNode('n1', { ready: false })] }, ['warning Node n1']],
  [
    'a pod that finds no place',
    { pods: [aPod('p1', { phase: 'Pending', spec: { nodeName: '' } })] },
    ['warning Pod demo/p1'],
  ],
];

describe('timing', () => {
  it.each(cases)('%s', (_, more, expected) => {
    expect(briefOf(findingsOf(timing, more, { replacementSeconds: () => 300 }))).toEqual(expected);
  });

  it('says what a dead kubelet means for the drain', () => {
    const ill = aNode('n1', { ready: false });
    const status = {
      ...ill.node.status,
      conditions: [{ type: 'Ready', status: 'Unknown' as const }],
    };
    const textOf = (node: typeof ill) => findingsOf(timing, { nodes: [node] })[0]?.consequence.text;
    expect(textOf(ill)).toBe('a node is not Ready to begin with');
    expect(textOf({ ...ill, node: { ...ill.node, status } })).toMatch(/kubelet is unreachable: /);
  });
});
