// The page's data: a snapshot, and the stream of what changed since, for any number of readers.
// Informers run only while a page is open. A reader that is too far behind gets `resync` and starts
// from a snapshot again. Never opens a socket.
import { durationMs, type EpochMs, formatTime } from '../api/brand.ts';
import { resourceTypes } from '../api/kube.ts';
import {
  type PageAction,
  type PageEntry,
  type PageTime,
  pageVersion,
  type UpdateVerb,
} from '../api/page.ts';
import type { Clock, KubeApi, Log, Random } from '../ports/index.ts';
import { allSynced, linkedAbort, sleepOrAbort } from '../runtime/index.ts';
import { verdictOf } from './actions.ts';
import { type Collections, createCollections } from './collections.ts';
import { nodeDetail, updateDetail } from './detail.ts';
import type { JournalRing } from './journal-ring.ts';
import { PageModel } from './model.ts';
import { type PageEvent, type PageReader, Readers, type Subscription } from './readers.ts';

/** Changes are sent at most four times a second: readers do not follow faster changes. */
const tickMs = durationMs(250);
/** Every 2 s the page gets the time, and rows that depend on the time are recomputed. */
const ticksPerBeat = 8;
/**
 * Informers stop this long after the last reader has gone, so a reloaded page finds them running.
 */
const idleTicks = 240;
/** Maximum number and size (characters) of deltas kept for readers that reconnect. */
const maxKept = 2_000;
const maxKeptChars = 4_000_000;
/** Characters of journal entries in one delta: a flood of entries costs a reader 1 MB a second. */
const maxEntriesChars = 250_000;
/**
 * If the cluster does not define Drover's own kinds within this time, the page shows nodes without
 * them.
 */
const definitionsWithinMs = durationMs(1_000);

export interface HubDeps {
  readonly kube: KubeApi;
  /** The cluster's time. */
  readonly clock: Clock;
  /** The machine's time, for the pace of the stream. */
  readonly wall: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly journal: JournalRing;
  readonly speed: () => number | 'max';
  readonly server: {
    readonly version: string;
    readonly world: { readonly seed: number } | null;
    readonly hasJournal: boolean;
    readonly actions: boolean;
  };
  readonly signal: AbortSignal;
  /** Starts background work: the world admits it at a defined time. Default: at once. */
  readonly enter?: <T>(call: () => T) => T;
}

export type PageAnswer<T> =
  | { readonly kind: 'ok'; readonly body: T }
  | { readonly kind: 'error'; readonly status: number; readonly message: string };

/** The newest entries, as JSON, that fit. */
const newestWithin = (entries: readonly PageEntry[], maxChars: number): readonly string[] => {
  const texts: string[] = [];
  let chars = 0;
  for (const entry of entries.toReversed()) {
    const text = JSON.stringify(entry);
    chars += text.length;
    if (chars > maxChars) break;
    texts.push(text);
  }
  return texts.reverse();
};

interface Kept {
  readonly seq: number;
  readonly data: string;
}

/** The informers and timers that run while at least one reader is connected. */
class Session {
  readonly epoch: string;
  readonly collections: Collections;
  readonly model: PageModel;
  readonly stop: () => void;
  /** Settles when the first lists have arrived, or will not for now. */
  readonly ready: Promise<unknown>;
  #seq = 0;
  #kept: Kept[] = [];
  #keptChars = 0;
  /** Number of journal entries that the deltas so far cover. */
  told: number;

  constructor(deps: HubDeps) {
    const { kube, clock, wall, random, log, signal, journal } = deps;
    const link = linkedAbort(signal);
    this.epoch = random.below(2 ** 32).toString(36);
    this.collections = createCollections({ kube, clock, random, log });
    this.model = new PageModel(this.collections);
    const informers = Object.values(this.collections);
    for (const informer of informers) void informer.run(link.signal);
    const { nodes, pods } = this.collections;
    this.ready = allSynced([nodes, pods], link.signal)
      .then(() =>
        Promise.race([
          allSynced(informers, link.signal),
          sleepOrAbort(wall, definitionsWithinMs, link.signal),
        ]),
      )
      .catch(() => undefined);
    this.told = journal.count;
    this.stop = () => {
      link.abort();
      link.unlink();
      this.model.close();
    };
  }

  get id(): string {
    return `${this.epoch}-${this.#seq}`;
  }

  /** Kinds that have not been listed yet, so the page lacks them. */
  faults(): readonly string[] {
    return Object.entries(this.collections)
      .filter(([, informer]) => !informer.hasSynced())
      .map(([name]) => `${name} could not be listed yet`);
  }

  keep(data: string): PageEvent {
    this.#seq += 1;
    this.#kept.push({ seq: this.#seq, data });
    this.#keptChars += data.length;
    while (this.#kept.length > maxKept || this.#keptChars > maxKeptChars) {
      this.#keptChars -= this.#kept.shift()?.data.length ?? 0;
    }
    return { id: this.id, event: 'delta', data };
  }

  /** The events after position `id`; undefined: they are no longer kept. */
  after(id: string | undefined): readonly PageEvent[] | undefined {
    const [epoch, seqText] = (id ?? '').split('-');
    const seq = Number(seqText);
    if (epoch !== this.epoch || !Number.isInteger(seq) || seq > this.#seq) return undefined;
    const oldest = this.#kept[0]?.seq ?? this.#seq + 1;
    if (seq + 1 < oldest) return undefined;
    return this.#kept
      .filter((one) => one.seq > seq)
      .map((one) => ({ id: `${epoch}-${one.seq}`, event: 'delta', data: one.data }));
  }
}

export class PageHub {
  readonly #deps: HubDeps;
  readonly #readers = new Readers((id) => this.#session?.after(id));
  #session: Session | undefined;
  #ticking: Promise<void> | undefined;
  /** Ticks without a reader or a request. */
  #idle = 0;

