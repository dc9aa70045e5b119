// The status of a NodeGroup from its Auto Scaling group, its nodes and operations in progress:
// counts, EKS' state, conditions. Pure; reads no API.

import { type EpochMs, formatKubeTime } from '../../api/brand.ts';
import type { ScalingGroup, ScalingInstance } from '../../api/cloud.ts';
import { defined } from '../../api/defined.ts';
import type { Condition } from '../../api/kube.ts';
import { repairIneffective } from '../../api/node-repair.ts';
import type { AdoptedFacts } from '../../api/nodegroup.ts';
import {
  autoScalingGroupNameOf,
  type HealthIssue,
  type NodeGroup,
  type NodeGroupScaling,
  type NodeGroupState,
  type NodeGroupStatus,
} from '../../api/nodegroup.ts';
import { bounded, boundedIssue, joinTimeoutMs, maxHalvings } from './health.ts';
import type { HookLack } from './hooks.ts';
import type { MarksStatus } from './nodes.ts';

export type GroupInstance = Pick<
  ScalingInstance,
  'instanceId' | 'availabilityZone' | 'lifecycleState' | 'launchTemplateVersion'
>;

export type GroupView = Pick<ScalingGroup, 'minSize' | 'maxSize' | 'desiredCapacity'> & {
  readonly instances: readonly GroupInstance[];
};

/** What the cluster lacks for Windows nodes: a reason and a message. */
export interface WindowsLack {
  readonly code: string;
  readonly message: string;
}

export interface StatusFacts {
  /** Why Drover does not receive terminations by Auto Scaling; undefined if it does. */
  readonly hookLack?: HookLack;
  /** What AWS reports about an adopted group. */
  readonly adopted?: AdoptedFacts;
  /** Set while a deleted group is released: a sentence about what that waits for. */
  readonly releasing?: string;
  /** Undefined: not a Windows group. */
  readonly windows?: readonly WindowsLack[];
  readonly group: NodeGroup;
  /** Undefined: AWS has no group of this name. */
  readonly scaling: GroupView | undefined;
  /** AWS has not listed the group for so long that eventual consistency cannot explain it. */
  readonly isMissing: boolean;
  /** The kubelet reports its node as Ready. */
  readonly isReady: (instanceId: string) => boolean;
  /** Its node is Ready and not being drained. */
  readonly isInService: (instanceId: string) => boolean;
  /** A sentence about members with unhealthy nodes; undefined if all are healthy or starting. */
  readonly unhealthy?: string;
  readonly issues: readonly HealthIssue[];
  /** The spec's sizes as recorded in this pass. */
  readonly requested: NodeGroupScaling;
  readonly target: number;
  readonly scaleIn: NodeGroupStatus['scaleIn'];
  readonly failure: NodeGroupStatus['failure'];
  /** The last version update, if it failed. */
  readonly failedUpdate?: { readonly name: string; readonly issues: readonly HealthIssue[] };
  /** An update is in progress. */
  readonly isUpdating: boolean;
  /** A sentence about a requested revision that has no update yet. */
  readonly waitingChange?: string;
  /** The revision of the template, if it was read. */
  readonly made?: Pick<
    NodeGroupStatus,
    'imageId' | 'releaseVersion' | 'version' | 'launchTemplate'
  >;
  /** The update's part of the group's size. */
  readonly surge: NonNullable<NodeGroupStatus['surge']>;
  readonly sizeCalls: NonNullable<NodeGroupStatus['sizeCalls']>;
  readonly updating?: NodeGroupStatus['updating'];
  readonly requestedRevision: NodeGroupStatus['requestedRevision'];
  readonly marked: MarksStatus;
  /** The generation whose labels and taints are in the launch template. */
  readonly templateGeneration: number | undefined;
  readonly now: EpochMs;
}

/** Instances that Auto Scaling still lists although they do not count any more. */
const isGone = ({ lifecycleState }: GroupInstance): boolean =>
  lifecycleState === 'Terminated' || lifecycleState === 'Detached';

const countBy = <T>(items: readonly T[], keyOf: (item: T) => string): Record<string, number> => {
  const counted = new Map<string, number>();
  for (const item of items) {
    const key = keyOf(item);
    counted.set(key, (counted.get(key) ?? 0) + 1);
  }
  const counts: Record<string, number> = {};
  for (const key of [...counted.keys()].toSorted()) counts[key] = counted.get(key) ?? 0;
  return counts;
};

