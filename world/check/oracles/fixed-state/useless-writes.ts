// A patch or an update by the controller changes the object that it is sent for.
import { objectOr } from '../../../../src/api/json.ts';
import type { Context, Watcher } from '../../oracle.ts';
import type { Request } from '../../state/book.ts';
import { textOf } from '../../state/read.ts';
import { isWrite, unrelated } from './unrelated.ts';

/** While answers are lost or watches lag, this many useless writes in a row are excused. */
const blindRepeats = 3;

/** Resources that the controller patches; it only evicts and deletes pods. */
const patched = new Set(['nodes', 'nodedisruptions']);

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

export const watchUselessWrites = (context: Context): Watcher => {
  const { book } = context;
  const useless = new UselessWrites(context);
  return {
    object: ({ resource, object }) => {
      if (unrelated.has(resource) || !book.isNewVersion) return;
      useless.changed(resource, textOf(objectOr(object.metadata).name));
    },
    request: (entry) => {
      if (isWrite(entry) && !unrelated.has(entry.resource)) useless.written(entry);
    },
  };
};
