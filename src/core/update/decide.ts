// What an update does next: one function per phase over the observation. Every step is concrete,
// and repeating the decision on the same state adds none. Decides nothing about pods, which the
// drain does.

import { epochMs } from '../../api/brand.ts';
import type { HealthIssue } from '../../api/nodegroup.ts';
import {
  isOwnStrategy,
  isStopAsked,
  type UpdatePhase,
  type UpdateStrategy,
} from '../../api/nodegroup-update.ts';
import type { UpdateStep } from '../../api/plan.ts';
import { startRollback } from './ending/automatic-rollback.ts';
import { decideRestoring } from './ending/ending.ts';
import { missingChange } from './ending/missing.ts';
import { withHookedNodes, withHooks } from './hooks/index.ts';
import type {
  StatusChange,
  UpdateDecision,
  UpdateInstance,
  UpdateObservation,
} from './observation.ts';
import { pace, withHolds } from './pacing/index.ts';
import { enter, fail, withProgress } from './records/journal.ts';
import { type GroupNodes, groupNodesOf, isEmptiedBy } from './records/nodes.ts';
import {
  decideClosing,
  decideEmptying,
  decideGreenUp,
  decideRetiring,
  decideSoaking,
  mayBeginOfBlueGreen,
} from './strategies/blue-green.ts';
import { fallbackChange } from './strategies/instance-types.ts';
import { isMoving } from './strategies/moving.ts';
import { decideMarking, decideRolling, decideScalingUp } from './strategies/rolling.ts';
import { withScaleDownDisabled } from './strategies/scale-down-disabled.ts';
import { decideSurgeRolling, decideSurgeUp, mayBeginOfSurge } from './strategies/surge.ts';
import { decideScalingDown, mayBeginOfSurplus } from './strategies/surplus.ts';

type Decide = (observation: UpdateObservation, groupNodes: GroupNodes) => UpdateDecision;

const nothing: Decide = ({ surge }) => ({ change: undefined, surge, steps: [] });

const byPhase: Readonly<Record<UpdatePhase, Decide>> = {
  Applied: nothing,
  Pending: nothing,
  Preparing: nothing,
  ScalingUp: decideScalingUp,
  Marking: decideMarking,
  Rolling: decideRolling,
  Soaking: nothing,
  ScalingDown: decideScalingDown,
  Restoring: decideRestoring,
  Ended: nothing,
};

/** Abort: restores the group from any phase; drains in flight end first. */
const abort = (observation: UpdateObservation): UpdateDecision | undefined => {
  const { update, status, surge } = observation;
  if (!isStopAsked(update) || status.phase === 'Restoring') return undefined;
  const change = {
    ...enter(observation, 'Restoring'),
    ending: 'Cancelled' as const,
    message: 'stopped on request',
    // Nodes set aside are uncordoned, too.
    ...(status.failedNodes === undefined ? {} : { failedNodes: undefined }),
  };
  return { change, surge, steps: [] };
};

const byPhaseOfSurge: Readonly<Record<UpdatePhase, Decide>> = {
  ...byPhase,
  ScalingUp: decideSurgeUp,
  Rolling: decideSurgeRolling,
};

const byPhaseOfBlueGreen: Readonly<Record<UpdatePhase, Decide>> = {
  ...byPhase,
  ScalingUp: decideGreenUp,
  Marking: decideClosing,
  Rolling: decideEmptying,
  Soaking: decideSoaking,
  ScalingDown: decideRetiring,
};

const phasesOf: Readonly<Record<UpdateStrategy, typeof byPhase>> = {
  DEFAULT: byPhase,
  MINIMAL: byPhase,
  SURGE: byPhaseOfSurge,
  BLUE_GREEN: byPhaseOfBlueGreen,
};

/**
 * A node that was held before it joined may turn out to be new. It is uncordoned before the update
 * may end.
 */
