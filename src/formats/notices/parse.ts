// Parses a queue message body to a Notice: Auto Scaling's lifecycle messages, the same in an SNS
// envelope, and EventBridge events. Never throws for any body; never decides what a notice causes.
// Shapes: EC2 Auto Scaling user guide (lifecycle hook notifications), EventBridge events of EC2,
// Auto Scaling and AWS Health.
import { type InstanceId, parseInstanceId, parseTime } from '../../api/brand.ts';
import { isObject, type JsonObject } from '../../api/json.ts';
import type { MalformedNotice, Notice, NoticeSource } from '../../api/notice.ts';
import { parseJson } from '../../api/parse-json.ts';

/** SQS' limit on a message; a longer text cannot come from a queue. */
export const maxNoticeBytes = 256 * 1024;
/** AWS Health lists at most 100 entities per event; more are refused, not truncated. */
const maxEntities = 100;
/** Names in `why` and `what` are truncated, so that a hostile body cannot flood the logs. */
const maxQuoted = 80;

class Malformed extends Error {}

/** Parses one message body. Accepts any string. */
export const parseNotice = (body: string): Notice => {
  // A UTF-16 unit is at least one byte: this cheap check keeps large texts from the parser.
  if (body.length > maxNoticeBytes) {
    return malformed(`longer than ${maxNoticeBytes} bytes`);
  }
  try {
    return parseMessage(body);
  } catch (error) {
    if (error instanceof Malformed) return malformed(error.message);
    // The JSON nesting exceeds the stack.
    if (error instanceof RangeError) return malformed('nested too deeply');
    throw error;
  }
};

const malformed = (why: string): MalformedNotice => ({ kind: 'malformed', why });
const quote = (value: string): string =>
  value.length <= maxQuoted ? value : `${value.slice(0, maxQuoted)}...`;

const parseMessage = (body: string): Notice => {
  const message = asObject(body, 'the body');
  if (message.Type === 'Notification' && typeof message.Message === 'string') {
    return parseInner(asObject(message.Message, 'the SNS message'), 'sns');
  }
  if (message.Type === 'SubscriptionConfirmation') {
    return { kind: 'foreign', what: 'SNS subscription confirmation' };
  }
  return parseInner(message, 'autoscaling');
};

const asObject = (text: string, what: string): JsonObject => {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw new Malformed(`${what} is not JSON`);
    throw error;
  }
  if (!isObject(value)) throw new Malformed(`${what} is not a JSON object`);
  return value;
};

const parseInner = (message: JsonObject, source: NoticeSource): Notice => {
  if (typeof message['detail-type'] === 'string') {
    return parseEvent(message, message['detail-type']);
  }
  if (message.Event === 'autoscaling:TEST_NOTIFICATION') {
    return {
      kind: 'test',
      source,
      autoScalingGroupName: text(message, 'AutoScalingGroupName'),
      ...timeOf(message, 'Time', 'at'),
    };
  }
  if (typeof message.LifecycleTransition === 'string') {
    const { AccountId } = message;
    const account = typeof AccountId === 'string' ? { account: text(message, 'AccountId') } : {};
    const sender = { source, ...timeOf(message, 'Time', 'at'), ...account };
    return parseHook(message, message.LifecycleTransition, sender);
  }
  // Auto Scaling's plain notifications (autoscaling:EC2_INSTANCE_TERMINATE, ...) share topics.
  if (typeof message.Event === 'string') return foreign(message.Event);
  const keys = Object.keys(message);
  if (keys.length === 0) throw new Malformed('an empty object');
  return foreign(`an object with ${keys.slice(0, 3).map(quote).join(', ')}`);
};

const foreign = (what: string): Notice => ({ kind: 'foreign', what: quote(what) });

const transitions: Readonly<Record<string, 'terminate' | 'launch'>> = {
  'autoscaling:EC2_INSTANCE_TERMINATING': 'terminate',
  'autoscaling:EC2_INSTANCE_LAUNCHING': 'launch',
};

/** The sender fields of every notice. */
interface Sender {
  readonly source: NoticeSource;
  readonly at?: string;
  readonly account?: string;
  readonly region?: string;
}

/** EventBridge sets account and region in the envelope of every event. */
const senderOf = (event: JsonObject): Sender => ({
  source: 'eventbridge',
  ...timeOf(event, 'time', 'at'),
  account: text(event, 'account'),
  region: text(event, 'region'),
});

const parseHook = (fields: JsonObject, transition: string, sender: Sender): Notice => {
  const kind = Object.hasOwn(transitions, transition) ? transitions[transition] : undefined;
  if (kind === undefined) return foreign(`lifecycle transition ${transition}`);
  return {
    kind,
    ...sender,
    instanceId: instance(fields, 'EC2InstanceId'),
    autoScalingGroupName: text(fields, 'AutoScalingGroupName'),
    hookName: text(fields, 'LifecycleHookName'),
    token: text(fields, 'LifecycleActionToken'),
  };
};

