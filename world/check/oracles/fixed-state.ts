// Oracle 12: the controller writes nothing in a fixed state. Violations are a write that changes
// nothing, and a write in a minute without any event, unless an open drain has to refresh its
// journal.

import { objectOr } from '../../../src/api/json.ts';
import { both, type Context, type Oracle } from '../oracle.ts';
import type { Request } from '../state/book.ts';
import { keyOf, microsPerMinute, objectsOf, textOf, timeOf } from '../state/read.ts';

/** Ignored: written periodically by design, or for operators. */
const unrelated = new Set(['leases', 'events', 'nodegroups']);
/** While answers are lost or watches lag, this many useless writes in a row are excused. */
const blindRepeats = 3;
/** Progress and blockers of an open drain are also refreshed periodically, at growing intervals. */
const refreshesPerMinute = 2;
/** A recommendation without a following interruption expires after this time. */
const rebalanceMinutes = 60;

/** Resources that the controller patches; it only evicts and deletes pods. */
const patched = new Set(['nodes', 'nodedisruptions']);
const reads = new Set(['get', 'list', 'watch']);

/** Reports a write that left the object unchanged. */
class UselessWrites {
  readonly #context: Context;
  /** Changed objects whose request the trace has not shown yet. */
  readonly #changed = new Set<string>();
  readonly #kinds = new Set<string>();
  readonly #repeats = new Map<string, number>();
  /** When other clients last changed an object. */
  readonly #foreign = new Map<string, number>();

  constructor(context: Context) {
    this.#context = context;
  }

  changed(resource: string, name: string): void {
    if (!patched.has(resource)) return;
    this.#kinds.add(resource);
    this.#changed.add(`${resource} ${name}`);
  }

  written(entry: Request): void {
    const { book, saw, report } = this.#context;
    if (!patched.has(entry.resource)) return;
    const key = `${entry.resource} ${entry.name ?? ''}`;
    const didChange = this.#changed.delete(key);
    if (!book.isOurs(entry)) {
      if (didChange) this.#foreign.set(key, entry.at);
      return;
    }
    if (!this.#kinds.has(entry.resource)) return;
    if (entry.verb !== 'patch' && entry.verb !== 'update') return;
    saw();
    if (didChange) {
      this.#repeats.delete(key);
      return;
    }
    // Another client just wrote the same change; the controller could not know.
    if (entry.at - (this.#foreign.get(key) ?? 0) <= book.lagMicros) return;
    const repeats = (this.#repeats.get(key) ?? 0) + 1;
    this.#repeats.set(key, repeats);
    if (book.isBlind && repeats <= blindRepeats) return;
    report({
      subject: key,
      message: `${entry.verb} wrote what was there already (${repeats} in a row)`,
    });
  }
}

/** Counts the controller's writes per minute, and excuses minutes in which something happened. */
class QuietMinutes {
  readonly #context: Context;
  #minute = 0;
  #writes = 0;
  #heartbeats = 0;
  #isBusy = true;
  #wasBusy = true;
  #first: string | undefined;
  /** Minutes with the deadline of a cause: an event that no entry records. */
  readonly #deadlines = new Set<number>();

  constructor(context: Context) {
    this.#context = context;
  }

  busy(at: number): void {
    this.#advance(at);
    this.#isBusy = true;
  }

  deadline(at: number): void {
    // By the controller's clock, which may be skewed.
    const skew = this.#context.book.facts.clockSkew ?? 0;
    for (const seen of [at - skew, at, at + skew]) {
      this.#deadlines.add(Math.floor(seen / microsPerMinute));
    }
  }

  heartbeat(at: number): void {
    this.#advance(at);
    this.#heartbeats++;
  }

  write(entry: Request): void {
    this.#advance(entry.at);
    this.#writes++;
    this.#first ??= `${entry.verb} ${entry.resource} ${keyOf(entry.namespace, entry.name)}`;
  }

  end(at: number): void {
    this.#advance(at + microsPerMinute);
  }

  #advance(at: number): void {
    const minute = Math.floor(at / microsPerMinute);
    if (minute === this.#minute) return;
    this.#isBusy ||= this.#deadlines.has(this.#minute);
    if (!this.#isBusy && !this.#wasBusy) this.#judge();
    const isNext = minute === this.#minute + 1;
    // A minute without any entry was not checked for deadlines when it passed.
    this.#wasBusy = (isNext && this.#isBusy) || this.#deadlines.has(minute - 1);
    this.#minute = minute;
    this.#isBusy = false;
    this.#writes = 0;
    this.#heartbeats = 0;
    this.#first = undefined;
  }

  #judge(): void {
    const { book, saw, report } = this.#context;
    saw();
    let open = 0;
    for (const one of book.disruptions.living()) if (one.phase !== 'Ended') open++;
    const allowed = refreshesPerMinute * open + 2 * this.#heartbeats;
    if (this.#writes <= allowed) return;
    report({
      at: this.#minute * microsPerMinute,
      subject: this.#first ?? '',
      message: `${this.#writes} writes in a minute in which nothing happened (${open} drains open)`,
    });
  }
}

export const fixedState: Oracle = {
  name: 'fixed-state-writes-nothing',
  what: 'no write of ours changes nothing, and none falls into a minute without any event',
  strategies: both,
  needs: ['request', 'object'],
  watch: (context) => {
    const { book } = context;
    const useless = new UselessWrites(context);
    const minutes = new QuietMinutes(context);
    const isJournal = (resource: string): boolean => resource === 'nodedisruptions';
    return {
      object: ({ at, resource, object }) => {
        if (unrelated.has(resource)) return;
        if (book.isNewVersion) useless.changed(resource, textOf(objectOr(object.metadata).name));
        if (book.matters && !isJournal(resource)) minutes.busy(at);
        if (!isJournal(resource)) return;
        for (const { deadline, kind, receivedAt } of objectsOf(objectOr(object.spec).causes)) {
          const deadlineAt = timeOf(deadline);
          if (deadlineAt !== undefined) minutes.deadline(deadlineAt);
          const since = timeOf(receivedAt);
          const isOver = kind === 'RebalanceRecommendation' && since !== undefined;
          if (isOver) minutes.deadline(since + rebalanceMinutes * microsPerMinute);
        }
      },
      lifecycle: (entry) => minutes.busy(entry.at),
      fault: (entry) => minutes.busy(entry.at),
      call: (entry) => {
        if (book.isOurs(entry)) {
          if (entry.operation === 'RecordLifecycleActionHeartbeat') minutes.heartbeat(entry.at);
        } else if (!/^(Describe|List|Get)/.test(entry.operation)) minutes.busy(entry.at);
      },
      request: (entry) => {
        if (reads.has(entry.verb) || entry.dryRun) return;
        if (entry.code < 200 || entry.code >= 300) return;
        // Requests of others on a group lead to writes on nodes; the group's status is written
        // periodically.
        if (entry.resource === 'nodegroups' && !book.isOurs(entry)) minutes.busy(entry.at);
        if (unrelated.has(entry.resource)) return;
        useless.written(entry);
        if (!book.isOurs(entry)) {
          if (isJournal(entry.resource)) minutes.busy(entry.at);
        } else if (entry.verb !== 'delete' || !isJournal(entry.resource)) minutes.write(entry);
      },
      end: () => minutes.end(book.facts.endedAt),
    };
  },
};
