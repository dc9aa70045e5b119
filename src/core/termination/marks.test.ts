import { describe, expect, it } from 'vitest';
import {
  aMarkedNode,
  aNode,
  exclude,
  marksAnnotation,
  type NodeOverrides,
} from '../../../test/builders/core-termination.ts';
import type { OwnedMarks } from '../../api/disruption.ts';
import { hasMarksOfOurs, markSteps, marksAreVisible, marksToOwn, undoSteps } from './marks.ts';

const own = (...names: readonly (keyof OwnedMarks)[]): OwnedMarks => ({
  excludeLabel: names.includes('excludeLabel'),
  unschedulable: names.includes('unschedulable'),
  taint: names.includes('taint'),
  annotation: names.includes('annotation'),
});
const taint = { key: 'drover.dev/disrupted', effect: 'NoSchedule' as const };
const foreign = { key: 'team', value: 'a', effect: 'NoExecute' as const };
const all = own('excludeLabel', 'unschedulable', 'taint', 'annotation');
const disruption = 'i-1';

const bodies = (compat: 'eks' | 'native', more: NodeOverrides = {}) =>
  markSteps({ node: aNode(more), disruption, compat, owned: all }).map(({ body }) => body);

describe('marks as EKS sets them', () => {
  const label = { metadata: { labels: { [exclude]: 'true' } } };
  const cordon = { spec: { unschedulable: true } };
  const rows: readonly [string, NodeOverrides, readonly object[]][] = [
    ['nothing there: label, then cordon, and nothing else in them', {}, [label, cordon]],
    ['label there', { labels: { [exclude]: 'true' } }, [cordon]],
    ['label there with a value of its own', { labels: { [exclude]: 'x' } }, [cordon]],
    ['cordoned', { unschedulable: true }, [label]],
    ['both there', { labels: { [exclude]: '' }, unschedulable: true }, []],
    ['explicitly schedulable', { unschedulable: false }, [label, cordon]],
  ];
  it.each(rows)('%s', (_name, more, expected) => {
    expect(bodies('eks', more)).toEqual(expected);
  });
  it('remembers which node the patches were meant for', () => {
    const [step] = markSteps({ node: aNode(), disruption, compat: 'eks', owned: all });
    expect(step).toMatchObject({ node: 'n1', uid: 'uid-n1', resourceVersion: '7', patch: 'merge' });
  });
});

describe('marks in our own mode', () => {
  it('are one patch with uid and resourceVersion that keeps foreign taints', () => {
    const [body, ...others] = bodies('native', { taints: [foreign] });
    expect(others).toEqual([]);
    expect(body).toEqual({
      metadata: {
        uid: 'uid-n1',
        resourceVersion: '7',
        labels: { [exclude]: 'true' },
        annotations: { [marksAnnotation]: JSON.stringify({ disruption, owned: all }) },
      },
      spec: { unschedulable: true, taints: [foreign, taint] },
    });
  });
  it('leave a label of another value and a taint that is there alone', () => {
    const [body] = bodies('native', { labels: { [exclude]: 'x' }, taints: [taint] });
    expect(body).not.toHaveProperty('metadata.labels');
    expect(body).not.toHaveProperty('spec.taints');
  });
  it('are nothing when all are visible', () => {
    const node = aMarkedNode({ taints: [taint], annotations: { [marksAnnotation]: '{}' } });
    expect(marksAreVisible(node, 'native')).toBe(true);
    expect(markSteps({ node, disruption, compat: 'native', owned: all })).toEqual([]);
  });
});

describe('whose marks they are', () => {
  const record = (owned: OwnedMarks, of = disruption) => ({
    [marksAnnotation]: JSON.stringify({ disruption: of, owned }),
  });
  type Row = readonly [string, 'eks' | 'native', NodeOverrides, OwnedMarks | undefined, OwnedMarks];
  const rows: readonly Row[] = [
    ['all are missing', 'eks', {}, undefined, own('excludeLabel', 'unschedulable')],
    ['all are missing', 'native', {}, undefined, all],
    ['somebody cordoned before us', 'eks', { unschedulable: true }, undefined, own('excludeLabel')],
    [
      'our cordon from before is still ours',
      'eks',
      { unschedulable: true },
      own('unschedulable'),
      own('excludeLabel', 'unschedulable'),
    ],
    [
      'the node’s record wins over the status',
      'native',
      { unschedulable: true, annotations: record(own('unschedulable', 'annotation')) },
      own(),
      all,
    ],
    [
      'a record of another disruption is not ours',
      'native',
      { unschedulable: true, annotations: record(all, 'i-2') },
      undefined,
      own('excludeLabel', 'taint'),
    ],
    [
      'a record that is no JSON is not ours',
      'native',
      { annotations: { [marksAnnotation]: '{' } },
      undefined,
      own('excludeLabel', 'unschedulable', 'taint'),
    ],
  ];
  it.each(rows)('%s (%s)', (_name, compat, more, before, expected) => {
    expect(marksToOwn({ node: aNode(more), disruption, compat, before })).toEqual(expected);
  });
});

describe('undoing marks', () => {
  const marked = aMarkedNode({
    taints: [foreign, taint],
    annotations: { [marksAnnotation]: '{}', other: 'x' },
  });
  it('takes away what is ours in one patch with preconditions', () => {
    expect(undoSteps(marked, all).map(({ body }) => body)).toEqual([
      {
        metadata: {
          uid: 'uid-n1',
          resourceVersion: '7',
          labels: { [exclude]: null },
          annotations: { [marksAnnotation]: null },
        },
        spec: { unschedulable: null, taints: [foreign] },
      },
    ]);
  });
  it('leaves a cordon and a label that were there before us', () => {
    expect(undoSteps(marked, own())).toEqual([]);
    expect(hasMarksOfOurs(marked, own())).toBe(false);
    expect(undoSteps(marked, own('unschedulable'))[0]?.body).toEqual({
      metadata: { uid: 'uid-n1', resourceVersion: '7' },
      spec: { unschedulable: null },
    });
  });
  it('leaves a mark whose value somebody changed since', () => {
    const changed = aMarkedNode({ labels: { [exclude]: 'theirs' } });
    expect(undoSteps(changed, own('excludeLabel'))).toEqual([]);
    const retainted = aNode({ taints: [{ ...taint, value: 'theirs' }] });
    expect(undoSteps(retainted, own('taint'))).toEqual([]);
  });
  it('removes the list when our taint was the only one', () => {
    const [step] = undoSteps(aNode({ taints: [taint] }), own('taint'));
    expect(step?.body).toMatchObject({ spec: { taints: null } });
  });
});
