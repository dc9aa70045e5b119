// JSON Patch (RFC 6902) with the API server's habits (evanphx/json-patch v4): negative indices
// count from the end, the root cannot be addressed, `test` of null passes on a missing key. Shares
// every subtree that no operation touches. Never changes its input.
import { isObject, type Json, type JsonObject } from '../../../src/api/json.ts';
import { values } from '../schema/index.ts';
import { badRequest, cannotApply, type PatchResult, settle, tooManyOperations } from './failure.ts';

const { deepEqual, jsonKind, ObjectDraft, own } = values;

/** apiserver's maxJSONPatchOperations. */
const MAX_OPERATIONS = 10_000;

type Container = JsonObject | readonly Json[];
const isContainer = (value: Json | undefined): value is Container =>
  typeof value === 'object' && value !== null;

function parsePointer(pointer: Json | undefined): readonly string[] {
  if (typeof pointer !== 'string' || !pointer.startsWith('/')) throw cannotApply();
  return pointer
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Index into a list, at most `limit`: its length for additions, its last index otherwise. */
function parseIndex(part: string, limit: number): number {
  if (!/^-?\d+$/.test(part)) throw cannotApply();
  const index = Number(part);
  // When adding, -1 is the position after the last element, as in evanphx/json-patch.
  const at = index < 0 ? index + limit + 1 : index;
  if (at < 0 || at > limit) throw cannotApply();
  return at;
}

function child(container: Container, part: string): Json | undefined {
  if (isObject(container)) return own(container, part);
  return container[parseIndex(part, container.length - 1)];
}

/** Rewrites the container at `path[0..-1]`, copying only the path to it. */
function rewrite(
  container: Json | undefined,
  path: readonly string[],
  change: (container: Container, key: string) => Container,
): Container {
  const [part, ...rest] = path;
  if (!isContainer(container) || part === undefined) throw cannotApply();
  if (rest.length === 0) return change(container, part);
  const next = rewrite(child(container, part), rest, change);
  return replaceIn(container, part, next);
}

function replaceIn(container: Container, key: string, value: Json): Container {
  if (isObject(container)) return values.withKey(container, key, value);
  const index = parseIndex(key, container.length - 1);
  return values.keepList(container, container.with(index, value));
}

function addTo(container: Container, key: string, value: Json): Container {
  if (isObject(container)) return values.withKey(container, key, value);
  const index = key === '-' ? container.length : parseIndex(key, container.length);
  return container.toSpliced(index, 0, value);
}

function removeFrom(container: Container, key: string): Container {
  if (isObject(container)) {
    if (own(container, key) === undefined) throw cannotApply();
    const draft = new ObjectDraft(container);
    draft.delete(key);
    return draft.finish();
  }
  return container.toSpliced(parseIndex(key, container.length - 1), 1);
}

function valueAt(document: Json, path: readonly string[]): Json | undefined {
  let value: Json | undefined = document;
  for (const part of path) {
    if (!isContainer(value)) throw cannotApply();
    value = child(value, part);
  }
  return value;
}

function requireAt(document: Json, path: readonly string[]): Json {
  const value = valueAt(document, path);
  if (value === undefined) throw cannotApply();
  return value;
}

function applyOperation(document: Container, operation: JsonObject): Container {
  const path = parsePointer(own(operation, 'path'));
  const value = own(operation, 'value') ?? null;
  switch (own(operation, 'op')) {
    case 'add':
      return rewrite(document, path, (container, key) => addTo(container, key, value));
    case 'remove':
      return rewrite(document, path, removeFrom);
    case 'replace':
      requireAt(document, path);
      return rewrite(document, path, (container, key) => replaceIn(container, key, value));
    case 'move': {
      const from = parsePointer(own(operation, 'from'));
      const moved = requireAt(document, from);
      const without = rewrite(document, from, removeFrom);
      return rewrite(without, path, (container, key) => addTo(container, key, moved));
    }
    case 'copy': {
      const copied = requireAt(document, parsePointer(own(operation, 'from')));
      return rewrite(document, path, (container, key) => addTo(container, key, copied));
    }
    case 'test':
      if (!deepEqual(valueAt(document, path) ?? null, value)) throw cannotApply();
      return document;
    default:
      throw cannotApply();
  }
}

function decode(patch: Json): readonly JsonObject[] {
  if (!Array.isArray(patch)) {
    const kind = jsonKind(patch);
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${kind} into Go value of type []interface {}`,
    );
  }
  const operations: JsonObject[] = [];
  for (const operation of patch) {
    if (!isObject(operation)) {
      const kind = jsonKind(operation);
      throw badRequest(`json: cannot unmarshal ${kind} into Go value of type jsonpatch.Operation`);
    }
    operations.push(operation);
  }
  if (operations.length > MAX_OPERATIONS) {
    throw tooManyOperations(MAX_OPERATIONS, operations.length);
  }
  return operations;
}

/** 400 for a body that is not a list of operations, 422 for one that cannot be applied. */
export function applyJsonPatch(object: JsonObject, patch: Json): PatchResult {
  return settle(() => {
    let document: Container = object;
    for (const operation of decode(patch)) document = applyOperation(document, operation);
    if (!isObject(document)) throw cannotApply();
    return document;
  });
}
