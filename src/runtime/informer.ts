// One collection of the Kubernetes API, kept current by list and watch. It resumes where it
// stopped, lists again after 410 and reports the difference, and aborts a silent watch. It never
// goes back in time without reporting it. Listeners only enqueue; nothing here acts on changes.
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
} from '../ports/index.ts';
import { linkedAbort, sleepOrAbort } from './abort.ts';
import { Backoff } from './backoff.ts';
import { describeError } from './errors.ts';
import { type Change, type IndexFunction, keyOf, ObjectCache, revisionOf } from './object-cache.ts';

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
}

export interface InformerStats {
  readonly lists: number;
  readonly watches: number;
  readonly events: number;
  /** Events without a change: repeated, reordered, or of a deleted object. */
  readonly ignoredEvents: number;
  readonly staleLists: number;
  readonly stalledWatches: number;
  readonly listenerErrors: number;
}

const defaultBookmarkPeriodMs = 60_000;
/** A watch without a frame for this many bookmark periods is dead (reference/world.md 3). */
const silentPeriods = 3;
/** A watch that ends sooner than this without a frame is treated as a failure, not a rotation. */
const shortWatchMs = 1_000;
/**
 * Lists in a row that are older than the cache, after which the server counts as restored from a
 * backup.
 */
const maxStaleLists = 10;
/** Maximum wait of `observedAtLeast`; a watch that is further behind is not waited for. */
const observeWithinMs = 30_000;

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
  #stats = {
    lists: 0,
    watches: 0,
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
    while (!signal.aborted) {
      try {
        if (await this.#listOnce(signal)) await this.#follow(signal);
        else await this.#pause(signal);
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

  /** False when the list is older than the cache and therefore not used. */
  async #listOnce(signal: AbortSignal): Promise<boolean> {
    const { kube, log, type, project } = this.#options;
    this.#stats.lists++;
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
    const changes = this.#cache.replace(listed.items, revision);
    this.#revision = revision;
    this.#synced = true;
    this.#publish(changes);
    return true;
  }

  /** Watches, resuming after each end, until the known revision has expired. */
  async #follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const startedAt = this.#options.clock.now();
      try {
        const frames = await this.#watchOnce(signal);
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

  /** One watch until its end; returns the number of frames. */
  async #watchOnce(signal: AbortSignal): Promise<number> {
    const { kube, clock, type } = this.#options;
    this.#stats.watches++;
    const link = linkedAbort(signal);
    const activity = { at: clock.now(), frames: 0 };
    const watchdog = this.#watchdog(activity, link);
    const events = kube.watch<T>(type, {
      ...this.#selection(),
      resourceVersion: String(this.#revision),
      signal: link.signal,
    });
    const frames = events[Symbol.asyncIterator]();
    // One listener for the whole watch: racing each frame against a promise that lives as long as
    // the watch would keep every frame's reaction in memory.
    let wake = (): void => undefined;
    link.signal.addEventListener('abort', () => wake(), { once: true });
    try {
      while (!link.signal.aborted) {
        const frame = await new Promise<IteratorResult<WatchEvent<T>> | undefined>(
          (resolve, reject) => {
            wake = () => resolve(undefined);
            frames.next().then(resolve, reject);
          },
        );
        if (frame === undefined || frame.done === true || link.signal.aborted) break;
        activity.at = clock.now();
        activity.frames++;
        this.#take(frame.value);
      }
    } finally {
      link.abort();
      link.unlink();
      frames.return?.()?.then(undefined, () => undefined);
      await watchdog;
    }
    return activity.frames;
  }

  async #watchdog(
    activity: { readonly at: number },
    link: { readonly signal: AbortSignal; abort(): void },
  ): Promise<void> {
    const { clock, log, type, bookmarkPeriodMs = defaultBookmarkPeriodMs } = this.#options;
    const patienceMs = bookmarkPeriodMs * silentPeriods;
    for (;;) {
      const leftMs = activity.at + patienceMs - clock.now();
      if (leftMs > 0) {
        if (!(await sleepOrAbort(clock, leftMs, link.signal))) return;
        continue;
      }
      this.#stats.stalledWatches++;
      log.warn('watch fell silent, opening another', { resource: type.resource, patienceMs });
      return link.abort();
    }
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
    this.#publish(changes, revisionOf(object.metadata.resourceVersion));
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
