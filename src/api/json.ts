// JSON as a type, and the two questions every parser asks of it. Never parses text itself.

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

/** True for a JSON object, false for arrays, null and scalars. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `value` as an object, or an empty one: for reading optional branches of foreign JSON. */
export const objectOr = (value: unknown): JsonObject => (isObject(value) ? value : {});
