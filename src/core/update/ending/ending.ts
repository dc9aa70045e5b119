// The end of an update that failed, was aborted or is one of Drover's own: it is set back to a
// state that can be told: held nodes given back, the surge gone, drains under way ended. Pure.
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
  type Herd,
  type InstanceState,
  isKeptEmpty,
  isWhole,
  ownCause,
  phaseSince,
  updateCauseId,
} from '../records/nodes.ts';
import { sentences } from '../sentences.ts';
import { unshieldSteps } from '../strategies/scale-down-disabled.ts';
import { endedByCall } from './leaving.ts';
import { isKept } from './timeouts.ts';

const givesBack: ReadonlySet<InstanceState['kind']> = new Set(['held', 'hooking', 'failed']);

/**
 * Of blue/green: to be kept or kept, and so given back, whatever has left it; one that goes for
 * good goes.
 */
const isOnlyEmptied = ({ update }: UpdateObservation, { instance, state }: Counted): boolean => {
  if (state.kind !== 'kept' && state.kind !== 'draining') return false;
  const id = updateCauseId(update.metadata.name);
  return ownCause(instance.disruption, id)?.followUp === 'Release';
};

/**
 * Our call that ends it may have been made: who takes its cause back then is too late, and loses
 * count of it.
 */
const mayHaveEnded = ({ update, now }: UpdateObservation, { instance }: Counted): boolean =>
  instance.disruption !== undefined &&
  endedByCall(instance.disruption, update.metadata.name, now) === 'yes';

const isGivenBack = ({ state }: Counted): boolean => state.kind === 'untouched';

/**
 * New instances to be taken back: those that do not serve first, then of the zone with most nodes
 * that stay the one that serves least. Auto Scaling would even zones out afterwards, and asks no
 * budget.
 */
