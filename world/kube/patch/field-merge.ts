// Merges an applied configuration into the live object, removes fields that its manager dropped,
// and refuses configurations that do not match the kind (structured-merge-diff's Merge, RemoveItems
// and validation). Pure; managed-fields.ts tracks ownership.
import { isObject, type Json, type JsonObject } from '../../../src/api/json.ts';
import { values } from '../schema/index.ts';
import { itemElement, memberType, typeFor } from './field-compare.ts';
import { below, elementsOf, type FieldSet, isMember } from './field-set.ts';
import type { FieldType, ListKey, ScalarKind } from './field-types.ts';

type ListType = Extract<FieldType, { kind: 'list' }>;
type MapType = Extract<FieldType, { kind: 'map' }>;

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
const mapOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});

/**
 * Merges two lists: shared items take the configuration's order. Live items that the configuration
 * does not name stay before the shared item that follows them.
 */
function mergeLists(type: ListType, live: readonly Json[], config: readonly Json[]): Json {
  const wanted = new Map(config.map((item) => [itemElement(type.keys, item) ?? '', item]));
  const found = new Map<string, Json>();
  for (const item of live) {
    const element = itemElement(type.keys, item) ?? '';
    if (!found.has(element)) found.set(element, item);
  }
  const order = [...wanted.keys()];
  const shared = order.filter((element) => found.has(element));
  const liveOrder = live.map((item) => [itemElement(type.keys, item) ?? '', item] as const);
  const out: Json[] = [];
  const merged = new Set<string>();
  const take = (element: string): void => {
    const item = wanted.get(element);
    if (item === undefined) return;
    merged.add(element);
    if (shared[0] === element) shared.shift();
    out.push(mergeAt(type.of(), found.get(element), item) ?? null);
  };
  let left = 0;
  let right = 0;
  while (left < liveOrder.length || right < order.length) {
    const [element, item] = liveOrder[left] ?? ['', null];
    const next = order[right];
    if (left < liveOrder.length && next !== undefined) {
      if (element === next) {
        take(element);
        left++;
        right++;
        continue;
      }
      if (wanted.has(element) && shared[0] !== undefined && shared[0] !== element) {
        left++;
        continue;
      }
    }
    if (left < liveOrder.length) {
      if (!wanted.has(element)) {
        out.push(item);
        left++;
        continue;
      }
      if (merged.has(element)) left++;
    }
    if (next !== undefined) {
      take(next);
      right++;
    }
  }
  return out;
}

function mergeMaps(type: MapType, live: JsonObject, config: JsonObject): JsonObject {
  const entries: [string, Json][] = [];
  for (const name of new Set([...Object.keys(live), ...Object.keys(config)])) {
    const value = mergeAt(memberType(type, name), live[name], config[name]);
    if (value !== undefined) entries.push([name, value]);
  }
  return Object.fromEntries(entries);
}

function mergeAt(
  declared: FieldType,
  live: Json | undefined,
  config: Json | undefined,
): Json | undefined {
  if (config === undefined) return live;
  const type = typeFor(declared, config);
  if (live === undefined || type.kind === 'leaf' || type.kind === 'deduced') return config;
  if (type.kind === 'map') {
    const before = mapOf(live);
    const merged = mergeMaps(type, before, mapOf(config));
    return Object.keys(merged).length === 0 ? config : merged;
  }
  const merged = mergeLists(type, listOf(live), listOf(config));
  return Array.isArray(merged) && merged.length === 0 ? config : merged;
}

/** The live object merged with every field of the configuration. */
export const mergeObjects = (type: FieldType, live: JsonObject, config: JsonObject): JsonObject =>
  mapOf(mergeAt(type, live, config));

// ---- removing fields ----

interface Pruning {
  /** What the manager applied last time, below this point. */
  readonly last: FieldSet | undefined;
  /** What any manager owns, below this point. */
  readonly owned: FieldSet | undefined;
  readonly underLast: boolean;
  readonly unowned: boolean;
}

/** A struct field counts as named when any field below it is. */
const isNamed = (tree: FieldSet | undefined, declared: boolean): boolean =>
  isMember(tree) || (declared && tree !== undefined && elementsOf(tree).length > 0);

function step(
  at: Pruning,
  element: string,
  declared: boolean,
): Pruning & { readonly gone: boolean } {
  const last = below(at.last, element);
  const owned = below(at.owned, element);
  const named = isNamed(last, declared);
  const underLast = at.underLast || named;
  const unowned = at.unowned || (underLast && !isNamed(owned, declared));
  return { last, owned, underLast, unowned, gone: named && unowned };
}

