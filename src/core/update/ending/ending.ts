// The end of an update that failed, was aborted or used Drover's own strategy. Uncordons held
// nodes, waits for drains in flight, removes the surge and restores the template, so that the group
// is in a defined state. Pure.
import type { UpdateStep } from '../../../api/plan.ts';
import { joinTimeoutMs } from '../../nodegroup/index.ts';
import type {
  StatusChange,
  UpdateDecision,
  UpdateObservation,
  UpdateSurge,
} from '../observation.ts';
import {
  type Counted,
  type GroupNodes,
  type InstanceState,
  isHealthyNew,
  isKeptEmpty,
  ownCause,
  phaseSince,
  updateCauseId,
} from '../records/nodes.ts';
import { sentences } from '../sentences.ts';
import { restoreScaleDownSteps } from '../strategies/scale-down-disabled.ts';
import { endedByCall } from './terminations.ts';
import { isKept } from './timeouts.ts';

const givesBack: ReadonlySet<InstanceState['kind']> = new Set(['held', 'hooking', 'failed']);

/**
 * Blue/green: the node is being kept or was to be kept, so it is uncordoned even if it is already
 * empty. A node that is to be terminated is terminated.
 */
const isOnlyEmptied = ({ update }: UpdateObservation, { instance, state }: Counted): boolean => {
  if (state.kind !== 'kept' && state.kind !== 'draining') return false;
  const id = updateCauseId(update.metadata.name);
  return ownCause(instance.disruption, id)?.followUp === 'Release';
};

/**
 * The termination call may have been made already; cancelling its cause would lose track of the
 * instance.
 */
const mayHaveEnded = ({ update, now }: UpdateObservation, { instance }: Counted): boolean =>
  instance.disruption !== undefined &&
  endedByCall(instance.disruption, update.metadata.name, now) === 'yes';

const isGivenBack = ({ state }: Counted): boolean => state.kind === 'untouched';

/**
 * New instances to terminate: those that do not serve first, then, in the largest zone, the one
 * with the fewest pods. Otherwise Auto Scaling would rebalance zones, without regard to budgets.
 */
const surplus = ({ old, fresh }: GroupNodes, count: number): readonly Counted[] => {
  const sizes = new Map<string, number>();
  for (const { instance, state } of [...old, ...fresh]) {
    const stays = state.kind === 'untouched' || !instance.isTarget ? 1 : 0;
    sizes.set(instance.zone, (sizes.get(instance.zone) ?? 0) + stays);
  }
  const sizeOf = ({ instance }: Counted): number => sizes.get(instance.zone) ?? 0;
  const chosen: Counted[] = [];
  let left = fresh.filter(({ state }) => state.kind === 'untouched');
  while (chosen.length < count) {
    const [next] = left.toSorted(
      (a, b) =>
        Number(isHealthyNew(a)) - Number(isHealthyNew(b)) ||
        sizeOf(b) - sizeOf(a) ||
        (a.instance.pods ?? 0) - (b.instance.pods ?? 0) ||
        a.instance.instanceId.localeCompare(b.instance.instanceId),
    );
    if (next === undefined) break;
    sizes.set(next.instance.zone, sizeOf(next) - 1);
    chosen.push(next);
    left = left.filter((one) => one !== next);
  }
  return chosen;
};

/**
 * No node was replaced, so the template can be restored, too. Blue/green replaces none before its
 * last phase, whatever the cloud terminated meanwhile; EKS' strategies have replaced all nodes by
 * that phase.
 */
const hasReplacedNothing = ({ status }: UpdateObservation): boolean =>
  status.phases?.every(({ phase }) => phase !== 'ScalingDown') !== false &&
  (status.strategy === 'BLUE_GREEN' || (status.progress?.done ?? 0) === 0);

/**
 * Blue/green removes as many nodes as it launched; it drains at most maxUnavailable of them at
 * once, like old nodes.
 */
const atOnce = ({ status }: UpdateObservation, { fresh }: GroupNodes): number => {
  if (status.strategy !== 'BLUE_GREEN') return Number.POSITIVE_INFINITY;
  const draining = fresh.filter(({ state }) => state.kind === 'draining').length;
  return Math.max(0, (status.maxUnavailable ?? 1) - draining);
};

/**
 * Keeps new nodes as the update's surplus, since the reason for the failure may also block their
 * drains. The requested size stays; another update, or a larger size, uses the surplus.
 */
export const leave = ({ status }: UpdateObservation, count: number): StatusChange => {
  const why = status.errors?.[0]?.message ?? 'stopped on request';
  const [nodes, stay, them] = count === 1 ? ['node', 'stays', 'it'] : ['nodes', 'stay', 'them'];
  const stays =
    `${count} new ${nodes} more than asked for ${stay} for now: another update, once that is ` +
    `mended, takes ${them} back.`;
  return { leftover: count, message: sentences([why, stays]) };
};

/**
 * Recomputed on every pass, since a process may die between writing sizes and starting drains. If
 * the group was made smaller meanwhile, the difference is not surplus.
 */
export const surplusLeft = (
  { status, surge, desired, actualDesired }: UpdateObservation,
  { old, fresh }: Pick<GroupNodes, 'old' | 'fresh'>,
): number => {
  const wanted = Math.max(desired, status.original?.desired ?? 0);
  const over = Math.min(actualDesired, old.length + fresh.length) - wanted;
  return Math.min(Math.max(status.surge ?? 0, surge.desired), over);
};

/** The surge with at most this many nodes; Auto Scaling would launch nodes beyond it again. */
export const atMost = ({ desired, maxSize }: UpdateSurge, most: number): UpdateSurge => {
  const less = Math.max(0, desired - most);
  return { desired: desired - less, maxSize: Math.max(0, maxSize - less) };
};

