// Decodes scalars and types with their own JSON form, with the messages of Go's encoding/json
// (request bodies) and of apimachinery's converter (strategic patches).
import { isObject, type Json } from '../../../src/api/json.ts';
import { canonicalQuantity, quantityError } from '../../../src/api/quantity.ts';
import type { ScalarType, SpecialType, TypeRef } from './facts.ts';
import { normalizeTime } from './time-text.ts';
import { goKind, jsonKind } from './values.ts';

/**
 * `json`: a request body or a patched text (encoding/json's messages). `map`: the result of a
 * strategic merge, which the API server converts field by field, with other messages.
 */
export type DecodeForm = 'json' | 'map';

/** Path of a value, in the strict decoder's form and in that of Go's type errors. */
export interface Place {
  readonly path: string;
  readonly fields: string;
  /** Go struct with the field; empty at the top. */
  readonly struct: string;
}

/**
 * The server's message about a value of the wrong type or form. Go records a mismatch and
 * continues, so the first one is reported; an error of a type's own parser is `fatal` and takes
 * precedence.
 */
export class TypeMismatch extends Error {
  readonly fatal: boolean;

  constructor(message: string, fatal = false) {
    super(message);
    this.fatal = fatal;
  }
}

const GO_SCALARS: Readonly<Record<ScalarType, string>> = {
  string: 'string',
  bool: 'bool',
  int32: 'int32',
  int64: 'int64',
  float64: 'float64',
  bytes: '[]uint8',
};

/** `core/v1.Container` as Go prints it: `v1.Container`. */
export function goTypeName(ref: TypeRef): string {
  switch (ref.kind) {
    case 'named':
      return ref.name.slice(ref.name.lastIndexOf('/') + 1);
    case 'list':
      return `[]${goTypeName(ref.of)}`;
    case 'map':
      return `map[string]${goTypeName(ref.of)}`;
    case 'scalar':
      return GO_SCALARS[ref.scalar];
    case 'special':
      return `v1.${ref.special}`;
  }
}

/** encoding/json's name for a value; quotes numbers that do not fit. */
const shown = (value: Json, quoteNumber: boolean): string =>
  quoteNumber && typeof value === 'number' ? `number ${value}` : jsonKind(value);

interface Wrong {
  readonly quoteNumber?: boolean;
  readonly fatal?: boolean;
}

function wrongJson(value: Json, goType: string, place: Place, wrong: Wrong = {}): TypeMismatch {
  const what = shown(value, wrong.quoteNumber === true);
  const where = place.struct === '' ? 'value' : `struct field ${place.struct}.${place.fields}`;
  return new TypeMismatch(
    `json: cannot unmarshal ${what} into Go ${where} of type ${goType}`,
    wrong.fatal,
  );
}

/** The converter's message differs between values that Go could and could not convert. */
function wrongMap(value: Json, scalar: ScalarType, goType: string): TypeMismatch {
  const from = goKind(value);
  const numeric = from === 'int64' || from === 'float64';
  const toNumber = scalar === 'int32' || scalar === 'int64' || scalar === 'float64';
  const convertible = numeric ? toNumber || (scalar === 'string' && from === 'int64') : false;
  return new TypeMismatch(
    convertible ? `cannot convert ${from} to ${goType}` : `unrecognized type: ${scalar}`,
  );
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

function decodeBytes(form: DecodeForm, value: Json, place: Place): Json {
  if (typeof value !== 'string') {
    if (form === 'json') throw wrongJson(value, '[]uint8', place);
    throw new TypeMismatch(`cannot restore slice from ${goKind(value)}`);
  }
  const text = value.replace(/[\r\n]/g, '');
  if (!BASE64.test(text) || text.length % 4 !== 0) {
    const at = text.search(/[^A-Za-z0-9+/]/);
    throw new TypeMismatch(`illegal base64 data at input byte ${at < 0 ? text.length : at}`);
  }
  return value;
}

const LIMITS = { int32: 2 ** 31, int64: 2 ** 63 } as const;

export function decodeScalar(
  form: DecodeForm,
  type: { readonly ref: TypeRef; readonly scalar: ScalarType },
  value: Json,
  place: Place,
): Json {
  const { scalar } = type;
  if (scalar === 'bytes') return decodeBytes(form, value, place);
  const wanted = scalar === 'string' ? 'string' : scalar === 'bool' ? 'boolean' : 'number';
  const goType = goTypeName(type.ref);
  if (typeof value !== wanted) {
    throw form === 'json' ? wrongJson(value, goType, place) : wrongMap(value, scalar, goType);
  }
  if (typeof value !== 'number' || scalar === 'float64') return value;
  const limit = LIMITS[scalar === 'int64' ? 'int64' : 'int32'];
  if (Number.isInteger(value) && value >= -limit && value < limit) return value;
  if (form === 'json') throw wrongJson(value, goType, place, { quoteNumber: true });
  if (!Number.isInteger(value)) throw wrongMap(value, scalar, goType);
  // The converter wraps an integer that is too large, and so does the API server.
  return scalar === 'int32' ? value | 0 : value;
}

function decodeIntOrString(form: DecodeForm, value: Json, place: Place): Json {
  if (typeof value === 'string') return value;
  const at = form === 'json' ? place : { ...place, struct: '' };
  if (typeof value !== 'number') throw wrongJson(value, 'int32', at, { fatal: true });
  if (Number.isInteger(value) && Math.abs(value) < LIMITS.int32) return value;
  throw wrongJson(value, 'int32', at, { quoteNumber: true, fatal: true });
}

function decodeTime(form: DecodeForm, value: Json, micro: boolean, place: Place): Json {
  if (typeof value !== 'string') {
    const at = form === 'json' ? place : { ...place, struct: '' };
    throw wrongJson(value, 'string', at, { fatal: true });
  }
  const time = normalizeTime(value, micro);
  if (time.kind === 'error') throw new TypeMismatch(time.message, true);
  return time.text;
}

function decodeQuantity(value: Json): Json {
  const text = typeof value === 'number' ? String(value) : value;
  const canonical = typeof text === 'string' ? canonicalQuantity(text) : undefined;
  if (canonical === undefined) {
    const shownText = typeof text === 'string' ? text : JSON.stringify(text);
    throw new TypeMismatch(quantityError(shownText), true);
  }
  return canonical;
}

export function decodeSpecial(
  form: DecodeForm,
  special: SpecialType,
  value: Json,
  nested: { readonly place: Place; readonly schema: (object: Json) => Json },
): Json {
  switch (special) {
    case 'Quantity':
      return decodeQuantity(value);
    case 'IntOrString':
      return decodeIntOrString(form, value, nested.place);
    case 'Time':
      return decodeTime(form, value, false, nested.place);
    case 'MicroTime':
      return decodeTime(form, value, true, nested.place);
    case 'SchemaOrArray':
    case 'SchemaOrBool':
    case 'SchemaOrStringArray':
      return isObject(value) ? nested.schema(value) : value;
    case 'Duration':
    case 'FieldsV1':
    case 'RawExtension':
    case 'AnyJson':
      return value;
  }
}
