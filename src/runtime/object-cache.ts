// The cache of an informer: the newest version of each object, with indexes. Decides which incoming
// versions are new. An older or repeated one never replaces a newer one, and a deleted object never
// returns. No clock, no promises, no listeners.
import type { KubeObject } from '../api/kube.ts';
import type { ObjectName } from '../ports/index.ts';

export type Change<T> =
  | { readonly kind: 'added'; readonly object: T }
  | { readonly kind: 'changed'; readonly object: T; readonly previous: T }
  | { readonly kind: 'removed'; readonly object: T };

export type IndexFunction<T> = (object: T) => readonly string[];

/** Number of remembered deletions, so that a late event does not restore an object. */
const maxTombstones = 1000;

/**
 * resourceVersions as numbers: both the API server on etcd and the world count revisions, and
 * Kubernetes 1.35 declares them comparable. Any other value throws.
 */
export const revisionOf = (resourceVersion: string): number => {
  const revision = Number(resourceVersion);
  if (resourceVersion === '' || !Number.isSafeInteger(revision) || revision < 0) {
    throw new Error(`resourceVersion "${resourceVersion}" is not a number`);
  }
  return revision;
};

export const keyOf = (name: ObjectName): string =>
  name.namespace === undefined ? name.name : `${name.namespace}/${name.name}`;

interface Row<T> {
  readonly object: T;
  readonly revision: number;
  /** The values under which each index lists this row. */
  readonly indexed: ReadonlyMap<string, readonly string[]>;
}

export class ObjectCache<T extends KubeObject> {
  readonly #rows = new Map<string, Row<T>>();
  /**
   * All objects in order, cached until one is added, removed or changed: lists are read far more
   * often.
   */
  #list: readonly T[] | undefined;
  readonly #tombstones = new Map<string, number>();
  readonly #functions: ReadonlyMap<string, IndexFunction<T>>;
  readonly #indexes = new Map<string, Map<string, Map<string, T>>>();
  /** Revision of the last list: the cache includes all events up to it. */
  #floor = 0;

  constructor(indexes: Readonly<Record<string, IndexFunction<T>>> = {}) {
    this.#functions = new Map(Object.entries(indexes));
    for (const name of this.#functions.keys()) this.#indexes.set(name, new Map());
  }

  get size(): number {
    return this.#rows.size;
  }
  get(key: string): T | undefined {
    return this.#rows.get(key)?.object;
  }
  list(): readonly T[] {
    this.#list ??= Array.from(this.#rows.values(), ({ object }) => object);
    return this.#list;
  }
  /** Objects with `value` in the index, in the order of their first observation. */
  indexed(index: string, value: string): readonly T[] {
    const values = this.#indexes.get(index);
    if (values === undefined) throw new Error(`no index ${index}`);
    const found = values.get(value);
    return found === undefined ? [] : [...found.values()];
  }
  /** Applies one event; returns its changes, empty for an outdated event. */
  apply(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): readonly Change<T>[] {
    const { uid, resourceVersion } = object.metadata;
    const revision = revisionOf(resourceVersion);
    const known = this.#rows.get(keyOf(object.metadata));
    if (type === 'DELETED') {
      this.#bury(uid, revision);
      if (known === undefined || known.revision > revision) return [];
      if (known.object.metadata.uid !== uid) return [];
      this.#drop(known);
      return [{ kind: 'removed', object }];
    }
    // The same uid with a newer revision is not a deleted object: it may have left a selector and
    // returned.
    if (revision <= Math.max(this.#floor, this.#tombstones.get(uid) ?? 0)) return [];
    if (known !== undefined && known.revision >= revision) return [];
    return this.#put(object, revision, known);
  }

  /** Applies a complete list of revision `revision`; returns the difference to the cache. */
  replace(objects: readonly T[], revision: number): readonly Change<T>[] {
    const changes: Change<T>[] = [];
    const listed = new Set<string>();
    for (const object of objects) {
      const key = keyOf(object.metadata);
      listed.add(key);
      const known = this.#rows.get(key);
      const own = revisionOf(object.metadata.resourceVersion);
      const same = known?.object.metadata.uid === object.metadata.uid && known.revision === own;
      if (!same) changes.push(...this.#put(object, own, known));
    }
    for (const [key, row] of [...this.#rows]) {
      if (listed.has(key)) continue;
      this.#drop(row);
      this.#bury(row.object.metadata.uid, revision);
      changes.push({ kind: 'removed', object: row.object });
    }
    this.#floor = revision;
    return changes;
  }

  #put(object: T, revision: number, known: Row<T> | undefined): Change<T>[] {
    const changes: Change<T>[] = [];
    const replaced = known !== undefined && known.object.metadata.uid !== object.metadata.uid;
    if (known !== undefined) {
      this.#drop(known);
      if (replaced) changes.push({ kind: 'removed', object: known.object });
    }
    const key = keyOf(object.metadata);
    const indexed = new Map<string, readonly string[]>();
    for (const [name, values] of this.#functions) indexed.set(name, values(object));
    for (const [name, values] of indexed) {
      for (const value of values) this.#bucket(name, value).set(key, object);
    }
    this.#rows.set(key, { object, revision, indexed });
    this.#list = undefined;
    if (known === undefined || replaced) changes.push({ kind: 'added', object });
    else changes.push({ kind: 'changed', object, previous: known.object });
    return changes;
  }

  #drop(row: Row<T>): void {
    const key = keyOf(row.object.metadata);
    this.#rows.delete(key);
    this.#list = undefined;
    for (const [name, values] of row.indexed) {
      for (const value of values) {
        const bucket = this.#bucket(name, value);
        bucket.delete(key);
        if (bucket.size === 0) this.#indexes.get(name)?.delete(value);
      }
    }
  }

  #bucket(name: string, value: string): Map<string, T> {
    const values = this.#indexes.get(name);
    if (values === undefined) throw new Error(`no index ${name}`);
    const known = values.get(value);
    if (known !== undefined) return known;
    const fresh = new Map<string, T>();
    values.set(value, fresh);
    return fresh;
  }

  #bury(uid: string, revision: number): void {
    this.#tombstones.set(uid, revision);
    for (const oldest of this.#tombstones.keys()) {
      if (this.#tombstones.size <= maxTombstones) break;
      this.#tombstones.delete(oldest);
    }
  }
}
