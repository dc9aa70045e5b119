// Drover's blue/green strategy. All new nodes are Ready before an old node is touched. Old nodes
// are tainted against new pods, drained a few at a time and kept empty during the soak. A rollback
// then needs no new node; after the soak the old nodes are terminated. Pure.

import { epochMs, formatTime, parseTime } from '../../../api/brand.ts';
import { defined } from '../../../api/defined.ts';
import type { UpdateStep } from '../../../api/plan.ts';
import { joinTimeoutMs } from '../../nodegroup/index.ts';
import { areTooMany, lateNewNodes } from '../ending/automatic-rollback.ts';
import { decideTimeouts } from '../ending/timeouts.ts';
import { awaiting, stay, whileHeld } from '../ending/waiting.ts';
import { holdFor } from '../hooks/index.ts';
import type { UpdateDecision, UpdateObservation } from '../observation.ts';
import { isHeld, nextProbeAt, restsInWave } from '../pacing/index.ts';
import { enter, fail, notEvicted, notJoining, notMarked } from '../records/journal.ts';
import {
  areNewNodesHealthy,
  type Counted,
  type GroupNodes,
  inFlightOf,
  isHealthyNew,
  ownCause,
  phaseSince,
  updateCauseId,
} from '../records/nodes.ts';
import { choose } from './surge.ts';

const isKept = ({ state }: Counted): boolean => state.kind === 'kept';

/** Kept, and no hook of the node is pending. */
const isEmptied = (one: Counted): boolean => isKept(one) && one.instance.awaitsHook !== true;

const surgeOf = (count: number) => ({ desired: count, maxSize: count });

/** The canary nodes: one new node for each zone that has old nodes, at most the surge. */
const canariesOf = (observation: UpdateObservation, { old }: GroupNodes): number => {
  const zones = new Set(old.map(({ instance }) => instance.zone)).size;
  return Math.min(observation.status.surge ?? 0, zones);
};

/**
 * Starts the canary nodes, then the rest of the surge. Each node has EKS' join timeout to become
 * Ready. If one does not, no old node was touched and the new nodes are terminated.
 */
export const decideGreenUp = (
  observation: UpdateObservation,
  groupNodes: GroupNodes,
): UpdateDecision => {
  const { status, surge, desired, actualDesired } = observation;
  const { old, fresh } = groupNodes;
  const all = status.surge ?? 0;
  // Nodes started from the old template after the surge was computed, as when the group was scaled
  // out meanwhile.
  if (old.length > all) return stay(observation, { change: { surge: old.length } });
  const asked = Math.max(surge.desired, canariesOf(observation, groupNodes));
  const here = (more: Partial<UpdateDecision> = {}): UpdateDecision =>
    stay(observation, { surge: surgeOf(asked), ...more });
  if (old.length === 0) return here({ change: enter(observation, 'Marking') });
  if (areTooMany(observation, lateNewNodes(observation, groupNodes))) {
    return here({ change: fail(observation, notJoining(observation)) });
  }
  const isStarted =
    actualDesired >= desired + asked && old.length + fresh.length >= desired + asked;
  if (!isStarted || !fresh.every(isHealthyNew))
    return awaiting(observation, groupNodes, true, here());
  const isToldWaiting = status.waitingSince !== undefined;
  const told = isToldWaiting ? { change: { waitingSince: undefined } } : {};
  // Does not taint the old nodes while the update is held: tainted nodes accept no new pods.
  if (isHeld(observation)) return here(told);
  if (asked < all) return here({ surge: surgeOf(all), ...told });
  return here({ change: { ...told.change, ...enter(observation, 'Marking') } });
};

const isClosed = ({ instance }: Counted): boolean =>
  instance.isClosed === true || instance.nodeName === undefined;

/**
 * Sets the NoSchedule taint on old nodes, so that evicted pods land on new nodes and move only
 * once.
 */
const closeSteps = ({ old }: GroupNodes): readonly UpdateStep[] =>
  old.flatMap(({ instance: { nodeName, isClosed: is } }): readonly UpdateStep[] =>
    nodeName === undefined || is === true
      ? []
      : [{ kind: 'Discourage', nodeName, effect: 'NoSchedule' }],
  );

