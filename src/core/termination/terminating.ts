// The termination of the instance: whether Drover has to request it, and how long after the drain.
// In all other cases the cloud terminates it. This process remembers its own request; after a
// restart the cloud is asked.
import { type EpochMs, epochMs, formatTime, parseTime } from '../../api/brand.ts';
import { isInForce } from '../../api/confirmation.ts';
import type {
  DisruptionOutcome,
  FollowUp,
  NodeDisruption,
  WaitingOn,
} from '../../api/disruption.ts';
import type { Node } from '../../api/kube.ts';
import type { Step } from '../../api/plan.ts';
import { causesInForce, type Demand, endsByItself, keptAsAsked } from './causes.ts';
import { type Decision, decision } from './decision.ts';
import { terminationBlocker } from './held.ts';
import { hasMarksOfOurs } from './marks.ts';
import type { Observation } from './observation.ts';

const terminateAgainMs = 5_000;
/** How far the previous leader's clock may be ahead: it saw a cooldown end that much earlier. */
const clocksApartMs = 120_000;

const ends = (followUp: FollowUp | undefined): boolean =>
  followUp === 'Terminate' || followUp === 'Replace';

const endsInstance = (outcome: DisruptionOutcome | undefined): boolean =>
  outcome === 'Drained' || outcome === 'Forced' || outcome === 'NothingToDrain';

/** Whether Drover has to terminate the instance, because nothing else does. */
export const mustTerminate = (
  disruption: NodeDisruption,
  { followUp }: Demand,
  outcome: DisruptionOutcome | undefined,
): boolean => {
  if (!ends(followUp)) return false;
  if (outcome === 'Failed' || outcome === 'InstanceGone') return false;
  // A cause that arrived during Completing counts here: it may announce this same termination.
  const goes = causesInForce(disruption).some(({ kind }) => endsByItself[kind]);
  return disruption.spec.instanceId !== undefined && !goes;
};

/**
 * Whether the termination was withdrawn after the drain without a hold or cooldown to delay it. The
 * call may already have been made, by a process that died or whose answer was lost, so the cloud
 * has to be asked.
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
 * Whether Drover terminated the instance at the end of its last drain. It is too late to withdraw
 * the cause then: the node is going away, and new pods on it would be lost. A cause withdrawn in
 * time leaves no such follow-up.
 */
export const wasTerminated = ({ spec, status }: NodeDisruption): boolean => {
  const { phase, outcome, followUp } = status ?? {};
  if (spec.instanceId === undefined || phase !== 'Ended') return false;
  return endsInstance(outcome) && ends(followUp);
};

/**
 * Whether an ended record still has marks on its node and no actor terminates the instance: not
 * Auto Scaling, EC2 or Drover. `inspected`: the instance is detached and stays cordoned for
 * inspection.
 */
export const standingMarks = (
  disruption: NodeDisruption,
  node: Node | undefined,
): 'none' | 'inspected' | 'left' => {
  const { status, spec } = disruption;
  const isSame = node !== undefined && node.metadata.uid === status?.node?.uid;
  if (status?.phase !== 'Ended' || !isSame || wasTerminated(disruption)) return 'none';
  if (!hasMarksOfOurs(node, status.ownedMarks)) return 'none';
  const standing = spec.causes.filter(isInForce);
  if (standing.some(({ kind }) => endsByItself[kind])) return 'none';
  return standing.some(({ followUp }) => followUp === 'Detach') ? 'inspected' : 'left';
};

/**
 * Until when the instance is kept for the load balancers; a drain without a node needs no cooldown.
 */
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

/** What delays the termination of a drained instance, as written when the drain is over. */
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

/** Whether the blocker delays the termination of a drained instance. */
export const isEndBlocker = ({ kind }: WaitingOn): boolean =>
  kind === 'cooldown' || kind === 'terminationHold';

/** Requests the termination. `waitingOn` is empty when nothing is left to do. */
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
  const kind = 'TerminateInstance' as const;
  const isDetached = demand.causes.some((cause) => cause.isDetached === true);
  const decrementDesired = demand.followUp === 'Terminate';
  const step: Step = isDetached
    ? { kind, instanceId, decrementDesired: false, isDetached }
    : { kind, instanceId, decrementDesired };
  return decision({ steps: [step], waitingOn });
};
