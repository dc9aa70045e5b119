// Shared by EKS' resources of a stack: property names in the API's spelling, and progress by
// status.
import { isObject, type Json, type JsonObject, objectOr } from '../../../../src/api/json.ts';
import { done, type Progress, pending } from './resource-type.ts';
import { tagsOf, typed } from './values.ts';

/** Maps with keys from the user, which keep their spelling. */
const userMaps = new Set(['Labels', 'Tags']);

const lowerFirst = (name: string): string => {
  if (name === 'AMIType') return 'amiType';
  return name.charAt(0).toLowerCase() + name.slice(1);
};

/** `{NodeRole: x}` becomes `{nodeRole: x}`, at every depth. */
const apiNames = (value: Json): Json => {
  if (Array.isArray(value)) return value.map((one) => apiNames(one as Json));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [
      lowerFirst(key),
      userMaps.has(key) ? one : apiNames(one ?? null),
    ]),
  );
};

export const inputOf = (properties: JsonObject): Record<string, Json | undefined> => ({
  ...objectOr(apiNames(typed(properties))),
  ...(properties.Tags === undefined ? {} : { tags: tagsOf(properties.Tags) }),
});

export const objectIn = (answer: unknown, member: string): JsonObject => {
  const value = isObject(answer) ? answer[member] : undefined;
  return objectOr(value);
};

const failedStatuses = new Set(['CREATE_FAILED', 'FAILED', 'DEGRADED']);

export const byStatus = (status: unknown, reason: string): Progress => {
  if (status === 'ACTIVE') return done;
  return failedStatuses.has(String(status)) ? { kind: 'failed', reason } : pending;
};
