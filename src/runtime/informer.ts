// One collection of the Kubernetes API, kept current by list and watch, or by a watch that begins
// with the present objects. It resumes a closed watch where it stopped, lists again after 410, and
// restarts a silent watch. A list older than the cache is not used, unless the server keeps
// returning older lists. Listeners only enqueue; nothing here acts on changes.
import { type EpochMs, epochMs } from '../api/brand.ts';
import { defined } from '../api/defined.ts';
import type { KubeObject, ResourceType } from '../api/kube.ts';
import {
  type Clock,
  type KubeApi,
  KubeError,
  type Log,
  type ObjectName,
  type Random,
  type WatchEvent,
  type WatchStart,
} from '../ports/index.ts';
import { linkedAbort, sleepOrAbort } from './abort.ts';
import { Backoff } from './backoff.ts';
import { describeError } from './errors.ts';
import { collect, type InitialEvents } from './initial-events.ts';
import { type Change, type IndexFunction, keyOf, ObjectCache, revisionOf } from './object-cache.ts';
import { watchOnce } from './watch-once.ts';

export interface InformerOptions<T extends KubeObject> {
  readonly kube: KubeApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly type: ResourceType;
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Trims an object to the fields that are read, before it is stored. Must keep `metadata`. */
  readonly project?: (object: T) => T;
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>>;
  /** API servers send a bookmark about once a minute on a quiet watch. */
  readonly bookmarkPeriodMs?: number;
  /** Reads the first state by the watch itself, where the server serves that; saves the list. */
  readonly initialEvents?: InitialEvents;
  /**
   * An instant of the API server's clock before which this version of the object did not exist.
   * Undefined where the object does not show one.
   */
  readonly writtenAfter?: (object: T) => EpochMs | undefined;
}

export interface InformerStats {
  readonly lists: number;
  readonly watches: number;
  /** Watches that resumed, and lists after the first: changes may have arrived late. */
  readonly gaps: number;
  readonly events: number;
  /** Events without a change: repeated, reordered, or of a deleted object. */
  readonly ignoredEvents: number;
  readonly staleLists: number;
  readonly stalledWatches: number;
  readonly listenerErrors: number;
}

/** A watch that ends sooner than this without a frame is treated as a failure, not a rotation. */
const shortWatchMs = 1_000;
/**
 * Lists in a row that are older than the cache, after which the server counts as restored from a
 * backup.
 */
const maxStaleLists = 10;
/** Maximum wait of `observedAtLeast`; a watch that is further behind is not waited for. */
const observeWithinMs = 30_000;
/** A server that ignores the option, or whose watch cache stalls, does not end them. */
const initialWithinMs = 5_000;

