// Converts between the SDK's values and a transport's canonical ones: Dates to epoch milliseconds,
// undefined members to absent ones. The only member that it knows by name is a time of an input.
import type { Json, JsonObject } from '../../api/json.ts';

/** An answer without `$metadata` and other additions of the SDK. */
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

/** The only time in an input: until when a launch template's Spot request is valid. */
const inputTimes = new Set(['ValidUntil']);

/** An input in the form of the SDK's commands. */
export const sdkInput = (input: JsonObject): object =>
  JSON.parse(JSON.stringify(input), (name, member: unknown) =>
    inputTimes.has(name) && typeof member === 'number' ? new Date(member) : member,
  );
