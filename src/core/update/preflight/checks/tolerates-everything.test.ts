// Tests of the check tolerates-everything: each case is a snapshot and the findings that the check
// reports.
import { describe, expect, it } from 'vitest';
import {
  aGroup,
  aPod,
  briefOf,
  findingsOf,
} from '../../../../../test/builders/core-update-preflight.ts';
import type { Toleration } from '../../../../api/kube.ts';
import type { Snapshot } from '../snapshot.ts';
import { toleratesEverything } from './tolerates-everything.ts';

const tolerant = (toleration: Toleration, owner = 'ReplicaSet/web') =>
  aPod('p1', {
    owner,
    spec: { tolerations: [toleration], nodeSelector: { 'kubernetes.io/hostname': 'n1' } },
  });
const free = aPod('p1', { spec: { tolerations: [{ operator: 'Exists' }] } });
const cases: readonly (readonly [string, Partial<Snapshot>, readonly string[]])[] = [
  [
    'every key, every effect',
    { pods: [tolerant({ operator: 'Exists' })] },
    ['blocker ReplicaSet demo/web'],
  ],
  [
    'every key, NoSchedule',
    { pods: [tolerant({ operator: 'Exists', effect: 'NoSchedule' })] },
    ['blocker ReplicaSet demo/web'],
  ],
  [
    "the cordon's own taint",
    { pods: [tolerant({ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' })] },
    ['blocker ReplicaSet demo/web'],
  ],
  ['a pod that fits on new nodes, too', { pods: [free] }, ['warning StatefulSet demo/web']],
  [
    'one that does, while the only node is the one that is drained',
    { pods: [free], group: aGroup({ strategy: 'MINIMAL' }) },
    ['blocker StatefulSet demo/web'],
  ],
  [
    'every key, NoExecute only',
    { pods: [tolerant({ operator: 'Exists', effect: 'NoExecute' })] },
    [],
  ],
  ['another taint', { pods: [tolerant({ key: 'gpu', operator: 'Exists' })] }, []],
  [
    'a DaemonSet, which is meant to',
    { pods: [tolerant({ operator: 'Exists' }, 'DaemonSet/agent')] },
    [],
  ],
  ['a bare pod, which nothing brings back', { pods: [tolerant({ operator: 'Exists' }, '')] }, []],
  [
    'force, which ends it with its node',
    { pods: [tolerant({ operator: 'Exists' })], group: aGroup({ force: true }) },
    ['warning ReplicaSet demo/web'],
  ],
];

describe('tolerates-everything', () => {
  it.each(cases)('%s', (_, more, expected) => {
    expect(briefOf(findingsOf(toleratesEverything, more))).toEqual(expected);
  });
});
