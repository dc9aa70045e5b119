// Small readers for printing JSON of any shape: a missing branch reads as empty, never throws.
import { isObject, type Json, type JsonObject, objectOr } from '../../../src/api/json.ts';

export const at = (object: JsonObject, ...path: readonly string[]): Json | undefined => {
  let value: Json | undefined = object;
  for (const key of path) value = isObject(value) ? value[key] : undefined;
  return value;
};
export const textAt = (object: JsonObject, ...path: readonly string[]): string => {
  const value = at(object, ...path);
  return value === undefined || value === null || typeof value === 'object' ? '' : String(value);
};
export const numberAt = (object: JsonObject, ...path: readonly string[]): number => {
  const value = at(object, ...path);
  return typeof value === 'number' ? value : 0;
};
export const objectsAt = (
  object: JsonObject,
  ...path: readonly string[]
): readonly JsonObject[] => {
  const value = at(object, ...path);
  return Array.isArray(value) ? value.filter(isObject) : [];
};
export const mapAt = (object: JsonObject, ...path: readonly string[]): JsonObject =>
  objectOr(at(object, ...path));

/** `a=1,b=2`, or `<none>`. */
export const labelText = (labels: JsonObject): string => {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}=${String(value)}`);
  return pairs.length === 0 ? '<none>' : pairs.sort().join(',');
};

/** A LabelSelector as kubectl prints it. */
export const selectorText = (selector: JsonObject): string => {
  const parts = Object.entries(mapAt(selector, 'matchLabels'))
    .map(([key, value]) => `${key}=${String(value)}`)
    .sort();
  for (const expression of objectsAt(selector, 'matchExpressions')) {
    const key = textAt(expression, 'key');
    const values = Array.isArray(expression.values) ? expression.values.join(',') : '';
    switch (textAt(expression, 'operator')) {
      case 'In':
        parts.push(`${key} in (${values})`);
        break;
      case 'NotIn':
        parts.push(`${key} notin (${values})`);
        break;
      case 'Exists':
        parts.push(key);
        break;
      default:
        parts.push(`!${key}`);
    }
  }
  return parts.length === 0 ? '<none>' : parts.join(',');
};
