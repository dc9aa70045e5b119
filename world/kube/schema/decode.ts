// Decodes JSON into an object of a built-in kind exactly as the API server's Go types do: reports
// and drops unknown fields, refuses wrong types with Go's messages, normalizes quantities and
// times, adds fields that Go always writes. Shares subtrees that are already correct.
import { isObject, type Json, type JsonObject } from '../../../src/api/json.ts';
import {
  type DecodeForm,
  decodeScalar,
  decodeSpecial,
  goTypeName,
  type Place,
  TypeMismatch,
} from './decode-scalar.ts';
import {
  type FieldFact,
  type ResolvedType,
  resolveType,
  type StructFact,
  type TypeRef,
} from './facts.ts';
import { goKindWord, jsonKind, keepList, own } from './values.ts';
import { isOmitted, whenUnset, zeroValue } from './zero.ts';

export interface Decoded {
  readonly object: JsonObject;
  /** Paths of unknown fields, e.g. `spec.containers[0].imag`, in the server's order. */
  readonly unknown: readonly string[];
}

interface Context {
  readonly form: DecodeForm;
  readonly unknown: string[];
  /** The first mismatch, after which decoding continues. */
  mismatch: TypeMismatch | undefined;
}

/**
 * Structs that needed no change: unchanged parts of an object that is written repeatedly are
 * skipped. Valid because objects never change after creation.
 */
const clean = new WeakMap<object, StructFact>();

const shortName = (name: string): string => name.slice(name.lastIndexOf('.') + 1);

function mismatch(context: Context, value: Json, type: TypeRef, place: Place): TypeMismatch {
  if (context.form === 'map') {
    const resolved = resolveType(type);
    const word = goKindWord(value);
    if (resolved.kind === 'struct') return new TypeMismatch(`cannot restore struct from: ${word}`);
    const target = resolved.kind === 'map' ? 'map' : 'slice';
    return new TypeMismatch(`cannot restore ${target} from ${word}`);
  }
  const target = place.struct === '' ? 'value' : `struct field ${place.struct}.${place.fields}`;
  const goType = goTypeName(type);
  const message = `json: cannot unmarshal ${jsonKind(value)} into Go ${target} of type ${goType}`;
  return new TypeMismatch(message);
}

function fieldPlace(type: StructFact, field: string, outer: Place): Place {
  return {
    path: outer.path === '' ? field : `${outer.path}.${field}`,
    fields: outer.fields === '' ? field : `${outer.fields}.${field}`,
    struct: shortName(type.name),
  };
}

/** Names of an object in the order in which the server visits them. */
function orderedNames(context: Context, type: StructFact, value: JsonObject): readonly string[] {
  const names = Object.keys(value);
  if (context.form === 'json') return names;
  const known = [...type.fields.keys()].filter((name) => Object.hasOwn(value, name));
  return [...known, ...names.filter((name) => !type.fields.has(name))];
}

function decodeStruct(
  context: Context,
  type: StructFact,
  value: JsonObject,
  outer: Place,
): JsonObject {
  if (clean.get(value) === type) return value;
  const unknownBefore = context.unknown.length;
  const decoded = new Map<string, Json>();
  for (const name of orderedNames(context, type, value)) {
    const raw = own(value, name);
    if (raw === undefined) continue;
    const field = type.fields.get(name);
    const place = fieldPlace(type, name, outer);
    if (field === undefined) {
      context.unknown.push(place.path);
    } else if (raw !== null) {
      decoded.set(name, decodeValue(context, field.type, raw, place));
    }
  }
  const result = assemble(type, value, decoded);
  if (result === value && context.unknown.length === unknownBefore) clean.set(value, type);
  return result;
}

/** The decoded fields in input order, plus the fields that Go always writes. */
function assemble(
  type: StructFact,
  value: JsonObject,
  decoded: ReadonlyMap<string, Json>,
): JsonObject {
  const entries: [string, Json][] = [];
  let same = true;
  for (const name of Object.keys(value)) {
    const field = type.fields.get(name);
    const kept = field === undefined ? undefined : shownValue(field, decoded.get(name));
    if (kept !== undefined) entries.push([name, kept]);
    if (kept !== value[name]) same = false;
  }
  for (const field of type.fields.values()) {
    if (Object.hasOwn(value, field.name)) continue;
    const kept = whenUnset(field);
    if (kept === undefined) continue;
    entries.push([field.name, kept]);
    same = false;
  }
  return same ? value : Object.fromEntries(entries);
}

function shownValue(field: FieldFact, value: Json | undefined): Json | undefined {
  if (value === undefined) return whenUnset(field);
  return isOmitted(field, value) ? undefined : value;
}

function decodeList(context: Context, of: TypeRef, value: readonly Json[], place: Place): Json {
  const items = value.map((item, index) =>
    item === null
      ? zeroValue(resolveType(of))
      : decodeValue(context, of, item, { ...place, path: `${place.path}[${index}]` }),
  );
  return keepList(value, items);
}

function decodeMap(context: Context, of: TypeRef, value: JsonObject, place: Place): Json {
  let same = true;
  const entries: [string, Json][] = [];
  for (const key of Object.keys(value)) {
    const raw = value[key] ?? null;
    const item =
      raw === null
        ? zeroValue(resolveType(of))
        : decodeValue(context, of, raw, { ...place, path: `${place.path}.${key}` });
    if (item !== raw) same = false;
    entries.push([key, item]);
  }
  return same ? value : Object.fromEntries(entries);
}

/** Continues after a mismatch in JSON, as Go does; the converter stops at the first. */
function decodeValue(context: Context, ref: TypeRef, value: Json, place: Place): Json {
  try {
    return decodeTyped(context, ref, value, place);
  } catch (error) {
    if (!(error instanceof TypeMismatch) || error.fatal || context.form === 'map') throw error;
    context.mismatch ??= error;
    return null;
  }
}

function decodeTyped(context: Context, ref: TypeRef, value: Json, place: Place): Json {
  const type: ResolvedType = resolveType(ref);
  switch (type.kind) {
    case 'struct':
      if (!isObject(value)) throw mismatch(context, value, ref, place);
      return decodeStruct(context, type, value, place);
    case 'list':
      if (!Array.isArray(value)) throw mismatch(context, value, ref, place);
      return decodeList(context, type.of, value, place);
    case 'map':
      if (!isObject(value)) throw mismatch(context, value, ref, place);
      return decodeMap(context, type.of, value, place);
    case 'scalar':
      return decodeScalar(context.form, { ref, scalar: type.scalar }, value, place);
    case 'special':
      return decodeSpecial(context.form, type.special, value, {
        place,
        schema: (object) =>
          decodeValue(context, { kind: 'named', name: SCHEMA_PROPS }, object, place),
      });
  }
}

const SCHEMA_PROPS = 'apiextensions/v1.JSONSchemaProps';

/** Throws a TypeMismatch with the server's message for a value of the wrong type. */
export function decode(type: StructFact, value: Json, form: DecodeForm): Decoded {
  const context: Context = { form, unknown: [], mismatch: undefined };
  const top: Place = { path: '', fields: '', struct: '' };
  if (!isObject(value)) {
    throw mismatch(context, value, { kind: 'named', name: type.name }, top);
  }
  const object = decodeStruct(context, type, value, top);
  if (context.mismatch !== undefined) throw context.mismatch;
  return { object, unknown: form === 'map' ? context.unknown.sort() : context.unknown };
}
