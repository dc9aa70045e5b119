// The NodeGroup CRD refuses labels and taints that no node can have, as the EKS API does.
import { describe, expect, it } from 'vitest';
import type { NodeGroupSpec } from '../../src/api/nodegroup.ts';
import { marksComplaint } from '../../src/core/nodegroup/index.ts';
import { GroupLife } from '../support/nodegroup-world.ts';

type Marks = Pick<NodeGroupSpec, 'labels' | 'taints'>;
const effect = 'NoSchedule';
const long = (length: number): string => 'a'.repeat(length);

const right: readonly Marks[] = [
  { labels: { team: 'red', empty: '', 'example.com/A_b.c': '1.0-x', [long(63)]: long(63) } },
  { labels: { 'x.kubernetes.io/a': 'b', 'alpha.eksctl.io/cluster-name': 'c' } },
  { taints: [{ key: 'node.cilium.io/agent-not-ready', value: 'true', effect }] },
  { taints: [{ key: 'a', effect }] },
];
const key = "a label's key is";
const reserved = 'are reserved';
const wrong: readonly (readonly [Marks, string])[] = [
  [{ labels: { 'a b': 'c' } }, key],
  [{ labels: { '': 'c' } }, key],
  [{ labels: { 'a/b/c': 'd' } }, key],
  [{ labels: { '/a': 'b' } }, key],
  [{ labels: { 'Example.com/a': 'b' } }, key],
  [{ labels: { [long(64)]: 'b' } }, key],
  [{ labels: { fine: 'a', "a'$(id)": 'b' } }, key],
  [{ labels: { 'kubernetes.io/a': 'b' } }, reserved],
  [{ labels: { 'k8s.io/a': 'b' } }, reserved],
  [{ labels: { 'eks.amazonaws.com/nodegroup': 'b' } }, reserved],
  [{ labels: { a: 'b c' } }, 'spec.labels.a'],
  [{ labels: { a: '-b' } }, 'spec.labels.a'],
  [{ taints: [{ key: 'a b', effect }] }, 'spec.taints[0].key'],
  [{ taints: [{ key: 'a/', effect }] }, 'spec.taints[0].key'],
  [{ taints: [{ key: 'a', value: "b'c", effect }] }, 'spec.taints[0].value'],
];

describe('labels and taints of a NodeGroup that kubectl writes', async () => {
  const life = await GroupLife.begin();
  const base = life.facts.managed[0]?.spec ?? {};
  const written = (marks: Marks, name: string): string => {
    const spec = JSON.parse(JSON.stringify({ ...base, ...marks }));
    const kind = { apiVersion: 'drover.dev/v1alpha1', kind: 'NodeGroup' };
    try {
      life.createGroup({ ...kind, metadata: { name }, spec });
      return 'written';
    } catch (error) {
      return String(error);
    }
  };

  it.each(right.map((marks, n) => [n, marks] as const))('%i: %j are written', (n, marks) => {
    expect(marksComplaint(marks)).toBeUndefined();
    expect(written(marks, `right-${n}`)).toBe('written');
  });

  it.each(wrong)('%j are refused', (marks, words) => {
    expect(marksComplaint(marks)).toBeDefined();
    const answer = written(marks, 'wrong');
    expect(answer).toContain('Invalid');
    expect(answer).toContain(words);
  });
});