const eventParsers: Readonly<Record<string, (event: JsonObject, detail: JsonObject) => Notice>> = {
  'aws.autoscaling/EC2 Instance-terminate Lifecycle Action': (event, detail) =>
    parseHookEvent(event, detail, 'autoscaling:EC2_INSTANCE_TERMINATING'),
  'aws.autoscaling/EC2 Instance-launch Lifecycle Action': (event, detail) =>
    parseHookEvent(event, detail, 'autoscaling:EC2_INSTANCE_LAUNCHING'),
  'aws.ec2/EC2 Spot Instance Interruption Warning': (event, detail) => ({
    kind: 'spotInterruption',
    ...senderOf(event),
    instanceId: instance(detail, 'instance-id'),
    action: interruptionAction(text(detail, 'instance-action')),
  }),
  'aws.ec2/EC2 Instance Rebalance Recommendation': (event, detail) => ({
    kind: 'rebalance',
    ...senderOf(event),
    instanceId: instance(detail, 'instance-id'),
  }),
  'aws.ec2/EC2 Instance State-change Notification': (event, detail) => ({
    kind: 'stateChange',
    ...senderOf(event),
    instanceId: instance(detail, 'instance-id'),
    state: text(detail, 'state'),
  }),
  'aws.health/AWS Health Event': (event, detail) => parseHealth(event, detail),
};

const parseEvent = (event: JsonObject, detailType: string): Notice => {
  const name = `${text(event, 'source')}/${detailType}`;
  const parse = Object.hasOwn(eventParsers, name) ? eventParsers[name] : undefined;
  if (parse === undefined) return foreign(`event ${name}`);
  const { detail } = event;
  if (!isObject(detail)) throw new Malformed('the event has no detail');
  return parse(event, detail);
};

const parseHookEvent = (event: JsonObject, detail: JsonObject, expected: string): Notice => {
  const transition = text(detail, 'LifecycleTransition');
  if (transition !== expected) {
    throw new Malformed(`detail-type and LifecycleTransition ${quote(transition)} disagree`);
  }
  return parseHook(detail, transition, senderOf(event));
};

const interruptionAction = (value: string): 'terminate' | 'stop' | 'hibernate' => {
  if (value === 'terminate' || value === 'stop' || value === 'hibernate') return value;
  throw new Malformed(`instance-action is ${quote(value)}`);
};

const parseHealth = (event: JsonObject, detail: JsonObject): Notice => {
  const service = text(detail, 'service');
  const category = text(detail, 'eventTypeCategory');
  if (service !== 'EC2' || category !== 'scheduledChange') {
    return foreign(`AWS Health ${service} ${category}`);
  }
  const instanceIds = affectedInstances(detail);
  if (instanceIds.length === 0) return foreign('AWS Health event about no instance');
  const status = detail.statusCode;
  return {
    kind: 'scheduledChange',
    ...senderOf(event),
    instanceIds,
    eventArn: text(detail, 'eventArn'),
    eventTypeCode: text(detail, 'eventTypeCode'),
    status: status === 'closed' || status === 'open' ? status : 'upcoming',
    ...timeOf(detail, 'startTime', 'startsAt'),
    ...timeOf(detail, 'endTime', 'endsAt'),
  };
};

/** Entities that are instances (an event may also name volumes or subnets), without duplicates. */
const affectedInstances = (detail: JsonObject): readonly InstanceId[] => {
  const entities = detail.affectedEntities;
  if (!Array.isArray(entities)) throw new Malformed('affectedEntities is not a list');
  if (entities.length > maxEntities) throw new Malformed(`over ${maxEntities} affectedEntities`);
  const found = new Set<InstanceId>();
  for (const entity of entities) {
    const value = isObject(entity) ? entity.entityValue : undefined;
    if (typeof value !== 'string') throw new Malformed('an affected entity has no entityValue');
    const id = parseInstanceId(value);
    if (id !== undefined) found.add(id);
  }
  return [...found];
};

/** EC2's longest of these fields (an Auto Scaling group's name) is 255 characters. */
const maxFieldLength = 1024;

const text = (fields: JsonObject, name: string): string => {
  const value = fields[name];
  if (typeof value !== 'string' || value === '') throw new Malformed(`${name} is missing`);
  if (value.length > maxFieldLength) throw new Malformed(`${name} is too long`);
  return value;
};

const instance = (fields: JsonObject, name: string): InstanceId => {
  const id = parseInstanceId(text(fields, name));
  if (id === undefined) throw new Malformed(`${name} is not an instance id`);
  return id;
};

const months = 'JanFebMarAprMayJunJulAugSepOctNovDec';
const httpDate = /^[A-Z][a-z]{2}, (\d{1,2}) ([A-Z][a-z]{2}) (\d{4}) (\d\d:\d\d:\d\d) GMT$/;

/** RFC 3339, or AWS Health's form `Sat, 05 Jun 2027 15:10:09 GMT`; otherwise absent. */
const timeOf = <Key extends 'at' | 'startsAt' | 'endsAt'>(
  fields: JsonObject,
  name: string,
  key: Key,
): { readonly [K in Key]?: string } => {
  const value = fields[name];
  if (typeof value !== 'string' || value.length > maxQuoted) return {};
  const named = httpDate.exec(value);
  const month = named === null ? -1 : months.indexOf(named[2] ?? '') / 3;
  const normal =
    named === null || !Number.isInteger(month) || month < 0
      ? value
      : `${named[3]}-${pad(month + 1)}-${pad(Number(named[1]))}T${named[4]}Z`;
  const known: { [K in 'at' | 'startsAt' | 'endsAt']?: string } = {};
  if (parseTime(normal) !== undefined) known[key] = normal;
  return known;
};

const pad = (value: number): string => String(value).padStart(2, '0');
