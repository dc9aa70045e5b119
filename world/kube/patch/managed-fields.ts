// Which manager owns which fields of an object (metadata.managedFields): updated by every write,
// read by server-side apply, which refuses to change fields of other owners (apimachinery's
// util/managedfields over structured-merge-diff). Pure; the caller stores and validates.
import { defined } from '../../../src/api/defined.ts';
import { isObject, type Json, type JsonObject, objectOr } from '../../../src/api/json.ts';
import { type GroupVersionKind, zeroObject } from '../schema/index.ts';
import { compareObjects } from './field-compare.ts';
import {
  difference,
  type FieldSet,
  intersection,
  leafSet,
  union,
  withoutTrees,
} from './field-set.ts';
import { objectType } from './field-types.ts';

export type Operation = 'Apply' | 'Update';

/** The writer, the subresource and the time of a write. */
export interface WriteAs {
  readonly manager: string;
  readonly subresource: string | undefined;
  /** metav1.Time of the write. */
  readonly time: string;
}

export interface ManagedKind {
  readonly gvk: GroupVersionKind;
  readonly custom: JsonObject | undefined;
  /** Fields that a write through this path never changes. */
  readonly ignored: FieldSet | undefined;
}

export interface Entry {
  readonly manager: string;
  readonly operation: Operation;
  readonly apiVersion: string;
  readonly time: string | undefined;
  readonly subresource: string;
  readonly fields: FieldSet;
}

const maximumUpdaters = 10;
export const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

/** Fields that are never tracked. */
export const stripped: FieldSet = {
  'f:apiVersion': leafSet,
  'f:kind': leafSet,
  'f:metadata': {
    '.': leafSet,
    'f:clusterName': leafSet,
    'f:creationTimestamp': leafSet,
    'f:generation': leafSet,
    'f:managedFields': leafSet,
    'f:name': leafSet,
    'f:namespace': leafSet,
    'f:resourceVersion': leafSet,
    'f:selfLink': leafSet,
    'f:uid': leafSet,
  },
};

export function entriesOf(managedFields: Json | undefined): readonly Entry[] {
  const known = renderedManagers(managedFields);
  if (!Array.isArray(known)) return [];
  return (known as readonly Json[]).filter(isObject).map((entry) => ({
    manager: textOf(entry.manager),
    operation: entry.operation === 'Apply' ? 'Apply' : 'Update',
    apiVersion: textOf(entry.apiVersion),
    time: typeof entry.time === 'string' ? entry.time : undefined,
    subresource: textOf(entry.subresource),
    fields: objectOr(entry.fieldsV1),
  }));
}

const shown = (entry: Entry): JsonObject => ({
  manager: entry.manager,
  operation: entry.operation,
  apiVersion: entry.apiVersion,
  ...defined({ time: entry.time }),
  fieldsType: 'FieldsV1',
  fieldsV1: entry.fields,
  ...(entry.subresource === '' ? {} : { subresource: entry.subresource }),
});

export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const order = (a: Entry, b: Entry): number =>
  compareText(a.operation, b.operation) ||
  compareText(a.time ?? '', b.time ?? '') ||
  compareText(a.manager, b.manager) ||
  compareText(a.apiVersion, b.apiVersion) ||
  compareText(a.subresource, b.subresource);

export function encoded(entries: readonly Entry[]): readonly JsonObject[] | undefined {
  const kept = entries.filter((entry) => Object.keys(entry.fields).length > 0);
  return kept.length === 0 ? undefined : [...kept].sort(order).map(shown);
}

export const apiVersionOf = ({ group, version }: GroupVersionKind): string =>
  group === '' ? version : `${group}/${version}`;

/** An applier is the same whatever version it uses. */
export const isSame = (entry: Entry, of: Omit<Entry, 'fields' | 'time'>): boolean =>
  entry.manager === of.manager &&
  entry.operation === of.operation &&
  entry.subresource === of.subresource &&
  (of.operation === 'Apply' || entry.apiVersion === of.apiVersion);

export const identityOf = (kind: ManagedKind, as: WriteAs, operation: Operation) => ({
  manager: as.manager === '' ? 'unknown' : as.manager,
  operation,
  apiVersion: apiVersionOf(kind.gvk),
  subresource: as.subresource ?? '',
});

export function without(entries: readonly Entry[], taken: FieldSet | undefined): readonly Entry[] {
  if (taken === undefined) return entries;
  return entries.map((entry) => {
    if (intersection(entry.fields, taken) === undefined) return entry;
    return { ...entry, fields: difference(entry.fields, taken) ?? leafSet };
  });
}

/** Above ten updaters the oldest are merged into one, so that objects stay bounded. */
function capped(entries: readonly Entry[]): readonly Entry[] {
  const updaters = entries.filter((entry) => entry.operation === 'Update');
  if (updaters.length <= maximumUpdaters) return entries;
  const oldestFirst = [...updaters].sort(
    (a, b) => compareText(a.time ?? '', b.time ?? '') || compareText(a.manager, b.manager),
  );
  const merged = new Set(oldestFirst.slice(0, updaters.length - maximumUpdaters + 1));
  const buckets = new Map<string, Entry>();
  for (const entry of merged) {
    const known = buckets.get(entry.apiVersion);
    buckets.set(entry.apiVersion, {
      ...entry,
      manager: 'ancient-changes',
      subresource: '',
      fields: union(known?.fields, entry.fields) ?? leafSet,
    });
  }
  return [...entries.filter((entry) => !merged.has(entry)), ...buckets.values()];
}

