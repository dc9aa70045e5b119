// Which field paths differ between two versions of an object, and which an applied configuration
// sets (structured-merge-diff's Compare and ToFieldSet). Skips values that are identical on both
// sides, so the cost is that of the change.
import { isObject, type Json, type JsonObject } from '../../../src/api/json.ts';
import { values } from '../schema/index.ts';
import { type FieldSet, leafSet, treeOf } from './field-set.ts';
import { deducedType, type FieldType, type ListKey } from './field-types.ts';

export interface Delta {
  /** Added fields, or fields with another value. */
  readonly changed: FieldSet | undefined;
  readonly removed: FieldSet | undefined;
}

type Entry = readonly [string, FieldSet];

const fieldElements = new Map<string, string>();
const maximumFieldElements = 10_000;

/** `f:name`; cached, because the same few hundred names recur. */
function fieldElement(name: string): string {
  const known = fieldElements.get(name);
  if (known !== undefined) return known;
  if (fieldElements.size >= maximumFieldElements) fieldElements.clear();
  const made = `f:${name}`;
  fieldElements.set(name, made);
  return made;
}

/** The path element of a list item; undefined when it has no key. */
export function itemElement(keys: readonly ListKey[] | undefined, item: Json): string | undefined {
  if (keys === undefined) return isObject(item) ? undefined : `v:${JSON.stringify(item)}`;
  if (!isObject(item)) return undefined;
  const parts: string[] = [];
  for (const key of keys) {
    const value = item[key.name] ?? key.default;
    // A key without a default may be missing if another key is present.
    if (value === undefined || value === null) continue;
    parts.push(`${JSON.stringify(key.name)}:${JSON.stringify(value)}`);
  }
  return parts.length === 0 ? undefined : `k:{${parts.join(',')}}`;
}

export const typeFor = (type: FieldType, value: Json | undefined): FieldType =>
  type.kind === 'deduced' ? deducedType(value) : type;

/** The type of one member of a map or struct; undeclared members have a deduced type. */
export const memberType = (type: Extract<FieldType, { kind: 'map' }>, name: string): FieldType =>
  type.field(name) ?? type.of?.() ?? { kind: 'deduced' };

const isEmpty = (value: Json | undefined): boolean => {
  if (value === undefined || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) ? Object.keys(value).length === 0 : false;
};

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
const mapOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});

const added: Delta = { changed: leafSet, removed: undefined };
const gone: Delta = { changed: undefined, removed: leafSet };

function leafDelta(left: Json | undefined, right: Json | undefined): Delta | undefined {
  if (left === undefined) return added;
  if (right === undefined) return gone;
  return values.deepEqual(left, right) ? undefined : added;
}

class Gathered {
  readonly changed: Entry[] = [];
  readonly removed: Entry[] = [];
  add(element: string, delta: Delta | undefined): void {
    if (delta?.changed !== undefined) this.changed.push([element, delta.changed]);
    if (delta?.removed !== undefined) this.removed.push([element, delta.removed]);
  }
  delta(left: Json | undefined, right: Json | undefined): Delta | undefined {
    const changed = treeOf(left === undefined, this.changed);
    const removed = treeOf(right === undefined, this.removed);
    return changed === undefined && removed === undefined ? undefined : { changed, removed };
  }
}

/** Items by path element. Keeps all duplicates, which sets of old objects may contain. */
function itemsByElement(
  keys: readonly ListKey[] | undefined,
  list: readonly Json[],
): ReadonlyMap<string, Json> {
  const found = new Map<string, Json>();
  for (const item of list) {
    const element = itemElement(keys, item);
    if (element !== undefined && !found.has(element)) found.set(element, item);
  }
  return found;
}

function compareList(
  type: Extract<FieldType, { kind: 'list' }>,
  left: Json | undefined,
  right: Json | undefined,
): Delta | undefined {
  const before = itemsByElement(type.keys, listOf(left));
  const after = itemsByElement(type.keys, listOf(right));
  const gathered = new Gathered();
  for (const [element, item] of before) {
    gathered.add(element, compareAt(type.of(), item, after.get(element)));
  }
  for (const [element, item] of after) {
    if (!before.has(element)) gathered.add(element, compareAt(type.of(), undefined, item));
  }
  return gathered.delta(left, right);
}

