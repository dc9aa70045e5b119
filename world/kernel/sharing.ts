// Makes equal parts of many rows one object: pods of a set, their managed fields and conditions are
// most of a large world's memory. The content of a row stays the same. Looks two levels deep, where
// Kubernetes objects repeat themselves; never changes a row in place.
import { isObject, type Json, type JsonObject } from '../../src/api/json.ts';

/** The cache is cleared at this many parts, so that unique parts do not accumulate. */
const maximumParts = 20_000;
/** Longer texts are rarely equal. */
const maximumTextLength = 100;
const nested = new Set(['metadata', 'spec', 'status']);
/** Unique in each row. */
const unique = new Set(['name', 'uid', 'resourceVersion']);

export class Sharing {
  #parts = new Map<string, object>();
  #texts = new Map<string, string>();
  /** Parts that are already shared: one lookup per part. */
  #shared = new WeakSet<object>();

  /** Returns `row` itself if it has nothing to share. */
  share(row: JsonObject): JsonObject {
    return this.#each(row, (key, value) => {
      if (nested.has(key) && isObject(value)) {
        return this.#each(value, (field, part) => this.#part(field, part));
      }
      return this.#part(key, value);
    });
  }

  #part(key: string, value: Json): Json {
    if (unique.has(key)) return value;
    if (key === 'managedFields') return this.#managers(value);
    return this.#one(value);
  }

  /** Each entry has its own time; the fields take most of the memory. */
  #managers(value: Json): Json {
    // Serializing computes values that have not been read yet.
    const list = Array.isArray(value) ? (value as readonly Json[]) : this.#read(value);
    if (!Array.isArray(list)) return value;
    if (this.#shared.has(list)) return list;
    const entries = (list as readonly Json[]).map((entry) =>
      isObject(entry) ? this.#each(entry, (_, field) => this.#one(field)) : entry,
    );
    this.#shared.add(entries);
    return entries;
  }

  #read(value: Json): Json {
    return (value as { readonly toJSON?: () => Json }).toJSON?.() ?? value;
  }

  #one(value: Json): Json {
    if (typeof value === 'string') return this.#text(value);
    if (typeof value !== 'object' || value === null || this.#shared.has(value)) return value;
    const text = JSON.stringify(value);
    const known = this.#parts.get(text) as Json | undefined;
    if (known !== undefined) return known;
    if (this.#parts.size >= maximumParts) this.#parts.clear();
    this.#parts.set(text, value);
    this.#shared.add(value);
    return value;
  }

  #text(value: string): string {
    if (value.length > maximumTextLength) return value;
    const known = this.#texts.get(value);
    if (known !== undefined) return known;
    if (this.#texts.size >= maximumParts) this.#texts.clear();
    this.#texts.set(value, value);
    return value;
  }

  #each(object: JsonObject, shared: (key: string, value: Json) => Json): JsonObject {
    let changed = false;
    const next: Record<string, Json> = {};
    for (const key in object) {
      const value = object[key];
      if (value === undefined) continue;
      const part = shared(key, value);
      if (part !== value) changed = true;
      next[key] = part;
    }
    return changed ? next : object;
  }
}
