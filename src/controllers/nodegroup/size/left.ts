// Instances that left their group with decrement: those that an update terminates, and those that
// other actors terminate. NodeDisruptions show who may have terminated them, Auto Scaling's
// activities who did. Decides nothing.
import { epochMs, formatTime, parseTime } from '../../../api/brand.ts';
import type { ScalingActivity, ScalingGroup } from '../../../api/cloud.ts';
import type { NodeGroup } from '../../../api/nodegroup.ts';
import type { NodeGroupUpdate } from '../../../api/nodegroup-update.ts';
import { countedOf } from '../../../core/group-plan/index.ts';
import { type Left, leftSince } from '../../../core/nodegroup/index.ts';
import { endedByCall, isTerminationRequested } from '../../../core/update/index.ts';
import { CloudError } from '../../../ports/index.ts';
import type { NodeGroupDeps } from '../deps.ts';

/** Instances that have left, by id: whether the group shrank by each. */
export type LeftMemory = Map<string, boolean>;

/** Auto Scaling's text for TerminateInstanceInAutoScalingGroup with decrement, by any caller. */
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
 * Every termination with decrement that this controller requests has its cause in the instance's
 * NodeDisruption.
 */
const isOurs = ({ disruptions }: Pick<NodeGroupDeps, 'disruptions'>, instanceId: string): boolean =>
  disruptions
    .get(instanceId)
    ?.spec.causes.some(
      ({ kind, followUp, cancelledAt }) =>
        kind !== 'LifecycleHook' && followUp === 'Terminate' && cancelledAt === undefined,
    ) === true;

const isShrink = ({ description, cause = '' }: ScalingActivity): boolean =>
  /^Terminating/.test(description) && shrank.test(cause);

/**
 * Terminations with decrement by other actors since the last read, by Auto Scaling's clock; without
 * a record the count starts here. Reads activities only if the group is smaller than recorded.
 */
const takenOf = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  scaling: ScalingGroup,
  signal: AbortSignal,
): Promise<Pick<Left, 'taken'>> => {
  const { surge, desired = 0, updating } = group.status ?? {};
  const since = parseTime(surge?.takenUntil);
  const told = Math.max(desired, surge?.next?.desired ?? 0);
  const begins = since === undefined && updating !== undefined;
  const isSmaller = since !== undefined && scaling.desiredCapacity < told;
  if (!begins && !isSmaller) return {};
  const activities = await activitiesOf(deps, scaling, signal);
  const [latest] = activities;
  if (since === undefined) {
    return { taken: { count: 0, until: latest?.startedAt ?? formatTime(epochMs(0)) } };
  }
  const [newest, ...others] = activities.filter((one) => {
    const [instanceId = ''] = /\bi-[0-9a-f]+/.exec(one.description) ?? [];
    return isShrink(one) && (parseTime(one.startedAt) ?? 0) > since && !isOurs(deps, instanceId);
  });
  if (newest === undefined) return {};
  return { taken: { count: others.length + 1, until: newest.startedAt } };
};

/** Empty if the activities may not be read. */
const activitiesOf = async (
  { cloud, log }: NodeGroupDeps,
  { name }: ScalingGroup,
  signal: AbortSignal,
): Promise<readonly ScalingActivity[]> => {
  try {
    return await cloud.describeActivities(name, { signal });
  } catch (error) {
    signal.throwIfAborted();
    // Any other error is retried before a decision is made.
    if (!(error instanceof CloudError) || error.code !== 'AccessDenied') throw error;
    log.warn('activities not read', { group: name, code: error.code });
    return [];
  }
};

/**
 * `sure`: the activity shows that the group shrank by it. If Auto Scaling does not list the
 * activity, the record alone does not prove it: EC2 may have reclaimed the instance at that time.
 */
export const leftOf = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  scaling: ScalingGroup,
  context: { readonly update: NodeGroupUpdate | undefined; readonly memory: LeftMemory },
  signal: AbortSignal,
): Promise<Left> => {
  const { disruptions, clock } = deps;
  const { update, memory } = context;
  const taken = await takenOf(deps, group, scaling, signal);
  // A queued update has terminated no instance yet: what leaves belongs to the previous update.
  if (update === undefined || update.metadata.name !== group.status?.updating?.name) {
    memory.clear();
    return { ...leftSince(group.status?.surge), ...taken };
  }
  const here = new Set(countedOf(scaling).map(({ instanceId }) => instanceId));
  const asked = disruptions
    .list()
    .filter(
      ({ spec, metadata }) => spec.nodeGroup === group.metadata.name && !here.has(metadata.name),
    )
    .filter((one) => isTerminationRequested(one, update.metadata.name));
  const left = asked.map(({ metadata }) => metadata.name);
  const known = group.status?.surge?.left ?? 0;
  const unknown = left.filter((id) => !memory.has(id));
  if (left.length > known && unknown.length > 0) {
    findOut(await activitiesOf(deps, scaling, signal), unknown, memory);
  }
  const mayHave = asked.filter(
    (one) => endedByCall(one, update.metadata.name, clock.now()) !== 'no',
  );
  const shown = left.filter((id) => memory.get(id) === true).length;
  const untold = left.filter((id) => !memory.has(id)).length;
  // An earlier pass has counted those whose activities Auto Scaling has dropped.
  const sure = shown + Math.min(untold, Math.max(0, known - shown));
  const maybe = mayHave.filter(({ metadata }) => !memory.has(metadata.name)).length;
  return { sure, most: Math.max(sure, shown + maybe), ...taken };
};
