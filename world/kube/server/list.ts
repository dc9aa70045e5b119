// LIST: selection, consistent pages of one revision, and resourceVersion semantics. A later page
// undoes the changes made since its first page, so no snapshot is kept. When those changes have
// expired, so has the token.
import { defined } from '../../../src/api/defined.ts';
import { isObject, type JsonObject } from '../../../src/api/json.ts';
import type { GroupResource } from '../../contracts.ts';
import type { ResourceDefinition } from './definition.ts';
import type { Stored } from './objects.ts';
import { type Selection, selectionOf } from './selectors.ts';
import { lowerBound } from './sorted-keys.ts';
import { badRequest, expired, failure, forbiddenValue, invalid } from './status.ts';
import { keyOf, objectKey, type Store } from './store.ts';

export interface Page {
  readonly items: readonly Stored[];
  readonly metadata: JsonObject;
}

interface Token {
  /** -1: the current state (an inconsistent continuation). */
  readonly revision: number;
  readonly start: string;
}

const encodeToken = (token: Token): string =>
  btoa(JSON.stringify({ v: 'meta.k8s.io/v1', rv: token.revision, start: token.start }));

function decodeToken(text: string): Token {
  try {
    const value: unknown = JSON.parse(atob(text));
    if (isObject(value)) {
      const { v, rv, start } = value;
      if (v === 'meta.k8s.io/v1' && typeof rv === 'number' && typeof start === 'string') {
        return { revision: rv, start };
      }
    }
  } catch {
    // Falls through to the common answer for invalid tokens.
  }
  throw badRequest('continue key is not valid');
}

export const parseRevision = (text: string): number => {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw badRequest(`resourceVersion: Invalid value: "${text}": strconv.ParseUint: invalid syntax`);
};

