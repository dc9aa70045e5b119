// Sends one notification per transition of a drain, an update or a repair to the receiver that a
// Secret names. What is pending follows from the objects and a stored cursor; nothing else is
// kept. Delays no other controller and decides nothing about nodes.
import { type EpochMs, epochMs, formatTime, parseTime } from '../../api/brand.ts';
import { notificationNames } from '../../api/controller-rights.ts';
import type { NodeDisruption } from '../../api/disruption.ts';
import type { Json } from '../../api/json.ts';
import { type KubeObject, resourceTypes } from '../../api/kube.ts';
import type { NodeRepair } from '../../api/node-repair.ts';
import type { NodeGroupUpdate } from '../../api/nodegroup-update.ts';
import {
  advanced,
  type Cursor,
  drainTransitions,
  outboxOf,
  type Receiver,
  receiverOf,
  renderNotification,
  repairTransitions,
  type Transition,
  updateTransitions,
} from '../../core/notify/index.ts';
import { type Http, HttpError, KubeError } from '../../ports/index.ts';
import {
  allSynced,
  Backoff,
  type Informer,
  type PassResult,
  WorkQueue,
} from '../../runtime/index.ts';
import type { BaseDeps } from '../base-deps.ts';
import { givenUpEvent } from './events.ts';

export interface NotifySettings {
  /** The Secret that names the receiver. */
  readonly secret: { readonly namespace: string; readonly name: string };
  /** Whether the receiver may have a private address. */
  readonly allowPrivate: boolean;
}

export interface NotifyDeps
  extends Pick<BaseDeps, 'kube' | 'clock' | 'random' | 'log' | 'journal' | 'metrics'>,
    NotifySettings {
  readonly http: Http;
  readonly disruptions: Informer<NodeDisruption>;
  readonly updates: Informer<NodeGroupUpdate>;
  readonly repairs: Informer<NodeRepair>;
}

const cursorName = { namespace: notificationNames.namespace, name: notificationNames.cursor };

type Key = 'outbox';
const key: Key = 'outbox';
/** Changes come in bursts: gathered into one pass. */
const gatherMs = 1_000;
/** A pass sends at most this many before it stores the cursor. */
const maxPerPass = 20;
const answerWithinMs = 10_000;
/** Delays between requests to a failing receiver: from 1 s up to 5 min. */
const retryPolicy = { baseMs: 1_000, capMs: 300_000 };
/** A Secret, or an address in it, that cannot be used is read again after this. */
const unusableForMs = 60_000;
/** A receiver cannot ask for a longer wait. */
const maxRetryAfterMs = 3_600_000;
/** With waits of five minutes, about five hours; then the next notification has its turn. */
const maxAttempts = 60;
/** Answers after which the same request may succeed later. */
const retryable = new Set([408, 425, 429]);

type Final = 'sent' | 'skipped' | 'refused' | 'dropped' | 'given-up';
interface Later {
  readonly result: 'retried' | 'misconfigured';
  readonly againInMs: number;
}
type Sent = Final | Later;

interface SecretObject extends KubeObject {
  readonly data?: Json;
}

interface CursorMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

interface Stored {
  /** Absent: it was deleted meanwhile. */
  readonly map?: CursorMap;
  readonly cursor: Cursor;
}

export const createNotifyController = (
  deps: NotifyDeps,
): { run(signal: AbortSignal): Promise<void> } => new Notifications(deps);

class Notifications {
  readonly #deps: NotifyDeps;
  readonly #queue: WorkQueue<Key>;
  readonly #backoff: Backoff;
  #notBefore = 0;
  /** Without a stored cursor, only transitions after this time are sent. */
  readonly #since: EpochMs;
  #stored: Stored | undefined;
  /** Failed attempts for the oldest pending notification. */
  #failed = { id: '', attempts: 0 };

