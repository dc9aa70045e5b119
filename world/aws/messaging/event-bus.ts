// EventBridge's default bus: rules match events by pattern and deliver them to queues and topics.
// Supports exact values, prefix, suffix, anything-but and exists; refuses other matchers.
import { isObject, type Json, type JsonObject } from '../../../src/api/json.ts';
import { parseJson } from '../../../src/api/parse-json.ts';
import type { Table } from '../../kernel/index.ts';
import { isoSeconds, refuse, type Scope } from '../scope.ts';
import type { Delivery } from './delivery.ts';
import type { Queues } from './queues.ts';
import type { Topics } from './topics.ts';

export type RuleRow = {
  readonly name: string;
  readonly pattern: JsonObject;
  readonly patternText: string;
  readonly state: 'ENABLED' | 'DISABLED';
  readonly description?: string;
  readonly targets: readonly { readonly id: string; readonly arn: string }[];
};

export interface BusEvent {
  readonly source: string;
  readonly detailType: string;
  readonly resources: readonly string[];
  readonly detail: JsonObject;
  /** Auto Scaling group, a possible target of faults. */
  readonly group?: string | undefined;
}

const component = 'aws.events';
const eventsSenderId = 'AIDAJ2E3ORVAJY6HPGDZM';

export class EventBus {
  readonly #scope: Scope;
  readonly #queues: Queues;
  readonly #topics: Topics;
  readonly #delivery: Delivery;
  readonly #rules: Table<RuleRow>;

  constructor(scope: Scope, parts: { queues: Queues; topics: Topics; delivery: Delivery }) {
    this.#scope = scope;
    this.#queues = parts.queues;
    this.#topics = parts.topics;
    this.#delivery = parts.delivery;
    this.#rules = scope.kernel.tables.open<RuleRow>('aws/events/rules');
  }

  rules(): readonly RuleRow[] {
    return [...this.#rules.values()];
  }
  rule(name: string): RuleRow | undefined {
    return this.#rules.get(name);
  }
  putRule(rule: RuleRow): void {
    this.#rules.put(rule.name, rule);
  }
  deleteRule(name: string): void {
    this.#rules.delete(name);
  }

  /** Returns the event's id. */
  put(event: BusEvent): string {
    const id = this.#scope.uuid(component);
    const envelope: JsonObject = {
      version: '0',
      id,
      'detail-type': event.detailType,
      source: event.source,
      account: this.#scope.account,
      time: isoSeconds(this.#scope.now()),
      region: this.#scope.region,
      resources: event.resources,
      detail: event.detail,
    };
    const body = JSON.stringify(envelope);
    for (const rule of this.#rules.values()) {
      if (rule.state !== 'ENABLED' || !matchesPattern(rule.pattern, envelope)) continue;
      for (const target of rule.targets) this.#send(target.arn, body, event.group);
    }
    return id;
  }

  #send(arn: string, body: string, group: string | undefined): void {
    const queue = this.#queues.byArn(arn);
    if (queue !== undefined) {
      this.#delivery.post({ queue: queue.name, body, senderId: eventsSenderId }, group);
    } else {
      this.#topics.publish(arn, { message: body, group });
    }
  }
}

/** Throws InvalidEventPatternException for an invalid pattern or an unsupported matcher. */
export const parsePattern = (text: string): JsonObject => {
  let parsed: unknown;
  try {
    parsed = parseJson(text);
  } catch {
    throw invalidPattern('Event pattern is not valid. Reason: it is not JSON');
  }
  if (!isObject(parsed) || Object.keys(parsed).length === 0) {
    throw invalidPattern('Event pattern is not valid. Reason: Filter is not an object');
  }
  checkPattern(parsed);
  return parsed;
};

const invalidPattern = (message: string): Error => refuse('InvalidEventPatternException', message);
const matcherNames = ['prefix', 'suffix', 'anything-but', 'exists'];

const checkPattern = (pattern: JsonObject): void => {
  for (const [key, value] of Object.entries(pattern)) {
    if (isObject(value)) checkPattern(value);
    else if (!Array.isArray(value)) {
      throw invalidPattern(
        `Event pattern is not valid. Reason: "${key}" must be an object or an array`,
      );
    } else {
      for (const matcher of value.filter(isObject)) {
        const name = Object.keys(matcher)[0] ?? '';
        if (!matcherNames.includes(name)) {
          throw invalidPattern(`Drover's world does not understand the match type ${name}`);
        }
      }
    }
  }
};

const matchesPattern = (pattern: JsonObject, event: Json | undefined): boolean =>
  Object.entries(pattern).every(([key, wanted]) => {
    const actual = isObject(event) ? event[key] : undefined;
    if (isObject(wanted)) return matchesPattern(wanted, actual);
    const values = Array.isArray(actual) ? actual : [actual];
    return (
      Array.isArray(wanted) &&
      wanted.some((one: Json) => values.some((value: Json | undefined) => matchesOne(one, value)))
    );
  });

const matchesOne = (wanted: Json, actual: Json | undefined): boolean => {
  if (!isObject(wanted)) return wanted === actual;
  const [name = '', operand] = Object.entries(wanted)[0] ?? [];
  switch (name) {
    case 'prefix':
      return typeof actual === 'string' && actual.startsWith(String(operand));
    case 'suffix':
      return typeof actual === 'string' && actual.endsWith(String(operand));
    case 'exists':
      return (actual !== undefined) === operand;
    case 'anything-but':
      return actual !== undefined && ![operand].flat().some((one) => one === actual);
    default:
      return false;
  }
};
