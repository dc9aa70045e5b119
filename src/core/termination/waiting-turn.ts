// Pending, for causes that may wait: the node is not marked before its group's ledger has room for
// it, and for a rebalance recommendation before its replacement is Ready. Reports what it waits
// for.
import { epochMs, formatTime, parseTime } from '../../api/brand.ts';
import type { DisruptionCause, WaitingOn } from '../../api/disruption.ts';
import { autoScalingGroupNameOf } from '../../api/nodegroup.ts';
import type { Step } from '../../api/plan.ts';
import type { Demand } from './causes.ts';
import { type Decision, decision } from './decision.ts';
import type { Observation } from './observation.ts';
import { waitingFields, writeStatus } from './status.ts';
import { looksAgainAt, mayBegin, slotsOf } from './turns.ts';

/** Delay before the cloud is asked again about the replacement. */
const replacementAgainMs = 15_000;
/**
 * A recommendation without a replacement within this time is over
 * (aws-node-termination-handler#321).
 */
const rebalanceMs = 60 * 60_000;

const isRebalance = ({ kind, cancelledAt }: DisruptionCause): boolean =>
  kind === 'RebalanceRecommendation' && cancelledAt === undefined;

const overAt = (cause: DisruptionCause): number => (parseTime(cause.receivedAt) ?? 0) + rebalanceMs;

/** Withdraws recommendations without a replacement; the node then returns to service. */
export const withdrawOver = ({ disruption, now }: Observation): Decision => {
  const causes = disruption.spec.causes.filter(isRebalance);
  const steps = causes
    .filter((cause) => overAt(cause) <= now)
    .map(
      ({ id }): Step => ({
        kind: 'WithdrawCause',
        disruption: disruption.metadata.name,
        causeId: id,
      }),
    );
  return decision({ steps, wakeAt: causes.map((cause) => epochMs(overAt(cause))) });
};

/** Whether the last withdrawal was of a recommendation without a replacement. */
export const wasOver = ({ kind, receivedAt, cancelledAt }: DisruptionCause): boolean => {
  if (kind !== 'RebalanceRecommendation' || cancelledAt === undefined) return false;
  const [since, until] = [parseTime(receivedAt), parseTime(cancelledAt)];
  return since !== undefined && until !== undefined && until - since >= rebalanceMs;
};

type TurnBlocker = Extract<WaitingOn, { kind: 'turn' }>;

const turn = (message: string): TurnBlocker => ({ kind: 'turn', message });

/** What delays following a recommendation; undefined = its replacement is Ready. */
const replacementBlocker = ({ memory, group }: Observation): TurnBlocker | undefined => {
  const { replacement } = memory;
  const name = group === undefined ? 'the group' : autoScalingGroupNameOf(group);
  if (replacement === undefined) return turn(`asking for the replacement in ${name}`);
  const { rebalances, serving, desired } = replacement;
  if (!rebalances) return turn(`CapacityRebalance is off in ${name}, so nothing replaces the node`);
  if (serving >= desired) return undefined;
  const others = `${serving} other ${serving === 1 ? 'node' : 'nodes'} of ${name}`;
  return turn(`${others} in service, ${desired} desired: the replacement is not Ready yet`);
};

/** Undefined: the node's turn has come. */
export const whileWaiting = (observation: Observation, demand: Demand): Decision | undefined => {
  const { disruption, ledger, memory, group, now } = observation;
  if (ledger === undefined) return undefined;
  const isRebalanced = demand.causes.every(({ kind }) => kind === 'RebalanceRecommendation');
  const blocker = isRebalanced ? replacementBlocker(observation) : undefined;
  const isOld = now - (memory.replacement?.at ?? 0) >= replacementAgainMs;
  const { instanceId } = disruption.spec;
  if (isRebalanced && isOld && instanceId !== undefined && group !== undefined) {
    const autoScalingGroupName = autoScalingGroupNameOf(group);
    const ask: Step = {
      kind: 'Confirm',
      what: 'replacement',
      subject: instanceId,
      autoScalingGroupName,
    };
    const waitingOn = [blocker ?? turn(`asking for the replacement in ${autoScalingGroupName}`)];
    return decision({ steps: [ask], waitingOn });
  }
  if (blocker === undefined && mayBegin(ledger, disruption.metadata.name, now)) return undefined;
  const slots = slotsOf(ledger, now);
  const waiting =
    blocker ??
    turn(`${ledger.out} of the group's nodes are out of service, and ${slots} may be at once`);
  const again = isRebalanced
    ? epochMs((memory.replacement?.at ?? now) + replacementAgainMs)
    : undefined;
  const wakeAt = [again, looksAgainAt(ledger, now)];
  const [known] = disruption.status?.waitingOn ?? [];
  const isWritten = known?.kind === 'turn' && known.message === waiting.message;
  if (isWritten) return decision({ waitingOn: [waiting], wakeAt });
  const change = waitingFields([waiting]);
  return decision({
    steps: [writeStatus({ disruption, demand, change, now })],
    waitingOn: [waiting],
    wakeAt,
  });
};

/**
 * The message with which a node returns to service when no interruption followed a recommendation.
 */
export const overText = ({ disruption }: Observation): string | undefined => {
  const over = disruption.spec.causes.find(wasOver);
  if (over === undefined) return undefined;
  return `returned to service: nothing followed the rebalance recommendation of ${formatTime(
    epochMs(parseTime(over.receivedAt) ?? 0),
  )} within 60 min`;
};