  constructor(deps: NotifyDeps) {
    this.#deps = deps;
    this.#since = deps.clock.now();
    this.#queue = new WorkQueue({ ...deps, name: 'notify', concurrency: 1 });
    this.#backoff = new Backoff(deps.random, retryPolicy);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { disruptions, updates, repairs, clock } = this.#deps;
    if (!(await allSynced([disruptions, updates, repairs], signal))) return;
    const wake = (): void => this.#queue.addAfter(key, epochMs(clock.now() + gatherMs));
    const stops = [disruptions.onChange(wake), updates.onChange(wake), repairs.onChange(wake)];
    wake();
    await this.#queue.run((_key, inner) => this.#pass(inner), signal);
    for (const stop of stops) stop();
  }

  #transitions(): readonly Transition[] {
    const { disruptions, updates, repairs } = this.#deps;
    return [
      ...disruptions.list().flatMap(drainTransitions),
      ...updates.list().flatMap(updateTransitions),
      ...repairs.list().flatMap(repairTransitions),
    ];
  }

  async #pass(signal: AbortSignal): Promise<PassResult | undefined> {
    const { clock, metrics } = this.#deps;
    if (clock.now() < this.#notBefore) return { nextAt: epochMs(this.#notBefore) };
    const stored = await this.#readCursor(signal);
    const transitions = this.#transitions();
    const { pending, dropped } = outboxOf(transitions, stored.cursor);
    metrics?.set('drover_notifications_pending', {}, pending.length);
    if (pending.length === 0 && dropped.length === 0) return undefined;
    for (const one of dropped) this.#report(one, 'dropped');
    const delivered = await this.#deliver(pending.slice(0, maxPerPass), signal);
    const done = [...dropped, ...delivered.done];
    const open = pending.filter((one) => !done.includes(one));
    metrics?.set('drover_notifications_pending', {}, open.length);
    if (done.length > 0) {
      const more = { done, open, transitions, now: clock.now() };
      await this.#writeCursor(stored.map, advanced(stored.cursor, more), signal);
    }
    const { againInMs } = delivered;
    if (againInMs !== undefined) {
      this.#notBefore = clock.now() + againInMs;
      return { nextAt: epochMs(this.#notBefore) };
    }
    return open.length === 0 ? undefined : { nextAt: clock.now() };
  }

  /** Sends the notifications one by one, until one has to wait. */
  async #deliver(
    pending: readonly Transition[],
    signal: AbortSignal,
  ): Promise<{ readonly done: readonly Transition[]; readonly againInMs?: number }> {
    const receiver = await this.#receiver(signal);
    if (receiver === undefined) return { done: [], againInMs: unusableForMs };
    const done: Transition[] = [];
    for (const one of pending) {
      const sent = await this.#send(one, receiver, signal);
      const result = typeof sent === 'object' ? await this.#later(one, sent, signal) : sent;
      this.#report(one, typeof result === 'object' ? result.result : result);
      if (typeof result === 'object') return { done, againInMs: result.againInMs };
      done.push(one);
    }
    return { done };
  }

  /** Gives a notification up after too many attempts, so that the others are sent. */
  async #later(one: Transition, later: Later, signal: AbortSignal): Promise<Sent> {
    if (later.result === 'misconfigured') return later;
    const { id } = one;
    const before = this.#failed.id === id ? this.#failed.attempts : 0;
    this.#failed = { id, attempts: before + 1 };
    const { attempts } = this.#failed;
    if (attempts < maxAttempts) return later;
    const { kube, clock, log } = this.#deps;
    log.error('a notification was given up', { id, attempts });
    const event = givenUpEvent(one, { attempts, now: clock.now() });
    try {
      await kube.create(resourceTypes.events, event, { namespace: 'default', signal });
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      if (error.code !== 'AlreadyExists') log.warn('event not written', { error: error.message });
    }
    return 'given-up';
  }

  #report({ id, type, subject }: Transition, result: Final | Later['result']): void {
    const { journal } = this.#deps;
    if (result === 'skipped') return;
    journal.record({ type: `notification:${result}`, subject, facts: { id, type } });
  }

  async #send(one: Transition, receiver: Receiver, signal: AbortSignal): Promise<Sent> {
    const { http, allowPrivate, log } = this.#deps;
    const rendered = renderNotification(one, receiver);
    if (rendered === undefined) return 'skipped';
    const { url, signingKey } = receiver;
    try {
      const { status, retryAfterSeconds } = await http.post(url, {
        ...rendered,
        idempotencyKey: one.id,
        ...(signingKey === undefined ? {} : { signingKey }),
        ...(allowPrivate ? {} : { isPublicOnly: true }),
        timeoutMs: answerWithinMs,
        signal,
      });
      if (status >= 200 && status < 300) {
        this.#backoff.reset();
        return 'sent';
      }
      const isLater = status >= 500 || retryable.has(status);
      log.warn('a notification was not accepted', { id: one.id, status, isLater });
      if (!isLater) return 'refused';
      const askedMs = Math.min(maxRetryAfterMs, (retryAfterSeconds ?? 0) * 1000);
      return { result: 'retried', againInMs: Math.max(this.#backoff.next(), askedMs) };
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      signal.throwIfAborted();
      // The address is a secret: the code says enough.
      log.warn('a notification was not delivered', { id: one.id, code: error.code });
      // The configuration or the DNS entry may be corrected, so pending notifications are kept.
      if (error.code === 'NotAllowed') {
        return { result: 'misconfigured', againInMs: unusableForMs };
      }
      return { result: 'retried', againInMs: this.#backoff.next() };
    }
  }

  async #receiver(signal: AbortSignal): Promise<Receiver | undefined> {
    const { kube, secret, log, metrics } = this.#deps;
    const found = await kube.get<SecretObject>(resourceTypes.secrets, secret, { signal });
    const which = `${secret.namespace}/${secret.name}`;
    const parsed = receiverOf(found.kind === 'gone' ? undefined : found.object);
    if (parsed.kind === 'ok') return parsed.receiver;
    metrics?.add('drover_notifications_total', { result: 'misconfigured' });
    log.error('the Secret of the notifications cannot be used', { secret: which, why: parsed.why });
    return undefined;
  }

  /** Read once: only the leader writes it. A refused write discards the cached value. */
  async #readCursor(signal: AbortSignal): Promise<Stored> {
    if (this.#stored !== undefined) return this.#stored;
    const { kube } = this.#deps;
    const type = resourceTypes.configmaps;
    const found = await kube.get<CursorMap>(type, cursorName, { signal });
    const map = found.kind === 'gone' ? undefined : found.object;
    const through = parseTime(map?.data?.through);
    if (map === undefined || through === undefined) {
      // Transitions from before notifications were switched on are not sent.
      const cursor: Cursor = { through: this.#since, sent: [] };
      return this.#writeCursor(map, cursor, signal);
    }
    const sent = (map.data?.sent ?? '').split('\n').filter((id) => id !== '');
    this.#stored = { map, cursor: { through: epochMs(through), sent } };
    return this.#stored;
  }

  /** Throws KubeError Conflict when another process has written it: the next pass reads it. */
  async #writeCursor(
    map: CursorMap | undefined,
    cursor: Cursor,
    signal: AbortSignal,
  ): Promise<Stored> {
    const { kube } = this.#deps;
    const { namespace, name } = cursorName;
    const data = { through: formatTime(cursor.through), sent: cursor.sent.join('\n') };
    const type = resourceTypes.configmaps;
    this.#stored = undefined;
    if (map === undefined) {
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data };
      this.#stored = {
        map: await kube.create<CursorMap>(type, body, { namespace, signal }),
        cursor,
      };
      return this.#stored;
    }
    const { resourceVersion } = map.metadata;
    const patch = { type: 'merge', body: { metadata: { resourceVersion }, data } } as const;
    const found = await kube.patch<CursorMap>(type, cursorName, patch, { signal });
    const stored = found.kind === 'gone' ? { cursor } : { map: found.object, cursor };
    this.#stored = stored;
    return stored;
  }
}
