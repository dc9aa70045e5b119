// Tests of the check fits-no-new-node: each case is a snapshot and the findings that the check
// reports.
import { describe, expect, it } from 'vitest';
import {
  aGroup,
  aNode,
  aPod,
  briefOf,
  findingsOf,
} from '../../../../../test/builders/core-update-preflight.ts';
import type { Snapshot } from '../snapshot.ts';
import { fitsNoNewNode } from './fits-no-new-node.ts';

const selecting = (nodeSelector: Readonly<Record<string, string>>, owner = 'ReplicaSet/web') =>
  aPod('p1', { owner, spec: { nodeSelector } });
const tainted = aGroup({ taints: [{ key: 'team', value: 'x', effect: 'NoSchedule' }] });
const cases: readonly (readonly [string, Partial<Snapshot>, readonly string[]])[] = [
  ['a label that new nodes have', { pods: [selecting({ 'kubernetes.io/arch': 'amd64' })] }, []],
  [
    "a label of the group's",
    { pods: [selecting({ tier: 'web' })], group: aGroup({ labels: { tier: 'web' } }) },
    [],
  ],
  [
    'a label that somebody gave the old node',
    { pods: [selecting({ tier: 'web' })], nodes: [aNode('n1', { labels: { tier: 'web' } })] },
    ['blocker ReplicaSet demo/web'],
  ],
  [
    'a host name',
    { pods: [selecting({ 'kubernetes.io/hostname': 'n1' })] },
    ['blocker ReplicaSet demo/web'],
  ],
  [
    'another architecture',
    { pods: [selecting({ 'kubernetes.io/arch': 'amd64' })], target: { architecture: 'arm64' } },
    ['blocker ReplicaSet demo/web'],
  ],
  [
    'a taint of the group that it does not tolerate',
    { pods: [selecting({})], group: tainted },
    ['blocker ReplicaSet demo/web'],
  ],
  [
    'a node of another group that it may use',
    {
      pods: [selecting({})],
      group: tainted,
      nodes: [aNode('n1'), aNode('n2', { old: false, ofGroup: false })],
    },
    [],
  ],
  [
    'a bare pod, which does not come back',
    { pods: [selecting({ 'kubernetes.io/hostname': 'n1' }, '')] },
    [],
  ],
];

describe('fits-no-new-node', () => {
  it.each(cases)('%s', (_, more, expected) => {
    expect(briefOf(findingsOf(fitsNoNewNode, more))).toEqual(expected);
  });
});
