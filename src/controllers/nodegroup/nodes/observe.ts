// Observes a group's health: failed launches while instances are missing, and late instances with
// their console output. Reads the cloud only if something is missing.
import type { EpochMs } from '../../../api/brand.ts';
import type { ScalingGroup } from '../../../api/cloud.ts';
import { isReady } from '../../../api/conditions.ts';
import {
  autoScalingGroupNameOf,
  type HealthIssue,
  type NodeGroup,
} from '../../../api/nodegroup.ts';
import type { MissingNode } from '../../../api/nodegroup-update.ts';
import { countedOf } from '../../../core/group-plan/index.ts';
import {
  isLate,
  joinIssue,
  joinTimeoutMs,
  type KnownCause,
  lateAt,
  launchIssues,
  type Unjoined,
  usualJoinMs,
  whyUnjoined,
} from '../../../core/nodegroup/index.ts';
import { failedLaunches } from '../../../core/update/index.ts';
import { CloudError } from '../../../ports/index.ts';
import { nodeOfInstance } from '../../informers.ts';
import type { NodeGroupDeps } from '../deps.ts';
import { type ActivityMemory, lookAtActivities } from './activities.ts';
import { joinCausesOf, type LateInstance } from './join-causes.ts';

export interface Health {
  readonly issues: readonly HealthIssue[];
  /** Failed launches, and instances without a Ready node, with what is known of each. */
  readonly launches: readonly MissingNode[];
  readonly unjoined: readonly (Unjoined & { readonly why?: string })[];
  /** When the next instance becomes late. */
  readonly nextAt: EpochMs | undefined;
}

/** A console that cannot be read is not an error. */
const consoleOf = async (
  { cloud }: NodeGroupDeps,
  instanceId: string,
  signal: AbortSignal,
): Promise<string | undefined> => {
  try {
    return await cloud.consoleOutput(instanceId, { signal });
  } catch (error) {
    if (error instanceof CloudError) return undefined;
    throw error;
  }
};

const maxConsoles = 3;

const unjoinedOf = async (
  deps: NodeGroupDeps,
  { status }: NodeGroup,
  scaling: ScalingGroup,
  signal: AbortSignal,
): Promise<readonly LateInstance[]> => {
  const hasJoined = (id: string): boolean => {
    const node = nodeOfInstance(deps.nodes, id);
    // In a group that was complete once, an unhealthy node has joined: that is a health issue, not
    // a creation failure.
    return node !== undefined && (status?.createdAt !== undefined || isReady(node));
  };
  const ids = countedOf(scaling)
    .map(({ instanceId }) => instanceId)
    .filter((id) => !hasJoined(id));
  if (ids.length === 0) return [];
  const found = await deps.cloud.describeInstances(ids, { signal });
  return found.map((instance) => {
    const node = nodeOfInstance(deps.nodes, instance.instanceId);
    const hasNode = node !== undefined && !isReady(node);
    return { launchTime: undefined, ...instance, hasNode, console: undefined };
  });
};

export interface LateFindings {
  readonly at: EpochMs;
  /** Ids of the late instances at that time. */
  readonly ids: string;
  readonly instances: readonly LateInstance[];
  readonly causes: readonly KnownCause[];
}

/**
 * Console output and configuration change slowly, but passes run every two seconds during an
 * update.
 */
const lookAgainMs = 30_000;

/** Why they do not join; recent findings are reused while the late instances are the same. */
const findLate = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  { scaling, unjoined, memory }: Looked,
  signal: AbortSignal,
): Promise<Pick<LateFindings, 'instances' | 'causes'>> => {
  const ids = unjoined.map(({ instanceId }) => instanceId).join(' ');
  const { late: before } = memory;
  const now = deps.clock.now();
  if (before?.ids === ids && now - before.at < lookAgainMs) return before;
  const late: LateInstance[] = [];
  for (const one of unjoined) {
    const console =
      late.length < maxConsoles ? await consoleOf(deps, one.instanceId, signal) : undefined;
    late.push({ ...one, console });
  }
  const causes =
    late.length === 0 ? [] : await joinCausesOf(deps, group, { scaling, late }, signal);
  memory.late = { at: now, ids, instances: late, causes };
  return memory.late;
};

/**
 * An update in this phase waits for the first new node of each zone, even if the requested number
 * of instances runs.
 */
const awaitsNewNodes = ({ updates }: NodeGroupDeps, { status }: NodeGroup): boolean =>
  updates.get(status?.updating?.name ?? '')?.status?.phase === 'ScalingUp';

interface Looked {
  readonly scaling: ScalingGroup;
  readonly unjoined: readonly LateInstance[];
  readonly memory: { late?: LateFindings; activities?: ActivityMemory };
}

export const observeHealth = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  { scaling, memory }: Omit<Looked, 'unjoined'>,
  signal: AbortSignal,
): Promise<Health> => {
  const now = deps.clock.now();
  const isShort = countedOf(scaling).length < scaling.desiredCapacity;
  const name = autoScalingGroupNameOf(group);
  const isWaiting = awaitsNewNodes(deps, group);
  const activities =
    isShort || isWaiting ? await lookAtActivities(deps, { scaling, memory }, signal) : [];
  const unjoined = await unjoinedOf(deps, group, scaling, signal);
  // An update reports why nodes do not join long before its timeout.
  const afterMs = group.status?.updating === undefined ? joinTimeoutMs : usualJoinMs;
  const overdue = unjoined.filter((each) => isLate(each, now, afterMs));
  const looked = { scaling, unjoined: overdue, memory };
  const { instances, causes } = await findLate(deps, group, looked, signal);
  const late = instances.filter((each) => isLate(each, now));
  const join = joinIssue(late, causes);
  const whyOf = new Map(instances.map((one) => [one.instanceId, whyUnjoined(one, causes)]));
  return {
    issues: [
      ...(isShort ? launchIssues(activities, name) : []),
      ...(join === undefined ? [] : [join]),
    ],
    launches: failedLaunches(activities),
    unjoined: unjoined.map((one) => {
      const why = whyOf.get(one.instanceId);
      return why === undefined ? one : { ...one, why };
    }),
    nextAt: lateAt(unjoined, now, afterMs) ?? lateAt(unjoined, now),
  };
};