interface Counts {
  readonly instances: readonly GroupInstance[];
  /** Instances in service. */
  readonly ready: number;
  /** Ready according to the kubelet, whether drained or not. */
  readonly joined: number;
}

const countsOf = ({ scaling, isReady, isInService }: StatusFacts): Counts => {
  const instances = (scaling?.instances ?? []).filter((one) => !isGone(one));
  const serving = instances.filter(({ lifecycleState }) => lifecycleState === 'InService');
  return {
    instances,
    ready: serving.filter(({ instanceId }) => isInService(instanceId)).length,
    joined: serving.filter(({ instanceId }) => isReady(instanceId)).length,
  };
};

/**
 * When all nodes had joined for the first time, drained since or not; for adopted groups, the
 * object's creation time.
 */
const createdAt = (facts: StatusFacts, { joined }: Counts): string | undefined => {
  const { group, scaling, issues, now } = facts;
  if (group.status?.createdAt !== undefined) return group.status.createdAt;
  if (group.spec.autoScalingGroupName !== undefined) return group.metadata.creationTimestamp;
  const whole = scaling !== undefined && joined >= scaling.desiredCapacity && issues.length === 0;
  return whole && scaling.desiredCapacity >= facts.target ? formatKubeTime(now) : undefined;
};

/**
 * Errors that may resolve by themselves: IAM propagates a new instance profile to other services
 * only after a while.
 */
const patientCodes = new Set([
  'AsgInstanceLaunchFailures',
  'InsufficientFreeAddresses',
  'IamInstanceProfileNotFound',
]);

const stateOf = (facts: StatusFacts, created: string | undefined): NodeGroupState => {
  const { group, issues, failure, isUpdating, now } = facts;
  if (group.metadata.deletionTimestamp !== undefined) {
    return failure === undefined ? 'DELETING' : 'DELETE_FAILED';
  }
  if (created === undefined) {
    const late = now - Date.parse(group.metadata.creationTimestamp) >= joinTimeoutMs;
    const failed = issues.some(({ code }) => late || !patientCodes.has(code));
    return failed ? 'CREATE_FAILED' : 'CREATING';
  }
  if (isUpdating) return 'UPDATING';
  return issues.length > 0 ? 'DEGRADED' : 'ACTIVE';
};

/** Before the group exists: the size it is created with, within its bounds. */
const wantedAtFirst = ({ requested, target }: StatusFacts): number =>
  Math.max(requested.minSize, Math.min(requested.maxSize, target));

/**
 * If one answer lacks the group: the last observed sizes. A group that was never complete and does
 * not exist is created again, with the sizes that the spec requests.
 */
const sizesOf = (facts: StatusFacts): Pick<NodeGroupStatus, 'desired' | 'minSize' | 'maxSize'> => {
  const { group, scaling, isMissing, requested } = facts;
  if (scaling !== undefined) {
    const { desiredCapacity: desired, minSize, maxSize } = scaling;
    return { desired, minSize, maxSize };
  }
  const { status } = group;
  if (status !== undefined && (!isMissing || status.createdAt !== undefined)) {
    const { desired, minSize, maxSize } = status;
    return { desired, minSize, maxSize };
  }
  const { minSize, maxSize } = requested;
  return { desired: wantedAtFirst(facts), minSize, maxSize };
};

/** docs/designs/termination.md: a status is at most 16 KB. */
const maxStatusBytes = 16_384;
const utf8 = new TextEncoder();
const isTooLong = (status: NodeGroupStatus): boolean => {
  const text = JSON.stringify(status);
  // A UTF-16 code unit takes at most three bytes in UTF-8.
  return text.length * 3 > maxStatusBytes && utf8.encode(text).length > maxStatusBytes;
};

/**
 * Shortens the texts about issues until the status fits; without issues there is nothing to
 * shorten.
 */
export const statusOf = (facts: StatusFacts): NodeGroupStatus => {
  for (let halvings = 0; ; halvings++) {
    const status = wholeStatus(facts, halvings);
    const isPlain = status.health?.length === 0 && facts.failure === undefined;
    if (isPlain || halvings === maxHalvings || !isTooLong(status)) return status;
  }
};

