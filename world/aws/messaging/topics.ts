// SNS topics and subscriptions. A topic of another account accepts and delivers what services
// publish, but is hidden from the user's account. Only SQS endpoints receive messages.
import { defined } from '../../../src/api/defined.ts';
import type { Table } from '../../kernel/index.ts';
import { hexString } from '../../kernel/index.ts';
import { encodeBase64 } from '../ec2/user-data.ts';
import { isoMillis, type Scope } from '../scope.ts';
import type { Delivery } from './delivery.ts';
import type { Queues } from './queues.ts';

export type TopicRow = {
  readonly arn: string;
  readonly account: string;
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly tags: Readonly<Record<string, string>>;
};

export type SubscriptionRow = {
  readonly arn: string;
  readonly topicArn: string;
  readonly owner: string;
  readonly protocol: string;
  readonly endpoint: string;
  readonly attributes: Readonly<Record<string, string>>;
};

export interface Publication {
  readonly message: string;
  readonly subject?: string | undefined;
  /** Auto Scaling group, a possible target of faults. */
  readonly group?: string | undefined;
}

const component = 'aws.sns';
/** SenderId in SQS for deliveries by SNS. */
const snsSenderId = 'AIDAISMY7JYY5F7RTT6AO';

export class Topics {
  readonly #scope: Scope;
  readonly #queues: Queues;
  readonly #delivery: Delivery;
  readonly #topics: Table<TopicRow>;
  readonly #subscriptions: Table<SubscriptionRow>;

  constructor(scope: Scope, queues: Queues, delivery: Delivery) {
    this.#scope = scope;
    this.#queues = queues;
    this.#delivery = delivery;
    this.#topics = scope.kernel.tables.open<TopicRow>('aws/sns/topics');
    this.#subscriptions = scope.kernel.tables.open<SubscriptionRow>('aws/sns/subscriptions');
  }

  all(): readonly TopicRow[] {
    return [...this.#topics.values()];
  }
  get(arn: string): TopicRow | undefined {
    return this.#topics.get(arn);
  }
  subscriptions(): readonly SubscriptionRow[] {
    return [...this.#subscriptions.values()];
  }

  create(name: string, account: string, tags: Readonly<Record<string, string>> = {}): TopicRow {
    const arn = this.#scope.arn('sns', name, account);
    const existing = this.#topics.get(arn);
    if (existing !== undefined) return existing;
    const topic: TopicRow = { arn, account, name, attributes: {}, tags };
    this.#topics.put(arn, topic);
    return topic;
  }

  delete(arn: string): void {
    this.#topics.delete(arn);
    for (const row of this.subscriptions()) {
      if (row.topicArn === arn) this.#subscriptions.delete(row.arn);
    }
  }

  subscribe(request: Omit<SubscriptionRow, 'arn'>): SubscriptionRow {
    const same = this.subscriptions().find(
      (row) =>
        row.topicArn === request.topicArn &&
        row.protocol === request.protocol &&
        row.endpoint === request.endpoint,
    );
    if (same !== undefined) return same;
    const row = { arn: `${request.topicArn}:${this.#scope.uuid(component)}`, ...request };
    this.#subscriptions.put(row.arn, row);
    return row;
  }

  unsubscribe(arn: string): void {
    this.#subscriptions.delete(arn);
  }

  putSubscription(row: SubscriptionRow): void {
    this.#subscriptions.put(row.arn, row);
  }

  /** Returns the id of the message; undefined if the topic does not exist. */
  publish(topicArn: string, publication: Publication): string | undefined {
    if (!this.#topics.has(topicArn)) return undefined;
    const messageId = this.#scope.uuid(component);
    for (const row of this.subscriptions()) {
      if (row.topicArn !== topicArn || row.protocol !== 'sqs') continue;
      const queue = this.#queues.byArn(row.endpoint);
      if (queue === undefined) continue;
      const body =
        row.attributes.RawMessageDelivery === 'true'
          ? publication.message
          : this.#envelope(row, messageId, publication);
      const parcel = { queue: queue.name, body, senderId: snsSenderId };
      this.#delivery.post(parcel, publication.group);
    }
    return messageId;
  }

  /** SNS' JSON envelope of a message for an SQS endpoint; the signature has the right form only. */
  #envelope(subscription: SubscriptionRow, messageId: string, publication: Publication): string {
    const host = `https://sns.${this.#scope.region}.amazonaws.com`;
    const random = this.#scope.kernel.random(component);
    const unsubscribe = `${host}/?Action=Unsubscribe&SubscriptionArn=${subscription.arn}`;
    return JSON.stringify(
      {
        Type: 'Notification',
        MessageId: messageId,
        TopicArn: subscription.topicArn,
        ...defined({ Subject: publication.subject }),
        Message: publication.message,
        Timestamp: isoMillis(this.#scope.now()),
        SignatureVersion: '1',
        Signature: encodeBase64(hexString(random, 32)),
        SigningCertURL: `${host}/SimpleNotificationService-9c6465fa7f48f5cacd23014631ec1136.pem`,
        UnsubscribeURL: unsubscribe,
      },
      undefined,
      2,
    );
  }
}
