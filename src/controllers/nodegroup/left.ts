// Instances that an update ends with decrement and that have left their group: whether they took their place along. Their
// records say who may have ended them, Auto Scaling's activities who did. Decides nothing.
import type { NodeGroup } from '../../api/nodegroup.ts';
import type { NodeGroupUpdate } from '../../api/nodegroup-update.ts';
import { type Left, leftSince } from '../../core/scaling/index.ts';
import { endedByCall, isAskedToEnd } from '../../core/update/index.ts';
import { CloudError, type ScalingActivity, type ScalingGroup } from '../../ports/index.ts';
import type { NodeGroupDeps } from './deps.ts';
import { countedOf } from './resize.ts';

/** Of instances that have left, by id: whether the group became smaller by each. */
export type LeftMemory = Map<string, boolean>;

/** Auto Scaling's words for TerminateInstanceInAutoScalingGroup with decrement, whoever calls it. */
const shrank = /in response to a user request, shrinking the capacity/;

const findOut = (
  activities: readonly ScalingActivity[],
  ids: readonly string[],
  memory: LeftMemory,
): void => {
  for (const id of ids) {
    const own = activities.find(
      ({ description, cause }) =>
        description.includes(id) && /^Terminating/.test(description) && cause,
    );
    if (own !== undefined) memory.set(id, shrank.test(own.cause ?? ''));
  }
};

/**
 * `sure`: the activity says that the group became smaller by it. Where Auto Scaling tells nothing (any more) the record
 * alone is no proof: EC2 may have taken the instance back just then.
 */
export const leftOf = async (
  { disruptions, clock, cloud, log }: NodeGroupDeps,
  group: NodeGroup,
  scaling: ScalingGroup,
  around: { readonly update: NodeGroupUpdate | undefined; readonly memory: LeftMemory },
  signal: AbortSignal,
): Promise<Left> => {
  const { update, memory } = around;
  // One that waits for its turn has ended nobody yet: what leaves still belongs to the one before it.
  if (update === undefined || update.metadata.name !== group.status?.updating?.name) {
    memory.clear();
    return leftSince(group.status?.surge);
  }
  const here = new Set(countedOf(scaling).map(({ instanceId }) => instanceId));
  const asked = disruptions
    .list()
    .filter(
      ({ spec, metadata }) => spec.nodeGroup === group.metadata.name && !here.has(metadata.name),
    )
    .filter((one) => isAskedToEnd(one, update.metadata.name));
  const left = asked.map(({ metadata }) => metadata.name);
  const known = group.status?.surge?.left ?? 0;
  const unknown = left.filter((id) => !memory.has(id));
  if (left.length > known && unknown.length > 0) {
    try {
      findOut(await cloud.describeActivities(scaling.name, { signal }), unknown, memory);
    } catch (error) {
      signal.throwIfAborted();
      // Anything else is tried again before it is decided on.
      if (!(error instanceof CloudError) || error.code !== 'AccessDenied') throw error;
      log.warn('activities not read', { group: group.metadata.name, code: error.code });
    }
  }
  const mayHave = asked.filter(
    (one) => endedByCall(one, update.metadata.name, clock.now()) !== 'no',
  );
  const shown = left.filter((id) => memory.get(id) === true).length;
  const untold = left.filter((id) => !memory.has(id)).length;
  // Another process, or this one long ago, has counted those of which Auto Scaling tells nothing any more.
  const sure = shown + Math.min(untold, Math.max(0, known - shown));
  const maybe = mayHave.filter(({ metadata }) => !memory.has(metadata.name)).length;
  return { sure, most: Math.max(sure, shown + maybe) };
};
