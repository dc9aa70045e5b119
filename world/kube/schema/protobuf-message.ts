// Converts one protobuf message to the JSON object of its Go type, by the field numbers in the
// facts. Omits unset and zero fields where Go's JSON omits them.
import type { Json, JsonObject } from '../../../src/api/json.ts';
import { parseJson } from '../../../src/api/parse-json.ts';
import {
  type FieldFact,
  namedType,
  resolveType,
  type ScalarType,
  type SpecialType,
  type StructFact,
  type TypeRef,
} from './facts.ts';
import { formatTime } from './time-text.ts';
import { MalformedProtobuf, readFields, readPacked, type WireValue } from './wire-reader.ts';
import { isOmitted } from './zero.ts';

/** Target of a field number: a field, or an embedded struct with its own numbers. */
type Target = FieldFact | NumberTable;
type NumberTable = Map<number, Target>;

const tables = new Map<string, NumberTable>();

function tableOf(type: StructFact): NumberTable {
  const known = tables.get(type.name);
  if (known !== undefined) return known;
  const table: NumberTable = new Map();
  for (const field of type.fields.values()) {
    let level = table;
    for (const number of field.proto.slice(0, -1)) {
      const next = level.get(number);
      const inner: NumberTable = next instanceof Map ? next : new Map();
      level.set(number, inner);
      level = inner;
    }
    const last = field.proto.at(-1);
    if (last !== undefined) level.set(last, field);
  }
  tables.set(type.name, table);
  return table;
}

const utf8 = new TextDecoder();

function bytesOf(value: WireValue): Uint8Array {
  if (value.kind !== 'bytes') throw new MalformedProtobuf(`wrong wireType: ${value.kind}`);
  return value.value;
}

function integerOf(value: WireValue): bigint {
  if (value.kind !== 'varint') throw new MalformedProtobuf(`wrong wireType: ${value.kind}`);
  return BigInt.asIntN(64, value.value);
}

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

function base64(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 3) {
    const [a = 0, b, c] = bytes.subarray(at, at + 3);
    const group = (a << 16) | ((b ?? 0) << 8) | (c ?? 0);
    const digits = [18, 12, 6, 0].map((shift) => BASE64[(group >> shift) & 63] ?? '');
    if (b === undefined) digits.splice(2, 2, '=', '=');
    else if (c === undefined) digits.splice(3, 1, '=');
    text += digits.join('');
  }
  return text;
}

function scalar(type: ScalarType, value: WireValue): Json {
  switch (type) {
    case 'string':
      return utf8.decode(bytesOf(value));
    case 'bytes':
      return base64(bytesOf(value));
    case 'bool':
      return integerOf(value) !== 0n;
    case 'int32':
    case 'int64':
      return Number(integerOf(value));
    case 'float64':
      if (value.kind !== 'fixed64') throw new MalformedProtobuf(`wrong wireType: ${value.kind}`);
      return value.value.getFloat64(0, true);
  }
}

function parseRaw(bytes: Uint8Array): Json {
  try {
    return parseJson(utf8.decode(bytes));
  } catch {
    throw new MalformedProtobuf('raw value is no JSON');
  }
}

/** The message JSONSchemaProps; when absent, the boolean in its place is false. */
function schemaOf(value: WireValue | undefined): Json {
  const type = namedType('apiextensions/v1.JSONSchemaProps');
  if (value === undefined || type.kind !== 'struct') return false;
  return decodeMessage(type, bytesOf(value));
}

/** Undefined when unset, as Go's zero time is. */
function special(type: SpecialType, value: WireValue): Json | undefined {
  const parts = new Map(readFields(bytesOf(value)).map((field) => [field.number, field.value]));
  const integer = (number: number): number => {
    const part = parts.get(number);
    return part === undefined ? 0 : Number(integerOf(part));
  };
  const first = parts.get(1);
  switch (type) {
    case 'Quantity':
      return first === undefined ? '0' : utf8.decode(bytesOf(first));
    case 'IntOrString': {
      const text = parts.get(3);
      if (integer(1) === 0) return integer(2);
      return text === undefined ? '' : utf8.decode(bytesOf(text));
    }
    case 'Time':
    case 'MicroTime':
      if (integer(1) === 0 && integer(2) === 0) return undefined;
      return formatTime(integer(1), integer(2), type === 'MicroTime');
    case 'Duration':
      return `${integer(1) / 1e9}s`;
    case 'FieldsV1':
    case 'RawExtension':
    case 'AnyJson':
      return first === undefined ? undefined : parseRaw(bytesOf(first));
    case 'SchemaOrBool':
      return first !== undefined && parts.get(2) === undefined
        ? integer(1) !== 0
        : schemaOf(parts.get(2));
    case 'SchemaOrArray':
    case 'SchemaOrStringArray': {
      if (first !== undefined) return schemaOf(first);
      const items = readFields(bytesOf(value)).filter(({ number }) => number === 2);
      return type === 'SchemaOrArray'
        ? items.map((item) => schemaOf(item.value))
        : items.map((item) => utf8.decode(bytesOf(item.value)));
    }
  }
}

function single(ref: TypeRef, value: WireValue): Json | undefined {
  const type = resolveType(ref);
  if (type.kind === 'struct') return decodeMessage(type, bytesOf(value));
  if (type.kind === 'scalar') return scalar(type.scalar, value);
  if (type.kind === 'special') return special(type.special, value);
  // A named list (ExtraValue) is a message with the list as field 1.
  if (type.kind === 'list') {
    return readFields(bytesOf(value)).map((item) => single(type.of, item.value) ?? null);
  }
  throw new MalformedProtobuf('a map has no single value');
}

function listItems(of: TypeRef, value: WireValue): readonly Json[] {
  const type = resolveType(of);
  const packed = type.kind === 'scalar' && ['int32', 'int64', 'bool'].includes(type.scalar);
  if (packed && value.kind === 'bytes') {
    return readPacked(value.value).map((item) => single(of, { kind: 'varint', value: item }) ?? 0);
  }
  return [single(of, value) ?? null];
}

function mapEntry(of: TypeRef, value: WireValue): readonly [string, Json] {
  let key = '';
  let item: Json | undefined;
  for (const part of readFields(bytesOf(value))) {
    if (part.number === 1) key = utf8.decode(bytesOf(part.value));
    if (part.number === 2) item = single(of, part.value);
  }
  return [key, item ?? ''];
}

function setField(into: Map<string, Json>, field: FieldFact, value: WireValue): void {
  const type = resolveType(field.type);
  const current = into.get(field.name);
  if (type.kind === 'list') {
    const items = Array.isArray(current) ? current : [];
    into.set(field.name, [...items, ...listItems(type.of, value)]);
  } else if (type.kind === 'map') {
    const entries = typeof current === 'object' && current !== null ? Object.entries(current) : [];
    into.set(field.name, Object.fromEntries([...entries, mapEntry(type.of, value)]));
  } else {
    const decoded = single(field.type, value);
    if (decoded !== undefined && !isOmitted(field, decoded)) into.set(field.name, decoded);
  }
}

function readInto(into: Map<string, Json>, table: NumberTable, bytes: Uint8Array): void {
  for (const { number, value } of readFields(bytes)) {
    const target = table.get(number);
    if (target instanceof Map) readInto(into, target, bytesOf(value));
    else if (target !== undefined) setField(into, target, value);
  }
}

export function decodeMessage(type: StructFact, bytes: Uint8Array): JsonObject {
  const fields = new Map<string, Json>();
  readInto(fields, tableOf(type), bytes);
  return Object.fromEntries(fields);
}
