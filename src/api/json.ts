// JSON as a type, and the two checks that every parser needs. Never parses text itself.

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

/** True for a JSON object, false for arrays, null and scalars. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Sets an own field of an object under construction, whatever its name: a plain assignment of a
 * foreign field named `__proto__` would set the prototype. Cheaper than `Object.fromEntries`.
 */
export const setOwn = <T>(object: Record<string, T>, key: string, value: T): void => {
  if (key !== '__proto__') object[key] = value;
  else Object.defineProperty(object, key, { value, enumerable: true, configurable: true });
};

/** `value` as an object, or an empty one: for reading optional branches of foreign JSON. */
export const objectOr = (value: unknown): JsonObject => (isObject(value) ? value : {});

/** Deep equality of JSON; an undefined field equals an absent one. */
export const jsonEqual = (a: unknown, b: unknown): boolean => {
  if (a === b) return true;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, i) => jsonEqual(item, b[i]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  for (const key of Object.keys(a)) if (!jsonEqual(a[key], b[key])) return false;
  for (const key of Object.keys(b)) if (b[key] !== undefined && a[key] === undefined) return false;
  return true;
};
