// Decides what to do with one message from the queue: record a cause, drop it, or leave it in the
// queue. Pure; every outcome has a name that is counted.

import { type EpochMs, epochMs, parseTime } from '../../../api/brand.ts';
import type { InstanceFacts } from '../../../api/confirmation.ts';
import { defined } from '../../../api/defined.ts';
import type { DisruptionCause } from '../../../api/disruption.ts';
import type { NodeGroup } from '../../../api/nodegroup.ts';
import type { HookNotice, Notice, ScheduledChangeNotice } from '../../../api/notice.ts';
import type { DisruptionSubject } from '../cause-writes.ts';
import { confirmCause, refuteCause } from '../confirmation.ts';
import {
  closedCause,
  type HookTimes,
  hookCause,
  maintenanceCause,
  shortestHook,
  spotCause,
  stateChangeCause,
} from './causes.ts';

/** The account and region of a group, from its ARN. */
export interface Owner {
  readonly account: string;
  readonly region: string;
}

/** A message that cannot be parsed is dropped after this many receives. */
const maxReceives = 3;

/** Why a message is deleted from the queue without a cause. */
type DropReason =
  /** Auto Scaling tests the target of a new hook. */
  | 'test'
  /** Well-formed, about a different subject. */
  | 'foreign'
  /** Not in a known form, three times. */
  | 'malformed'
  /** A group or instance that Drover does not manage; the queue serves Drover alone. */
  | 'foreignGroup'
  /** A hook that another system completes. */
  | 'foreignHook'
  /**
   * Names a managed group that the instance is not in, three times: it left the group or never was
   * in it.
   */
  | 'notMember'
  /** Another account or region closes the event of an instance in this one. */
  | 'foreignSender'
  /** EC2 still lists the event that the message closes. */
  | 'stillScheduled'
  /** The launch hook is completed by the lifecycle controller when the node is Ready. */
  | 'launch'
  /** A state change in EC2, which the node's own lifecycle shows as well. */
  | 'stateChange';

type KeepReason =
  | 'malformed'
  | 'notMember'
  /**
   * Every cause on the disruption is in force and the limit is reached: the queue redelivers it.
   */
  | 'full';

export type MessageDecision =
  | {
      readonly kind: 'record';
      readonly subject: DisruptionSubject;
      readonly cause: DisruptionCause;
    }
  /** An announced event is cancelled or over; `cause` records that. */
  | {
      readonly kind: 'withdraw';
      readonly subject: DisruptionSubject;
      readonly cause: DisruptionCause;
    }
  | { readonly kind: 'drop'; readonly why: DropReason; readonly detail: string }
  | { readonly kind: 'keep'; readonly why: KeepReason; readonly detail: string };

/** Facts collected about a notice for the decision. */
export interface MessageFacts {
  readonly now: EpochMs;
  /** When the queue received the message; absent where the queue does not report it. */
  readonly sentAt?: EpochMs;
  /** How far the cloud's clock, in which messages are dated, is ahead of ours, milliseconds. */
  readonly cloudAheadMs: number;
  /** The group's account and region; absent where Auto Scaling does not report them. */
  readonly owner?: Owner;
  /** What the cloud reports about the instance. */
  readonly instance: InstanceFacts;
  readonly receiveCount: number;
  /** The managed group that the message names, or that its instance is in. */
  readonly group: NodeGroup | undefined;
  /** Whether the cloud lists the instance in that group. */
  readonly member: boolean;
  readonly ownsHook: boolean;
  /** Undefined: the group does not have a hook of this name. */
  readonly hookTimes: HookTimes | undefined;
  readonly nodeName: string | undefined;
}

