// Tests of the check other-actor: each case is a snapshot and the findings that the check reports.
import { describe, expect, it } from 'vitest';
import {
  aGroup,
  aNode,
  anObject,
  briefOf,
  findingsOf,
} from '../../../../../test/builders/core-update-preflight.ts';
import type { NodeDisruption } from '../../../../api/disruption.ts';
import type { Snapshot } from '../snapshot.ts';
import { otherActor } from './other-actor.ts';

const taint = { key: 'ToBeDeletedByClusterAutoscaler', effect: 'NoSchedule' as const };
const disruption = (
  phase: 'Draining' | 'Ended',
  kind: 'Manual' | 'SpotInterruption' = 'Manual',
) => [
  anObject<NodeDisruption>('NodeDisruption', 'i-n1', {
    spec: {
      instanceId: 'i-n1',
      causes: [
        {
          kind,
          id: 'c1',
          receivedAt: '2026-01-01T00:00:00Z',
          onDeadline: 'fail',
          followUp: 'Release',
        },
      ],
    },
    status: { episode: 1, phase },
  }),
];
const instance = (lifecycleState: string) => ({
  scalingGroup: { instances: [{ instanceId: 'i-n1', lifecycleState, zone: 'a' }] },
});
const pool: Partial<Snapshot> = {
  scalingGroup: { instances: [], warmPool: { of: 'asg-1', instances: 3, state: 'Stopped' } },
};
const cases: readonly (readonly [string, Partial<Snapshot>, readonly string[]])[] = [
  ['nobody', { ...instance('InService') }, []],
  ['a warm pool', pool, ['warning WarmPool asg-1']],
  ['a warm pool of a group that EKS manages', { ...pool, group: aGroup({ managedBy: 'eks' }) }, []],
  ['an update that runs', { group: aGroup({ activeUpdate: 'u1' }) }, ['blocker NodeGroup ng']],
  [
    'a group that is being deleted',
    { group: aGroup({ state: 'DELETING' }) },
    ['blocker NodeGroup ng'],
  ],
  ['a degraded group, which may be updated', { group: aGroup({ state: 'DEGRADED' }) }, []],
  ['an instance that comes up', { ...instance('Pending:Wait') }, ['warning NodeGroup ng']],
  ['a warm pool', { ...instance('Warmed:Stopped') }, []],
  ['a cordoned node', { nodes: [aNode('n1', { unschedulable: true })] }, ['warning Node n1']],
  [
    'a node that an autoscaler removes',
    { nodes: [aNode('n1', { taints: [taint] })] },
    ['warning Node n1'],
  ],
  ['a node of ours that is drained', { disruptions: disruption('Draining') }, ['warning Node n1']],
  [
    'a notice that the cloud does not confirm',
    { disruptions: disruption('Draining', 'SpotInterruption') },
    [],
  ],
  ['a drain that has ended', { disruptions: disruption('Ended') }, []],
];

describe('other-actor', () => {
  it.each(cases)('%s', (_, more, expected) => {
    expect(briefOf(findingsOf(otherActor, more))).toEqual(expected);
  });
});