/** managedFields in a PUT or patch: absent, a reset, or a new list. */
export function givenManagedFields(
  given: Json | undefined,
  live: Json | undefined,
): Json | undefined {
  if (!Array.isArray(given)) return live;
  const list = given as readonly Json[];
  const reset =
    list.length === 0 || (list.length === 1 && Object.keys(objectOr(list[0])).length === 0);
  return reset ? undefined : given;
}

interface Write {
  readonly kind: ManagedKind;
  /** undefined: a create. */
  readonly before: JsonObject | undefined;
  readonly after: JsonObject;
  readonly as: WriteAs;
}

/** Without its own managedFields, which would keep all earlier versions in memory. */
function bare(object: JsonObject): JsonObject {
  const metadata = objectOr(object.metadata);
  if (metadata.managedFields === undefined) return object;
  const { managedFields: _, ...rest } = metadata;
  return { ...object, metadata: rest };
}

const bareWrite = (write: Write): Write => ({
  ...write,
  before: write.before === undefined ? undefined : bare(write.before),
  after: bare(write.after),
});

/** Limits how many earlier versions an unread object keeps in memory. */
const maximumPendingWrites = 12;

const isSameWriter = (a: Write, b: Write): boolean =>
  a.kind === b.kind && a.as.manager === b.as.manager && a.as.subresource === b.as.subresource;

/**
 * managedFields computed on first read, as JSON: every answer and every row on disk is JSON. Most
 * objects of a simulation are never read, so a write costs one small object. Consecutive writes of
 * one writer are merged.
 */
class PendingManagers {
  #base: Json | undefined;
  #writes: readonly Write[];

  constructor(base: Json | undefined, writes: readonly Write[]) {
    this.#base = base;
    this.#writes = writes;
  }

  /** A copy with one more write; this instance is unchanged. */
  after(write: Write): PendingManagers {
    const writes = this.#writes;
    const last = writes.at(-1);
    if (last !== undefined && isSameWriter(last, write)) {
      const both = { ...write, before: last.before, after: bare(write.after) };
      return new PendingManagers(this.#base, [...writes.slice(0, -1), both]);
    }
    const next = bareWrite(write);
    if (writes.length < maximumPendingWrites) {
      return new PendingManagers(this.#base, [...writes, next]);
    }
    return new PendingManagers(this.toJSON(), [next]);
  }

  toJSON(): Json | undefined {
    for (const { kind, before, after, as } of this.#writes) {
      const entries = entriesOf(this.#base);
      const next = updated(kind, before ?? emptyObject(kind), after, entries, as);
      this.#base = encoded(capped(next));
    }
    this.#writes = [];
    return this.#base;
  }
}

/** Whether these managers have not been computed yet. */
export const isPending = (managedFields: Json | undefined): boolean =>
  managedFields instanceof PendingManagers;

/** The list of entries that clients see. */
export const renderedManagers = (managedFields: Json | undefined): Json | undefined =>
  managedFields instanceof PendingManagers ? managedFields.toJSON() : managedFields;

/**
 * managedFields after a create, update or patch other than apply, computed when serialized to JSON.
 * An object without tracked managers stays so until the first apply.
 */
export function trackUpdate(
  kind: ManagedKind,
  objects: { readonly before: JsonObject | undefined; readonly after: JsonObject },
  managedFields: Json | undefined,
  as: WriteAs,
): Json | undefined {
  if (objects.before !== undefined && managedFields === undefined) return undefined;
  const write = { kind, ...objects, as };
  const pending =
    managedFields instanceof PendingManagers
      ? managedFields.after(write)
      : new PendingManagers(managedFields, [bareWrite(write)]);
  // Not JSON itself, but serializes to the list of entries.
  return pending as unknown as Json;
}

/** Go's empty struct of the kind: no manager owns those parts of a new object. */
export function emptyObject(kind: ManagedKind): JsonObject {
  return kind.custom === undefined ? zeroObject(kind.gvk) : {};
}

export function updated(
  kind: ManagedKind,
  before: JsonObject,
  after: JsonObject,
  entries: readonly Entry[],
  as: WriteAs,
): readonly Entry[] {
  const type = objectType(kind.gvk, kind.custom);
  const delta = compareObjects(type, before, after);
  const changed = withoutTrees(delta.changed, kind.ignored);
  const removed = withoutTrees(delta.removed, kind.ignored);
  const others = without(without(entries, changed), removed);
  const taken = difference(changed, stripped);
  if (taken === undefined) return others;
  const identity = identityOf(kind, as, 'Update');
  const mine = others.find((entry) => isSame(entry, identity));
  const fields = union(mine?.fields, taken) ?? taken;
  return [...others.filter((entry) => entry !== mine), { ...identity, time: as.time, fields }];
}
