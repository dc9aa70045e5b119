// The end of the instance: whether it is ours to ask for, and how long after the drain. The cloud
// takes others by itself. What was asked for before is in the memory or is asked for again.
import { type EpochMs, epochMs, formatTime, parseTime } from '../../api/brand.ts';
import type {
  DisruptionOutcome,
  FollowUp,
  NodeDisruption,
  WaitingOn,
} from '../../api/disruption.ts';
import type { Step } from '../../api/plan.ts';
import { causesInForce, type Demand, endsByItself, keptAsAsked } from './causes.ts';
import { type Decision, decision } from './decision.ts';
import { terminationBlocker } from './held.ts';
import type { Observation } from './observation.ts';

const terminateAgainMs = 5_000;
/** So far ahead the clock may be of who was leader before, and has seen a cooldown's end sooner. */
const clocksApartMs = 120_000;

const ends = (followUp: FollowUp | undefined): boolean =>
  followUp === 'Terminate' || followUp === 'Replace';

const endsInstance = (outcome: DisruptionOutcome | undefined): boolean =>
  outcome === 'Drained' || outcome === 'Forced' || outcome === 'NothingToDrain';

/** Whether the instance itself is still to be asked for: nobody else will take it. */
export const mustTerminate = (
  disruption: NodeDisruption,
  { followUp }: Demand,
  outcome: DisruptionOutcome | undefined,
): boolean => {
  if (!ends(followUp)) return false;
  if (outcome === 'Failed' || outcome === 'InstanceGone') return false;
  // One that came during Completing counts here: it may be the notice of this very termination.
  const goes = causesInForce(disruption).some(({ kind }) => endsByItself[kind]);
  return disruption.spec.instanceId !== undefined && !goes;
};

/**
 * Whether whoever asked for the instance's end has taken that back after the drain, with nothing
 * that kept it: the call may have been made before, by a process that has died since, or with an
 * answer that was lost. Then the cloud has to be asked.
 */
export const isTakenBack = ({ disruption, now }: Observation, demand: Demand): boolean => {
  const { instanceId } = disruption.spec;
  const { outcome, followUp, drainedAt } = disruption.status ?? {};
  if (instanceId === undefined || !endsInstance(outcome)) return false;
  if (!ends(followUp) || ends(demand.followUp)) return false;
  if (causesInForce(disruption).some(({ kind }) => endsByItself[kind])) return false;
  const asked = keptAsAsked(disruption);
  const until = cooldownUntil(asked, outcome, parseTime(drainedAt));
  const cools = until !== undefined && now + clocksApartMs < until;
  return asked.keptBy === undefined && !cools;
};

/**
 * Whether we have had the instance taken at the end of its last drain. Who takes the cause back
 * then is too late: the node serves nobody any more, and pods that came to it would go with it.
 * Taken back before, it asks for nothing at the end.
 */
export const wasTerminated = ({ spec, status }: NodeDisruption): boolean => {
  const { phase, outcome, followUp } = status ?? {};
  if (spec.instanceId === undefined || phase !== 'Ended') return false;
  return endsInstance(outcome) && ends(followUp);
};

/** Until when the instance is kept for the load balancers' sake; there was no node, no need. */
export const cooldownUntil = (
  { cooldownMs }: Pick<Demand, 'cooldownMs'>,
  outcome: DisruptionOutcome | undefined,
  drainedAt: EpochMs | undefined,
): EpochMs | undefined => {
  if (cooldownMs === 0 || drainedAt === undefined) return undefined;
  if (outcome !== 'Drained' && outcome !== 'Forced') return undefined;
  return epochMs(drainedAt + cooldownMs);
};

const cooldownBlocker = (until: EpochMs): WaitingOn => ({
  kind: 'cooldown',
  until: formatTime(until),
});

/** What keeps a drained instance from being asked for, as it is written when the drain is over. */
export const endBlockers = (
  demand: Demand,
  outcome: DisruptionOutcome | undefined,
  drainedAt: EpochMs | undefined,
): readonly WaitingOn[] => {
  const until = cooldownUntil(demand, outcome, drainedAt);
  return [
    ...(until === undefined ? [] : [cooldownBlocker(until)]),
    ...(demand.keptBy === undefined ? [] : [terminationBlocker(demand.keptBy)]),
  ];
};

/** Those blockers by kind. */
export const isEndBlocker = ({ kind }: WaitingOn): boolean =>
  kind === 'cooldown' || kind === 'terminationHold';

/** Asks for the end of the instance. Its `waitingOn` is empty when nothing is left to do. */
export const terminate = (observation: Observation, demand: Demand): Decision => {
  const { disruption, memory, now } = observation;
  const { instanceId } = disruption.spec;
  if (instanceId === undefined || memory.terminate?.done === true) return decision({});
  const { outcome, drainedAt } = disruption.status ?? {};
  const until = cooldownUntil(demand, outcome, parseTime(drainedAt));
  if (until !== undefined && now < until) {
    return decision({ waitingOn: [cooldownBlocker(until)], wakeAt: [until] });
  }
  const { terminate: tried } = memory;
  const wait = tried === undefined ? 0 : terminateAgainMs * Math.min(6, tried.failures);
  const dueAt = epochMs((tried?.at ?? now) + wait);
  const message = tried?.message ?? 'being terminated';
  const waitingOn: readonly WaitingOn[] = [{ kind: 'instance', message }];
  if (now < dueAt) return decision({ waitingOn, wakeAt: [dueAt] });
  const decrementDesired = demand.followUp === 'Terminate';
  const step: Step = { kind: 'TerminateInstance', instanceId, decrementDesired };
  return decision({ steps: [step], waitingOn });
};
