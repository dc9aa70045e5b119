// What a message about an instance says, whatever it came wrapped in. formats/notices makes these;
// nothing here decides what to do about one. Times are RFC 3339 in UTC.
import type { InstanceId } from './brand.ts';

/** How the message reached us: the body itself, inside an SNS envelope, or as an event. */
export type NoticeSource = 'autoscaling' | 'sns' | 'eventbridge';

interface NoticeBase {
  readonly source: NoticeSource;
  /** When the sender says it happened; absent when it does not say (then: when received). */
  readonly at?: string;
  /** The account and region that the message names. Auto Scaling's own messages name no region. */
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
  /** EC2's word: pending, running, shutting-down, terminated, stopping, stopped. */
  readonly state: string;
}

/** Auto Scaling's proof that it can reach the target of a new hook. */
interface TestNotice extends NoticeBase {
  readonly kind: 'test';
  readonly autoScalingGroupName: string;
}

/** Well-formed, but about nothing that concerns nodes. */
interface ForeignNotice {
  readonly kind: 'foreign';
  readonly what: string;
}

/** Not a message of a form we know, or one of these with a field missing or wrong. */
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
