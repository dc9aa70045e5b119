// The JSON merge patch (RFC 7386) that turns one value into another. Members that the new value
// omits become null in the patch, because an omitted member would keep its old value. Lists are
// replaced completely.
import { isObject, type Json, type JsonObject, jsonEqual } from '../api/json.ts';

/** The patch from `before` to `after`; undefined when nothing changes. */
export const mergePatchBetween = (before: unknown, after: object): JsonObject | undefined => {
  const old = isObject(before) ? before : {};
  const wanted = after as Readonly<Record<string, unknown>>;
  const patch: Record<string, Json> = {};
  for (const key of Object.keys(old)) {
    if (old[key] !== undefined && wanted[key] === undefined) patch[key] = null;
  }
  for (const key of Object.keys(wanted)) {
    const value = wanted[key];
    if (value === undefined || jsonEqual(old[key], value)) continue;
    const inner = isObject(value) && isObject(old[key]) ? mergePatchBetween(old[key], value) : null;
    patch[key] = inner ?? (value as Json);
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
};
