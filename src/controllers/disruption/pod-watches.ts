// One pod watch per draining node, opened when the node is cordoned and closed when its drain ends.
// Reports changes, decides nothing.
import type { EpochMs } from '../../api/brand.ts';
import { defined } from '../../api/defined.ts';
import type { Pod } from '../../api/kube.ts';
import type { Observation } from '../../core/termination/index.ts';
import { type Informer, InitialEvents, linkedAbort } from '../../runtime/index.ts';

interface Watch {
  readonly informer: Informer<Pod>;
  readonly link: ReturnType<typeof linkedAbort>;
  /** Disruptions that use it. */
  readonly users: Set<string>;
  /** Increases with every change, so that results computed from the pods can be cached. */
  version: number;
  /** Number of gaps of the informer that were noticed. */
  gaps: number;
  doubtUntil: number;
}

/** After a gap or a restart, the cache may be behind the API server for this long. */
const doubtMs = 30_000;

export interface PodWatchOptions {
  readonly create: (node: string, initialEvents: InitialEvents) => Informer<Pod>;
  /** Called from the watch: may only record and enqueue. */
  readonly onPod: (node: string, pod: Pod, gone: boolean) => void;
  /** Called when a node's first list has arrived. */
  readonly onListed: (node: string) => void;
}

export class PodWatches {
  readonly #options: PodWatchOptions;
  readonly #signal: AbortSignal;
  readonly #watches = new Map<string, Watch>();
  /** User -> nodes whose pods it needs. */
  readonly #nodesOf = new Map<string, Set<string>>();
  readonly #running = new Set<Promise<void>>();
  readonly #initialEvents = new InitialEvents();

  constructor(options: PodWatchOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  get size(): number {
    return this.#watches.size;
  }

  /** `doubtfulAt`: the time at which this process took over the drain from another one. */
  open(node: string, user: string, doubtfulAt?: EpochMs): void {
    const nodes = this.#nodesOf.get(user);
    if (nodes === undefined) this.#nodesOf.set(user, new Set([node]));
    else nodes.add(node);
    const known = this.#watches.get(node);
    if (known !== undefined) {
      known.users.add(user);
      return;
    }
    const informer = this.#options.create(node, this.#initialEvents);
    const link = linkedAbort(this.#signal);
    const watch: Watch = {
      informer,
      link,
      users: new Set([user]),
      version: 0,
      gaps: 0,
      doubtUntil: doubtfulAt === undefined ? 0 : doubtfulAt + doubtMs,
    };
    this.#watches.set(node, watch);
    informer.onChange((change) => {
      watch.version++;
      this.#options.onPod(node, change.object, change.kind === 'removed');
    });
    const listed = informer.synced(link.signal).then(
      () => {
        watch.version++;
        this.#options.onListed(node);
      },
      () => undefined,
    );
    const running = Promise.all([informer.run(link.signal), listed]).then(() => {
      link.unlink();
      this.#running.delete(running);
    });
    this.#running.add(running);
  }

  /** Closes every watch that only `user` needs, except the one of node `but`. */
  release(user: string, but?: string): void {
    const nodes = this.#nodesOf.get(user);
    for (const node of nodes ?? []) {
      if (node === but) continue;
      nodes?.delete(node);
      const watch = this.#watches.get(node);
      if (watch === undefined || !watch.users.delete(user) || watch.users.size > 0) continue;
      this.#watches.delete(node);
      watch.link.abort();
    }
    if (nodes?.size === 0) this.#nodesOf.delete(user);
  }

  /** The node's pods, or undefined while they are not listed, and until when they are complete. */
  observed(node: string | undefined): Pick<Observation, 'pods' | 'podsCompleteAt'> {
    const informer = node === undefined ? undefined : this.#watches.get(node)?.informer;
    if (informer?.hasSynced() !== true) return { pods: undefined };
    return { pods: informer.list(), ...defined({ podsCompleteAt: informer.completeAt }) };
  }
  /** True while the name may belong to another pod than the cached one. */
  mayBeStale(node: string, now: EpochMs): boolean {
    const watch = this.#watches.get(node);
    if (watch === undefined) return true;
    const { gaps } = watch.informer.stats;
    if (gaps > watch.gaps) {
      watch.gaps = gaps;
      watch.doubtUntil = now + doubtMs;
    }
    return now < watch.doubtUntil;
  }
  usersOf(node: string): Iterable<string> {
    return this.#watches.get(node)?.users ?? [];
  }
  version(node: string): number | undefined {
    return this.#watches.get(node)?.version;
  }
  get(node: string, pod: { readonly namespace: string; readonly name: string }): Pod | undefined {
    return this.#watches.get(node)?.informer.get(pod);
  }

  async closed(): Promise<void> {
    await Promise.all(this.#running);
  }
}