function pruneAt(declared: FieldType, value: Json, at: Pruning): Json | undefined {
  if (at.last === undefined) return value;
  const type = typeFor(declared, value);
  if (type.kind === 'map' && isObject(value)) {
    const entries: [string, Json][] = [];
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined) continue;
      const next = step(at, `f:${name}`, type.field(name) !== undefined);
      const kept = next.gone ? undefined : pruneAt(memberType(type, name), member, next);
      if (kept !== undefined) entries.push([name, kept]);
    }
    if (entries.length === 0 && Object.keys(value).length > 0) return undefined;
    return Object.fromEntries(entries);
  }
  if (type.kind !== 'list' || !Array.isArray(value)) return value;
  const kept: Json[] = [];
  for (const item of value as readonly Json[]) {
    const next = step(at, itemElement(type.keys, item) ?? '', false);
    const rest = next.gone ? undefined : pruneAt(type.of(), item, next);
    if (rest !== undefined) kept.push(rest);
  }
  return kept.length === 0 && value.length > 0 ? undefined : kept;
}

/** Removes fields that were applied last time and that no manager owns. */
export const pruneObject = (
  type: FieldType,
  object: JsonObject,
  sets: { readonly last: FieldSet | undefined; readonly owned: FieldSet | undefined },
): JsonObject => mapOf(pruneAt(type, object, { ...sets, underLast: false, unowned: false }));

// ---- invalid configurations ----

/** A value as Go's `%v` prints its wrapper. */
const wrapped = (value: Json): string => `&{${values.goFormat(value)}}`;

function leafTrouble(scalar: ScalarKind | undefined, value: Json): string | undefined {
  if (scalar === undefined || scalar === 'any' || value === null) return undefined;
  if (typeof value === scalar) return undefined;
  const literal = `&value.valueUnstructured{Value:${JSON.stringify(value)}}`;
  if (scalar === 'string') return `expected string, got ${literal}`;
  if (scalar === 'boolean') return `expected boolean, got ${wrapped(value)}`;
  return `expected numeric (int or float), got ${values.goKind(value)}`;
}

function itemTrouble(keys: readonly ListKey[] | undefined, item: Json): string {
  if (keys === undefined) {
    return "associative list without keys has an element that's a map type";
  }
  if (!isObject(item)) return 'associative list with keys may not have non-map elements';
  const names = keys.map((key) => JSON.stringify(key.name)).join(' ');
  return (
    `associative list with keys has an element that omits all key fields [${names}] ` +
    "(and doesn't have default values for any key fields)"
  );
}

function troublesAt(declared: FieldType, value: Json, path: string): readonly string[] {
  if (value === null) return [];
  const type = typeFor(declared, value);
  switch (type.kind) {
    case 'leaf': {
      const trouble = leafTrouble(type.scalar, value);
      return trouble === undefined ? [] : [`${path}: ${trouble}`];
    }
    case 'deduced':
      return [];
    case 'map': {
      if (!isObject(value)) return [`${path}: expected map, got ${wrapped(value)}`];
      return mapTroubles(type, value, path);
    }
    case 'list':
      return listTroubles(type, value, path);
  }
}

/** In order of name, up to the first undeclared field. */
function mapTroubles(type: MapType, value: JsonObject, path: string): readonly string[] {
  const troubles: string[] = [];
  for (const name of Object.keys(value).sort()) {
    const at = `${path}.${name}`;
    const member = value[name];
    const field = type.field(name) ?? type.of?.();
    if (field === undefined) return [...troubles, `${at}: field not declared in schema`];
    if (member !== undefined) troubles.push(...troublesAt(field, member, at));
  }
  return troubles;
}

function listTroubles(type: ListType, value: Json, path: string): readonly string[] {
  if (!Array.isArray(value)) return [`${path}: expected list, got ${wrapped(value)}`];
  const seen = new Set<string>();
  return (value as readonly Json[]).flatMap((item, index) => {
    const element = itemElement(type.keys, item);
    if (element === undefined) {
      return [`${path}: element ${index}: ${itemTrouble(type.keys, item)}`];
    }
    const shown = elementName(element);
    const twice = seen.has(element) ? [`${path}: duplicate entries for key ${shown}`] : [];
    seen.add(element);
    return [...twice, ...troublesAt(type.of(), item, `${path}${shown}`)];
  });
}

const elementName = (element: string): string => {
  if (!element.startsWith('k:')) return `[=${element.slice(2)}]`;
  const keys = Object.entries(JSON.parse(element.slice(2)) as JsonObject);
  return `[${keys.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(',')}]`;
};

/** Why the configuration does not match its kind, in structured-merge-diff's words. */
export const configTroubles = (type: FieldType, config: JsonObject): readonly string[] =>
  troublesAt(type, config, '');
