// Converts scalars between the wire (text or JSON) and handlers. For handlers, timestamps are epoch
// milliseconds (numbers) and blobs are Uint8Array. Reads no clock.
import { epochMs, formatTime, parseTime } from '../api/brand.ts';
import type { ShapeType } from './model.ts';

/** The parsed value, or the error in the words of AWS' JSON services. */
export type Parsed =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly reason: string };

const ok = (value: unknown): Parsed => ({ ok: true, value });
const bad = (reason: string): Parsed => ({ ok: false, reason });

const INT32 = 2 ** 31;
const NAMES: Readonly<Record<string, string>> = {
  integer: 'an Integer',
  long: 'a Long',
  float: 'a Float',
  double: 'a Double',
  boolean: 'a Boolean',
  string: 'a String',
  timestamp: 'a Timestamp',
  blob: 'a Blob',
};

/** One value of a form or URL. */
export function scalarFromText(type: ShapeType, text: string): Parsed {
  switch (type) {
    case 'integer':
    case 'long':
      return /^[+-]?\d{1,19}$/.test(text) ? wholeNumber(type, Number(text)) : notA(type, text);
    case 'float':
    case 'double':
      return text.trim() !== '' && Number.isFinite(Number(text))
        ? ok(Number(text))
        : notA(type, text);
    case 'boolean':
      if (/^true$/i.test(text)) return ok(true);
      return /^false$/i.test(text) ? ok(false) : notA(type, text);
    case 'timestamp':
      return timestamp(text);
    case 'blob':
      return blob(text);
    default:
      return ok(text);
  }
}

/** One value of a JSON body. */
export function scalarFromJson(type: ShapeType, json: unknown): Parsed {
  switch (type) {
    case 'integer':
    case 'long':
      return typeof json === 'number' ? wholeNumber(type, json) : cannot(json, type);
    case 'float':
    case 'double':
      if (json === 'NaN' || json === 'Infinity' || json === '-Infinity') return ok(Number(json));
      return typeof json === 'number' ? ok(json) : cannot(json, type);
    case 'boolean':
      return typeof json === 'boolean' ? ok(json) : cannot(json, type);
    case 'timestamp':
      if (typeof json === 'number') return ok(Math.round(json * 1000));
      return typeof json === 'string' ? timestamp(json) : cannot(json, type);
    case 'blob':
      return typeof json === 'string' ? blob(json) : cannot(json, type);
    default:
      return typeof json === 'string' ? ok(json) : cannot(json, type);
  }
}

function wholeNumber(type: ShapeType, value: number): Parsed {
  if (!Number.isInteger(value)) return notA(type, String(value));
  const fits = type === 'integer' ? value >= -INT32 && value < INT32 : Number.isSafeInteger(value);
  return fits ? ok(value) : notA(type, String(value));
}

function timestamp(text: string): Parsed {
  if (/^\d+(\.\d+)?$/.test(text)) return ok(Math.round(Number(text) * 1000));
  const at = parseTime(text);
  return at === undefined ? notA('timestamp', text) : ok(Number(at));
}

function blob(text: string): Parsed {
  const compact = text.replace(/\s/g, '');
  if (compact.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(compact))
    return notA('blob', text);
  return ok(new Uint8Array(Buffer.from(compact, 'base64')));
}

function notA(type: ShapeType, text: string): Parsed {
  return bad(`'${abbreviate(text)}' is not ${NAMES[type] ?? type}`);
}

function cannot(json: unknown, type: ShapeType): Parsed {
  return bad(`${kindOf(json)} can not be converted to ${NAMES[type] ?? type}`);
}

/** Names of the kinds of JSON values in messages of AWS' JSON services. */
export function kindOf(json: unknown): string {
  if (json === null) return 'NULL_VALUE';
  if (Array.isArray(json)) return 'START_ARRAY';
  if (typeof json === 'number') return 'NUMBER_VALUE';
  if (typeof json === 'boolean') return json ? 'TRUE_VALUE' : 'FALSE_VALUE';
  return typeof json === 'string' ? 'STRING_VALUE' : 'START_OBJECT';
}

/** Longer values are truncated in messages. */
const QUOTED_LENGTH_MAX = 256;

export function abbreviate(text: string): string {
  return text.length > QUOTED_LENGTH_MAX ? `${text.slice(0, QUOTED_LENGTH_MAX)}...` : text;
}

/** A handler's scalar as XML or URL text (not yet escaped). */
export function scalarToText(type: ShapeType, value: unknown): string {
  if (type === 'timestamp') return formatTime(epochMs(Number(value)));
  if (type === 'blob') return base64(value);
  return String(value);
}

/** A handler's scalar as JSON. Timestamps become epoch seconds with up to three decimals. */
export function scalarToJson(type: ShapeType, value: unknown, format?: string): unknown {
  switch (type) {
    case 'timestamp':
      if (format === 'iso8601') return formatTime(epochMs(Number(value)));
      return Math.round(Number(value)) / 1000;
    case 'blob':
      return base64(value);
    case 'float':
    case 'double':
      return Number.isFinite(value) ? value : String(value);
    case 'integer':
    case 'long':
    case 'boolean':
      return value;
    default:
      return String(value);
  }
}

function base64(value: unknown): string {
  const bytes = value instanceof Uint8Array ? value : new TextEncoder().encode(String(value));
  return Buffer.from(bytes).toString('base64');
}
