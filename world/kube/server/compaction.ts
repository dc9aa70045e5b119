// Which revisions are compacted: kube-apiserver compacts etcd every five minutes to the revision of
// five minutes before, so that what lists read of the past is five to ten minutes old at most.
// Counts only, in memory: after a restart the history is empty anyway.
import { type Micros, microsPerSecond } from '../../kernel/index.ts';

/** --etcd-compaction-interval. */
const intervalMicros = 5 * 60 * microsPerSecond;

export class Compaction {
  #tick: number;
  /** The revision at the last tick, and at the one before it. */
  #atTick: number;
  #compacted = 0;

  constructor(now: Micros, revision: number) {
    this.#tick = Math.floor(now / intervalMicros);
    this.#atTick = revision;
  }

  /** Before each write; `revision` is the one before it. */
  pass(now: Micros, revision: number): void {
    const tick = Math.floor(now / intervalMicros);
    if (tick === this.#tick) return;
    // Nothing was written in between: two ticks later both have the same revision.
    this.#compacted = tick === this.#tick + 1 ? this.#atTick : revision;
    this.#tick = tick;
    this.#atTick = revision;
  }

  /** The oldest revision that can still be read. */
  compacted(now: Micros, revision: number): number {
    this.pass(now, revision);
    return this.#compacted;
  }
}
