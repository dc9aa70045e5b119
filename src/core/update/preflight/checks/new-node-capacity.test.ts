// Each case: what is there, and which findings it makes.
import { describe, expect, it } from 'vitest';
import type { Snapshot } from '../snapshot.ts';
import { aBudget, aGroup, aNode, aPod, attachable, briefOf, findingsOf } from '../testing.ts';
import { newNodeCapacity } from './new-node-capacity.ts';

const asking = (cpu: string, count: number, owner = 'StatefulSet/web') =>
  Array.from({ length: count }, (_, i) => aPod(`p${i + 1}`, { owner, requests: { cpu } }));
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
    const [found] = findingsOf(newNodeCapacity, more, { starved: new Map([['n1', 0.6]]) });
    expect(found).toMatchObject({ severity: 'blocker', consequence: { node: 'n1', minute: 18 } });
  });

  it('tells as a risk what ends so in some of the runs, and nothing of a single one', () => {
    const more = { pods: asking('500m', 4), group: minimal, budgets: [aBudget('b', 4)] };
    const found = findingsOf(newNodeCapacity, more, { starved: new Map([['n1', 0.12]]) });
    expect(found.map(({ severity }) => severity)).toEqual(['warning', 'warning']);
    expect(found[1]).toMatchObject({
      evidence: { runsPercent: 12 },
      consequence: { node: 'n1', minute: 18 },
    });
    expect(found[1]?.consequence.text).toMatch(
      /^may stop: in 12 of 100 runs .*PodEvictionFailure$/,
    );
    const once = findingsOf(newNodeCapacity, more, { starved: new Map([['n1', 0.005]]) });
    expect(once).toHaveLength(1);
  });

  it('takes off what DaemonSet pods use on each node', () => {
    const agent = aPod('agent', { owner: 'DaemonSet/agent', requests: { cpu: '1500m' } });
    const pods = [agent, ...asking('600m', 1)];
    expect(briefOf(findingsOf(newNodeCapacity, { pods }))).toEqual([
      'blocker StatefulSet demo/web',
    ]);
  });
});
