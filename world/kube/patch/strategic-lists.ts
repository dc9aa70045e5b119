// The list half of strategic merge: merges by key or value, `$patch` elements, and the order set by
// `$setElementOrder` and the live list. Behaviour of apimachinery's util/strategicpatch (Kubernetes
// 1.32). Never changes its input.
import { isObject, type Json, type JsonObject } from '../../../src/api/json.ts';
import { values } from '../schema/index.ts';
import { badRequest, cannotApply, unclassified } from './failure.ts';

const { goFormat, goKind, own } = values;

export type List = readonly Json[];
type MergeObjects = (original: JsonObject, patch: JsonObject) => JsonObject;

const noMergeKey = (element: JsonObject, mergeKey: string): Error =>
  unclassified(`map: ${goFormat(element)} does not contain declared merge key: ${mergeKey}`);

export const badPatchType = (directive: Json, patch: JsonObject): Error =>
  unclassified(`unknown patch type: ${goFormat(directive)} in map: ${goFormat(patch)}`);

export const badArgType = (expected: string, actual: Json | undefined): Error =>
  unclassified(`expected a ${expected}, but received a ${goKind(actual)}`);

/** The common Go type of all elements, or undefined for an empty list. */
export function elementType(lists: readonly List[]): string | undefined {
  let first: string | undefined;
  for (const element of lists.flat()) {
    const type = goKind(element);
    first ??= type;
    if (first === '[]interface {}') throw cannotApply();
    if (first !== type) {
      const text = `[${lists.map(goFormat).join(' ')}]`;
      throw unclassified(`list element types are not identical: ${text}`);
    }
  }
  return first;
}

function asMap(element: Json): JsonObject {
  if (!isObject(element)) throw badArgType('map[string]interface {}', element);
  return element;
}

/** Identity of an element: the value of its merge key, or the scalar itself. */
function identity(element: Json, mergeKey: string | undefined): Json | undefined {
  if (mergeKey === undefined) return element;
  return isObject(element) ? own(element, mergeKey) : undefined;
}

function requireKeys(list: List, mergeKey: string): void {
  for (const element of list) {
    const map = asMap(element);
    if (own(map, mergeKey) === undefined) throw noMergeKey(map, mergeKey);
  }
}

const indexIn = (list: List, element: Json, mergeKey: string | undefined): number => {
  const wanted = identity(element, mergeKey);
  return list.findIndex((candidate) => identity(candidate, mergeKey) === wanted);
};

function sortBy(list: List, order: List, mergeKey: string | undefined): List {
  if (mergeKey !== undefined) {
    requireKeys(list, mergeKey);
    requireKeys(order, mergeKey);
  }
  return list
    .map((element) => ({ element, at: indexIn(order, element, mergeKey) }))
    .sort((a, b) => a.at - b.at)
    .map(({ element }) => element);
}

/**
 * Merges the order of the patch's elements with that of the others, which keep the live list's
 * order. Where the live list does not decide, the patch's element comes first.
 */
export function arrange(options: {
  readonly merged: List;
  readonly patchOrder: List;
  readonly liveOrder: List;
  readonly mergeKey: string | undefined;
}): List {
  const { merged, patchOrder, liveOrder, mergeKey } = options;
  const named = (element: Json): boolean => indexIn(patchOrder, element, mergeKey) >= 0;
  if (mergeKey !== undefined) requireKeys(merged, mergeKey);
  const right = sortBy(merged.filter(named), patchOrder, mergeKey);
  const left = sortBy(
    merged.filter((element) => !named(element)),
    liveOrder,
    mergeKey,
  );
  const woven: Json[] = [];
  let l = 0;
  for (const element of right) {
    const at = indexIn(liveOrder, element, mergeKey);
    for (let other = left[l]; other !== undefined; other = left[l]) {
      const otherAt = indexIn(liveOrder, other, mergeKey);
      if (at < 0 || otherAt < 0 || otherAt >= at) break;
      woven.push(other);
      l += 1;
    }
    woven.push(element);
  }
  return [...woven, ...left.slice(l)];
}

/** Separates elements with `$patch`; applies deletions to `original`. */
function applyElementDirectives(original: List, patch: List, mergeKey: string) {
  let kept = original;
  let replace = false;
  const plain: JsonObject[] = [];
  for (const element of patch.map(asMap)) {
    const directive = own(element, '$patch');
    if (directive === undefined) {
      plain.push(element);
    } else if (directive === 'delete') {
      const key = own(element, mergeKey);
      if (key === undefined) throw noMergeKey(element, mergeKey);
      kept = kept.filter((candidate) => own(asMap(candidate), mergeKey) !== key);
    } else if (directive === 'replace') {
      replace = true;
    } else if (directive === 'merge') {
      throw unclassified('merging lists cannot yet be specified in the patch');
    } else {
      throw badPatchType(directive, element);
    }
  }
  return replace ? { original: plain, patch: [] } : { original: kept, patch: plain };
}