/** Omitted if the update has no part of the size and nothing is recorded for it. */
const surgeOf = ({ surge }: StatusFacts): Pick<NodeGroupStatus, 'surge'> => {
  const { desired, maxSize, ...more } = surge;
  const isNothing = desired === 0 && maxSize === 0 && Object.keys(more).length === 0;
  return isNothing ? {} : { surge };
};

/**
 * An adopted group is as its owner created it, with the template that its spec named when it was
 * first observed.
 */
const adoptedTemplate = ({ group, requestedRevision }: StatusFacts) => {
  const { spec, status } = group;
  if (spec.autoScalingGroupName === undefined) return undefined;
  return (status?.requestedRevision ?? requestedRevision)?.launchTemplate;
};

const wholeStatus = (facts: StatusFacts, halvings: number): NodeGroupStatus => {
  const { group, scaleIn, made, templateGeneration } = facts;
  const failure = facts.failure && { ...facts.failure, ...boundedIssue(facts.failure, halvings) };
  const before = group.status;
  const counts = countsOf(facts);
  const created = createdAt(facts, counts);
  const { generation } = group.metadata;
  const { failedUpdate } = facts;
  const issues = bounded([...facts.issues, ...(failedUpdate?.issues ?? [])], halvings);
  const releaseVersion =
    made?.releaseVersion ?? before?.releaseVersion ?? group.spec.releaseVersion;
  const adopted = facts.adopted ?? before?.adopted;
  const imageId = made?.imageId ?? before?.imageId ?? adopted?.imageId;
  const launchTemplate = made?.launchTemplate ?? before?.launchTemplate ?? adoptedTemplate(facts);
  const conditions = conditionsOf({ ...facts, issues }, counts).map((one) =>
    dated({ ...one, ...(generation && { observedGeneration: generation }) }, facts),
  );
  return {
    ...defined({ observedGeneration: generation }),
    state: stateOf(facts, created),
    ...sizesOf(facts),
    instances: counts.instances.length,
    ready: counts.ready,
    perZone: countBy(counts.instances, ({ availabilityZone }) => availabilityZone),
    perTemplateVersion: countBy(counts.instances, (one) => one.launchTemplateVersion || '?'),
    autoScalingGroupName: autoScalingGroupNameOf(group),
    capacityType: group.spec.capacityType,
    version: made?.version ?? (before?.version || group.spec.version),
    ...defined({ releaseVersion, imageId, launchTemplate, adopted, createdAt: created }),
    requested: facts.requested,
    ...defined({ requestedRevision: facts.requestedRevision }),
    ...surgeOf(facts),
    ...(facts.sizeCalls.length === 0 ? {} : { sizeCalls: facts.sizeCalls }),
    ...defined({ updating: facts.updating, scaleIn, failure }),
    ...(failedUpdate === undefined ? {} : { failedUpdate: failedUpdate.name }),
    ...facts.marked,
    ...defined({ templateGeneration }),
    health: issues,
    conditions,
  };
};

const condition = (
  type: string,
  status: Condition['status'],
  reason: string,
  message: string,
): Condition => ({ type, status, reason, message });

/** Unhealthy nodes set the group's Degraded condition; as in EKS, the group stays ACTIVE. */
const degradedBy = (
  issue: HealthIssue | undefined,
  { unhealthy }: Pick<StatusFacts, 'unhealthy'>,
): Condition => {
  if (issue !== undefined) return condition('Degraded', 'True', issue.code, issue.message);
  return unhealthy === undefined
    ? condition('Degraded', 'False', 'Healthy', 'No health issue is known.')
    : condition('Degraded', 'True', 'NodesUnhealthy', unhealthy);
};

const conditionsOf = (facts: StatusFacts, counts: Counts): readonly Condition[] => {
  const { scaling, issues } = facts;
  const [issue] = issues;
  const degraded = degradedBy(issue, facts);
  if (scaling === undefined) {
    const [reason, message] =
      issue === undefined
        ? ['Creating', 'The Auto Scaling group does not exist yet.']
        : [issue.code, issue.message];
    const progress = issue === undefined ? 'True' : 'False';
    return [
      condition('Ready', 'False', reason, message),
      condition('Progressing', progress, reason, message),
      degraded,
      ...windowsSupported(facts),
    ];
  }
  const wanted = scaling.desiredCapacity;
  const nodes = `${counts.ready} of ${wanted} nodes are Ready.`;
  const ready =
    counts.ready >= wanted
      ? condition('Ready', 'True', 'NodesReady', nodes)
      : condition('Ready', 'False', 'NodesNotReady', nodes);
  const progress = withWaiting(progressing(facts, scaling, counts), facts);
  return [
    ready,
    progress,
    degraded,
    ...windowsSupported(facts),
    ...terminationsNotSeen(facts),
    ...repairsDoNotHelp(issues),
  ];
};

