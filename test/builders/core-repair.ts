// For tests only: healthy and unhealthy members of a group, and observations of their repairs.
import { epochMs, formatKubeTime } from '../../src/api/brand.ts';
import type { Condition, Node } from '../../src/api/kube.ts';
import type { NodeRepair, NodeRepairStatus } from '../../src/api/node-repair.ts';
import type { NodeGroup, NodeGroupSpec } from '../../src/api/nodegroup.ts';
import { healthOf } from '../../src/core/health/index.ts';
import {
  decideRepairs,
  type RepairMember,
  type RepairObservation,
  type RepairOutlook,
  type RepairPlan,
} from '../../src/core/repair/index.ts';
import { kubeTimePlus, timePlus, tPlus } from './core-drain.ts';
import { aGroup as aPlainGroup } from './core-termination.ts';

/** `m` minutes into the test. */
export const atMinute = (m: number) => tPlus(m * 60);
export const timeAt = (m: number): string => timePlus(m * 60);

export const idOf = (n: number): string => `i-${n.toString(16).padStart(17, '0')}`;

export const aRepairGroup = (more: Partial<NodeGroupSpec> = {}): NodeGroup => {
  const group = aPlainGroup(undefined);
  return {
    ...group,
    spec: { ...group.spec, nodeRepairConfig: { enabled: true }, ...more },
    status: {
      state: 'ACTIVE',
      desired: 3,
      minSize: 0,
      maxSize: 10,
      instances: 3,
      ready: 3,
      createdAt: timePlus(-3600),
    },
  };
};

/** A bad condition since minute `since`. */
export const bad = (since: number, more: Partial<Condition> = {}): Condition => ({
  type: 'Ready',
  status: 'Unknown',
  reason: 'NodeStatusUnknown',
  lastTransitionTime: kubeTimePlus(since * 60),
  ...more,
});

export interface MemberOverrides {
  readonly conditions?: readonly Condition[];
  readonly zone?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly bootId?: string;
  /** Minute of the node's registration; default: long before the test. */
  readonly created?: number;
}

const aRepairNode = (n: number, more: MemberOverrides): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name: `n${n}`,
    uid: `uid-n${n}`,
    resourceVersion: '1',
    creationTimestamp: kubeTimePlus((more.created ?? -600) * 60),
    ...(more.annotations === undefined ? {} : { annotations: more.annotations }),
  },
  spec: { providerID: `aws:///eu-west-1a/${idOf(n)}` },
  status: {
    conditions: [
      { type: 'Ready', status: 'True', lastTransitionTime: kubeTimePlus(-600 * 60) },
      ...(more.conditions ?? []),
    ].filter(
      ({ type }, index, all) => all.findLastIndex((one) => one.type === type) === index,
    ) as readonly Condition[],
    ...(more.bootId === undefined ? {} : { nodeInfo: { bootID: more.bootId } }),
  },
});

/** Member `n` at minute `m`. */
export const aMember = (n: number, m: number, more: MemberOverrides = {}): RepairMember => {
  const node = aRepairNode(n, more);
  const health = healthOf({ node, now: atMinute(m) });
  const isInService = node.status.conditions?.some(
    ({ type, status }) => type === 'Ready' && status === 'True',
  );
  return {
    instanceId: idOf(n),
    availabilityZone: more.zone ?? 'eu-west-1a',
    node,
    health,
    isInService: isInService === true,
  };
};

export const healthyMembers = (from: number, to: number, m: number): readonly RepairMember[] =>
  Array.from({ length: to - from + 1 }, (_, index) => aMember(from + index, m));

export const aRepair = (
  n: number,
  since: number,
  status?: NodeRepairStatus,
  serial = 1,
): NodeRepair => ({
  apiVersion: 'drover.dev/v1alpha1',
  kind: 'NodeRepair',
  metadata: {
    name: `${idOf(n)}-${serial}`,
    uid: `uid-r${n}`,
    resourceVersion: '1',
    creationTimestamp: timeAt(since),
  },
  spec: {
    nodeGroup: 'ng',
    instanceId: idOf(n),
    node: { name: `n${n}`, uid: `uid-n${n}` },
    unhealthySince: timeAt(since),
    condition: 'Ready',
    reason: 'NodeStatusUnknown',
  },
  ...(status === undefined ? {} : { status }),
});

export const aRepairObservation = (
  m: number,
  members: readonly RepairMember[],
  more: Partial<RepairObservation> = {},
): RepairObservation => ({
  group: aRepairGroup(),
  desired: members.length,
  members,
  repairs: [],
  disruptions: new Map(),
  gone: new Set(),
  cluster: members.map(({ node, availabilityZone: zone }) => {
    const ready = node?.status.conditions?.find(({ type }) => type === 'Ready');
    return {
      zone,
      ready: ready?.status ?? 'Unknown',
      since: epochMs(Date.parse(ready?.lastTransitionTime ?? formatKubeTime(atMinute(0)))),
    };
  }),
  now: atMinute(m),
  ...more,
});

/** The repair of member `n` after the plan. */
export const outlookOf = (plan: RepairPlan, n: number): RepairOutlook | undefined =>
  plan.outlook.find(({ spec }) => spec.instanceId === idOf(n));

/** The phase of member `n` after the plan, and what blocks it. */
export const verdictOf = (observation: RepairObservation, n: number): string => {
  const { status } = outlookOf(decideRepairs(observation), n) ?? {};
  if (status === undefined) return 'none';
  const kinds = (status.blockedBy ?? []).map(({ kind }) => kind).join(',');
  return kinds === '' ? status.phase : `${status.phase} ${kinds}`;
};
