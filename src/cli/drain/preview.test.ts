// The preview shows what the controller would do, in its order, and refuses a drain that can never
// end.

import { describe, expect, it } from 'vitest';
import { aBudget } from '../../../test/builders/core-drain.ts';
import {
  aDisruption,
  aHookCause,
  aManualCause,
  aMarkedNode,
  aNode,
  aPod,
  timePlus,
  tPlus,
} from '../../../test/builders/core-termination.ts';
import { defined } from '../../api/defined.ts';
import type { NodeDisruption } from '../../api/disruption.ts';
import type { Node, Pod, PodDisruptionBudget } from '../../api/kube.ts';
import { type NodePreview, type PreviewInput, previewDrains } from './preview.ts';
import { previewLines } from './render.ts';

interface Scene extends Partial<Omit<PreviewInput, 'reads'>> {
  readonly node?: Node;
  readonly pods?: readonly Pod[];
  readonly budgets?: readonly PodDisruptionBudget[];
  readonly disruption?: NodeDisruption;
  readonly deadline?: string;
  readonly onDeadline?: 'force' | 'fail';
}

const preview = (scene: Scene): NodePreview => {
  const { node = aNode(), pods = [], disruption, deadline, onDeadline = 'fail' } = scene;
  const cause = aManualCause({ onDeadline, ...defined({ deadline }) });
  const input: PreviewInput = {
    budgets: [],
    daemonSets: new Set(['uid-agent']),
    now: tPlus(0),
    compat: 'eks',
    ...scene,
    reads: [{ node, pods, disruption, cause }],
  };
  const [first] = previewDrains(input);
  if (first === undefined) throw new Error('no preview');
  return first;
};

const steps = ({ plan }: NodePreview): readonly string[] =>
  plan.steps.map((step) => ('pod' in step ? `${step.kind} ${step.pod.name}` : step.kind));
const waits = ({ plan }: NodePreview): readonly string[] =>
  plan.waitingOn.map((waiting) => `${waiting.kind} ${'pod' in waiting ? waiting.pod : ''}`);

describe('previewDrains', () => {
  it.each([
    ['eks', ['PatchNode', 'PatchNode', 'Evict p1']],
    ['native', ['PatchNode', 'Evict p1']],
  ] as const)('marks first, as %s does, then evicts', (compat, expected) => {
    expect(steps(preview({ pods: [aPod('p1')], compat }))).toEqual(expected);
  });

  it('leaves marks that are there already', () => {
    expect(steps(preview({ node: aMarkedNode(), pods: [aPod('p1')] }))).toEqual(['Evict p1']);
  });

  it('evicts all that the tokens allow, however few may be on their way at once', () => {
    const pods = ['p1', 'p2', 'p3', 'p4', 'p5'].map((name) => aPod(name));
    const found = preview({ pods, budgets: [aBudget('b', { allowed: 4, healthy: 5 })] });
    expect(steps(found).slice(2)).toEqual(['Evict p1', 'Evict p2', 'Evict p3', 'Evict p4']);
    expect(waits(found)).toEqual(['pdb demo/p5']);
    expect(found.refusals).toEqual([]);
  });

  it('takes critical pods after the others with native marks', () => {
    const critical = aPod('a', { owner: '', priorityClassName: 'system-cluster-critical' });
    const found = preview({ pods: [critical, aPod('z')], compat: 'native' });
    expect(steps(found).slice(1)).toEqual(['Evict z', 'Evict a']);
  });

  it('names what stays and why, and what is lost', () => {
    const found = preview({
      pods: [
        aPod('agent-1', { owner: 'DaemonSet/agent' }),
        aPod('orphan', { owner: 'DaemonSet/removed' }),
        aPod('done', { phase: 'Succeeded' }),
        aPod('bare', { owner: '', emptyDir: true }),
      ],
    });
    expect(found.stays.map(({ pod, reason }) => `${pod.name} ${reason}`)).toEqual([
      'agent-1 daemonSet',
      'done finished',
    ]);
    expect(found.pods.map(({ pod, warnings }) => `${pod.name} ${warnings.join()}`)).toEqual([
      'orphan orphanOfDaemonSet',
      'bare unmanaged,emptyDir',
    ]);
  });

  it.each<[string, Scene, number]>([
    [
      'a budget that never allows',
      { budgets: [aBudget('b', { maxUnavailable: 0, allowed: 0 })] },
      1,
    ],
    ['two budgets on one pod', { budgets: [aBudget('b'), aBudget('c')] }, 1],
    ['a budget that is used up for now', { budgets: [aBudget('b', { allowed: 0 })] }, 0],
    [
      'a deadline ends the wait',
      { budgets: [aBudget('b', { maxUnavailable: 0, allowed: 0 })], deadline: timePlus(600) },
      0,
    ],
  ])('refuses what can never end: %s', (_, scene, refusals) => {
    const found = preview({ pods: [aPod('p1')], ...scene });
    expect(found.refusals).toHaveLength(refusals);
    expect(found.plan.waitingOn).toHaveLength(1);
  });

  it('says when a blocked pod would be forced', () => {
    const found = preview({
      pods: [aPod('p1')],
      budgets: [aBudget('b', { maxUnavailable: 0, allowed: 0 })],
      deadline: timePlus(600),
      onDeadline: 'force',
    });
    // Ten seconds and the pod's own grace before the deadline.
    expect(found.plan.waitingOn).toEqual([
      expect.objectContaining({ kind: 'pdb', forceAt: timePlus(560) }),
    ]);
  });

  it('names other causes that hold the node already', () => {
    const found = preview({ disruption: aDisruption([aHookCause()]) });
    expect(found.others.map(({ kind }) => kind)).toEqual(['LifecycleHook']);
  });

  it('shares a budget among the nodes that are drained together', () => {
    const cause = aManualCause();
    const second = aNode();
    const n2: Node = {
      ...second,
      metadata: { ...second.metadata, name: 'n2', uid: 'uid-n2' },
      spec: { providerID: 'aws:///eu-west-1a/i-0123456789abcdef1' },
    };
    const previews = previewDrains({
      reads: [
        { node: aNode(), pods: [aPod('p1')], disruption: undefined, cause },
        { node: n2, pods: [aPod('p2', { node: 'n2' })], disruption: undefined, cause },
      ],
      budgets: [aBudget('b', { allowed: 1 })],
      daemonSets: undefined,
      now: tPlus(0),
      compat: 'native',
    });
    expect(previews.map(steps)).toEqual([['PatchNode', 'Evict p1'], ['PatchNode']]);
    expect(previews.map(waits)).toEqual([[], ['pdb demo/p2']]);
  });
});

describe('previewLines', () => {
  it('prints marks, evictions in order, waits and what stays', () => {
    const pods = [aPod('p1'), aPod('p2'), aPod('agent-1', { owner: 'DaemonSet/agent' })];
    const lines = previewLines(preview({ pods, budgets: [aBudget('b', { allowed: 1 })] }));
    const text = lines.join('\n');
    expect(lines[0]).toMatch(/^n1 \(NodeDisruption i-/);
    expect(text).toContain('merge patch {"spec":{"unschedulable":true}}');
    expect(text).toMatch(/\nevict 1 +demo\/p1 +ReplicaSet\/web +demo\/b/);
    expect(text).toMatch(/\nwait +demo\/p2 +ReplicaSet\/web +demo\/b +pod demo\/p2/);
    expect(text).toMatch(/\nstay +demo\/agent-1 +DaemonSet\/agent/);
  });
});
