// One row per state of an instance and what is known of it.

import { describe, expect, it } from 'vitest';
import { aGroupSpec, anInstance } from '../../../../test/builders/controllers.ts';
import { testStart } from '../../../../test/builders/runtime.ts';
import type { LifecycleHook } from '../../../api/cloud.ts';
import { defined } from '../../../api/defined.ts';
import type { DisruptionCause, NodeDisruption } from '../../../api/disruption.ts';
import type { Node } from '../../../api/kube.ts';
import { hookCause } from './causes.ts';
import { decideLifecycle, launchKey, type WaitingInstance } from './waiting.ts';

const i1 = anInstance(1);
const metadata = (name: string) => ({
  name,
  uid: `uid-${name}`,
  resourceVersion: '1',
  creationTimestamp: '2026-01-01T00:00:00Z',
});
const group = {
  apiVersion: 'drover.dev/v1alpha1',
  kind: 'NodeGroup',
  metadata: metadata('ng'),
  spec: aGroupSpec(),
};
const hook = (name: string, transition: LifecycleHook['transition']): LifecycleHook => ({
  name,
  transition,
  autoScalingGroupName: 'asg-1',
  heartbeatTimeoutSeconds: 1800,
  globalTimeoutSeconds: 172_800,
  defaultResult: 'CONTINUE',
});
const hooks = [
  hook('launch', 'autoscaling:EC2_INSTANCE_LAUNCHING'),
  hook('term', 'autoscaling:EC2_INSTANCE_TERMINATING'),
];
const node = (status: 'True' | 'False'): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: metadata('n1'),
  spec: { providerID: `aws:///eu-west-1a/${i1}` },
  status: { conditions: [{ type: 'Ready', status }] },
});
const cni = 'node.cilium.io/agent-not-ready';
const tainted: Node = {
  ...node('True'),
  spec: { ...node('True').spec, taints: [{ key: cni, effect: 'NoExecute' }] },
};
const starting = {
  ...group,
  spec: aGroupSpec({ drain: { launch: { startupTaints: [cni] } } }),
};
const known = (token: string | undefined, more: Partial<DisruptionCause> = {}): NodeDisruption => {
  const confirmed = {
    confirmation: {
      state: 'Confirmed',
      at: '2026-01-01T00:00:00.000Z',
      reason: 'Terminating:Wait',
    },
  } as const;
  const cause = hookCause({
    autoScalingGroupName: 'asg-1',
    hookName: 'term',
    ...defined({ token }),
    startedAt: testStart,
    times: { heartbeatTimeoutSeconds: 30, globalTimeoutSeconds: 3_000 },
    group,
    now: testStart,
  });
  return {
    apiVersion: 'drover.dev/v1alpha1',
    kind: 'NodeDisruption',
    metadata: metadata(i1),
    spec: { instanceId: i1, causes: [{ ...cause, ...confirmed, ...more }] },
  };
};
const waiting = (lifecycleState: string, more: Partial<WaitingInstance> = {}): WaitingInstance => ({
  instance: {
    instanceId: i1,
    autoScalingGroupName: 'asg-1',
    availabilityZone: 'a',
    lifecycleState,
    instanceType: 't',
    protectedFromScaleIn: false,
  },
  group,
  hooks,
  node: undefined,
  disruption: undefined,
  ...more,
});

describe('decideLifecycle', () => {
  it.each<[string, WaitingInstance, readonly string[]]>([
    ['nobody told us', waiting('Terminating:Wait'), ['record term']],
    ['the message was there', waiting('Terminating:Wait', { disruption: known('t1') }), []],
    ['polling was there', waiting('Terminating:Wait', { disruption: known(undefined) }), []],
    [
      'it was withdrawn',
      waiting('Terminating:Wait', {
        disruption: known('t1', { cancelledAt: '2026-01-01T00:00:00.000Z' }),
      }),
      [],
    ],
    [
      'it is disrupted for another reason only',
      waiting('Terminating:Wait', {
        disruption: { ...known('t1'), spec: { instanceId: i1, causes: [] } },
      }),
      ['record term'],
    ],
    ['no hook of ours', waiting('Terminating:Wait', { hooks: [] }), []],
    ['another state', waiting('Terminating:Proceed'), []],
    ['a launch without a node', waiting('Pending:Wait'), []],
    ['a launch, node not Ready', waiting('Pending:Wait', { node: node('False') }), []],
    ['a launch, node Ready', waiting('Pending:Wait', { node: node('True') }), ['complete launch']],
    [
      'a launch, node Ready with a startup taint',
      waiting('Pending:Wait', { node: tainted, group: starting }),
      [],
    ],
    [
      'a launch, node Ready with a taint of no policy',
      waiting('Pending:Wait', { node: tainted }),
      ['complete launch'],
    ],
    [
      'a launch, node Ready without its startup taint',
      waiting('Pending:Wait', { node: node('True'), group: starting }),
      ['complete launch'],
    ],
    [
      'a launch whose node is being deleted',
      waiting('Pending:Wait', {
        node: {
          ...node('True'),
          metadata: { ...metadata('n1'), deletionTimestamp: '2026-01-01T00:00:00Z' },
        },
      }),
      [],
    ],
  ])('%s', (_, instance, expected) => {
    const actions = decideLifecycle([instance], new Map(), testStart);
    const short = actions.map((action) =>
      action.kind === 'record'
        ? `record ${action.cause.hook?.name}`
        : `complete ${action.call.hookName}`,
    );
    expect(short).toEqual(expected);
  });

  it.each([
    [59_999, 0],
    [60_000, 1],
  ])('completes again after a minute: %i ms', (ago, count) => {
    const key = launchKey({ instanceId: i1, hookName: 'launch' });
    const tried = new Map([[key, testStart - ago]]);
    const instance = waiting('Pending:Wait', { node: node('True') });
    expect(decideLifecycle([instance], tried, testStart)).toHaveLength(count);
  });
});