/** Phase Marking: old nodes are tainted; nothing is evicted yet. */
export const decideClosing = (
  observation: UpdateObservation,
  groupNodes: GroupNodes,
): UpdateDecision => {
  const steps = closeSteps(groupNodes);
  const open = groupNodes.old.filter((one) => !isClosed(one));
  if (open.length === 0) return stay(observation, { steps, change: enter(observation, 'Rolling') });
  const late = epochMs(phaseSince(observation) + joinTimeoutMs);
  if (observation.now < late) return stay(observation, { steps, wakeAt: late });
  return stay(observation, { change: fail(observation, notMarked(observation, open)) });
};

/**
 * When the batch soak ends: every node of the batch must be empty, then the soak runs from the last
 * drain. Infinity while a drain is in flight; undefined when no soak is pending.
 */
const batchRestsUntil = (
  { policies, now }: UpdateObservation,
  groupNodes: GroupNodes,
): number | undefined => {
  const restMs = policies?.batchSoakMs ?? 0;
  if (restMs === 0) return undefined;
  if (inFlightOf(groupNodes).length > 0) return Number.POSITIVE_INFINITY;
  const ends = groupNodes.old.filter(isEmptied).flatMap(({ instance }) => {
    const { endedAt, previous } = instance.disruption?.status ?? {};
    return parseTime(endedAt ?? previous?.endedAt) ?? [];
  });
  const until = Math.max(0, ...ends) + restMs;
  return now < until ? until : undefined;
};

/**
 * Reports the batch soak as a hold, like the other holds; none while the batch is still draining.
 */
const batchHolds = (
  { update, policies }: UpdateObservation,
  until: number,
): NonNullable<UpdateDecision['rests']> => {
  if (!Number.isFinite(until)) return [];
  const { name } = update.metadata;
  const seconds = Math.round((policies?.batchSoakMs ?? 0) / 1000);
  const reason =
    `the nodes of this batch are empty and are watched for ${seconds} s before the next; ` +
    `\`drover abort update ${name}\` goes back to them`;
  return [{ kind: 'Soak', reason, until: formatTime(epochMs(until)) }];
};

/** `decided`: the decision is made without a further drain. `open`: drains may be chosen. */
type EmptyingGround =
  | { readonly kind: 'decided'; readonly decision: UpdateDecision }
  | {
      readonly kind: 'open';
      readonly marks: readonly UpdateStep[];
      readonly told: Pick<UpdateDecision, 'change'> | Readonly<Record<string, never>>;
    };

const decided = (decision: UpdateDecision): EmptyingGround => ({ kind: 'decided', decision });

const groundOf = (observation: UpdateObservation, groupNodes: GroupNodes): EmptyingGround => {
  const { old, leavingOld } = groupNodes;
  if (areTooMany(observation, lateNewNodes(observation, groupNodes))) {
    return decided(stay(observation, { change: fail(observation, notJoining(observation)) }));
  }
  const timeouts = decideTimeouts(observation, groupNodes);
  if (timeouts.ends !== undefined) return decided(timeouts.ends);
  const told = Object.keys(timeouts.change).length === 0 ? {} : { change: timeouts.change };
  const isThrough = old.every(isEmptied) && leavingOld.length === 0;
  if (isThrough && areNewNodesHealthy(observation, groupNodes) && !restsInWave(observation)) {
    const next = old.length === 0 ? 'ScalingDown' : 'Soaking';
    const change = { ...timeouts.change, ...enter(observation, next) };
    return decided(stay(observation, { change }));
  }
  const marks = [...timeouts.steps, ...closeSteps(groupNodes)];
  const isPausing = timeouts.steps.some(({ kind }) => kind === 'Pause');
  if (isHeld(observation) || isPausing) {
    return decided(whileHeld(observation, stay(observation, { steps: marks, ...told })));
  }
  const restsUntil = isThrough ? undefined : batchRestsUntil(observation, groupNodes);
  if (restsUntil !== undefined) {
    const wakeAt = Number.isFinite(restsUntil) ? { wakeAt: epochMs(restsUntil) } : {};
    const rests = batchHolds(observation, restsUntil);
    return decided(stay(observation, { steps: marks, ...told, ...wakeAt, rests }));
  }
  return { kind: 'open', marks, told };
};

