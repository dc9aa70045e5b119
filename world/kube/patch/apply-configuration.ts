// Server-side apply of one configuration: the merge, removal of fields that the manager dropped,
// conflicts with other owners, and the migration from client-side apply (apimachinery's
// util/managedfields). Pure; the caller stores and validates.
import { isObject, type Json, type JsonObject, objectOr } from '../../../src/api/json.ts';
import { parseJson } from '../../../src/api/parse-json.ts';
import { compareObjects, fieldsOf } from './field-compare.ts';
import { configTroubles, mergeObjects, pruneObject } from './field-merge.ts';
import {
  difference,
  type FieldSet,
  intersection,
  leafSet,
  pathsOf,
  union,
  withoutTrees,
} from './field-set.ts';
import { type FieldType, objectType } from './field-types.ts';
import {
  apiVersionOf,
  compareText,
  type Entry,
  emptyObject,
  encoded,
  entriesOf,
  identityOf,
  isSame,
  type ManagedKind,
  stripped,
  textOf,
  updated,
  type WriteAs,
  without,
} from './managed-fields.ts';

export interface Conflict {
  readonly manager: string;
  /** `"kubectl" using apps/v1`: the server's text for a manager. */
  readonly shown: string;
  readonly path: string;
}

export type Applied =
  | {
      readonly kind: 'ok';
      readonly object: JsonObject;
      readonly managedFields: readonly JsonObject[] | undefined;
    }
  | { readonly kind: 'conflicts'; readonly conflicts: readonly Conflict[] }
  | { readonly kind: 'misfit'; readonly troubles: readonly string[] };

function shownManager(entry: Entry): string {
  const name = JSON.stringify(entry.manager);
  const through =
    entry.subresource === ''
      ? name
      : `${name} with subresource ${JSON.stringify(entry.subresource)}`;
  return entry.operation === 'Update' ? `${through} using ${entry.apiVersion}` : through;
}

const lastAppliedKey = 'kubectl.kubernetes.io/last-applied-configuration';
const lastAppliedOf = (object: JsonObject): string =>
  textOf(objectOr(objectOr(object.metadata).annotations)[lastAppliedKey]);

/** Fields owned by client-side apply and unchanged since: kubectl may take them over. */
function handedOver(kind: ManagedKind, type: FieldType, live: JsonObject): FieldSet | undefined {
  const text = lastAppliedOf(live);
  if (text === '') return undefined;
  let last: Json;
  try {
    last = parseJson(text);
  } catch {
    return undefined;
  }
  if (!isObject(last) || last.apiVersion !== apiVersionOf(kind.gvk)) return undefined;
  const { changed, removed } = compareObjects(type, last, live);
  return difference(difference(fieldsOf(type, last), changed), removed);
}

interface Attempt {
  readonly object: JsonObject;
  readonly entries: readonly Entry[];
  readonly conflicts: readonly { readonly entry: Entry; readonly fields: FieldSet }[];
}

function attempt(
  kind: ManagedKind,
  type: FieldType,
  live: JsonObject,
  config: JsonObject,
  entries: readonly Entry[],
  as: WriteAs,
): Attempt {
  const identity = identityOf(kind, as, 'Apply');
  const last = entries.find((entry) => isSame(entry, identity));
  const others = entries.filter((entry) => entry !== last);
  const wanted = withoutTrees(fieldsOf(type, config), kind.ignored);
  const owned = others.reduce((all, entry) => union(all, entry.fields), wanted);
  const merged = mergeObjects(type, live, config);
  const object =
    last === undefined ? merged : pruneObject(type, merged, { last: last.fields, owned });
  const delta = compareObjects(type, live, object);
  const changed = withoutTrees(delta.changed, kind.ignored);
  const removed = withoutTrees(delta.removed, kind.ignored);
  const conflicts = others.flatMap((entry) => {
    const fields = intersection(entry.fields, changed);
    return fields === undefined ? [] : [{ entry, fields }];
  });
  const fields = difference(wanted, stripped) ?? leafSet;
  const rest = without(without(others, changed), removed);
  const same =
    last !== undefined &&
    changed === undefined &&
    removed === undefined &&
    difference(fields, last.fields) === undefined &&
    difference(last.fields, fields) === undefined;
  // Applying an identical configuration is not a write, so the time stays the same too.
  const time = same ? last.time : as.time;
  return { object, entries: [...rest, { ...identity, time, fields }], conflicts };
}