  constructor(deps: HubDeps) {
    this.#deps = deps;
  }

  /** A PageSnapshot as JSON. */
  async snapshot(): Promise<string> {
    const session = await this.#open();
    const { journal, server } = this.#deps;
    this.#tell(session, { withTime: false });
    const parts = {
      version: pageVersion,
      id: session.id,
      time: this.#time(),
      server,
      left: session.model.store.left(),
      journal: journal.all(),
      recorded: journal.count,
      faults: session.faults(),
    };
    const rows = session.model.store.rowsJson();
    return `${JSON.stringify(parts).slice(0, -1)},"rows":${rows}}`;
  }

  /** Sends `reader` every event after `from`. */
  async subscribe(from: string | undefined, reader: PageReader): Promise<Subscription> {
    await this.#open();
    return this.#readers.add(from, reader, this.#beat());
  }

  async node(name: string): Promise<PageAnswer<object>> {
    const { collections } = await this.#open();
    const facts = { now: this.#now(), journal: this.#deps.journal.all() };
    const body = nodeDetail(collections, name, facts);
    if (body !== undefined) return { kind: 'ok', body };
    return { kind: 'error', status: 404, message: `no node ${name} in this cluster` };
  }

  async update(name: string): Promise<PageAnswer<object>> {
    const { collections } = await this.#open();
    const body = updateDetail(collections, name, { journal: this.#deps.journal.all() });
    if (body !== undefined) return { kind: 'ok', body };
    return { kind: 'error', status: 404, message: `no update ${name} in this cluster` };
  }

  /**
   * Carries out an operator's request. `by`: the operator. `seen`: the plan that the operator
   * confirmed.
   */
  async act(
    name: string,
    verb: UpdateVerb,
    asked: {
      readonly by: string;
      readonly seen: PageAction['plan'];
      /** The API server as the operator sees it: the write is theirs. */
      readonly as: Pick<KubeApi, 'patch'>;
    },
  ): Promise<PageAnswer<object>> {
    const { collections } = await this.#open();
    const update = collections.updates.get(name);
    if (update === undefined) {
      return { kind: 'error', status: 404, message: `no update ${name} in this cluster` };
    }
    const verdict = verdictOf(update, verb, asked.by);
    if (verdict.kind === 'refused') return { kind: 'error', status: 409, message: verdict.text };
    if (asked.seen.join('\n') !== verdict.text) {
      const message = `the plan has changed meanwhile; it is: ${verdict.text}`;
      return { kind: 'error', status: 409, message };
    }
    if (verdict.kind === 'nothing') return { kind: 'ok', body: { text: verdict.text } };
    const patch = { type: 'merge', body: verdict.patch } as const;
    const found = await asked.as.patch(resourceTypes.nodegroupupdates, { name }, patch);
    if (found.kind === 'found') return { kind: 'ok', body: { text: verdict.text } };
    return { kind: 'error', status: 409, message: `update ${name} was deleted just now` };
  }

  #now(): EpochMs {
    return this.#deps.clock.now();
  }

  #time(): PageTime {
    return { now: formatTime(this.#now()), speed: this.#deps.speed() };
  }

  #beat(): PageEvent {
    return { event: 'beat', data: JSON.stringify(this.#time()) };
  }

  /** The running session, started if there is none, once its first lists have arrived. */
  async #open(): Promise<Session> {
    const { enter = (call) => call() } = this.#deps;
    this.#idle = 0;
    this.#session ??= enter(() => new Session(this.#deps));
    const session = this.#session;
    this.#ticking ??= this.#tick();
    await session.ready;
    return session;
  }

  async #tick(): Promise<void> {
    const { wall, signal } = this.#deps;
    for (let tick = 1; await sleepOrAbort(wall, tickMs, signal); tick++) {
      const session = this.#session;
      if (session === undefined) break;
      this.#idle = this.#readers.size > 0 ? 0 : this.#idle + 1;
      if (this.#idle >= idleTicks) {
        session.stop();
        this.#session = undefined;
        break;
      }
      if (this.#readers.size === 0) continue;
      this.#readers.tick();
      const isBeat = tick % ticksPerBeat === 0;
      this.#tell(session, { withTime: isBeat });
      if (isBeat) this.#readers.broadcast(this.#beat());
    }
    if (this.#deps.signal.aborted) this.#session?.stop();
    this.#ticking = undefined;
  }

  #tell(session: Session, options: { readonly withTime: boolean }): void {
    session.model.refresh(this.#now(), options);
    const { journal } = this.#deps;
    const entries = newestWithin(journal.since(session.told), maxEntriesChars);
    const recorded = journal.count;
    const isNews = recorded !== session.told;
    session.told = recorded;
    const changes = session.model.store.take();
    if (changes === undefined && !isNews) return;
    const { set, gone } = changes ?? { set: '{}', gone: '{}' };
    const [time, faults] = [this.#time(), session.faults()].map((part) => JSON.stringify(part));
    const data =
      `{"time":${time},"set":${set},"gone":${gone},"journal":[${entries.join(',')}],` +
      `"recorded":${recorded},"faults":${faults}}`;
    this.#readers.broadcast(session.keep(data));
  }
}
