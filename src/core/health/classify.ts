// Classifies the health of one instance from its node's conditions, EC2's status checks and whether
// its node exists. Names each finding and the time since when it holds. Decides no repair. Pure.
import { type EpochMs, epochMs, parseTime } from '../../api/brand.ts';
import type { Condition, Node } from '../../api/kube.ts';
import {
  agentConditions,
  instanceConditions,
  pressureConditions,
  repairableConditions,
} from './conditions.ts';

/** EKS gives a new node this long to join; `nodeRepair.startupTimeoutSeconds` changes it. */
export const startupTimeoutMs = 15 * 60_000;
/** A deleted Node may reappear within this time when the kubelet registers again. */
export const deletedWaitMs = 60_000;
/**
 * The agent renews its conditions every 5 minutes; after three missed renewals it counts as silent.
 */
export const agentSilentMs = 15 * 60_000;
/** A node that has been NotReady since it registered is starting, not unhealthy. */
const startsWithinMs = 60_000;

export interface Finding {
  readonly condition: string;
  readonly status: 'False' | 'Unknown' | 'True';
  readonly reason: string;
  readonly message?: string;
  readonly since: EpochMs;
}

/** Joining: not a Ready node yet. Pressure: EKS never repairs it. Unhealthy: EKS may repair it. */
export type HealthState = 'Healthy' | 'Joining' | 'Pressure' | 'Unhealthy';

export interface NodeHealth {
  readonly state: HealthState;
  /** Time since when this state holds; undefined if nothing reports it. */
  readonly since: EpochMs | undefined;
  /** Oldest first; pressures after all others. */
  readonly findings: readonly Finding[];
}

export interface HealthFacts {
  readonly node: Node | undefined;
  /** EC2's launch time of the instance, if known. */
  readonly launchedAt?: EpochMs | undefined;
  /** When a controller that had seen the instance's Node object first found it missing. */
  readonly missedSince?: EpochMs | undefined;
  /** EC2's status checks that fail. */
  readonly impaired?: readonly ImpairedCheck[] | undefined;
  readonly startupTimeoutMs?: number;
  readonly now: EpochMs;
}

export interface ImpairedCheck {
  readonly check: 'instance' | 'system';
  readonly since: EpochMs | undefined;
}

/** Clamps a time that a node reports between the node's creation and the current time. */
const sinceOf = (condition: Condition, node: Node, now: EpochMs): EpochMs => {
  const created = parseTime(node.metadata.creationTimestamp) ?? 0;
  const said = parseTime(condition.lastTransitionTime) ?? created;
  return epochMs(Math.min(now, Math.max(created, said)));
};

const isAgents = (type: string): boolean => agentConditions.some((each) => each === type);

/** Whether the agent is silent; its condition then says nothing about the node's health. */
const isSilent = ({ type, lastHeartbeatTime }: Condition, now: EpochMs): boolean => {
  const at = parseTime(lastHeartbeatTime);
  return isAgents(type) && at !== undefined && now - at > agentSilentMs;
};

const findingOf = (condition: Condition, node: Node, now: EpochMs): Finding | undefined => {
  const { type, status, reason = type, message } = condition;
  const bad = pressureConditions.has(type)
    ? status === 'True'
    : repairableConditions.has(type) &&
      (status === 'False' || (type === 'Ready' && status === 'Unknown'));
  if (!bad || isSilent(condition, now)) return undefined;
  return {
    condition: type,
    status,
    reason,
    since: sinceOf(condition, node, now),
    ...(message === undefined ? {} : { message }),
  };
};

/** NotReady since it registered, and its startup time is not over. */
const isStarting = (
  { condition, status, since }: Finding,
  { node, now, startupTimeoutMs: within = startupTimeoutMs }: HealthFacts,
): boolean => {
  const created = parseTime(node?.metadata.creationTimestamp) ?? 0;
  const isFromStart = since - created <= startsWithinMs;
  return condition === 'Ready' && status !== 'True' && isFromStart && now - created < within;
};

const checkFindings = ({ impaired = [], now }: HealthFacts): readonly Finding[] =>
  impaired.map(({ check, since }) => ({
    condition:
      check === 'instance' ? instanceConditions.instanceStatus : instanceConditions.systemStatus,
    status: 'False',
    reason: 'Impaired',
    message: `EC2's ${check} status check fails.`,
    since: since ?? now,
  }));

const byAge = (a: Finding, b: Finding): number => {
  const [first, second] = [a, b].map(({ condition }) => pressureConditions.has(condition));
  if (first !== second) return first === true ? 1 : -1;
  return a.since - b.since || a.condition.localeCompare(b.condition);
};

/** An instance without a Node object. */
const withoutNode = (facts: HealthFacts): NodeHealth => {
  const { launchedAt, missedSince, now, startupTimeoutMs: within = startupTimeoutMs } = facts;
  const checks = checkFindings(facts);
  const dueAt = launchedAt === undefined ? undefined : launchedAt + within;
  const isLate = within > 0 && dueAt !== undefined && now >= dueAt;
  if (missedSince === undefined && !isLate) {
    if (checks.length > 0) return unhealthy(checks);
    return { state: 'Joining', since: launchedAt, findings: [] };
  }
  const missing: Finding = {
    condition: instanceConditions.node,
    status: 'False',
    reason: missedSince === undefined ? 'NeverJoined' : 'NodeDeleted',
    message:
      missedSince === undefined
        ? 'The instance runs and has no Node object.'
        : 'The Node object was deleted while the instance runs.',
    since: missedSince ?? launchedAt ?? now,
  };
  return unhealthy([missing, ...checks]);
};

const unhealthy = (findings: readonly Finding[]): NodeHealth => {
  const sorted = findings.toSorted(byAge);
  return { state: 'Unhealthy', since: sorted[0]?.since, findings: sorted };
};

/** When the latest of its good conditions became good. */
const healthySince = (node: Node, now: EpochMs): EpochMs | undefined => {
  const times = (node.status.conditions ?? [])
    .filter(({ type, status }) => repairableConditions.has(type) && status === 'True')
    .map((condition) => sinceOf(condition, node, now));
  return times.length === 0 ? undefined : epochMs(Math.max(...times));
};

/** The health of one running instance. */
export const healthOf = (facts: HealthFacts): NodeHealth => {
  const { node, now } = facts;
  if (node === undefined) return withoutNode(facts);
  const { conditions = [] } = node.status;
  const all = [
    ...conditions.flatMap((condition) => findingOf(condition, node, now) ?? []),
    ...checkFindings(facts),
  ].toSorted(byAge);
  const serious = all.filter(({ condition }) => !pressureConditions.has(condition));
  const starting = serious.filter((finding) => isStarting(finding, facts));
  const hasReady = conditions.some(({ type }) => type === 'Ready');
  if (serious.length > starting.length) {
    return { state: 'Unhealthy', since: serious[0]?.since, findings: all };
  }
  if (starting.length > 0 || !hasReady) {
    const since = parseTime(node.metadata.creationTimestamp);
    return { state: 'Joining', since, findings: all };
  }
  if (all.length > 0) return { state: 'Pressure', since: healthySince(node, now), findings: all };
  return { state: 'Healthy', since: healthySince(node, now), findings: [] };
};

/** Whether the node's kubelet is alive and Ready, so that its pods can stop gracefully. */
export const canDrain = ({ findings }: NodeHealth): boolean =>
  !findings.some(({ condition }) => condition === 'Ready' || condition === instanceConditions.node);
