// Standard SQS queues: visibility, receipts per receive, redrive, waiting receivers. Delivery is at
// least once and in rough order. Waiting receivers live in memory only, as connections do.
import { defined } from '../../../src/api/defined.ts';
import type { Table } from '../../kernel/index.ts';
import { microsPerMs, microsPerSecond } from '../../kernel/index.ts';
import { refuse, type Scope, sentence } from '../scope.ts';

export type QueueRow = {
  readonly name: string;
  readonly account: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly createdAt: number;
  readonly modifiedAt: number;
  readonly tags: Readonly<Record<string, string>>;
};

export type MessageRow = {
  readonly id: string;
  readonly body: string;
  readonly sentAt: number;
  readonly senderId: string;
  /** Time from which it can be received, epoch milliseconds. */
  readonly visibleAt: number;
  readonly receiveCount: number;
  readonly firstReceivedAt?: number;
  readonly attributes?: Readonly<Record<string, MessageAttribute>>;
};

export type MessageAttribute = { readonly DataType: string; readonly StringValue: string };

export interface ReceivedMessage {
  readonly message: MessageRow;
  readonly receiptHandle: string;
}

export interface ReceiveRequest {
  readonly max: number;
  readonly visibilitySeconds?: number | undefined;
}

interface Waiter {
  readonly queue: string;
  readonly request: ReceiveRequest;
  readonly onResult: (messages: readonly ReceivedMessage[]) => void;
  readonly deadline: number;
}

export const defaultQueueAttributes: Readonly<Record<string, string>> = {
  VisibilityTimeout: '30',
  MaximumMessageSize: '1048576',
  MessageRetentionPeriod: '345600',
  DelaySeconds: '0',
  ReceiveMessageWaitTimeSeconds: '0',
  SqsManagedSseEnabled: 'true',
};

const component = 'aws.sqs';

export class Queues {
  readonly #scope: Scope;
  readonly #queues: Table<QueueRow>;
  readonly #waiters = new Set<Waiter>();
  /** The pending timer of each queue whose next message becomes visible later. */
  readonly #alarms = new Map<string, { readonly at: number; readonly handle: number }>();

  constructor(scope: Scope) {
    this.#scope = scope;
    this.#queues = scope.kernel.tables.open<QueueRow>('aws/sqs/queues');
  }