/** A drain may begin, as far as budgets allow. */
export const mayBeginOfBlueGreen = (
  observation: UpdateObservation,
  groupNodes: GroupNodes,
): boolean =>
  groundOf(observation, groupNodes).kind === 'open' && choose(observation, groupNodes).length > 0;

/** Phase Rolling: old nodes are drained and kept. */
export const decideEmptying = (
  observation: UpdateObservation,
  groupNodes: GroupNodes,
): UpdateDecision => {
  const ground = groundOf(observation, groupNodes);
  if (ground.kind === 'decided') return ground.decision;
  const { marks, told } = ground;
  const drains = choose(observation, groupNodes).map(
    ({ instance }): UpdateStep => ({
      kind: 'Empty',
      instanceId: instance.instanceId,
      // Only the hold before the drain is set here; a kept node needs no hold before termination.
      ...(holdFor(observation, instance).hold === true ? { hold: true as const } : {}),
    }),
  );
  const decision = stay(observation, { steps: [...marks, ...drains], ...told });
  return awaiting(observation, groupNodes, drains.length === 0, decision);
};

/**
 * Phase Soaking: all pods are on new nodes. The holds, the soak among them, are in the observation.
 */
export const decideSoaking = (
  observation: UpdateObservation,
  groupNodes: GroupNodes,
): UpdateDecision => {
  if (areTooMany(observation, lateNewNodes(observation, groupNodes))) {
    return stay(observation, { change: fail(observation, notJoining(observation)) });
  }
  // An old node was uncordoned, or another one appeared: drain it, then restart the soak.
  if (!groupNodes.old.every(isKept)) {
    return stay(observation, { change: enter(observation, 'Rolling') });
  }
  const steps = closeSteps(groupNodes);
  // The update does not go on before all new nodes are healthy; it waits for them with a timeout.
  if (!areNewNodesHealthy(observation, groupNodes)) {
    return awaiting(observation, groupNodes, true, stay(observation, { steps }));
  }
  const change = observation.status.waitingSince === undefined ? {} : { waitingSince: undefined };
  if (isHeld(observation)) {
    const wakeAt = nextProbeAt(observation);
    return stay(observation, {
      steps,
      ...(Object.keys(change).length === 0 ? {} : { change }),
      ...defined({ wakeAt }),
    });
  }
  // A rollback without new nodes stays possible until the hooks before termination have ended, too.
  if (!groupNodes.old.every(isEmptied)) {
    return stay(observation, { steps, ...(Object.keys(change).length === 0 ? {} : { change }) });
  }
  return stay(observation, { change: { ...change, ...enter(observation, 'ScalingDown') } });
};

/** Phase ScalingDown: terminates the old nodes and decrements the group's size for each. */
export const decideRetiring = (
  observation: UpdateObservation,
  groupNodes: GroupNodes,
): UpdateDecision => {
  const { old, leavingOld } = groupNodes;
  const failed = old.filter(({ state }) => state.kind === 'failed');
  if (failed.length > 0) {
    return stay(observation, {
      change: fail(observation, notEvicted(observation, failed), failed),
    });
  }
  if (old.length === 0 && leavingOld.length === 0) {
    return stay(observation, { change: enter(observation, 'Restoring') });
  }
  // After this point a rollback needs new nodes, so a pause stops here.
  if (observation.update.spec.paused === true) return stay(observation);
  const id = updateCauseId(observation.update.metadata.name);
  const isAsked = ({ instance }: Counted): boolean =>
    ownCause(instance.disruption, id)?.followUp === 'Terminate';
  const steps = old
    .filter((one) => !isAsked(one))
    .map(({ instance }): UpdateStep => ({ kind: 'Retire', instanceId: instance.instanceId }));
  return stay(observation, { surge: surgeOf(0), steps });
};
