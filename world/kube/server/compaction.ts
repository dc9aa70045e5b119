// Which revisions are compacted: kube-apiserver compacts etcd every five minutes to the revision of
// five minutes earlier, so the oldest readable state is five to ten minutes old. Counters in memory
// only: after a restart the history is empty anyway.
import { type Micros, microsPerSecond } from '../../kernel/index.ts';

/** --etcd-compaction-interval. */
const intervalMicros = 5 * 60 * microsPerSecond;

export class Compaction {
  #tick: number;
  /** The revision at the last tick, and at the previous one. */
  #atTick: number;
  #compacted = 0;

  constructor(now: Micros, revision: number) {
    this.#tick = Math.floor(now / intervalMicros);
    this.#atTick = revision;
  }

  /** Call before each write; `revision` is that of the previous write. */
  pass(now: Micros, revision: number): void {
    const tick = Math.floor(now / intervalMicros);
    if (tick === this.#tick) return;
    // Nothing was written in between: two ticks later both have the same revision.
    this.#compacted = tick === this.#tick + 1 ? this.#atTick : revision;
    this.#tick = tick;
    this.#atTick = revision;
  }

  /** The oldest revision that can be read. */
  compacted(now: Micros, revision: number): number {
    this.pass(now, revision);
    return this.#compacted;
  }
}