/** Set only while Drover cannot drain what Auto Scaling terminates. */
const terminationsNotSeen = ({ hookLack }: StatusFacts): readonly Condition[] =>
  hookLack === undefined
    ? []
    : [condition('TerminationsNotSeen', 'True', hookLack.reason, hookLack.message)];

/** Set only while consecutive repairs have not helped. */
const repairsDoNotHelp = (issues: readonly HealthIssue[]): readonly Condition[] =>
  issues
    .filter(({ code }) => code === repairIneffective)
    .map(({ message }) => condition(repairIneffective, 'True', 'RepairsDoNotHelp', message));

/** Appends the next change and why it waits. */
const withWaiting = (progress: Condition, { waitingChange }: StatusFacts): Condition =>
  waitingChange === undefined
    ? progress
    : { ...progress, message: `${progress.message} ${waitingChange}` };

/** Windows groups only: nodes join without these, but pods do not run as intended. */
const windowsSupported = ({ windows }: StatusFacts): readonly Condition[] => {
  if (windows === undefined) return [];
  const [first] = windows;
  return [
    first === undefined
      ? condition(
          'WindowsSupported',
          'True',
          'Supported',
          'The cluster has what Windows nodes need.',
        )
      : condition('WindowsSupported', 'False', first.code, first.message),
  ];
};

const progressing = (facts: StatusFacts, scaling: GroupView, { instances }: Counts): Condition => {
  const { group, target, failure, scaleIn, isUpdating, failedUpdate } = facts;
  const moving = countBy(
    instances.filter(({ lifecycleState }) => lifecycleState !== 'InService'),
    ({ lifecycleState }) => lifecycleState,
  );
  const parts = Object.entries(moving).map(([state, count]) => `${count} ${state}`);
  if (facts.releasing !== undefined) {
    const stays = `Auto Scaling group ${autoScalingGroupNameOf(group)} and its ${instances.length} instances stay (deletion policy Retain).`;
    return condition('Progressing', 'True', 'Releasing', `${stays} ${facts.releasing}`.trim());
  }
  if (group.metadata.deletionTimestamp !== undefined) {
    const left = `${instances.length} instances are left.`;
    const why = failure === undefined ? left : `${left} ${failure.message}`;
    return condition('Progressing', 'True', failure?.code ?? 'Deleting', why);
  }
  if (scaleIn !== undefined) {
    const message = `${scaling.desiredCapacity} nodes on their way to ${target}: drained first.`;
    return condition('Progressing', 'True', 'ScalingIn', message);
  }
  if (parts.length > 0) {
    return condition('Progressing', 'True', 'InstancesChanging', `${parts.join(', ')}.`);
  }
  if (instances.length !== scaling.desiredCapacity || target !== scaling.desiredCapacity) {
    const message = `${instances.length} of ${Math.max(target, scaling.desiredCapacity)} instances exist.`;
    return condition('Progressing', 'True', 'InstancesChanging', message);
  }
  if (failure !== undefined) {
    return condition('Progressing', 'False', failure.code, failure.message);
  }
  if (isUpdating) {
    return condition('Progressing', 'True', 'Updating', 'An update is in progress.');
  }
  const [failed] = failedUpdate?.issues ?? [];
  if (failed !== undefined) {
    return condition('Progressing', 'False', failed.code, failed.message);
  }
  return condition('Progressing', 'False', 'Settled', 'All instances are in service.');
};

/**
 * Keeps the transition time while the condition's status stays; a new reason or message is not a
 * transition.
 */
const dated = (next: Condition, { group, now }: StatusFacts): Condition => {
  const before = group.status?.conditions?.find(({ type }) => type === next.type);
  const same = before?.status === next.status ? before.lastTransitionTime : undefined;
  return { ...next, lastTransitionTime: same ?? formatKubeTime(now) };
};