function compareMap(
  type: Extract<FieldType, { kind: 'map' }>,
  left: Json | undefined,
  right: Json | undefined,
): Delta | undefined {
  const before = mapOf(left);
  const after = mapOf(right);
  const gathered = new Gathered();
  for (const name of Object.keys(before)) {
    const was = before[name];
    const is = after[name];
    if (was !== is) gathered.add(fieldElement(name), compareAt(memberType(type, name), was, is));
  }
  for (const name of Object.keys(after)) {
    if (before[name] !== undefined) continue;
    // Go writes some unset fields as null; the world's own writers omit them. Both count as unset.
    if (after[name] === null && left !== undefined) continue;
    gathered.add(fieldElement(name), compareAt(memberType(type, name), undefined, after[name]));
  }
  return gathered.delta(left, right);
}

/** Cached results below new values: pods of one template share them. */
const wholeDeltas = new WeakMap<object, { readonly type: FieldType; readonly delta: Delta }>();

function newDelta(type: FieldType, value: object): Delta | undefined {
  const known = wholeDeltas.get(value);
  if (known?.type === type) return known.delta;
  const delta = compareInside(type, undefined, value as Json);
  if (delta !== undefined) wholeDeltas.set(value, { type, delta });
  return delta;
}

/** undefined on one side: the path does not exist there; on both: no difference. */
function compareAt(
  declared: FieldType,
  left: Json | undefined,
  right: Json | undefined,
): Delta | undefined {
  if (left === right) return undefined;
  const isNew = left === undefined && typeof right === 'object' && right !== null;
  return isNew ? newDelta(declared, right) : compareInside(declared, left, right);
}

function compareInside(
  declared: FieldType,
  left: Json | undefined,
  right: Json | undefined,
): Delta | undefined {
  const type = typeFor(declared, right ?? left);
  // An empty map or list differs from a missing one and is a value of its own.
  if (type.kind === 'leaf' || (isEmpty(left) && isEmpty(right))) return leafDelta(left, right);
  if (type.kind === 'list') return compareList(type, left, right);
  return type.kind === 'map' ? compareMap(type, left, right) : leafDelta(left, right);
}

const nothing: Delta = { changed: undefined, removed: undefined };

/** Compares two complete objects of one kind. */
export const compareObjects = (type: FieldType, left: JsonObject, right: JsonObject): Delta =>
  compareAt(type, left, right) ?? nothing;

function fieldsAt(declared: FieldType, value: Json): FieldSet | undefined {
  const type = typeFor(declared, value);
  if (type.kind === 'leaf') return leafSet;
  const entries: Entry[] = [];
  if (type.kind === 'list') {
    for (const [element, item] of itemsByElement(type.keys, listOf(value))) {
      const fields = fieldsAt(type.of(), item);
      const children = fields === undefined || fields === leafSet ? [] : Object.entries(fields);
      const own = children.filter(([name]) => name !== '.') as Entry[];
      entries.push([element, treeOf(true, own) ?? leafSet]);
    }
  } else if (type.kind === 'map') {
    for (const [name, member] of Object.entries(mapOf(value))) {
      if (member === undefined) continue;
      const fields = fieldsAt(memberType(type, name), member);
      const whole =
        member === null || (isObject(member) && isEmpty(member)) || type.field(name) === undefined;
      const children = fields === undefined || fields === leafSet ? [] : Object.entries(fields);
      const own = children.filter(([child]) => child !== '.') as Entry[];
      const tree = treeOf(whole || fields === leafSet, own);
      if (tree !== undefined) entries.push([`f:${name}`, tree]);
    }
  }
  return treeOf(false, entries);
}

/** Every path that a configuration sets: leaves, list items, map keys. */
export const fieldsOf = (type: FieldType, object: JsonObject): FieldSet | undefined =>
  fieldsAt(type, object);