const sortedJson = (value: Json | undefined): Json | undefined => {
  if (Array.isArray(value)) return value.map((item: Json) => sortedJson(item) ?? null);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sortedJson(value[key])]),
  );
};

/** Updates the annotation of client-side apply, so that kubectl can return to it. */
function withLastApplied(object: JsonObject, config: JsonObject): JsonObject {
  const metadata = objectOr(object.metadata);
  const annotations = objectOr(metadata.annotations);
  const { [lastAppliedKey]: _, ...own } = objectOr(objectOr(config.metadata).annotations);
  const meta = { ...objectOr(config.metadata), annotations: own };
  const bare =
    Object.keys(own).length === 0 ? withoutAnnotations(config) : { ...config, metadata: meta };
  const text = `${JSON.stringify(sortedJson(bare))}\n`;
  return {
    ...object,
    metadata: { ...metadata, annotations: { ...annotations, [lastAppliedKey]: text } },
  };
}

function withoutAnnotations(config: JsonObject): JsonObject {
  const { annotations: _, ...metadata } = objectOr(config.metadata);
  return { ...config, metadata };
}

/** Server-side apply of `config` over `live`; an undefined `live` means a create. */
export function applyConfiguration(
  kind: ManagedKind,
  live: JsonObject | undefined,
  config: JsonObject,
  as: WriteAs & { readonly force: boolean },
): Applied {
  const type = objectType(kind.gvk, kind.custom);
  const troubles = configTroubles(type, config);
  if (troubles.length > 0) return { kind: 'misfit', troubles };
  const known = entriesOf(objectOr(live?.metadata).managedFields);
  const empty = emptyObject(kind);
  const untracked = live !== undefined && known.length === 0;
  const first = { ...as, manager: 'before-first-apply', subresource: undefined };
  const entries = untracked ? updated(kind, empty, live, [], first) : known;
  const result = attempt(kind, type, live ?? empty, config, entries, as);
  const allowed =
    as.manager === 'kubectl' && live !== undefined ? handedOver(kind, type, live) : undefined;
  const conflicts = result.conflicts
    .flatMap(({ entry, fields }) => {
      const rest = difference(fields, allowed);
      const name = shownManager(entry);
      return pathsOf(rest).map((path) => ({ manager: entry.manager, shown: name, path }));
    })
    .sort((a, b) => compareText(a.shown, b.shown));
  if (conflicts.length > 0 && !as.force) return { kind: 'conflicts', conflicts };
  const managed = encoded(result.entries);
  const follows = as.manager === 'kubectl' && lastAppliedOf(result.object) !== '';
  const object = follows ? withLastApplied(result.object, config) : result.object;
  return { kind: 'ok', object, managedFields: managed };
}

/** `Apply failed with 1 conflict: conflict with "x" using v1: .data.k` */
export function conflictMessage(conflicts: readonly Conflict[]): string {
  const [only] = conflicts;
  if (only !== undefined && conflicts.length === 1) {
    return `Apply failed with 1 conflict: conflict with ${only.shown}: ${only.path}`;
  }
  const lines = [...new Set(conflicts.map((each) => each.shown))].flatMap((shownName) => [
    `conflicts with ${shownName}:`,
    ...conflicts.filter((each) => each.shown === shownName).map((each) => `- ${each.path}`),
  ]);
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`;
}
