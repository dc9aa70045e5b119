// Strategic merge patch: merges by the kind's merge keys and strategies, with `$patch`,
// `$retainKeys`, `$setElementOrder/x` and `$deleteFromPrimitiveList/x`. Behaviour of apimachinery's
// util/strategicpatch as the API server calls it (Kubernetes 1.32): lists without a merge strategy,
// such as node taints, are replaced. Shares unchanged subtrees; never changes its input.
import { isObject, type Json, type JsonObject } from '../../../src/api/json.ts';
import {
  type FieldFact,
  findSchema,
  type GroupVersionKind,
  type ResolvedType,
  resolveType,
  values,
} from '../schema/index.ts';
import { badRequest, type PatchResult, settle, unsupportedMediaType } from './failure.ts';
import {
  arrange,
  badArgType,
  badElementOrder,
  badPatchType,
  badPrimitiveList,
  badRetainKeys,
  checkElementOrder,
  deleteScalars,
  elementType,
  type List,
  liveOrderAfter,
  mergeList,
  noElements,
} from './strategic-lists.ts';

const { goKind, jsonKind, ObjectDraft, own } = values;
type Draft = InstanceType<typeof ObjectDraft>;

const DELETE_FROM_LIST = '$deleteFromPrimitiveList';
const SET_ELEMENT_ORDER = '$setElementOrder';

interface FieldMeta {
  readonly type: ResolvedType | undefined;
  readonly strategy: string | undefined;
  readonly mergeKey: string | undefined;
}
const UNKNOWN: FieldMeta = { type: undefined, strategy: undefined, mergeKey: undefined };

/** `retainKeys` only makes clients send `$retainKeys`; the other strategy decides the merge. */
const strategyOf = (fact: FieldFact): string | undefined =>
  fact.patchStrategy.find((strategy) => strategy !== 'retainKeys');

function metaOf(type: ResolvedType | undefined, key: string): FieldMeta {
  if (type?.kind === 'map') return { ...UNKNOWN, type: resolveType(type.of) };
  if (type?.kind !== 'struct') return UNKNOWN;
  const fact = type.fields.get(key);
  if (fact === undefined) return UNKNOWN;
  return { type: resolveType(fact.type), strategy: strategyOf(fact), mergeKey: fact.mergeKey };
}

const elementOf = (type: ResolvedType | undefined): ResolvedType | undefined =>
  type?.kind === 'list' ? resolveType(type.of) : undefined;

const isList = (value: Json | undefined): value is List => Array.isArray(value);

/** `value` without null members (a replacement has nothing for nulls to delete). */
function dropNulls(value: Json): Json {
  if (isObject(value)) {
    const draft = new ObjectDraft(value);
    for (const key of Object.keys(value)) {
      const member = value[key] ?? null;
      if (member === null) draft.delete(key);
      else draft.set(key, dropNulls(member));
    }
    return draft.finish();
  }
  return isList(value) ? values.keepList(value, value.map(dropNulls)) : value;
}

/** `value` without objects that carry `$patch`; undefined when it carries one itself. */
function dropDirectives(value: Json): Json | undefined {
  if (isObject(value)) {
    if (own(value, '$patch') !== undefined) return undefined;
    const draft = new ObjectDraft(value);
    for (const key of Object.keys(value)) {
      const kept = dropDirectives(value[key] ?? null);
      if (kept === undefined) draft.delete(key);
      else draft.set(key, kept);
    }
    return draft.finish();
  }
  if (!isList(value)) return value;
  const kept = value.map(dropDirectives).filter((item) => item !== undefined);
  return values.keepList(value, kept);
}

function setPlain(draft: Draft, key: string, value: Json | undefined): void {
  const plain = value === undefined ? undefined : dropDirectives(value);
  if (plain === undefined) draft.delete(key);
  else draft.set(key, plain);
}

function retainKeys(draft: Draft, patch: JsonObject): void {
  const directive = own(patch, '$retainKeys');
  if (directive === undefined) return;
  if (!isList(directive)) throw badRetainKeys();
  const retained = new Set(directive);
  for (const [key, value] of Object.entries(patch)) {
    const isDirective =
      key === '$retainKeys' ||
      key.startsWith(DELETE_FROM_LIST) ||
      key.startsWith(SET_ELEMENT_ORDER);
    if (value !== null && !isDirective && !retained.has(key)) throw badRetainKeys();
  }
  for (const key of draft.keys()) if (!retained.has(key)) draft.delete(key);
}

function mergeLists(original: List, patch: List, meta: FieldMeta): List {
  if (meta.strategy !== 'merge') return patch;
  const element = elementOf(meta.type);
  return mergeList(original, patch, {
    mergeKey: meta.mergeKey,
    typeName: element?.kind === 'struct' ? element.name : '',
    mergeObjects: (left, right) => mergeObject(left, right, element),
  });
}

