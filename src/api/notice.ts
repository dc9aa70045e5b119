// The content of a message about an instance, independent of its envelope. formats/notices creates
// these; nothing here decides what to do about one. Times are RFC 3339 in UTC.
import type { InstanceId } from './brand.ts';

/** The form of the message: the plain body, inside an SNS envelope, or an EventBridge event. */
export type NoticeSource = 'autoscaling' | 'sns' | 'eventbridge';

interface NoticeBase {
  readonly source: NoticeSource;
  /**
   * When the event happened, by the sender's clock; absent when not stated: then the time of
   * receipt counts.
   */
  readonly at?: string;
  /** The account and region in the message. Auto Scaling's own messages contain no region. */
  readonly account?: string;
  readonly region?: string;
}

export interface HookNotice extends NoticeBase {
  readonly kind: 'terminate' | 'launch';
  readonly instanceId: InstanceId;
  readonly autoScalingGroupName: string;
  readonly hookName: string;
  readonly token: string;
}

interface SpotInterruptionNotice extends NoticeBase {
  readonly kind: 'spotInterruption';
  readonly instanceId: InstanceId;
  readonly action: 'terminate' | 'stop' | 'hibernate';
}

interface RebalanceNotice extends NoticeBase {
  readonly kind: 'rebalance';
  readonly instanceId: InstanceId;
}

/** AWS Health: maintenance of one or more instances in a window. */
export interface ScheduledChangeNotice extends NoticeBase {
  readonly kind: 'scheduledChange';
  readonly instanceIds: readonly InstanceId[];
  readonly eventArn: string;
  readonly eventTypeCode: string;
  readonly status: 'upcoming' | 'open' | 'closed';
  readonly startsAt?: string;
  readonly endsAt?: string;
}

interface StateChangeNotice extends NoticeBase {
  readonly kind: 'stateChange';
  readonly instanceId: InstanceId;
  /** As EC2 spells it: pending, running, shutting-down, terminated, stopping, stopped. */
  readonly state: string;
}

/** Auto Scaling's test that it can reach the target of a new hook. */
interface TestNotice extends NoticeBase {
  readonly kind: 'test';
  readonly autoScalingGroupName: string;
}

/** Well-formed, but not about nodes. */
interface ForeignNotice {
  readonly kind: 'foreign';
  readonly what: string;
}

/** Not in a known form, or with a missing or wrong field. */
export interface MalformedNotice {
  readonly kind: 'malformed';
  readonly why: string;
}

export type Notice =
  | HookNotice
  | SpotInterruptionNotice
  | RebalanceNotice
  | ScheduledChangeNotice
  | StateChangeNotice
  | TestNotice
  | ForeignNotice
  | MalformedNotice;
