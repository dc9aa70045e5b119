// What an update records about itself in its status: its phase, its progress, and how it fails.
// Pure.

import { epochMs, formatTime, parseTime } from '../../../api/brand.ts';
import { defined } from '../../../api/defined.ts';
import type { HealthIssue } from '../../../api/nodegroup.ts';
import type {
  MissingNode,
  NodeGroupUpdateStatus,
  UpdateEta,
  UpdatePhase,
  UpdateProgress,
} from '../../../api/nodegroup-update.ts';
import { bounded, evictionFailure } from '../../nodegroup/index.ts';
import { missingNow, missingText } from '../ending/missing.ts';
import { planned, recordPace } from '../eta/eta.ts';
import { soakEta, soakTailMs } from '../eta/soak-eta.ts';
import type { StatusChange, UpdateDecision, UpdateObservation } from '../observation.ts';
import { isHeld } from '../pacing/index.ts';
import { sentences } from '../sentences.ts';
import { type Counted, type GroupNodes, groupNodesOf, ownCause, updateCauseId } from './nodes.ts';

/** The status keeps this many phases, each with the time when it began. */
const maxPhases = 40;

type Journal = Pick<UpdateObservation, 'status' | 'now'>;

export const enter = ({ status, now }: Journal, phase: UpdatePhase): StatusChange => ({
  phase,
  phases: [...(status.phases ?? []), { phase, at: formatTime(now) }].slice(-maxPhases),
});

const maxFailedNodes = 20;

/** Fails the update: it first restores the group, and then ends as Failed. */
export const fail = (
  observation: Journal,
  errors: readonly HealthIssue[],
  failed: readonly Counted[] = [],
): StatusChange => ({
  ...enter(observation, 'Restoring'),
  ending: 'Failed',
  errors: bounded(errors),
  message: bounded(errors)[0]?.message ?? '',
  failedNodes: failed.slice(0, maxFailedNodes).map(({ instance, state }) => ({
    instanceId: instance.instanceId,
    ...defined({ node: instance.nodeName }),
    message: state.kind === 'failed' ? state.message : '',
  })),
});

/** The error lists this many causes; further ones are only counted. */
const maxCauses = 5;

/** Errors of failed launches, which the group's health drops as soon as any launch succeeds. */
const launchErrors = (
  missing: readonly MissingNode[],
  known: readonly HealthIssue[],
): readonly HealthIssue[] => {
  const codes = new Set(missing.filter(({ instanceId }) => !instanceId).map(({ code }) => code));
  return [...codes]
    .filter((code) => known.every((one) => one.code !== code))
    .map((code) => {
      const own = missing.filter((one) => one.code === code && one.instanceId === undefined);
      const message = sentences(own.map(missingText));
      return { code, message, resourceIds: own.flatMap(({ zone }) => zone ?? []) };
    });
};

/** EKS' sentence, then the causes known while the update waited. Article 003 shows the first. */
export const notJoining = (observation: UpdateObservation): readonly HealthIssue[] => {
  const { groupName, issues, instances } = observation;
  const missing = missingNow(observation, groupNodesOf(observation));
  const waiting = instances.filter((one) => one.isCounted && one.isTarget && !one.isReady);
  const more = missing.length - maxCauses;
  const why = sentences([
    ...missing.slice(0, maxCauses).map(missingText),
    ...(more > 0 ? [`${more} more are known`] : []),
    ...issues
      .filter(({ code }) => missing.every((one) => one.code !== code))
      .map(({ message }) => message),
  ]);
  const sentence =
    "Couldn't proceed with upgrade process as new nodes are not joining node group " +
    `${groupName}`;
  const named = missing.flatMap(({ instanceId, zone }) => instanceId ?? zone ?? []);
  const ids = new Set([...waiting.map(({ instanceId }) => instanceId), ...named]);
  const others = issues.filter(({ code }) => code !== 'NodeCreationFailure');
  return [
    {
      code: 'NodeCreationFailure',
      message: why === '' ? sentence : `${sentence}. ${why}`,
      resourceIds: (ids.size === 0 ? issues.flatMap((one) => one.resourceIds) : [...ids]).slice(
        0,
        20,
      ),
    },
    ...others,
    ...launchErrors(missing, others),
  ];
};

/** EKS has no code for this: it does not document what happens to nodes that it cannot cordon. */
export const notMarked = (
  { groupName }: UpdateObservation,
  unmarked: readonly Counted[],
): readonly HealthIssue[] => [
  {
    code: 'Unknown',
    message:
      `Nodes of node group ${groupName} could not be marked as unschedulable for 15 minutes. ` +
      'See the NodeDisruption of each.',
    resourceIds: unmarked.map(({ instance }) => instance.nodeName ?? instance.instanceId),
  },
];

export const notEvicted = (
  { groupName }: UpdateObservation,
  failed: readonly Counted[],
): readonly HealthIssue[] => [
  evictionFailure(
    groupName,
    failed.flatMap(({ instance }) => instance.disruption ?? []),
  ),
];