function mergeByKey(
  original: List,
  patch: readonly JsonObject[],
  options: { readonly mergeKey: string; readonly mergeObjects: MergeObjects },
): List {
  const { mergeKey, mergeObjects } = options;
  const merged = [...original];
  for (const element of patch) {
    const key = own(element, mergeKey);
    if (key === undefined) throw noMergeKey(element, mergeKey);
    const at = merged.findIndex((candidate) => own(asMap(candidate), mergeKey) === key);
    const found = merged[at];
    if (found === undefined) merged.push(element);
    else merged[at] = mergeObjects(asMap(found), element);
  }
  return merged;
}

/** A list with patch strategy `merge`: maps by merge key, scalars as a set. */
export function mergeList(
  original: List,
  patch: List,
  options: {
    readonly mergeKey: string | undefined;
    readonly typeName: string;
    readonly mergeObjects: MergeObjects;
  },
): List {
  const { mergeKey, mergeObjects, typeName } = options;
  const type = elementType([original, patch]);
  if (type === undefined) return original;
  if (type !== 'map[string]interface {}') {
    const merged = [...new Set([...original, ...patch])];
    const woven = arrange({ merged, patchOrder: patch, liveOrder: original, mergeKey: undefined });
    return values.keepList(original, woven);
  }
  if (mergeKey === undefined) {
    throw unclassified(`cannot merge lists without merge key for ${typeName}`);
  }
  const parts = applyElementDirectives(original, patch, mergeKey);
  const merged = mergeByKey(parts.original, parts.patch, { mergeKey, mergeObjects });
  const woven = arrange({
    merged,
    patchOrder: parts.patch,
    liveOrder: parts.original,
    mergeKey,
  });
  return values.keepList(original, woven);
}

/**
 * The list order that a later `$setElementOrder` treats as live. Upstream deletes and appends in
 * the live list's own memory, so new elements take the positions of deleted ones.
 */
export function liveOrderAfter(original: List, patch: List, mergeKey: string | undefined): List {
  if (mergeKey === undefined) return original;
  const parts = applyElementDirectives(original, patch, mergeKey);
  if (patch.some((element) => isObject(element) && own(element, '$patch') === 'replace')) {
    return original;
  }
  const added = parts.patch.filter((element) => indexIn(parts.original, element, mergeKey) < 0);
  return [...parts.original, ...added.slice(0, original.length - parts.original.length)];
}

/** `$deleteFromPrimitiveList`: the list without the named scalars. */
export function deleteScalars(original: List, unwanted: List): List {
  elementType([original, unwanted]);
  const gone = new Set(unwanted);
  return values.keepList(
    original,
    original.filter((element) => !gone.has(element)),
  );
}

/** Elements of `patch` must follow the order in `$setElementOrder`. */
export function checkElementOrder(patch: List, order: List, mergeKey: string | undefined): void {
  if (patch.length === 0 || order.length === 0) return;
  const directiveOf = (e: Json | undefined) => (isObject(e) ? own(e, '$patch') : undefined);
  const kept = patch.filter((element) => directiveOf(element) !== 'delete');
  let at = 0;
  for (let next = 0; at < kept.length && next < order.length; ) {
    const element = kept[at] ?? null;
    const wanted = order[next] ?? null;
    const skipped = directiveOf(element) !== undefined;
    if (!skipped && mergeKey !== undefined) requireKeys([element, wanted], mergeKey);
    if (skipped || identity(element, mergeKey) === identity(wanted, mergeKey)) at += 1;
    if (!skipped) next += 1;
  }
  if (at < kept.length) {
    throw unclassified(
      `The order in patch list:\n${goFormat(patch)}\n doesn't match ` +
        `$setElementOrder list:\n${goFormat(order)}\n`,
    );
  }
}

export const noElements = (): Error => unclassified('no elements in any of the given slices');
export const badElementOrder = (): Error =>
  badRequest('invalid patch format of setElementOrder list');
export const badPrimitiveList = (): Error => badRequest('invalid patch format of primitive list');
export const badRetainKeys = (): Error => badRequest('invalid patch format of retainKeys');
