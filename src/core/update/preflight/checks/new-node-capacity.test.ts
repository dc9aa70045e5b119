// Tests of the check new-node-capacity: each case is a snapshot and the findings that the check
// reports.
import { describe, expect, it } from 'vitest';
import {
  aBudget,
  aGroup,
  aNode,
  aPod,
  attachable,
  briefOf,
  findingsOf,
} from '../../../../../test/builders/core-update-preflight.ts';
import type { Snapshot } from '../snapshot.ts';
import { newNodeCapacity } from './new-node-capacity.ts';

const asking = (cpu: string, count: number, owner = 'StatefulSet/web') =>
  Array.from({ length: count }, (_, i) => aPod(`p${i + 1}`, { owner, requests: { cpu } }));
/** Each of `nodes` is starved in share `each` of the runs, any of them in share `any`. */
const likely = (any: number, each: number, nodes: readonly string[] = ['n1']) => ({
  starvedShare: any,
  starved: new Map(nodes.map((name) => [name, each])),
});
const minimal = aGroup({ strategy: 'MINIMAL' });
const large = { cpu: '8', memory: '32Gi', pods: '58' };
const cases: readonly (readonly [string, Partial<Snapshot>, readonly string[]])[] = [
  ['pods that fit the surge', { pods: asking('500m', 4) }, []],
  [
    'a pod larger than the new nodes',
    { pods: asking('6', 1), nodes: [aNode('n1', { allocatable: large }), aNode('n2')] },
    ['blocker StatefulSet demo/web'],
  ],
  [
    'the same with another group that has room',
    {
      pods: asking('6', 1),
      nodes: [
        aNode('n1', { allocatable: large }),
        aNode('n2'),
        aNode('n3', { old: false, allocatable: large }),
      ],
    },
    [],
  ],
  [
    'no new node first: Pending for a while',
    { pods: asking('500m', 4), group: minimal },
    ['warning NodeGroup ng'],
  ],
  [
    'no new node first, and room elsewhere',
    { pods: asking('500m', 4), group: minimal, nodes: [aNode('n1'), aNode('n2', { old: false })] },
    [],
  ],
  [
    'more than a node can attach',
    {
      pods: [
        aPod('p1', {
          spec: { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] },
        }),
      ],
      csiNodes: [attachable('n1', 0)],
    },
    ['blocker StatefulSet demo/web'],
  ],
  [
    'a device that new nodes lack',
    { pods: [aPod('p1', { requests: { 'nvidia.com/gpu': '1' } })] },
    ['blocker StatefulSet demo/web'],
  ],
  ['bare pods, which do not come back', { pods: asking('6', 1, '') }, []],
];

describe('new-node-capacity', () => {
  it.each(cases)('%s', (_, more, expected) => {
    expect(briefOf(findingsOf(newNodeCapacity, more))).toEqual(expected);
  });

  it('stops the node whose pods wait for one another, where the model says so', () => {
    const more = { pods: asking('500m', 4), group: minimal, budgets: [aBudget('b', 4)] };
    expect(briefOf(findingsOf(newNodeCapacity, more))).toEqual(['warning NodeGroup ng']);
    const [found] = findingsOf(newNodeCapacity, more, likely(0.6, 0.6));
    expect(found).toMatchObject({ severity: 'blocker', consequence: { node: 'n1', minute: 18 } });
  });

  it('tells as a risk what ends so in some of the runs, and nothing of a single one', () => {
    const more = { pods: asking('500m', 4), group: minimal, budgets: [aBudget('b', 4)] };
    const found = findingsOf(newNodeCapacity, more, likely(0.12, 0.12));
    expect(found.map(({ severity }) => severity)).toEqual(['warning', 'warning']);
    expect(found[1]).toMatchObject({
      evidence: { runsPercent: 12 },
      consequence: { node: 'n1', minute: 18 },
    });
    expect(found[1]?.consequence.text).toMatch(
      /^may stop: in 12 of 100 runs .*PodEvictionFailure$/,
    );
    const once = findingsOf(newNodeCapacity, more, likely(0.005, 0.005));
    expect(once).toHaveLength(1);
  });

  describe('another node in each run', () => {
    const names = ['n1', 'n2', 'n3'];
    const more = {
      pods: names.map((node) => aPod(`on-${node}`, { node, requests: { cpu: '500m' } })),
      nodes: names.map((name) => aNode(name)),
      group: minimal,
      budgets: [aBudget('b', 3)],
    };

    it.each<readonly [number, number, readonly (readonly [string, number | undefined])[]]>([
      [0.96, 0.04, [['blocker', undefined]]],
      [
        0.5,
        0.5,
        [
          ['warning', undefined],
          ['warning', 50],
        ],
      ],
      [0.6, 0.009, [['blocker', undefined]]],
      [
        0.3,
        0.009,
        [
          ['warning', undefined],
          ['warning', 30],
        ],
      ],
      [0.009, 0.003, [['warning', undefined]]],
    ])('any in %d, each in %d of the runs', (any, each, expected) => {
      const found = findingsOf(newNodeCapacity, more, likely(any, each, names));
      expect(found.map(({ severity, evidence }) => [severity, evidence.runsPercent])).toEqual(
        expected,
      );
    });

    it('is told of the likeliest whose pods have a budget', () => {
      const bare = aPod('alone', { labels: { app: 'other' }, node: 'n1' });
      const starved = new Map([
        ['n1', 0.2],
        ['n2', 0.01],
        ['n3', 0.02],
      ]);
      const pods = [bare, ...more.pods.slice(1)];
      const found = findingsOf(newNodeCapacity, { ...more, pods }, { starvedShare: 0.2, starved });
      expect(found[1]).toMatchObject({
        evidence: { runsPercent: 20 },
        consequence: { node: 'n3' },
      });
    });
  });

  it('takes off what DaemonSet pods use on each node', () => {
    const agent = aPod('agent', { owner: 'DaemonSet/agent', requests: { cpu: '1500m' } });
    const pods = [agent, ...asking('600m', 1)];
    expect(briefOf(findingsOf(newNodeCapacity, { pods }))).toEqual([
      'blocker StatefulSet demo/web',
    ]);
  });
});
