// For tests only: updates, their groups and the disruptions of their nodes, with overrides.

import { formatTime } from '../../src/api/brand.ts';
import { defined } from '../../src/api/defined.ts';
import type {
  DisruptionCause,
  NodeDisruption,
  NodeDisruptionStatus,
} from '../../src/api/disruption.ts';
import type { NodeGroup } from '../../src/api/nodegroup.ts';
import type {
  NodeGroupUpdate,
  NodeGroupUpdateSpec,
  NodeGroupUpdateStatus,
} from '../../src/api/nodegroup-update.ts';
import { timePlus, tPlus } from './core-termination.ts';

export const now = tPlus(750);

const revision = (releaseVersion: string, templateVersion: string) => ({
  version: '1.32',
  releaseVersion,
  imageId: `ami-${templateVersion}`,
  templateVersion,
});

export const running: NodeGroupUpdateStatus = {
  status: 'InProgress',
  phase: 'Rolling',
  startedAt: timePlus(0),
  strategy: 'DEFAULT',
  maxUnavailable: 1,
  from: revision('1.32.9-20260905', '1'),
  target: revision('1.32.9-20260919', '2'),
  progress: { total: 5, done: 2, draining: 1, failed: 0 },
  phases: [
    { phase: 'Preparing', at: timePlus(0) },
    { phase: 'ScalingUp', at: timePlus(5) },
    { phase: 'Rolling', at: timePlus(150) },
  ],
};

export const anUpdate = (
  more: {
    readonly name?: string;
    readonly spec?: Partial<NodeGroupUpdateSpec>;
    readonly status?: NodeGroupUpdateStatus | undefined;
  } = {},
): NodeGroupUpdate => {
  const status = 'status' in more ? more.status : running;
  return {
    apiVersion: 'drover.dev/v1alpha1',
    kind: 'NodeGroupUpdate',
    metadata: {
      name: more.name ?? 'u1',
      uid: `uid-${more.name ?? 'u1'}`,
      resourceVersion: '1',
      creationTimestamp: timePlus(0),
    },
    spec: {
      nodeGroup: 'ng',
      type: 'VersionUpdate',
      params: [{ type: 'ReleaseVersion', value: '1.32.9-20260919' }],
      change: { version: '1.32', releaseVersion: '1.32.9-20260919' },
      ...more.spec,
    },
    ...defined({ status }),
  };
};

export const aGroup = (more: Partial<NodeGroup['spec']> = {}): NodeGroup => ({
  apiVersion: 'drover.dev/v1alpha1',
  kind: 'NodeGroup',
  metadata: { name: 'ng', uid: 'uid-ng', resourceVersion: '1', creationTimestamp: timePlus(0) },
  spec: {
    clusterName: 'c',
    amiType: 'AL2023_x86_64_STANDARD',
    capacityType: 'ON_DEMAND',
    instanceTypes: ['m5.large'],
    version: '1.32',
    nodeRole: 'arn:aws:iam::111111111111:role/r',
    subnets: ['subnet-1'],
    scaling: { minSize: 0, maxSize: 5 },
    ...more,
  },
  status: { state: 'UPDATING', desired: 5, minSize: 0, maxSize: 5, instances: 7, ready: 6 },
});

/** The entry of node `n<index>` in update u1. */
export const aPart = (
  index: number,
  status: Partial<NodeDisruptionStatus> | undefined,
  cause: Partial<DisruptionCause> = {},
): NodeDisruption => ({
  apiVersion: 'drover.dev/v1alpha1',
  kind: 'NodeDisruption',
  metadata: {
    name: `i-${index}`,
    uid: `uid-${index}`,
    resourceVersion: '1',
    creationTimestamp: timePlus(0),
  },
  spec: {
    instanceId: `i-${index}`,
    nodeName: `n${index}`,
    nodeGroup: 'ng',
    causes: [
      {
        kind: 'Update',
        id: 'update/u1',
        receivedAt: formatTime(tPlus(140)),
        onDeadline: 'fail',
        followUp: 'Replace',
        hold: false,
        ...cause,
      },
    ],
  },
  ...(status === undefined ? {} : { status: { episode: 1, phase: 'Draining', ...status } }),
});

/** Draining since minute 10 of the update, blocked by a budget. */
export const blocked = (index: number, pods = 1): NodeDisruption =>
  aPart(index, {
    markedAt: timePlus(600),
    podsTotal: 8,
    podsRemaining: pods,
    deadline: timePlus(1500),
    onDeadline: 'fail',
    waitingOn: Array.from({ length: pods }, (_, pod) => ({
      kind: 'pdb' as const,
      pod: `web/web-${index}-${pod}`,
      budgets: ['web/web'],
      owner: 'ReplicaSet/web',
      message: '0 of 1 may be disrupted',
      neverAllows: true,
      since: timePlus(610),
    })),
  });

export const held = (index: number): NodeDisruption =>
  aPart(index, { waitingOn: [{ kind: 'hold', by: 'update u1' }] }, { hold: true });

export const done = (index: number): NodeDisruption =>
  aPart(index, {
    phase: 'Ended',
    outcome: 'Drained',
    endedAt: timePlus(500),
    handledCauses: ['update/u1'],
  });