const quarantinedOf = (old: readonly Counted[]): Pick<UpdateProgress, 'quarantined'> => {
  const { length } = old.filter(({ instance }) => instance.isQuarantined === true);
  return length === 0 ? {} : { quarantined: length };
};

const emptiedOf = (old: readonly Counted[]): Pick<UpdateProgress, 'emptied'> => {
  const { length } = old.filter(({ state }) => state.kind === 'kept');
  return length === 0 ? {} : { emptied: length };
};

const progressOf = (
  { status }: UpdateObservation,
  { old, leavingOld }: GroupNodes,
): UpdateProgress => {
  const left = old.length + leavingOld.length;
  const total = Math.max(status.progress?.total ?? 0, left);
  return {
    total,
    done: total - left,
    draining: old.filter(({ state }) => state.kind === 'draining').length + leavingOld.length,
    failed: old.filter(({ state }) => state.kind === 'failed').length,
    ...emptiedOf(old),
    ...quarantinedOf(old),
  };
};

const sameProgress = (a: UpdateProgress | undefined, b: UpdateProgress): boolean =>
  a?.total === b.total &&
  a.done === b.done &&
  a.draining === b.draining &&
  a.failed === b.failed &&
  a.emptied === b.emptied &&
  a.quarantined === b.quarantined &&
  a.eta?.p50 === b.eta?.p50 &&
  a.eta?.p90 === b.eta?.p90;

interface PaceTold {
  readonly pace: NodeGroupUpdateStatus['pace'];
  readonly eta: UpdateProgress['eta'];
}

/** The pace while nodes are replaced, and the ETA if there is enough data for one. */
const paceOf = (
  observation: UpdateObservation,
  { change, steps }: UpdateDecision,
  { done: gone, emptied = 0, total }: UpdateProgress,
): PaceTold => {
  const { status, update, now, history = [] } = observation;
  const done = gone + emptied;
  const phase = change?.phase ?? status.phase;
  const { predicted } = update.spec;
  const planOnly = predicted === undefined ? {} : { predicted };
  const tailMs = soakTailMs(observation);
  const isPaused = isHeld(observation) || steps.some(({ kind }) => kind === 'Pause');
  if (phase === 'Rolling') {
    const facts = { ...planOnly, done, total, isPaused, now, history };
    const told = recordPace(status, { ...facts, tailMs: tailMs ?? 0 });
    return tailMs === undefined ? { ...told, eta: undefined } : told;
  }
  if (phase === 'Soaking') return { pace: status.pace, eta: soakEta(observation) };
  if (phase !== 'ScalingUp' && phase !== 'Marking') return { pace: status.pace, eta: undefined };
  const { startedAt } = status;
  const eta = planned({ ...planOnly, ...defined({ startedAt }) });
  return { pace: status.pace, eta: isPaused ? undefined : eta };
};

/**
 * Until when budgets may block the drains in progress, unless an operator changes the budgets;
 * Infinity: no force ends the wait.
 */
const keptUntil = (
  { update }: Pick<UpdateObservation, 'update'>,
  { old }: GroupNodes,
): number | undefined => {
  const times = old.flatMap(({ instance: { disruption }, state }): readonly number[] => {
    const waiting = disruption?.status?.waitingOn ?? [];
    const isStuck = waiting.some(
      (one) => one.kind === 'multiplePdbs' || (one.kind === 'pdb' && one.neverAllows),
    );
    if (state.kind !== 'draining' || !isStuck) return [];
    const cause = ownCause(disruption, updateCauseId(update.metadata.name));
    return [parseTime(cause?.forceFrom) ?? Number.POSITIVE_INFINITY];
  });
  return times.length === 0 ? undefined : Math.max(...times);
};

/** The ETA is not earlier than `at`; undefined if only an operator can end the wait. */
const notBefore = (eta: UpdateEta | undefined, at: number | undefined): UpdateEta | undefined => {
  if (eta === undefined || at === undefined) return eta;
  if (!Number.isFinite(at)) return undefined;
  const later = (time: string): string =>
    (parseTime(time) ?? 0) >= at ? time : formatTime(epochMs(at));
  return { p50: later(eta.p50), p90: later(eta.p90) };
};

/** Adds the observed progress to the decision. */
export const withProgress = (
  observation: UpdateObservation,
  groupNodes: GroupNodes,
  decided: UpdateDecision,
): UpdateDecision => {
  const counts = progressOf(observation, groupNodes);
  const { pace, eta: known } = paceOf(observation, decided, counts);
  const eta = notBefore(known, keptUntil(observation, groupNodes));
  const progress = { ...counts, ...defined({ eta }) };
  const { status } = observation;
  const change = {
    ...decided.change,
    ...(sameProgress(status.progress, progress) ? {} : { progress }),
    ...(pace === status.pace ? {} : { pace }),
  };
  return Object.keys(change).length === 0 ? decided : { ...decided, change };
};