  all(): readonly QueueRow[] {
    return [...this.#queues.values()];
  }
  get(name: string): QueueRow | undefined {
    return this.#queues.get(name);
  }
  put(queue: QueueRow): void {
    this.#queues.put(queue.name, queue);
  }

  delete(name: string): void {
    this.purge(name);
    this.#queues.delete(name);
    this.#wake(name);
  }

  arn(queue: QueueRow): string {
    return this.#scope.arn('sqs', queue.name, queue.account);
  }
  byArn(arn: string): QueueRow | undefined {
    return this.all().find((queue) => this.arn(queue) === arn);
  }

  send(
    name: string,
    message: {
      readonly body: string;
      readonly senderId: string;
      readonly delaySeconds?: number | undefined;
      readonly attributes?: Readonly<Record<string, MessageAttribute>> | undefined;
    },
  ): MessageRow | undefined {
    const queue = this.#queues.get(name);
    if (queue === undefined) return undefined;
    const now = this.#scope.now();
    const delay = message.delaySeconds ?? Number(queue.attributes.DelaySeconds ?? 0);
    const row: MessageRow = {
      id: this.#scope.uuid(component),
      body: message.body,
      sentAt: now,
      senderId: message.senderId,
      visibleAt: now + delay * 1000,
      receiveCount: 0,
      ...defined({ attributes: message.attributes }),
    };
    this.#messages(name).put(row.id, row);
    this.#wake(name);
    return row;
  }

  /** Up to `max` visible messages; each becomes invisible to others for the visibility timeout. */
  receive(name: string, request: ReceiveRequest): readonly ReceivedMessage[] {
    const queue = this.#queues.get(name);
    if (queue === undefined) return [];
    const now = this.#scope.now();
    const seconds = request.visibilitySeconds ?? Number(queue.attributes.VisibilityTimeout);
    const retentionMs = Number(queue.attributes.MessageRetentionPeriod) * 1000;
    const received: ReceivedMessage[] = [];
    for (const row of [...this.#messages(name).values()]) {
      if (received.length >= request.max) break;
      if (row.sentAt + retentionMs <= now) this.#messages(name).delete(row.id);
      else if (row.visibleAt <= now && !this.#redrive(queue, row)) {
        const message: MessageRow = {
          ...row,
          visibleAt: now + seconds * 1000,
          receiveCount: row.receiveCount + 1,
          firstReceivedAt: row.firstReceivedAt ?? now,
        };
        this.#messages(name).put(row.id, message);
        received.push({ message, receiptHandle: handleOf(name, message) });
      }
    }
    return received;
  }

  /**
   * A long poll in world time. Calls `onResult` once: immediately if a message is visible, else
   * when one becomes visible, or with no messages after `waitSeconds`. The returned function
   * removes the receiver without a result.
   */
  receiveWhenAvailable(
    name: string,
    request: ReceiveRequest & {
      readonly waitSeconds: number;
      readonly onResult: (messages: readonly ReceivedMessage[]) => void;
    },
  ): () => void {
    const now = this.receive(name, request);
    if (now.length > 0 || request.waitSeconds <= 0) {
      request.onResult(now);
      return () => undefined;
    }
    const { kernel } = this.#scope;
    const waiter: Waiter = {
      queue: name,
      request,
      onResult: request.onResult,
      deadline: kernel.after(request.waitSeconds * microsPerSecond, () => {
        if (this.#waiters.delete(waiter)) waiter.onResult([]);
      }),
    };
    this.#waiters.add(waiter);
    this.#setAlarm(name);
    return () => {
      if (this.#waiters.delete(waiter)) kernel.cancel(waiter.deadline);
    };
  }

  /** A stale receipt, of a message that was received again since, deletes nothing (SQS docs). */
  deleteMessage(name: string, receiptHandle: string): void {
    const { id, receiveCount } = this.#readHandle(name, receiptHandle);
    const row = this.#messages(name).get(id);
    if (row?.receiveCount === receiveCount) this.#messages(name).delete(id);
  }

  changeVisibility(name: string, receiptHandle: string, seconds: number): void {
    const { id, receiveCount } = this.#readHandle(name, receiptHandle);
    const row = this.#messages(name).get(id);
    if (row === undefined || row.receiveCount !== receiveCount) {
      throw refuse(
        'InvalidParameterValue',
        sentence(
          `Value ${receiptHandle} for parameter ReceiptHandle is invalid. Reason: Message`,
          'does not exist or is not available for visibility timeout change.',
        ),
      );
    }
    const now = this.#scope.now();
    if (row.visibleAt <= now) {
      throw refuse('MessageNotInflight', 'The specified message is not in flight.');
    }
    this.#messages(name).put(id, { ...row, visibleAt: now + seconds * 1000 });
    this.#wake(name);
  }

  purge(name: string): void {
    for (const row of [...this.#messages(name).values()]) this.#messages(name).delete(row.id);
  }

  /** The three approximate counts, which are exact here. */
  counts(name: string): {
    readonly visible: number;
    readonly inFlight: number;
    readonly delayed: number;
  } {
    const now = this.#scope.now();
    const counts = { visible: 0, inFlight: 0, delayed: 0 };
    for (const row of this.#messages(name).values()) {
      if (row.visibleAt <= now) counts.visible++;
      else if (row.receiveCount > 0) counts.inFlight++;
      else counts.delayed++;
    }
    return counts;
  }

  #messages(name: string): Table<MessageRow> {
    return this.#scope.kernel.tables.open<MessageRow>(`aws/sqs/messages/${name}`);
  }

  #redrive(queue: QueueRow, row: MessageRow): boolean {
    const policy = queue.attributes.RedrivePolicy;
    if (policy === undefined || policy === '') return false;
    const { maxReceiveCount, deadLetterTargetArn } = readRedrivePolicy(policy);
    if (row.receiveCount < maxReceiveCount) return false;
    const target = this.byArn(deadLetterTargetArn);
    if (target === undefined) return false;
    this.#messages(queue.name).delete(row.id);
    this.#messages(target.name).put(row.id, { ...row, receiveCount: 0, visibleAt: 0 });
    this.#wake(target.name);
    return true;
  }

  #readHandle(
    name: string,
    handle: string,
  ): { readonly id: string; readonly receiveCount: number } {
    const invalid = refuse('ReceiptHandleIsInvalid', 'The input receipt handle is invalid.');
    let text: string;
    try {
      text = atob(handle.slice(handlePrefix.length));
    } catch {
      throw invalid;
    }
    const [queue, id, count] = text.split('\n');
    if (!handle.startsWith(handlePrefix) || queue !== name || id === undefined) throw invalid;
    return { id, receiveCount: Number(count) };
  }

  /** Never calls a receiver synchronously: results arrive as kernel events. */
  #wake(name: string): void {
    for (const waiter of this.#waiters) {
      if (waiter.queue === name) {
        this.#scope.kernel.after(0, () => this.#serve(name));
        return;
      }
    }
  }

  #serve(name: string): void {
    for (const waiter of [...this.#waiters]) {
      if (waiter.queue !== name) continue;
      const messages = this.receive(name, waiter.request);
      if (messages.length === 0) break;
      this.#waiters.delete(waiter);
      this.#scope.kernel.cancel(waiter.deadline);
      waiter.onResult(messages);
    }
    this.#setAlarm(name);
  }

  #setAlarm(name: string): void {
    const alarm = this.#alarms.get(name);
    let next = Number.POSITIVE_INFINITY;
    const now = this.#scope.now();
    if ([...this.#waiters].some((waiter) => waiter.queue === name)) {
      for (const row of this.#messages(name).values()) {
        if (row.visibleAt > now) next = Math.min(next, row.visibleAt);
      }
    }
    if (alarm?.at === next) return;
    if (alarm !== undefined) this.#scope.kernel.cancel(alarm.handle);
    this.#alarms.delete(name);
    if (next === Number.POSITIVE_INFINITY) return;
    const handle = this.#scope.kernel.after((next - now) * microsPerMs, () => {
      this.#alarms.delete(name);
      this.#serve(name);
    });
    this.#alarms.set(name, { at: next, handle });
  }
}

