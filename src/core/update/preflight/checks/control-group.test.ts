// Tests of the check control-group: each case is a snapshot and the findings that the check
// reports.
import { describe, expect, it } from 'vitest';
import {
  aNode,
  aPod,
  briefOf,
  findingsOf,
} from '../../../../../test/builders/core-update-preflight.ts';
import type { Snapshot } from '../snapshot.ts';
import { controlGroup } from './control-group.ts';

const dns = (name: string, node = 'n1', app = 'kube-dns') =>
  aPod(name, { node, owner: 'ReplicaSet/dns', labels: { 'k8s-app': app } });
const nodes = [aNode('n1'), aNode('n2'), aNode('n3', { old: false })];
const cases: readonly (readonly [string, Partial<Snapshot>, readonly string[]])[] = [
  ['one server for names', { nodes, pods: [dns('d1')] }, ['blocker ReplicaSet demo/dns']],
  ['two on one node', { nodes, pods: [dns('d1'), dns('d2')] }, ['warning ReplicaSet demo/dns']],
  ['two on two old nodes', { nodes, pods: [dns('d1'), dns('d2', 'n2')] }, []],
  ['one of them on a node that stays', { nodes, pods: [dns('d1'), dns('d2', 'n3')] }, []],
  [
    'metrics',
    { nodes, pods: [dns('d1', 'n1', 'metrics-server')] },
    ['warning ReplicaSet demo/dns'],
  ],
  ['an application', { nodes, pods: [aPod('p1')] }, []],
];

describe('control-group', () => {
  it.each(cases)('%s', (_, more, expected) => {
    expect(briefOf(findingsOf(controlGroup, more))).toEqual(expected);
  });
});