/** The decision for a message whose cause could not be recorded: it stays in the queue. */
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
      return decideStateChange(notice, facts);
    case 'scheduledChange':
      return decideScheduledChange(notice, facts);
    case 'terminate':
      return decideTerminate(notice, facts);
    case 'spotInterruption':
    case 'rebalance': {
      const { instanceId, at } = notice;
      const action = notice.kind === 'rebalance' ? undefined : notice.action;
      const { group, sentAt, cloudAheadMs, now } = facts;
      if (group === undefined) return drop('foreignGroup', instanceId);
      const kind = notice.kind === 'rebalance' ? 'RebalanceRecommendation' : 'SpotInterruption';
      const cause = spotCause({ kind, instanceId, at, sentAt, cloudAheadMs, now, action });
      return record(notice, { cause, subject: subjectOf(instanceId, group, facts) }, facts);
    }
    default:
      return assertNever(notice);
  }
};

/** Why a message cannot be about an instance of this owner; undefined where it may be. */
const foreignSender = (
  { account, region }: Sender,
  owner: Owner | undefined,
): string | undefined => {
  if (owner === undefined) return undefined;
  if (account !== undefined && account !== owner.account) {
    return `the message is of account ${account.slice(0, 64)}, the instance of ${owner.account}`;
  }
  if (region === undefined || region === owner.region) return undefined;
  return `the message is of ${region.slice(0, 64)}, the instance of ${owner.region}`;
};

type Sender = Pick<HookNotice, 'account' | 'region'>;

/** The cause is always recorded, but it takes effect only once the cloud confirms it. */
const record = (
  notice: Sender,
  { cause, subject }: { readonly cause: DisruptionCause; readonly subject: DisruptionSubject },
  { owner, instance, now }: MessageFacts,
): MessageDecision => {
  const foreign = foreignSender(notice, owner);
  return {
    kind: 'record',
    subject,
    cause:
      foreign === undefined ? confirmCause(cause, instance, now) : refuteCause(cause, foreign, now),
  };
};

/** Whether EC2 lists an event with this start as still to come. */
const isStillScheduled = (
  { startsAt }: ScheduledChangeNotice,
  { scheduled = [] }: InstanceFacts,
): boolean =>
  scheduled.some(
    ({ isOver, notBefore }) => !isOver && parseTime(notBefore) === parseTime(startsAt),
  );

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
  if (notice.status !== 'closed') return record(notice, { cause, subject }, facts);
  const foreign = foreignSender(notice, facts.owner);
  if (foreign !== undefined) return drop('foreignSender', foreign);
  if (isStillScheduled(notice, facts.instance)) return drop('stillScheduled', notice.eventArn);
  return { kind: 'withdraw', subject, cause: closedCause(cause, now) };
};

/**
 * Only the start of a stop drains the node. A termination has a hook, a start is the group's own
 * action, and the end of a stop belongs to the same stop.
 */
const decideStateChange = (
  notice: Extract<Notice, { readonly kind: 'stateChange' }>,
  facts: MessageFacts,
): MessageDecision => {
  const { instanceId, state } = notice;
  const { group, nodeName } = facts;
  const isIgnored = group?.spec.drain?.stateChanges === 'Ignore';
  if (state !== 'stopping' || group === undefined || nodeName === undefined || isIgnored) {
    return drop('stateChange', `${instanceId} ${state}`);
  }
  const cause = stateChangeCause(notice, facts.now);
  return record(notice, { cause, subject: subjectOf(instanceId, group, facts) }, facts);
};

/** The notices in one message, each about one instance at most. */
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
    startedAt: facts.sentAt === undefined ? now : epochMs(facts.sentAt - facts.cloudAheadMs),
    times: facts.hookTimes ?? shortestHook,
    group,
    now,
  });
  return record(notice, { cause, subject: subjectOf(instanceId, group, facts) }, facts);
};

const subjectOf = (
  instanceId: string,
  group: NodeGroup,
  facts: MessageFacts,
): DisruptionSubject => ({
  name: instanceId,
  instanceId,
  nodeGroup: group.metadata.name,
  ...defined({ nodeName: facts.nodeName }),
});

const assertNever = (value: never): never => {
  throw new Error(`notice of an unknown kind: ${JSON.stringify(value)}`);
};