/** Applies one `$setElementOrder/x` and merges x; returns the field's name. */
function setElementOrder(
  draft: Draft,
  patch: JsonObject,
  options: { readonly directive: string; readonly type: ResolvedType | undefined },
): string {
  const { directive, type } = options;
  const order = own(patch, directive);
  if (!isList(order)) throw badArgType('[]interface {}', order);
  const [prefix, ...rest] = directive.split('/');
  if (prefix !== SET_ELEMENT_ORDER || rest.length === 0) throw badElementOrder();
  const field = rest.join('/');
  const live = draft.get(field);
  const patched = own(patch, field);
  if (live !== undefined && !isList(live)) throw badArgType('[]interface {}', live);
  if (patched !== undefined && !isList(patched)) throw badArgType('[]interface {}', patched);
  const meta = metaOf(type, field);
  checkElementOrder(patched ?? [], order, meta.mergeKey);
  const merged = mergedForOrder(live, patched, meta);
  if (merged === undefined) return field;
  if (elementType([live ?? [], patched ?? []]) === undefined) throw noElements();
  const woven = arrange({
    merged,
    patchOrder: order,
    liveOrder: live === undefined ? [] : liveOrderAfter(live, patched ?? [], meta.mergeKey),
    mergeKey: meta.mergeKey,
  });
  draft.set(field, live === undefined ? woven : values.keepList(live, woven));
  return field;
}

function mergedForOrder(
  live: List | undefined,
  patched: List | undefined,
  meta: FieldMeta,
): List | undefined {
  if (patched === undefined) return live;
  if (live !== undefined) return mergeLists(live, patched, meta);
  const plain = dropDirectives(patched);
  return isList(plain) ? plain : undefined;
}

function mergeField(draft: Draft, key: string, value: Json, type: ResolvedType | undefined): void {
  const live = draft.get(key);
  if (live === undefined || goKind(live) !== goKind(value)) {
    setPlain(draft, key, dropNulls(value));
    return;
  }
  const meta = metaOf(type, key);
  if (isObject(live) && isObject(value)) {
    const replace = meta.strategy === 'replace';
    draft.set(key, replace ? value : mergeObject(live, value, meta.type));
  } else if (isList(live) && isList(value)) {
    draft.set(key, mergeLists(live, value, meta));
  } else {
    draft.set(key, value);
  }
}

function deleteFromList(draft: Draft, directive: string, value: Json): void {
  const [prefix, ...rest] = directive.split('/');
  if (prefix !== DELETE_FROM_LIST || rest.length === 0) throw badPrimitiveList();
  const key = rest.join('/');
  const live = draft.get(key);
  if (value === null) draft.delete(key);
  else if (isList(live) && isList(value)) draft.set(key, deleteScalars(live, value));
}

function applyObjectDirective(directive: Json, patch: JsonObject): JsonObject {
  if (directive === 'delete') return {};
  if (directive !== 'replace') throw badPatchType(directive, patch);
  const draft = new ObjectDraft(patch);
  draft.delete('$patch');
  return draft.finish();
}

function mergeObject(
  original: JsonObject,
  patch: JsonObject,
  type: ResolvedType | undefined,
): JsonObject {
  const directive = own(patch, '$patch');
  if (directive !== undefined) return applyObjectDirective(directive, patch);
  const draft = new ObjectDraft(original);
  retainKeys(draft, patch);
  const done = new Set(['$retainKeys']);
  for (const key of Object.keys(patch)) {
    if (!key.startsWith(SET_ELEMENT_ORDER)) continue;
    done.add(key);
    done.add(setElementOrder(draft, patch, { directive: key, type }));
  }
  for (const key of Object.keys(patch)) {
    const value = own(patch, key) ?? null;
    if (done.has(key)) continue;
    if (key.startsWith(DELETE_FROM_LIST)) deleteFromList(draft, key, value);
    else if (value === null) draft.delete(key);
    else mergeField(draft, key, value, type);
  }
  return draft.finish();
}

/** 415 for kinds without built-in facts (custom resources), as the API server answers. */
export function applyStrategicMergePatch(
  gvk: GroupVersionKind,
  object: JsonObject,
  patch: Json,
): PatchResult {
  return settle(() => {
    const schema = findSchema(gvk);
    if (schema === undefined) throw unsupportedMediaType();
    if (!isObject(patch)) {
      const type = 'map[string]interface {}';
      throw badRequest(
        `error decoding patch: json: cannot unmarshal ${jsonKind(patch)} ` +
          `into Go value of type ${type}`,
      );
    }
    return mergeObject(object, patch, schema.type);
  });
}
