// Prepares a custom resource for validation: prunes and reports unknown fields, drops nulls that
// are not allowed, sets defaults. Shares what stays unchanged; never mutates.
import { isObject, type Json, type JsonObject } from '../../../src/api/json.ts';
import { childPath, flag, memberSchema, objectIn } from './custom-schema.ts';
import { keepList, ObjectDraft, own } from './values.ts';

/** Members of every object, whatever its schema. */
const ROOT_MEMBERS = ['apiVersion', 'kind', 'metadata'] as const;

export interface Pruned {
  readonly object: JsonObject;
  /** Sorted paths of the pruned fields. */
  readonly unknown: readonly string[];
}

const keepsUnknown = (schema: JsonObject): boolean =>
  flag(schema, 'x-kubernetes-preserve-unknown-fields');

interface At {
  readonly path: string;
  readonly root: boolean;
}

/** Objects without unknown fields and with all defaults. They never change. */
const known = new WeakMap<JsonObject, JsonObject>();
const complete = new WeakMap<JsonObject, JsonObject>();

function pruneObject(value: JsonObject, schema: JsonObject, at: At, unknown: string[]): JsonObject {
  if (known.get(value) === schema) return value;
  const before = unknown.length;
  const draft = new ObjectDraft(value);
  const always: readonly string[] =
    at.root || flag(schema, 'x-kubernetes-embedded-resource') ? ROOT_MEMBERS : [];
  const open = keepsUnknown(schema) || own(schema, 'additionalProperties') === true;
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined || always.includes(key)) continue;
    const path = childPath(at.path, key);
    const below = memberSchema(schema, key);
    if (below !== undefined) {
      draft.set(key, prune(member, below, { path, root: false }, unknown));
    } else if (!open) {
      unknown.push(path);
      draft.delete(key);
    }
  }
  const pruned = draft.finish();
  if (pruned === value && unknown.length === before) known.set(value, schema);
  return pruned;
}

function prune(value: Json, schema: JsonObject, at: At, unknown: string[]): Json {
  if (isObject(value)) return pruneObject(value, schema, at, unknown);
  const items = objectIn(schema, 'items');
  if (!Array.isArray(value) || items === undefined) return value;
  const list: readonly Json[] = value;
  return keepList(
    list,
    list.map((item, index) =>
      prune(item, items, { path: `${at.path}[${index}]`, root: false }, unknown),
    ),
  );
}

/** Drops fields that the schema does not declare. */
export function pruneCustom(schema: JsonObject, object: JsonObject): Pruned {
  const unknown: string[] = [];
  const pruned = pruneObject(object, schema, { path: '', root: true }, unknown);
  return { object: pruned, unknown: unknown.sort() };
}

function defaultMembers(value: JsonObject, schema: JsonObject): JsonObject {
  if (complete.get(value) === schema) return value;
  const draft = new ObjectDraft(value);
  const properties = objectIn(schema, 'properties') ?? {};
  for (const [key, member] of Object.entries(value)) {
    const below = memberSchema(schema, key);
    if (member === null && below !== undefined && !flag(below, 'nullable')) draft.delete(key);
  }
  for (const [key, property] of Object.entries(properties)) {
    if (!isObject(property)) continue;
    const fallback = own(property, 'default');
    if (fallback !== undefined && draft.get(key) === undefined) draft.set(key, fallback);
  }
  for (const key of new Set([...draft.keys(), ...Object.keys(properties)])) {
    const member = draft.get(key);
    const below = memberSchema(schema, key);
    if (member !== undefined && below !== undefined) draft.set(key, withDefaults(member, below));
  }
  const filled = draft.finish();
  if (filled === value) complete.set(value, schema);
  return filled;
}

function withDefaults(value: Json, schema: JsonObject): Json {
  if (isObject(value)) return defaultMembers(value, schema);
  const items = objectIn(schema, 'items');
  if (!Array.isArray(value) || items === undefined) return value;
  const list: readonly Json[] = value;
  return keepList(
    list,
    list.map((item) => withDefaults(item, items)),
  );
}

/** Sets defaults; a null that is not allowed counts as absent. */
export function applyCustomDefaults(schema: JsonObject, object: JsonObject): JsonObject {
  return defaultMembers(object, schema);
}