const givenBack = ({ fresh }: GroupNodes, decided: UpdateDecision): UpdateDecision => {
  const held = fresh.filter(({ state }) => state.kind === 'held');
  if (held.length === 0) return decided;
  const { end: _not, ...rest } = decided;
  const back = held.map(
    ({ instance }): UpdateStep => ({ kind: 'Withdraw', instanceId: instance.instanceId }),
  );
  return { ...rest, steps: [...back, ...decided.steps] };
};

const failed = (observation: UpdateObservation, issues: readonly HealthIssue[]) =>
  issues.length === 0
    ? undefined
    : { change: fail(observation, issues), surge: observation.surge, steps: [] };

/** In phase Restoring the update waits for no new node, and an aborted update runs no probe. */
const noLonger = ({ status }: UpdateObservation): StatusChange => {
  if (status.phase !== 'Restoring') return {};
  const isStopped = status.ending === 'Cancelled';
  return {
    ...(status.waitingSince === undefined ? {} : { waitingSince: undefined }),
    ...(status.failingProbes === undefined || !isStopped ? {} : { failingProbes: undefined }),
  };
};

/** The decision, with an earlier wake-up if pods must be read again before. */
const wakingToRead = (
  { podsReadUntil }: UpdateObservation,
  decided: UpdateDecision,
): UpdateDecision => {
  if (podsReadUntil === undefined) return decided;
  const { wakeAt = podsReadUntil } = decided;
  return { ...decided, wakeAt: epochMs(Math.min(wakeAt, podsReadUntil)) };
};

export const decideUpdate = (seen: UpdateObservation): UpdateDecision => {
  const hooked = withHookedNodes(seen);
  const groupNodes = groupNodesOf(hooked);
  const { observation, change, failures } = pace(hooked, groupNodes);
  const phase = observation.status.phase ?? 'Preparing';
  const phases = phasesOf[observation.status.strategy ?? 'DEFAULT'];
  const decided = withHooks(
    observation,
    groupNodes,
    abort(observation) ?? failed(observation, failures) ?? phases[phase](observation, groupNodes),
  );
  const back = startRollback(observation, groupNodes, givenBack(groupNodes, decided));
  const kept = withScaleDownDisabled(observation, groupNodes, back);
  const held = withHolds(observation, withProgress(observation, groupNodes, kept));
  const moving = isMoving(observation, groupNodes) ? { ...held, isMoving: true } : held;
  const told = wakingToRead(observation, moving);
  const changed = {
    ...change,
    ...fallbackChange(observation, groupNodes),
    ...missingChange(observation, groupNodes),
    ...noLonger(observation),
  };
  if (Object.keys(changed).length === 0) return told;
  return { ...told, change: { ...changed, ...told.change } };
};

const mayBegin = (observation: UpdateObservation, groupNodes: GroupNodes): boolean => {
  const { update, status } = observation;
  const isOwn = isOwnStrategy(status.strategy);
  if (isStopAsked(update)) return false;
  if (status.phase === 'ScalingDown') return !isOwn && mayBeginOfSurplus(observation, groupNodes);
  if (status.phase !== 'Rolling' || !isOwn) return false;
  return status.strategy === 'BLUE_GREEN'
    ? mayBeginOfBlueGreen(observation, groupNodes)
    : mayBeginOfSurge(observation, groupNodes);
};

/**
 * The nodes whose pods and budgets the next decision needs: those it may choose to drain. Empty if
 * no drain can begin, whatever budgets allow.
 */
export const nodesToRead = (seen: UpdateObservation): readonly UpdateInstance[] => {
  const hooked = withHookedNodes(seen);
  const groupNodes = groupNodesOf(hooked);
  const { observation, failures } = pace(hooked, groupNodes);
  if (failures.length > 0 || !mayBegin(observation, groupNodes)) return [];
  // The surplus of EKS' strategies consists of new nodes.
  const isSurplus = observation.status.phase === 'ScalingDown';
  return seen.instances.filter(
    (one) => one.isCounted && one.isTarget === isSurplus && !isEmptiedBy(seen, one),
  );
};
