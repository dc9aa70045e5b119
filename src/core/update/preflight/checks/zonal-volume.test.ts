// Tests of the check zonal-volume: each case is a snapshot and the findings that the check reports.
import { describe, expect, it } from 'vitest';
import {
  aClaim,
  aNode,
  aPod,
  aVolume,
  briefOf,
  findingsOf,
} from '../../../../../test/builders/core-update-preflight.ts';
import type { Snapshot } from '../snapshot.ts';
import { zonalVolume } from './zonal-volume.ts';

const inZone = (zone: string): Partial<Snapshot> => ({
  pods: [
    aPod('p1', { spec: { volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'd' } }] } }),
  ],
  claims: [aClaim('d', 'pv1')],
  volumes: [
    aVolume('pv1', {
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            {
              matchExpressions: [
                { key: 'topology.kubernetes.io/zone', operator: 'In', values: [zone] },
              ],
            },
          ],
        },
      },
    }),
  ],
});
const cases: readonly (readonly [string, Partial<Snapshot>, readonly string[]])[] = [
  ['a zone of the group', inZone('a'), []],
  ['a zone without a subnet of the group', inZone('b'), ['blocker PersistentVolume pv1']],
  [
    'a zone whose subnet is full, until an old node gives back its own',
    { ...inZone('a'), subnets: [{ id: 'subnet-a', zone: 'a', freeAddresses: 0 }] },
    [],
  ],
  [
    'a zone where another group has a node',
    { ...inZone('b'), nodes: [aNode('n1'), aNode('n2', { zone: 'b', old: false })] },
    [],
  ],
];

describe('zonal-volume', () => {
  it.each(cases)('%s', (_, more, expected) => {
    expect(briefOf(findingsOf(zonalVolume, more))).toEqual(expected);
  });
});