/** Hooks do not run in this phase, so a node that would wait for one is not terminated. */
const isReturned = (observation: UpdateObservation, one: Counted): boolean =>
  givesBack.has(one.state.kind) || isKeptEmpty(one) || isOnlyEmptied(observation, one);

const withdrawSteps = (nodes: readonly Counted[]): readonly UpdateStep[] =>
  nodes.map(({ instance }) => ({ kind: 'Withdraw', instanceId: instance.instanceId }));

/** Removes annotations, taints and labels that the update set on nodes that stay. */
const unmarkSteps = (
  { status }: UpdateObservation,
  groupNodes: GroupNodes,
): readonly UpdateStep[] => [
  ...[...groupNodes.old, ...groupNodes.fresh].flatMap(({ instance }): readonly UpdateStep[] =>
    instance.nodeName !== undefined && instance.hasOutdatedTaint === true
      ? [{ kind: 'Encourage', nodeName: instance.nodeName }]
      : [],
  ),
  ...restoreScaleDownSteps(groupNodes),
  ...groupNodes.old.flatMap((one): readonly UpdateStep[] => {
    const { nodeName, isQuarantined } = one.instance;
    const isReleased = isQuarantined === true && !isKept(status, one);
    return nodeName !== undefined && isReleased ? [{ kind: 'Unquarantine', nodeName }] : [];
  }),
];

/**
 * The steps before the sizes are restored: uncordon nodes, wait for drains, restore the template.
 */
const restoreNodes = (
  observation: UpdateObservation,
  groupNodes: GroupNodes,
): UpdateDecision | undefined => {
  const { status, surge } = observation;
  const stay: UpdateDecision = { change: undefined, surge, steps: [] };
  const { old } = groupNodes;
  const isGoing = (one: Counted): boolean =>
    (one.state.kind === 'draining' || one.state.kind === 'drained') &&
    !isReturned(observation, one);
  const withdraw = old.filter((one) => isReturned(observation, one) && !isKept(status, one));
  const steps = [...withdrawSteps(withdraw), ...unmarkSteps(observation, groupNodes)];
  // Drains in progress run to their end. The first failure is reported.
  const late = phaseSince(observation) + joinTimeoutMs;
  // Labels, taints and annotations that the API server refuses to remove stay and are reported;
  // nothing else waits for them.
  const isOwed = withdraw.length > 0 || (steps.length > 0 && observation.now < late);
  if (isOwed || old.some(isGoing)) return { ...stay, steps };
  const isForNothing = hasReplacedNothing(observation) && !old.some((one) => isKept(status, one));
  if (status.ending !== undefined && isForNothing && observation.usesTarget) {
    return { ...stay, steps: [{ kind: 'RestoreTemplate' }] };
  }
  return undefined;
};

export const decideRestoring = (
  observation: UpdateObservation,
  groupNodes: GroupNodes,
): UpdateDecision => {
  const before = restoreNodes(observation, groupNodes);
  if (before !== undefined) return before;
  const { status, surge, desired, actualDesired } = observation;
  const stay: UpdateDecision = { change: undefined, surge, steps: [] };
  const { old, fresh } = groupNodes;
  const retiring = fresh.filter((one) => !isGivenBack(one));
  const excess = surplusLeft(observation, groupNodes);
  const more = Math.max(0, excess - retiring.length);
  const rest = status.leftover === undefined ? surplus(groupNodes, more) : [];
  const retired = rest.slice(0, atOnce(observation, groupNodes));
  // The surge covers nodes that are drained later; without it they would count as desired size.
  const later = atMost(surge, rest.length - retired.length);
  if (retired.length > 0 || (status.leftover === undefined && surge.desired > later.desired)) {
    return {
      ...stay,
      surge: later,
      steps: retired.map(({ instance }) => ({ kind: 'Retire', instanceId: instance.instanceId })),
    };
  }
  // The group was made smaller from outside meanwhile, so that many drains are cancelled.
  const needless = retiring.length - Math.max(0, actualDesired - desired);
  const keepable = retiring.filter((one) => !mayHaveEnded(observation, one));
  if (needless > 0 && keepable.length > 0) {
    return { ...stay, steps: withdrawSteps(keepable.slice(-needless)) };
  }
  // Requested instances that never launched need no drain. Auto Scaling never chooses among running
  // instances.
  const wanted = Math.max(desired + retiring.length, old.length + fresh.length);
  if (actualDesired > wanted) {
    const steps = [{ kind: 'Lower', desired: wanted } as const];
    return {
      ...stay,
      surge: atMost(surge, Math.max(0, wanted - desired - retiring.length)),
      steps,
    };
  }
  const failed = retiring.filter(({ state }) => state.kind === 'failed');
  if (failed.length > 0 && rest.length === 0) {
    const gone = retiring.length - failed.length;
    const left = Math.max(0, old.length + fresh.length - gone - desired);
    return {
      ...stay,
      change: leave(observation, left),
      surge: { desired: left, maxSize: left },
      steps: withdrawSteps(failed),
    };
  }
  if (retiring.length > 0 || groupNodes.leaving.length > 0 || rest.length > 0) return stay;
  if (observation.isNarrowed === true) return { ...stay, steps: [{ kind: 'RestoreTypes' }] };
  if (observation.suspended.length > 0) {
    return { ...stay, steps: [{ kind: 'Resume', processes: observation.suspended }] };
  }
  return { ...stay, end: { status: status.ending ?? 'Successful' } };
};
