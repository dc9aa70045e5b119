// Between the SDK's values and the canonical ones of a transport: times are Dates here and epoch
// milliseconds there, undefined members are absent there. Knows one member by name.
import type { Json, JsonObject } from '../../api/json.ts';

/** An answer without `$metadata` and what else the SDK adds. */
export const canonical = (value: object): JsonObject => {
  const plain: Record<string, Json> = {};
  for (const [name, member] of Object.entries(value)) {
    if (member !== undefined && !name.startsWith('$')) plain[name] = canonicalValue(member);
  }
  return plain;
};

const canonicalValue = (value: unknown): Json => {
  if (value instanceof Date) return value.getTime();
  if (Array.isArray(value)) return value.map(canonicalValue);
  return typeof value === 'object' && value !== null ? canonical(value) : (value as Json);
};

/** The only time that an input carries: until when a launch template's Spot request is valid. */
const inputTimes = new Set(['ValidUntil']);

/** An input as the SDK's commands take it. */
export const sdkInput = (input: JsonObject): object =>
  JSON.parse(JSON.stringify(input), (name, member: unknown) =>
    inputTimes.has(name) && typeof member === 'number' ? new Date(member) : member,
  );
