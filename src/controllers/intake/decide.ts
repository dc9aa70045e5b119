// What to do with one message from the queue: record a cause, drop it, or leave it in the queue.
// A pure decision over what was observed about it; every outcome has a name that is counted.
import { type EpochMs, parseTime } from '../../api/brand.ts';
import type { DisruptionSubject } from '../../api/causes.ts';
import type { DisruptionCause } from '../../api/disruption.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import type { HookNotice, Notice, ScheduledChangeNotice } from '../../api/notice.ts';
import { type HookTimes, hookCause, maintenanceCause, shortestHook, spotCause } from '../causes.ts';

/** A message that we cannot make sense of is dropped when it was handed out this often. */
const maxReceives = 3;

/** Why a message leaves the queue without a cause. */
type DropReason =
  /** Auto Scaling tries out a new hook's target. */
  | 'test'
  /** Well-formed, about something else. */
  | 'foreign'
  /** Of no known form, three times. */
  | 'malformed'
  /** A group or instance that we do not manage; the queue is ours alone. */
  | 'foreignGroup'
  /** A hook that somebody else completes. */
  | 'foreignHook'
  /** Names a managed group that the instance is not in, three times: gone, or never was. */
  | 'notMember'
  /** The launch hook is completed by the lifecycle controller when the node is Ready. */
  | 'launch'
  /** The node's own lifecycle tells the same. */
  | 'stateChange';

type KeepReason =
  | 'malformed'
  | 'notMember'
  /** Every cause on the disruption is in force and there are too many: it comes again later. */
  | 'full';

export type MessageDecision =
  | {
      readonly kind: 'record';
      readonly subject: DisruptionSubject;
      readonly cause: DisruptionCause;
    }
  /** What was announced is called off, or over. */
  | { readonly kind: 'withdraw'; readonly subject: DisruptionSubject; readonly causeId: string }
  | { readonly kind: 'drop'; readonly why: DropReason; readonly detail: string }
  | { readonly kind: 'keep'; readonly why: KeepReason; readonly detail: string };

/** What was found out about a notice before deciding. */
export interface MessageFacts {
  readonly now: EpochMs;
  readonly receiveCount: number;
  /** The managed group that the message names, or that its instance is in. */
  readonly group: NodeGroup | undefined;
  /** Whether the cloud lists the instance in that group. */
  readonly member: boolean;
  readonly ownsHook: boolean;
  /** Undefined: the group has no hook of this name (any more). */
  readonly hookTimes: HookTimes | undefined;
  readonly nodeName: string | undefined;
}

/** What becomes of a message whose cause could not be written down: it must not be lost. */
export const keptAsFull = ({
  subject,
  cause,
}: Extract<MessageDecision, { kind: 'record' }>): MessageDecision => ({
  kind: 'keep',
  why: 'full',
  detail: `${subject.name} ${cause.id}`,
});

const drop = (why: DropReason, detail: string): MessageDecision => ({ kind: 'drop', why, detail });

export const decideMessage = (notice: Notice, facts: MessageFacts): MessageDecision => {
  switch (notice.kind) {
    case 'malformed':
      return facts.receiveCount < maxReceives
        ? { kind: 'keep', why: 'malformed', detail: notice.why }
        : drop('malformed', notice.why);
    case 'foreign':
      return drop('foreign', notice.what);
    case 'test':
      return drop('test', notice.autoScalingGroupName);
    case 'launch':
      return drop('launch', notice.instanceId);
    case 'stateChange':
      return drop('stateChange', `${notice.instanceId} ${notice.state}`);
    case 'scheduledChange':
      return decideScheduledChange(notice, facts);
    case 'terminate':
      return decideTerminate(notice, facts);
    case 'spotInterruption':
    case 'rebalance': {
      const { instanceId, at } = notice;
      if (facts.group === undefined) return drop('foreignGroup', instanceId);
      const kind = notice.kind === 'rebalance' ? 'RebalanceRecommendation' : 'SpotInterruption';
      return {
        kind: 'record',
        subject: subjectOf(instanceId, facts.group, facts),
        cause: spotCause({ kind, instanceId, at, now: facts.now }),
      };
    }
    default:
      return assertNever(notice);
  }
};

/** An event about several instances is one notice for each, see `noticesIn`. */
const decideScheduledChange = (
  notice: ScheduledChangeNotice,
  facts: MessageFacts,
): MessageDecision => {
  const [instanceId] = notice.instanceIds;
  const { group, now } = facts;
  if (instanceId === undefined || group === undefined) {
    return drop('foreignGroup', notice.instanceIds.join(' '));
  }
  const subject = subjectOf(instanceId, group, facts);
  const cause = maintenanceCause({ notice, group, now });
  if (notice.status === 'closed') return { kind: 'withdraw', subject, causeId: cause.id };
  return { kind: 'record', subject, cause };
};

/** What one message tells, each about one instance at most. */
export const noticesIn = (notice: Notice): readonly Notice[] =>
  notice.kind === 'scheduledChange'
    ? notice.instanceIds.map((instanceId) => ({ ...notice, instanceIds: [instanceId] }))
    : [notice];

const decideTerminate = (notice: HookNotice, facts: MessageFacts): MessageDecision => {
  const { instanceId, autoScalingGroupName, hookName, token } = notice;
  const { group, now, receiveCount } = facts;
  if (group === undefined) return drop('foreignGroup', autoScalingGroupName);
  if (!facts.ownsHook) return drop('foreignHook', `${autoScalingGroupName}/${hookName}`);
  if (!facts.member) {
    const detail = `${instanceId} is not in ${autoScalingGroupName}`;
    if (receiveCount >= maxReceives) return drop('notMember', detail);
    return { kind: 'keep', why: 'notMember', detail };
  }
  const cause = hookCause({
    autoScalingGroupName,
    hookName,
    token,
    startedAt: parseTime(notice.at) ?? now,
    times: facts.hookTimes ?? shortestHook,
    group,
    now,
  });
  return { kind: 'record', subject: subjectOf(instanceId, group, facts), cause };
};

const subjectOf = (
  instanceId: string,
  group: NodeGroup,
  facts: MessageFacts,
): DisruptionSubject => ({
  name: instanceId,
  instanceId,
  nodeGroup: group.metadata.name,
  ...(facts.nodeName === undefined ? {} : { nodeName: facts.nodeName }),
});

const assertNever = (value: never): never => {
  throw new Error(`notice of an unknown kind: ${JSON.stringify(value)}`);
};
