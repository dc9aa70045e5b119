// The controller writes nothing in a minute in which nothing happened, unless an open drain has to
// refresh its journal.
import { type JsonObject, objectOr } from '../../../../src/api/json.ts';
import type { Context, Watcher } from '../../oracle.ts';
import type { Request } from '../../state/book.ts';
import { keyOf, microsPerMinute, objectsOf, timeOf } from '../../state/read.ts';
import { isWrite, unrelated } from './unrelated.ts';

/** Progress and blockers of an open drain are also refreshed periodically, at growing intervals. */
const refreshesPerMinute = 2;
/** A recommendation without a following interruption expires after this time. */
const rebalanceMinutes = 60;

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

const isJournal = (resource: string): boolean => resource === 'nodedisruptions';

/** The deadlines of causes are events that no entry records. */
const noteDeadlines = (object: JsonObject, minutes: QuietMinutes): void => {
  for (const { deadline, kind, receivedAt } of objectsOf(objectOr(object.spec).causes)) {
    const deadlineAt = timeOf(deadline);
    if (deadlineAt !== undefined) minutes.deadline(deadlineAt);
    const since = timeOf(receivedAt);
    const expires = kind === 'RebalanceRecommendation' && since !== undefined;
    if (expires) minutes.deadline(since + rebalanceMinutes * microsPerMinute);
  }
};

export const watchQuietMinutes = (context: Context): Watcher => {
  const { book } = context;
  const minutes = new QuietMinutes(context);
  return {
    object: ({ at, resource, object }) => {
      if (unrelated.has(resource)) return;
      if (book.matters && !isJournal(resource)) minutes.busy(at);
      if (isJournal(resource)) noteDeadlines(object, minutes);
    },
    lifecycle: (entry) => minutes.busy(entry.at),
    fault: (entry) => minutes.busy(entry.at),
    call: (entry) => {
      if (book.isOurs(entry)) {
        if (entry.operation === 'RecordLifecycleActionHeartbeat') minutes.heartbeat(entry.at);
      } else if (!/^(Describe|List|Get)/.test(entry.operation)) minutes.busy(entry.at);
    },
    request: (entry) => {
      if (!isWrite(entry)) return;
      // Requests of others on a group lead to writes on nodes; the group's status is written
      // periodically.
      if (entry.resource === 'nodegroups' && !book.isOurs(entry)) minutes.busy(entry.at);
      if (unrelated.has(entry.resource)) return;
      if (!book.isOurs(entry)) {
        if (isJournal(entry.resource)) minutes.busy(entry.at);
      } else if (entry.verb !== 'delete' || !isJournal(entry.resource)) minutes.write(entry);
    },
    end: () => minutes.end(book.facts.endedAt),
  };
};
