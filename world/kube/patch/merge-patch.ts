// JSON Merge Patch (RFC 7386) as the API server applies it (evanphx/json-patch v4: nulls inside
// newly set values are dropped). Shares unchanged subtrees. Never changes its input.
import { isObject, type Json, type JsonObject } from '../../../src/api/json.ts';
import { values } from '../schema/index.ts';
import { badRequest, type PatchResult, settle } from './failure.ts';

const { jsonKind, ObjectDraft } = values;

/** A value without null members and elements at any depth. */
function pruneNulls(value: Json): Json {
  if (isObject(value)) {
    const draft = new ObjectDraft(value);
    for (const key of Object.keys(value)) {
      const member = value[key] ?? null;
      if (member === null) draft.delete(key);
      else draft.set(key, pruneNulls(member));
    }
    return draft.finish();
  }
  if (typeof value !== 'object' || value === null) return value;
  return values.keepList(value, value.filter((item) => item !== null).map(pruneNulls));
}

function merge(object: JsonObject, patch: JsonObject): JsonObject {
  const draft = new ObjectDraft(object);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null || value === undefined) {
      draft.delete(key);
      continue;
    }
    const current = draft.get(key);
    const merged = isObject(current) && isObject(value) ? merge(current, value) : pruneNulls(value);
    draft.set(key, merged);
  }
  return draft.finish();
}

export function applyMergePatch(object: JsonObject, patch: Json): PatchResult {
  return settle(() => {
    if (!isObject(patch)) {
      const type = 'map[string]interface {}';
      throw badRequest(
        `error decoding patch: json: cannot unmarshal ${jsonKind(patch)} ` +
          `into Go value of type ${type}`,
      );
    }
    return merge(object, patch);
  });
}
