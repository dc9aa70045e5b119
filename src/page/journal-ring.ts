// The last entries of the journal of this process, for the page. Bounded: the oldest is dropped.
// Passes each entry on unchanged.
import { formatTime } from '../api/brand.ts';
import type { JsonObject } from '../api/json.ts';
import { type PageEntry, pageLimits } from '../api/page.ts';
import type { Clock, Journal } from '../ports/index.ts';

/** An entry of a large update may list many nodes. */
const maxFactsChars = 4_000;

const bounded = (facts: JsonObject): JsonObject => {
  const text = JSON.stringify(facts);
  return text.length <= maxFactsChars ? facts : { text: `${text.slice(0, maxFactsChars)}...` };
};

export class JournalRing {
  readonly #entries: PageEntry[] = [];
  /** Number of entries ever recorded. */
  #count = 0;

  /** A journal that also records here. */
  tee(journal: Journal, clock: Pick<Clock, 'now'>): Journal {
    return {
      record: (entry) => {
        const { type, subject, facts } = entry;
        this.#entries.push({ at: formatTime(clock.now()), type, subject, facts: bounded(facts) });
        if (this.#entries.length > pageLimits.journal) this.#entries.shift();
        this.#count += 1;
        journal.record(entry);
      },
    };
  }

  /** Number of entries ever recorded: a position for `since`. */
  get count(): number {
    return this.#count;
  }

  /** Oldest first. */
  all(): readonly PageEntry[] {
    return this.#entries;
  }

  /** Entries after position `count`, as far as they are kept. */
  since(count: number): readonly PageEntry[] {
    const fresh = this.#count - count;
    return fresh <= 0 ? [] : this.#entries.slice(-fresh);
  }
}
