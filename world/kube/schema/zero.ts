// What Go writes for unset fields: many API objects carry `status: {}`, `creationTimestamp: null`
// or `resources: {}` only for this reason, and clients see them.
import { isObject, type Json, type JsonObject } from '../../../src/api/json.ts';
import {
  type FieldFact,
  findSchema,
  type GroupVersionKind,
  type ResolvedType,
  resolveType,
  type StructFact,
} from './facts.ts';

const SPECIAL_ZERO: Readonly<Record<string, Json>> = {
  Quantity: '0',
  IntOrString: 0,
  Duration: '0s',
};

const structZeros = new Map<string, Json>();

function structZero(type: StructFact): Json {
  const known = structZeros.get(type.name);
  if (known !== undefined) return known;
  const entries: [string, Json][] = [];
  for (const field of type.fields.values()) {
    const value = whenUnset(field);
    if (value !== undefined) entries.push([field.name, value]);
  }
  const zero = Object.fromEntries(entries);
  structZeros.set(type.name, zero);
  return zero;
}

/** The zero value of a type as JSON; null for types that Go references by pointer. */
export function zeroValue(type: ResolvedType): Json {
  if (type.kind === 'struct') return structZero(type);
  if (type.kind === 'special') return SPECIAL_ZERO[type.special] ?? null;
  if (type.kind !== 'scalar') return null;
  if (type.scalar === 'string') return '';
  if (type.scalar === 'bytes') return null;
  return type.scalar === 'bool' ? false : 0;
}

/** JSON of an unset field; undefined when it is omitted. */
export function whenUnset(field: FieldFact): Json | undefined {
  if (field.pointer) return field.omitEmpty ? undefined : null;
  const type = resolveType(field.type);
  if (!field.omitEmpty) return zeroValue(type);
  // omitempty never omits a Go struct, and these are structs with their own JSON form.
  if (type.kind === 'struct') return structZero(type);
  return type.kind === 'special' ? zeroValue(type) : undefined;
}

/** Whether Go omits this value from a field marked omitempty. */
export function isOmitted(field: FieldFact, value: Json): boolean {
  if (!field.omitEmpty) return false;
  if (field.pointer) return value === null;
  if (value === '' || value === 0 || value === false) {
    const type = resolveType(field.type);
    return type.kind === 'scalar';
  }
  if (Array.isArray(value)) return value.length === 0;
  if (typeof value !== 'object' || value === null) return false;
  return resolveType(field.type).kind === 'map' && Object.keys(value).length === 0;
}

/** A kind's empty object, as Go writes it. */
export function zeroObject(gvk: GroupVersionKind): JsonObject {
  const schema = findSchema(gvk);
  const zero = schema === undefined ? {} : structZero(schema.type);
  return isObject(zero) ? zero : {};
}
