// Tests of the check local-data: each case is a snapshot and the findings that the check reports.
import { describe, expect, it } from 'vitest';
import {
  aClaim,
  aNode,
  aPod,
  aVolume,
  briefOf,
  findingsOf,
} from '../../../../../test/builders/core-update-preflight.ts';
import type { PersistentVolume } from '../../../../api/workloads.ts';
import type { Snapshot } from '../snapshot.ts';
import { localData } from './local-data.ts';

const claimed = aPod('p1', {
  spec: { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] },
});
const volumes = (spec: PersistentVolume['spec']): Partial<Snapshot> => ({
  pods: [claimed],
  claims: [aClaim('data', 'pv1')],
  volumes: [aVolume('pv1', spec)],
});
const onHost = (...names: readonly string[]) => ({
  required: {
    nodeSelectorTerms: [
      {
        matchExpressions: [
          { key: 'kubernetes.io/hostname', operator: 'In' as const, values: names },
        ],
      },
    ],
  },
});
const cases: readonly (readonly [string, Partial<Snapshot>, readonly string[]])[] = [
  [
    'an emptyDir',
    { pods: [aPod('p1', { spec: { volumes: [{ name: 'x', emptyDir: {} }] } })] },
    ['warning StatefulSet demo/web'],
  ],
  [
    'a hostPath',
    { pods: [aPod('p1', { spec: { volumes: [{ name: 'x', hostPath: { path: '/x' } }] } })] },
    ['warning StatefulSet demo/web'],
  ],
  [
    'an emptyDir in memory',
    { pods: [aPod('p1', { spec: { volumes: [{ name: 'x', emptyDir: { medium: 'Memory' } }] } })] },
    [],
  ],
  [
    'a local volume of this node',
    volumes({ local: { path: '/d' }, nodeAffinity: onHost('n1') }),
    ['blocker PersistentVolume pv1'],
  ],
  [
    'a local volume that another node has too',
    {
      ...volumes({ local: { path: '/d' }, nodeAffinity: onHost('n1', 'n2') }),
      nodes: [aNode('n1'), aNode('n2', { old: false })],
    },
    [],
  ],
  ['a volume of the network', volumes({ nodeAffinity: onHost('n1') }), []],
];

describe('local-data', () => {
  it.each(cases)('%s', (_, more, expected) => {
    expect(briefOf(findingsOf(localData, more))).toEqual(expected);
  });
});