const surplus = ({ old, fresh }: Herd, count: number): readonly Counted[] => {
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
        Number(isWhole(a)) - Number(isWhole(b)) ||
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
 * Nothing of the group was replaced: what new nodes are made of can be set back too. Blue/green
 * replaces nothing before the last phase, whatever the cloud has taken meanwhile; EKS' strategies
 * have replaced all there was by then.
 */
const wasAllForNothing = ({ status }: UpdateObservation): boolean =>
  status.phases?.every(({ phase }) => phase !== 'ScalingDown') !== false &&
  (status.strategy === 'BLUE_GREEN' || (status.progress?.done ?? 0) === 0);

/**
 * Blue/green takes back as many nodes as it made: their pods move as few nodes at a time as those
 * of old ones did.
 */
const atOnce = ({ status }: UpdateObservation, { fresh }: Herd): number => {
  if (status.strategy !== 'BLUE_GREEN') return Number.POSITIVE_INFINITY;
  const draining = fresh.filter(({ state }) => state.kind === 'draining').length;
  return Math.max(0, (status.maxUnavailable ?? 1) - draining);
};

/**
 * What made the update fail may keep pods on new nodes too. People's size is not changed for that:
 * these nodes stay the update's own surplus, until another update, or a larger size, makes use of
 * them.
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
 * Counted anew at every look: a process may have died between the write of the sizes and the
 * drains. What people made smaller meanwhile is no surplus.
 */
export const surplusLeft = (
  { status, surge, desired, actualDesired }: UpdateObservation,
  { old, fresh }: Pick<Herd, 'old' | 'fresh'>,
): number => {
  const wanted = Math.max(desired, status.original?.desired ?? 0);
  const over = Math.min(actualDesired, old.length + fresh.length) - wanted;
  return Math.min(Math.max(status.surge ?? 0, surge.desired), over);
};

/** What is no longer asked for is no surge: noted as one, it would be asked for again. */
export const atMost = ({ desired, maxSize }: UpdateSurge, most: number): UpdateSurge => {
  const less = Math.max(0, desired - most);
  return { desired: desired - less, maxSize: Math.max(0, maxSize - less) };
};

/** Hooks run no more: a node that would have to wait for its own is not terminated. */
const isReturned = (observation: UpdateObservation, one: Counted): boolean =>
  givesBack.has(one.state.kind) || isKeptEmpty(one) || isOnlyEmptied(observation, one);

const withdrawSteps = (nodes: readonly Counted[]): readonly UpdateStep[] =>
  nodes.map(({ instance }) => ({ kind: 'Withdraw', instanceId: instance.instanceId }));

/** Marks, taints and labels that the update has set on nodes that stay. */
const unmarkSteps = ({ status }: UpdateObservation, herd: Herd): readonly UpdateStep[] => [
  ...[...herd.old, ...herd.fresh].flatMap(({ instance }): readonly UpdateStep[] =>
    instance.nodeName !== undefined && instance.isDiscouraged === true
      ? [{ kind: 'Encourage', nodeName: instance.nodeName }]
      : [],
  ),
  ...unshieldSteps(herd),
  ...herd.old.flatMap((one): readonly UpdateStep[] => {
    const { nodeName, isQuarantined } = one.instance;
    const isReleased = isQuarantined === true && !isKept(status, one);
    return nodeName !== undefined && isReleased ? [{ kind: 'Unquarantine', nodeName }] : [];
  }),
];

/** What comes before sizes are set back: nodes uncordoned, drains ended, the template restored. */
const restoreNodes = (observation: UpdateObservation, herd: Herd): UpdateDecision | undefined => {
  const { status, surge } = observation;
  const stay: UpdateDecision = { change: undefined, surge, steps: [] };
  const { old } = herd;
  const isGoing = (one: Counted): boolean =>
    (one.state.kind === 'draining' || one.state.kind === 'drained') &&
    !isReturned(observation, one);
  const withdraw = old.filter((one) => isReturned(observation, one) && !isKept(status, one));
  const steps = [...withdrawSteps(withdraw), ...unmarkSteps(observation, herd)];
  // Drains under way end as they end; the first that failed says what failed with them.
  const late = phaseSince(observation) + joinTimeoutMs;
  // Marks that the API server refuses to remove stay and are reported: they delay nothing else.
  const isOwed = withdraw.length > 0 || (steps.length > 0 && observation.now < late);
  if (isOwed || old.some(isGoing)) return { ...stay, steps };
  const isForNothing = wasAllForNothing(observation) && !old.some((one) => isKept(status, one));
  if (status.ending !== undefined && isForNothing && observation.usesTarget) {
    return { ...stay, steps: [{ kind: 'RestoreTemplate' }] };
  }
  return undefined;
};

export const decideRestoring = (observation: UpdateObservation, herd: Herd): UpdateDecision => {
  const before = restoreNodes(observation, herd);
  if (before !== undefined) return before;
  const { status, surge, desired, actualDesired } = observation;
  const stay: UpdateDecision = { change: undefined, surge, steps: [] };
  const { old, fresh } = herd;
  const retiring = fresh.filter((one) => !isGivenBack(one));
  const excess = surplusLeft(observation, herd);
  const more = Math.max(0, excess - retiring.length);
  const rest = status.leftover === undefined ? surplus(herd, more) : [];
  const retired = rest.slice(0, atOnce(observation, herd));
  // The surge keeps those that are drained later: without it they would count as desired size.
  const later = atMost(surge, rest.length - retired.length);
  if (retired.length > 0 || (status.leftover === undefined && surge.desired > later.desired)) {
    return {
      ...stay,
      surge: later,
      steps: retired.map(({ instance }) => ({ kind: 'Retire', instanceId: instance.instanceId })),
    };
  }
  // Where the group was made smaller from outside meanwhile, as many nodes need not be drained.
  const needless = retiring.length - Math.max(0, actualDesired - desired);
  const keepable = retiring.filter((one) => !mayHaveEnded(observation, one));
  if (needless > 0 && keepable.length > 0) {
    return { ...stay, steps: withdrawSteps(keepable.slice(-needless)) };
  }
  // What was asked for and never started needs no drain; what runs is never left to Auto Scaling to
  // choose.
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
  if (retiring.length > 0 || herd.leaving.length > 0 || rest.length > 0) return stay;
  if (observation.isNarrowed === true) return { ...stay, steps: [{ kind: 'RestoreTypes' }] };
  if (observation.suspended.length > 0) {
    return { ...stay, steps: [{ kind: 'Resume', processes: observation.suspended }] };
  }
  return { ...stay, end: { status: status.ending ?? 'Successful' } };
};
