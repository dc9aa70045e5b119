// Helpers for a custom resource's structural schema (openAPIV3Schema): access to its parts, the old
// value below a path, the form of a violation. Decides nothing.
import { isObject, type Json, type JsonObject } from '../../../src/api/json.ts';
import { deepEqual, own } from './values.ts';

export interface SchemaError {
  readonly type:
    | 'FieldValueInvalid'
    | 'FieldValueTypeInvalid'
    | 'FieldValueRequired'
    | 'FieldValueForbidden'
    | 'FieldValueNotSupported'
    | 'FieldValueDuplicate'
    | 'FieldValueTooLong'
    | 'FieldValueTooMany';
  /** `spec.list[0].name`; `<nil>` where the API server names no field. */
  readonly field: string;
  readonly body: string;
}

export const objectIn = (schema: JsonObject, key: string): JsonObject | undefined => {
  const value = own(schema, key);
  return isObject(value) ? value : undefined;
};

export const textIn = (schema: JsonObject, key: string): string => {
  const value = own(schema, key);
  return typeof value === 'string' ? value : '';
};

export const numberIn = (schema: JsonObject, key: string): number | undefined => {
  const value = own(schema, key);
  return typeof value === 'number' ? value : undefined;
};

export const flag = (schema: JsonObject, key: string): boolean => own(schema, key) === true;

export const objectsIn = (schema: JsonObject, key: string): readonly JsonObject[] => {
  const value = own(schema, key);
  return Array.isArray(value) ? value.filter(isObject) : [];
};

export const textsIn = (schema: JsonObject, key: string): readonly string[] => {
  const value = own(schema, key);
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
};

/**
 * Whether `is` holds for a schema or any schema below it. Cached: schemas never change and are
 * checked with every write of their objects.
 */
export const someBelow = (
  is: (schema: JsonObject) => boolean,
): ((schema: JsonObject) => boolean) => {
  const known = new WeakMap<JsonObject, boolean>();
  const look = (schema: JsonObject): boolean => {
    const before = known.get(schema);
    if (before !== undefined) return before;
    const names = Object.keys(objectIn(schema, 'properties') ?? {});
    const members = names.flatMap((name): readonly JsonObject[] => {
      const member = memberSchema(schema, name);
      return member === undefined ? [] : [member];
    });
    const others = [objectIn(schema, 'items'), objectIn(schema, 'additionalProperties')];
    const below = [...members, ...others];
    const found = is(schema) || below.some((one) => one !== undefined && look(one));
    known.set(schema, found);
    return found;
  };
  return look;
};

export const childPath = (path: string, key: string): string =>
  path === '' ? key : `${path}.${key}`;

/** The schema of one member of an object; undefined when unknown or unspecified. */
export function memberSchema(schema: JsonObject, key: string): JsonObject | undefined {
  const properties = objectIn(schema, 'properties');
  const property = properties === undefined ? undefined : objectIn(properties, key);
  return property ?? objectIn(schema, 'additionalProperties');
}

/** The element of `old` that corresponds to an element of a list; only list maps have one. */
export function oldElement(
  schema: JsonObject,
  old: Json | undefined,
  element: Json,
): Json | undefined {
  if (textIn(schema, 'x-kubernetes-list-type') !== 'map') return undefined;
  if (!Array.isArray(old) || !isObject(element)) return undefined;
  const keys = textsIn(schema, 'x-kubernetes-list-map-keys');
  return old.find(
    (candidate) =>
      isObject(candidate) && keys.every((key) => deepEqual(own(candidate, key), own(element, key))),
  );
}

export const oldMember = (old: Json | undefined, key: string): Json | undefined =>
  isObject(old) ? own(old, key) : undefined;
