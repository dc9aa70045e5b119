// Tests of the check spread-unsatisfiable: each case is a snapshot and the findings that the check
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
import { spreadUnsatisfiable } from './spread-unsatisfiable.ts';

const labelSelector = { matchLabels: { app: 'web' } };
const apart = (name: string, node: string, topologyKey = 'kubernetes.io/hostname') =>
  aPod(name, {
    node,
    spec: {
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey, labelSelector }],
        },
      },
    },
  });
const spread = (name: string, node: string) =>
  aPod(name, {
    node,
    spec: {
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: 'topology.kubernetes.io/zone',
          whenUnsatisfiable: 'DoNotSchedule',
          labelSelector,
        },
      ],
    },
  });
const nodes = [aNode('n1'), aNode('n2', { zone: 'b' })];
const sized = (strategy: 'DEFAULT' | 'MINIMAL', desired: number) =>
  aGroup({ strategy, sizes: { minSize: 0, maxSize: 5, desired } });
const cases: readonly (readonly [string, Partial<Snapshot>, readonly string[]])[] = [
  [
    'one on each node, new nodes first',
    { nodes, pods: [apart('p1', 'n1'), apart('p2', 'n2')], group: sized('DEFAULT', 2) },
    [],
  ],
  [
    'the same without new nodes first',
    { nodes, pods: [apart('p1', 'n1'), apart('p2', 'n2')], group: sized('MINIMAL', 2) },
    ['warning StatefulSet demo/web'],
  ],
  [
    'more pods than nodes at the end',
    { nodes, pods: [apart('p1', 'n1'), apart('p2', 'n2')], group: sized('DEFAULT', 1) },
    ['blocker StatefulSet demo/web'],
  ],
  [
    'apart by zone, and one zone gets no new node',
    {
      nodes,
      pods: [
        apart('p1', 'n1', 'topology.kubernetes.io/zone'),
        apart('p2', 'n2', 'topology.kubernetes.io/zone'),
      ],
      group: sized('DEFAULT', 2),
    },
    ['blocker StatefulSet demo/web'],
  ],
  [
    'spread over a zone that gets no new node',
    { nodes, pods: [spread('p1', 'n1'), spread('p2', 'n2')] },
    ['blocker StatefulSet demo/web'],
  ],
  ['spread over zones that do', { nodes: [aNode('n1')], pods: [spread('p1', 'n1')] }, []],
  ['no rule at all', { nodes, pods: [aPod('p1'), aPod('p2')] }, []],
];

describe('spread-unsatisfiable', () => {
  it.each(cases)('%s', (_, more, expected) => {
    expect(briefOf(findingsOf(spreadUnsatisfiable, more))).toEqual(expected);
  });
});
