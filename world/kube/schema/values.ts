// Small pure operations on JSON values for schema and patch code: own-property access that is safe
// for keys such as `__proto__`, copies that share unchanged parts, and Go's way to print a value.
// Never mutates its arguments.
import { isObject, type Json, type JsonObject, setOwn } from '../../../src/api/json.ts';

/** An own property; inherited names such as `constructor` read as absent. */
export const own = (object: JsonObject, key: string): Json | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined;

export function deepEqual(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => deepEqual(item, b[index]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && deepEqual(a[key], b[key]));
}

/** A copy-on-write view of an object: `finish` returns the original when nothing changed. */
export class ObjectDraft {
  readonly #original: JsonObject;
  #changes: Map<string, Json | undefined> | undefined;

  constructor(original: JsonObject) {
    this.#original = original;
  }

  get(key: string): Json | undefined {
    if (this.#changes?.has(key) === true) return this.#changes.get(key);
    return own(this.#original, key);
  }

  set(key: string, value: Json): void {
    if (deepEqual(this.get(key), value)) return;
    this.#changes ??= new Map();
    this.#changes.set(key, value);
  }

  delete(key: string): void {
    if (this.get(key) === undefined) return;
    this.#changes ??= new Map();
    this.#changes.set(key, undefined);
  }

  /** Keys of the original, without deleted ones. */
  keys(): readonly string[] {
    return Object.keys(this.#original).filter((key) => this.get(key) !== undefined);
  }

  finish(): JsonObject {
    const changes = this.#changes;
    if (changes === undefined) return this.#original;
    const next: Record<string, Json> = {};
    for (const key of Object.keys(this.#original)) {
      const value = this.get(key);
      if (value !== undefined) setOwn(next, key, value);
    }
    for (const [key, value] of changes) {
      if (value !== undefined && !Object.hasOwn(this.#original, key)) setOwn(next, key, value);
    }
    return next;
  }
}

/** `object` with one key set; the same object when the key already has an equal value. */
export function withKey(object: JsonObject, key: string, value: Json): JsonObject {
  const draft = new ObjectDraft(object);
  draft.set(key, value);
  return draft.finish();
}

/** `original` when every element is identical, else `next`. */
export function keepList(original: readonly Json[], next: readonly Json[]): readonly Json[] {
  return original.length === next.length && original.every((item, i) => item === next[i])
    ? original
    : next;
}

/** A value as Go's `%v` prints decoded JSON: `map[a:1 b:[x y]]`, keys sorted, null as `<nil>`. */
export function goFormat(value: Json | undefined): string {
  if (value === undefined || value === null) return '<nil>';
  if (typeof value === 'object') {
    if (isObject(value)) {
      const parts = Object.keys(value)
        .sort()
        .map((key) => `${key}:${goFormat(value[key])}`);
      return `map[${parts.join(' ')}]`;
    }
    return `[${value.map(goFormat).join(' ')}]`;
  }
  return String(value);
}

/** The Go type to which the API server decodes a JSON value. */
export function goKind(value: Json | undefined): string {
  if (value === undefined || value === null) return '<nil>';
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return isObject(value) ? 'map[string]interface {}' : '[]interface {}';
}

/** encoding/json's name for a value in errors. */
export function jsonKind(value: Json | undefined): string {
  if (value === undefined || value === null) return 'null';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'object') return isObject(value) ? 'object' : 'array';
  return typeof value;
}

/** Go's reflect kind of a decoded value, as in the converter's messages. */
export function goKindWord(value: Json): string {
  const kind = goKind(value);
  if (kind === '[]interface {}') return 'slice';
  return kind === 'map[string]interface {}' ? 'map' : kind;
}
