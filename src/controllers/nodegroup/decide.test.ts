// Status and write-back, one row per situation.
import { describe, expect, it } from 'vitest';
import { epochMs } from '../../api/brand.ts';
import type { NodeGroup, NodeGroupStatus } from '../../api/nodegroup.ts';
import type { ScalingGroup } from '../../ports/index.ts';
import { testStart } from '../../runtime/testing.ts';
import { aGroupSpec, anInstance } from '../testing.ts';
import { decideNodeGroup } from './decide.ts';

const group = (
  desired: number | undefined,
  status?: Partial<NodeGroupStatus> & { readonly desired: number },
): NodeGroup => ({
  apiVersion: 'drover.dev/v1alpha1',
  kind: 'NodeGroup',
  metadata: {
    name: 'ng',
    uid: 'u',
    resourceVersion: '1',
    generation: 1,
    creationTimestamp: '2026-01-01T00:00:00Z',
  },
  spec: aGroupSpec({
    scaling: { minSize: 0, maxSize: 10, ...(desired === undefined ? {} : { desired }) },
  }),
  ...(status === undefined
    ? {}
    : {
        status: { state: 'ACTIVE', minSize: 0, maxSize: 10, instances: 0, ready: 0, ...status },
      }),
});
const scaling = (desiredCapacity: number, ...states: readonly string[]): ScalingGroup => ({
  name: 'asg-1',
  minSize: 1,
  maxSize: 5,
  desiredCapacity,
  createdAt: '',
  tags: {},
  instances: states.map((lifecycleState, n) => ({
    instanceId: anInstance(n),
    autoScalingGroupName: 'asg-1',
    availabilityZone: `eu-west-1${'ab'[n % 2]}`,
    lifecycleState,
    instanceType: 't',
    protectedFromScaleIn: false,
  })),
});
const decide = (
  nodeGroup: NodeGroup,
  auto: ScalingGroup | undefined,
  ready: readonly number[] = [],
) =>
  decideNodeGroup({
    group: nodeGroup,
    scaling: auto,
    isReady: (id) => ready.some((n) => anInstance(n) === id),
    now: testStart,
  });
const conditionsOf = (status: NodeGroupStatus): readonly string[] =>
  (status.conditions ?? []).map(({ type, status: value, reason }) => `${type}=${value} ${reason}`);

describe('desired is written back', () => {
  it.each<[string, NodeGroup, ScalingGroup | undefined, number | undefined]>([
    ['when the group was changed from outside', group(1, { desired: 1 }), scaling(0), 0],
    ['not when the field is not set', group(undefined, { desired: 1 }), scaling(0), undefined],
    ['not when the field says it already', group(0, { desired: 1 }), scaling(0), undefined],
    ['not over a request', group(3, { desired: 1 }), scaling(1), undefined],
    ['over a request, when both changed', group(3, { desired: 1 }), scaling(2), 2],
    ['not before a first look', group(3), scaling(1), undefined],
    ['not while the group is missing', group(1, { desired: 1 }), undefined, undefined],
  ])('%s', (_, nodeGroup, auto, expected) => {
    expect(decide(nodeGroup, auto).desired).toBe(expected);
  });
});

describe('the status', () => {
  it('counts instances, zones and ready nodes', () => {
    const auto = scaling(3, 'InService', 'InService', 'InService', 'Terminated');
    const status = decide(group(undefined), auto, [0, 2]).status(4);
    expect(status).toMatchObject({
      observedGeneration: 4,
      state: 'ACTIVE',
      desired: 3,
      minSize: 1,
      maxSize: 5,
      instances: 3,
      ready: 2,
      perZone: { 'eu-west-1a': 2, 'eu-west-1b': 1 },
      health: [],
    });
    expect(status.conditions?.[0]).toMatchObject({
      message: '2 of 3 nodes are Ready.',
      observedGeneration: 4,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    });
  });

  it.each<[string, NodeGroup, ScalingGroup | undefined, readonly number[], readonly string[]]>([
    [
      'all is well',
      group(1, { desired: 1 }),
      scaling(1, 'InService'),
      [0],
      ['Ready=True NodesReady', 'Progressing=False Settled', 'Degraded=False Healthy'],
    ],
    [
      'one is going',
      group(undefined),
      scaling(0, 'Terminating:Wait'),
      [0],
      ['Ready=True NodesReady', 'Progressing=True InstancesChanging', 'Degraded=False Healthy'],
    ],
    [
      'one is to come',
      group(undefined),
      scaling(1),
      [],
      ['Ready=False NodesNotReady', 'Progressing=True InstancesChanging', 'Degraded=False Healthy'],
    ],
    [
      'a request that this version does not serve',
      group(3, { desired: 1 }),
      scaling(1, 'InService'),
      [0],
      ['Ready=True NodesReady', 'Progressing=False ScalingNotSupported', 'Degraded=False Healthy'],
    ],
    [
      'the group is gone',
      group(1, { desired: 1 }),
      undefined,
      [],
      [
        'Ready=False AutoScalingGroupNotFound',
        'Progressing=False AutoScalingGroupNotFound',
        'Degraded=True AutoScalingGroupNotFound',
      ],
    ],
  ])('says so when %s', (_, nodeGroup, auto, ready, expected) => {
    expect(conditionsOf(decide(nodeGroup, auto, ready).status(1))).toEqual(expected);
  });

  it('names the missing group with EKS’ code and keeps the last known size', () => {
    expect(decide(group(1, { desired: 4 }), undefined).status(1)).toMatchObject({
      state: 'DEGRADED',
      desired: 4,
      health: [{ code: 'AutoScalingGroupNotFound', resourceIds: ['asg-1'] }],
    });
  });

  it('dates a condition by its last change of status, not of message', () => {
    const first = decide(group(undefined), scaling(1)).status(1);
    const later = (auto: ScalingGroup, ready: readonly number[]) =>
      decideNodeGroup({
        group: { ...group(undefined), status: first },
        scaling: auto,
        isReady: (id) => ready.some((n) => anInstance(n) === id),
        now: epochMs(testStart + 60_000),
      })
        .status(1)
        .conditions?.map((each) => each.lastTransitionTime);
    const before = '2026-01-01T00:00:00Z';
    expect(later(scaling(2), [])).toEqual([before, before, before]);
    const after = '2026-01-01T00:01:00Z';
    expect(later(scaling(1, 'InService'), [0])).toEqual([after, after, before]);
  });
});