const handlePrefix = 'AQEB';
const handleOf = (queue: string, message: MessageRow): string =>
  handlePrefix + btoa(`${queue}\n${message.id}\n${message.receiveCount}`);

const readRedrivePolicy = (
  policy: string,
): { readonly maxReceiveCount: number; readonly deadLetterTargetArn: string } => {
  const parsed: unknown = JSON.parse(policy);
  const read = (name: string): unknown =>
    typeof parsed === 'object' && parsed !== null ? Reflect.get(parsed, name) : undefined;
  return {
    maxReceiveCount: Number(read('maxReceiveCount')),
    deadLetterTargetArn: String(read('deadLetterTargetArn')),
  };
};

/** Why SQS refuses a redrive policy; undefined for a valid one. */
export const redrivePolicyFault = (policy: string): string | undefined => {
  const parsed = readJsonObject(policy);
  if (parsed === undefined) return 'Redrive policy is not a valid JSON map.';
  const missing = ['deadLetterTargetArn', 'maxReceiveCount'].find((name) => !(name in parsed));
  if (missing !== undefined) {
    return `Redrive policy does not contain mandatory attribute: ${missing}.`;
  }
  const { maxReceiveCount } = readRedrivePolicy(policy);
  if (Number.isInteger(maxReceiveCount) && maxReceiveCount >= 1 && maxReceiveCount <= 1000) {
    return undefined;
  }
  const range = 'valid values are from 1 to 1000 both inclusive.';
  return `Invalid value for maxReceiveCount: ${maxReceiveCount}, ${range}`;
};

const readJsonObject = (text: string): object | undefined => {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
      ? parsed
      : undefined;
  } catch {
    return undefined;
  }
};