export class Informer<T extends KubeObject> {
  readonly #options: InformerOptions<T>;
  readonly #cache: ObjectCache<T>;
  readonly #backoff: Backoff;
  readonly #listeners = new Set<(change: Change<T>) => void>();
  readonly #waiters = new Set<{ readonly revision: number; readonly seen: () => void }>();
  #synced = false;
  /** Highest revision seen in a list, an event or a bookmark. */
  #revision = 0;
  #staleInARow = 0;
  #completeAt: EpochMs | undefined;
  /** The watch is the first since the last complete state. */
  #isUnbroken = false;
  #stats = {
    lists: 0,
    watches: 0,
    gaps: 0,
    events: 0,
    ignoredEvents: 0,
    staleLists: 0,
    stalledWatches: 0,
    listenerErrors: 0,
  };

  constructor(options: InformerOptions<T>) {
    this.#options = options;
    this.#cache = new ObjectCache(options.indexes);
    this.#backoff = new Backoff(options.random);
  }

  get stats(): InformerStats {
    return { ...this.#stats };
  }
  /** The highest resourceVersion seen, '0' before the first list. */
  get resourceVersion(): string {
    return String(this.#revision);
  }
  /**
   * The cache includes every change that was committed before this instant; later ones may be
   * missing, however long ago they were. Undefined before the first list.
   */
  get completeAt(): EpochMs | undefined {
    return this.#completeAt;
  }
  get size(): number {
    return this.#cache.size;
  }
  get(name: string | ObjectName): T | undefined {
    return this.#cache.get(typeof name === 'string' ? name : keyOf(name));
  }
  list(): readonly T[] {
    return this.#cache.list();
  }
  /** Objects under `value` of the index `name`. An unknown index is a programmer's error. */
  index(name: string, value: string): readonly T[] {
    return this.#cache.indexed(name, value);
  }
  /**
   * Calls `listener` for every change, and at once for every object already known. A listener only
   * enqueues; what it throws is logged and counted. Returns a function that removes the listener.
   */
  onChange(listener: (change: Change<T>) => void): () => void {
    this.#listeners.add(listener);
    for (const object of this.#cache.list()) this.#tell(listener, { kind: 'added', object });
    return () => this.#listeners.delete(listener);
  }

  /** True once a first list has arrived. */
  hasSynced(): boolean {
    return this.#synced;
  }
  /** Resolves once a first list has arrived; rejects with the signal's reason. */
  async synced(signal: AbortSignal): Promise<void> {
    if (!this.#synced) await this.#wait(0, signal);
    signal.throwIfAborted();
  }

  /** Whether the cache includes this resourceVersion (of a write to this collection). */
  hasObserved(resourceVersion: string): boolean {
    return this.#synced && this.#revision >= revisionOf(resourceVersion);
  }
  /**
   * Waits until `hasObserved`. False when that takes longer than 30 s: the caller should retry
   * later instead of blocking. Rejects with the signal's reason.
   */
  async observedAtLeast(resourceVersion: string, signal: AbortSignal): Promise<boolean> {
    if (this.hasObserved(resourceVersion)) return true;
    const link = linkedAbort(signal);
    const seen = this.#wait(revisionOf(resourceVersion), link.signal);
    const late = sleepOrAbort(this.#options.clock, observeWithinMs, link.signal);
    await Promise.race([seen, late]);
    link.abort();
    link.unlink();
    await Promise.all([seen, late]);
    signal.throwIfAborted();
    return this.hasObserved(resourceVersion);
  }

  /** Lists and watches until `signal` aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    let isOpened = await this.#openOnce(signal);
    while (!signal.aborted) {
      try {
        if (isOpened || (await this.#listOnce(signal))) await this.#follow(signal, isOpened);
        else await this.#pause(signal);
        isOpened = false;
      } catch (error) {
        if (signal.aborted) return;
        this.#warn('list failed, trying again', error);
        await this.#pause(signal, error);
      }
    }
  }

  /** Resolves when `revision` is reached after the first list, or `signal` aborts. */
  #wait(revision: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const finish = (): void => {
        this.#waiters.delete(waiter);
        signal.removeEventListener('abort', finish);
        resolve();
      };
      const waiter = { revision, seen: finish };
      if (signal.aborted) return resolve();
      this.#waiters.add(waiter);
      signal.addEventListener('abort', finish, { once: true });
    });
  }

  #selection(): { namespace?: string; labelSelector?: string; fieldSelector?: string } {
    const { namespace, labelSelector, fieldSelector } = this.#options;
    return {
      ...defined({ namespace, labelSelector, fieldSelector }),
    };
  }

  /**
   * One watch that begins with the present objects, until its end. False where they did not arrive:
   * the caller lists.
   */
  async #openOnce(signal: AbortSignal): Promise<boolean> {
    const { clock, initialEvents, project = (object: T) => object } = this.#options;
    const at = clock.now();
    if (initialEvents?.isServed(at) !== true || signal.aborted) return false;
    const objects = new Map<string, T>();
    const link = linkedAbort(signal);
    let failure: unknown;
    const late = sleepOrAbort(clock, initialWithinMs, link.signal).then((isOver) => {
      if (!isOver || this.#synced) return;
      initialEvents.late(clock.now());
      link.abort();
    });
    try {
      await this.#watchOnce(link.signal, { sendInitialEvents: true }, (event) => {
        if (this.#synced) this.#take(event);
        else if (event.type !== 'BOOKMARK') collect(objects, event.type, project(event.object));
        else if (event.endsInitial === true) {
          this.#replace([...objects.values()], revisionOf(event.resourceVersion), at);
        }
      });
    } catch (error) {
      failure = error;
    } finally {
      link.abort();
      link.unlink();
      await late;
    }
    if (failure === undefined || signal.aborted) return this.#synced;
    if (!this.#synced && initialEvents.isRefusal(failure, clock.now())) return false;
    this.#warn('watch failed, trying again', failure);
    await this.#pause(signal, failure);
    return this.#synced;
  }

  /** False when the list is older than the cache and therefore not used. */
  async #listOnce(signal: AbortSignal): Promise<boolean> {
    const { kube, clock, log, type, project } = this.#options;
    this.#stats.lists++;
    const at = clock.now();
    const trim = project === undefined ? {} : { trim: project };
    const listed = await kube.list<T>(type, { ...this.#selection(), ...trim, signal });
    if (signal.aborted) return false;
    const revision = revisionOf(listed.resourceVersion);
    if (revision < this.#revision) {
      this.#stats.staleLists++;
      this.#staleInARow++;
      const facts = { resource: type.resource, listed: revision, seen: this.#revision };
      if (this.#staleInARow <= maxStaleLists) {
        log.warn('list is older than what was seen, listing again', facts);
        return false;
      }
      log.error('server went back in time, taking its state as restored', facts);
    }
    this.#staleInARow = 0;
    if (this.#synced) this.#stats.gaps++;
    this.#replace(listed.items, revision, at);
    return true;
  }

  /** Takes a complete state that the server read from a quorum after `at`. */
  #replace(items: readonly T[], revision: number, at: EpochMs): void {
    const changes = this.#cache.replace(items, revision);
    this.#revision = revision;
    this.#synced = true;
    this.#isUnbroken = true;
    this.#completeAt = at;
    this.#publish(changes);
  }

  /** Watches, resuming after each end, until the known revision has expired. */
  async #follow(signal: AbortSignal, isResumed: boolean): Promise<void> {
    for (let isNext = isResumed; !signal.aborted; isNext = true) {
      const startedAt = this.#options.clock.now();
      if (isNext) {
        this.#stats.gaps++;
        this.#isUnbroken = false;
      }
      try {
        const resourceVersion = String(this.#revision);
        const take = (event: WatchEvent<T>): void => this.#take(event);
        const frames = await this.#watchOnce(signal, { resourceVersion }, take);
        if (frames > 0 || this.#options.clock.now() - startedAt >= shortWatchMs) {
          this.#backoff.reset();
        } else await this.#pause(signal);
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof KubeError && error.code === 'Expired') {
          if (this.#options.clock.now() - startedAt < shortWatchMs) await this.#pause(signal);
          return;
        }
        this.#warn('watch failed, trying again', error);
        await this.#pause(signal, error);
      }
    }
  }

  #watchOnce(
    signal: AbortSignal,
    start: WatchStart,
    take: (event: WatchEvent<T>) => void,
  ): Promise<number> {
    this.#stats.watches++;
    const options = { ...this.#options, selection: this.#selection(), start, take };
    const onSilence = (): void => {
      this.#stats.stalledWatches++;
    };
    return watchOnce<T>({ ...options, onSilence }, signal);
  }

  #take(event: WatchEvent<T>): void {
    if (event.type === 'BOOKMARK') {
      this.#reach(revisionOf(event.resourceVersion));
      return;
    }
    const { project } = this.#options;
    const object = project === undefined ? event.object : project(event.object);
    this.#stats.events++;
    const changes = this.#cache.apply(event.type, object);
    if (changes.length === 0) this.#stats.ignoredEvents++;
    this.#completeFrom(event.object);
    this.#publish(changes, revisionOf(object.metadata.resourceVersion));
  }

  /**
   * Events of a watch arrive in the order of their commits, so none of an earlier instant is
   * missing. After a reconnect to a server that was restored from a backup one may be.
   */
  #completeFrom(object: T): void {
    const { clock, writtenAfter } = this.#options;
    const at = this.#isUnbroken ? writtenAfter?.(object) : undefined;
    if (at === undefined || at > clock.now()) return;
    this.#completeAt = epochMs(Math.max(at, this.#completeAt ?? at));
  }

  #publish(changes: readonly Change<T>[], revision = this.#revision): void {
    for (const change of changes) {
      for (const listener of this.#listeners) this.#tell(listener, change);
    }
    this.#reach(revision);
  }

  #reach(revision: number): void {
    this.#revision = Math.max(this.#revision, revision);
    for (const waiter of this.#waiters) if (waiter.revision <= this.#revision) waiter.seen();
  }

  #tell(listener: (change: Change<T>) => void, change: Change<T>): void {
    try {
      listener(change);
    } catch (error) {
      this.#stats.listenerErrors++;
      const name = change.object.metadata.name;
      const { log, type } = this.#options;
      log.error('listener failed', {
        resource: type.resource,
        name,
        error: describeError(error),
      });
    }
  }

  #warn(message: string, error: unknown): void {
    const { log, type } = this.#options;
    log.warn(message, { resource: type.resource, error: describeError(error) });
  }

  async #pause(signal: AbortSignal, error?: unknown): Promise<void> {
    const askedMs = error instanceof KubeError ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
    const waitMs = Math.max(askedMs, this.#backoff.next());
    await sleepOrAbort(this.#options.clock, waitMs, signal);
  }
}

/** True once all informers have listed; false if `signal` aborts earlier. */
export const allSynced = async (
  informers: readonly { readonly synced: (signal: AbortSignal) => Promise<void> }[],
  signal: AbortSignal,
): Promise<boolean> => {
  try {
    await Promise.all(informers.map((informer) => informer.synced(signal)));
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
};