export function tooLarge(wanted: number, current: number): never {
  const message = `Too large resource version: ${wanted}, current: ${current}`;
  throw failure(504, 'Timeout', `Timeout: ${message}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });
}

const tokenExpired =
  'The provided continue parameter is too old to display a consistent list result. You can start ' +
  'a new list without the continue parameter, or use the continue token in this response to ' +
  'retrieve the remainder of the results. Continuing with the provided token results in an ' +
  'inconsistent list - objects that were created, modified, or deleted between the time the ' +
  'first ' +
  'chunk was returned and now may show up in the list.';

const unknownFieldMessage = (definition: ResourceDefinition) => (field: string) => {
  if (Object.keys(definition.fields).length > 2) return `field label not supported: ${field}`;
  return `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`;
};

export const selectionFor = (definition: ResourceDefinition, query: URLSearchParams): Selection =>
  selectionOf(query, definition.fields, unknownFieldMessage(definition));

/** The node that the field selector restricts pods to. */
export const nodeAsked = (storage: GroupResource, { exact }: Selection): string | undefined =>
  storage.group === '' && storage.resource === 'pods'
    ? exact.get('spec.nodeName') || undefined
    : undefined;

function byIndex(
  store: Store,
  { storage }: ResourceDefinition,
  selection: Selection,
): readonly Stored[] | undefined {
  if (storage.group !== '') return undefined;
  const node = nodeAsked(storage, selection);
  if (node !== undefined) return store.podsOnNode(node);
  const { exact } = selection;
  const about = exact.get('involvedObject.uid');
  return storage.resource === 'events' && about ? store.eventsAbout(about) : undefined;
}

/** Current objects of the collection in key order, narrowed by an index if one fits. */
export function candidates(
  store: Store,
  definition: ResourceDefinition,
  namespace: string | undefined,
  selection: Selection,
): readonly Stored[] {
  const name = selection.exact.get('metadata.name');
  const inNamespace = namespace ?? selection.exact.get('metadata.namespace');
  if (name !== undefined && (!definition.namespaced || inNamespace !== undefined)) {
    const key = objectKey(definition.namespaced ? inNamespace : undefined, name);
    const object = store.get(definition.storage, key);
    return object === undefined ? [] : [object];
  }
  const narrowed = byIndex(store, definition, selection);
  if (narrowed !== undefined) {
    return narrowed
      .filter((one) => namespace === undefined || one.metadata.namespace === namespace)
      .toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  }
  return store.list(definition.storage, namespace);
}

/** A sorted collection; a page reads only its own objects. */
interface View {
  readonly keys: readonly string[];
  readonly at: (key: string) => Stored | undefined;
}

/** The current collection, as `candidates` returns it. */
function viewOf(
  store: Store,
  definition: ResourceDefinition,
  namespace: string | undefined,
  selection: Selection,
): View {
  if (selection.exact.size === 0) {
    const at = (key: string): Stored | undefined => store.get(definition.storage, key);
    return { keys: store.keys(definition.storage, namespace), at };
  }
  const objects = candidates(store, definition, namespace, selection);
  const byKey = new Map(objects.map((object) => [keyOf(object), object]));
  return { keys: [...byKey.keys()], at: (key) => byKey.get(key) };
}

/** The collection at `revision`; undefined when that has expired. */
function viewAt(
  store: Store,
  definition: ResourceDefinition,
  namespace: string | undefined,
  revision: number,
): View | undefined {
  if (revision < store.compacted) return undefined;
  const changes = store.history(definition.storage).since(revision);
  if (changes === undefined) return undefined;
  const now = store.keys(definition.storage, namespace);
  const then = new Map<string, Stored | undefined>();
  for (const change of changes) {
    const inside = namespace === undefined || change.key.startsWith(`${namespace}/`);
    if (inside && !then.has(change.key)) then.set(change.key, change.previous);
  }
  const at = (key: string): Stored | undefined =>
    then.has(key) ? then.get(key) : store.get(definition.storage, key);
  // Most changes are updates, which leave the set of keys unchanged.
  const isThere = (key: string): boolean => store.get(definition.storage, key) !== undefined;
  const gone = [...then.keys()].filter((key) => then.get(key) !== undefined && !isThere(key));
  const fresh = [...then.keys()].filter((key) => then.get(key) === undefined && isThere(key));
  if (gone.length === 0 && fresh.length === 0) return { keys: now, at };
  const added = new Set(fresh);
  return { keys: [...now.filter((key) => !added.has(key)), ...gone].sort(), at };
}

function checkListOptions(query: URLSearchParams): void {
  const match = query.get('resourceVersionMatch');
  if (match === null || match === '') return;
  const version = query.get('resourceVersion') ?? '';
  const of = { group: 'meta.k8s.io', kind: 'ListOptions' };
  const refuse = (message: string): never => {
    throw invalid(of, '', [forbiddenValue('resourceVersionMatch', message)]);
  };
  if (match !== 'Exact' && match !== 'NotOlderThan') {
    refuse('resourceVersionMatch must be one of "Exact", "NotOlderThan"');
  }
  if (version === '') {
    refuse('resourceVersionMatch is forbidden unless resourceVersion is provided');
  }
  if (query.has('continue')) refuse('resourceVersionMatch is forbidden when continue is provided');
  if (match === 'Exact' && version === '0') {
    refuse('resourceVersionMatch "Exact" is forbidden for resourceVersion "0"');
  }
}

interface Source {
  readonly view: View;
  readonly revision: number;
  readonly start: string;
}

function sourceOf(
  store: Store,
  definition: ResourceDefinition,
  namespace: string | undefined,
  query: URLSearchParams,
  selection: Selection,
): Source {
  const text = query.get('continue');
  if (text !== null && text !== '') {
    const token = decodeToken(text);
    if (token.revision < 0) {
      const view = viewOf(store, definition, namespace, selection);
      return { view, revision: store.revision, start: token.start };
    }
    const view = viewAt(store, definition, namespace, token.revision);
    if (view !== undefined) return { view, revision: token.revision, start: token.start };
    throw expired(tokenExpired, encodeToken({ revision: -1, start: token.start }));
  }
  const wanted = query.get('resourceVersion') ?? '';
  const revision = wanted === '' ? 0 : parseRevision(wanted);
  if (revision > store.revision) tooLarge(revision, store.revision);
  if (query.get('resourceVersionMatch') === 'Exact' && revision < store.revision) {
    const view = viewAt(store, definition, namespace, revision);
    if (view === undefined) throw expired(`The resourceVersion for the provided list is too old.`);
    return { view, revision, start: '' };
  }
  const view = viewOf(store, definition, namespace, selection);
  return { view, revision: store.revision, start: '' };
}

export function listPage(
  store: Store,
  definition: ResourceDefinition,
  namespace: string | undefined,
  query: URLSearchParams,
): Page {
  checkListOptions(query);
  const selection = selectionFor(definition, query);
  const { view, revision, start } = sourceOf(store, definition, namespace, query, selection);
  const limit = Number(query.get('limit') ?? '0');
  if (!Number.isInteger(limit) || limit < 0) throw badRequest('limit must be a positive integer');
  const { keys } = view;
  const metadata: { resourceVersion: string } = { resourceVersion: String(revision) };
  const items: Stored[] = [];
  for (let index = lowerBound(keys, start, (key) => key); index < keys.length; index++) {
    const key = keys[index] ?? '';
    const object = view.at(key);
    if (object === undefined) continue;
    if (selection.matches !== undefined && !selection.matches(object)) continue;
    if (limit > 0 && items.length === limit) {
      const token = encodeToken({ revision, start: key });
      const remaining = selection.matches === undefined ? keys.length - index : undefined;
      return {
        items,
        metadata: {
          ...metadata,
          continue: token,
          ...defined({ remainingItemCount: remaining }),
        },
      };
    }
    items.push(object);
  }
  return { items, metadata };
}
