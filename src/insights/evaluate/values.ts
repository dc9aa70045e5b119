// Values of the language: comparison, conversion to numbers and text. A missing field and JSON's
// null are the same: undefined.
import type { Json, JsonObject } from '../../api/json.ts';

/** A time: displayed as a date, milliseconds wherever a number is needed. */
export class Instant {
  readonly ms: number;
  constructor(ms: number) {
    this.ms = ms;
  }
}

export type Value = undefined | string | number | boolean | Instant | JsonObject | readonly Json[];

export const fromJson = (value: Json | undefined): Value => (value === null ? undefined : value);

const pad = (value: number, width: number): string => String(value).padStart(width, '0');

/** `2022-09-25 13:58:43.356`, UTC, as GetQueryResults formats a timestamp. */
export const formatInstant = (ms: number): string => {
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return String(ms);
  const day = `${date.getUTCFullYear()}-${pad(date.getUTCMonth() + 1, 2)}-${pad(date.getUTCDate(), 2)}`;
  const time = [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()].map((one) =>
    pad(one, 2),
  );
  return `${day} ${time.join(':')}.${pad(date.getUTCMilliseconds(), 3)}`;
};

/** Replaces values nested too deeply for the platform to serialize: ten thousand brackets. */
const tooDeep = '(nested too deep to be shown)';

const structureText = (value: JsonObject | readonly Json[]): string => {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return tooDeep;
    throw error;
  }
};

/** Undefined for a missing value: a result omits the field. */
export const toText = (value: Value): string | undefined => {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
    case 'boolean':
      return String(value);
    case 'undefined':
      return undefined;
    default:
      return value instanceof Instant ? formatInstant(value.ms) : structureText(value);
  }
};

/** Numbers and structures unchanged, times as text. */
export const toJson = (value: Value): Json => {
  if (value === undefined) return null;
  if (value instanceof Instant) return formatInstant(value.ms);
  return typeof value === 'object' && structureText(value) === tooDeep ? tooDeep : value;
};

/** A list, or text that is a list in JSON. */
export const listIn = (value: Value): readonly Value[] | undefined => {
  if (Array.isArray(value)) return value.map(fromJson);
  if (typeof value !== 'string' || !/^\s*\[/.test(value)) return undefined;
  try {
    return listIn(JSON.parse(value) as Value);
  } catch {
    return undefined;
  }
};

/** An integer; as text when a number would lose digits. Such text counts as a number too. */
export const numberOrDigits = (value: bigint): Value => {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
};

const numeric = /^\s*[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\s*$/;

/** Undefined when not numeric. Numeric text is a number. */
export const toNumber = (value: Value): number | undefined => {
  if (typeof value === 'number') return value;
  if (typeof value === 'string') return numeric.test(value) ? Number(value) : undefined;
  if (typeof value === 'boolean') return value ? 1 : 0;
  return value instanceof Instant ? value.ms : undefined;
};

/** Whether a filter accepts the value. */
export const isTrue = (value: Value): boolean => {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'string') return value.toLowerCase() === 'true' || isTrue(toNumber(value));
  return typeof value === 'number' && value !== 0;
};

/** Measured: about 8 for a number or known text, 80 for a member of a large map. */
const bytesEach = 16;
const nameBytes = 32;

/** Approximate memory of a value, including nested values at any depth. */
export const valueBytes = (value: Value): number => {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value instanceof Instant) return bytesEach;
  let bytes = 0;
  const inside: Json[] = [value as Json];
  for (let one = inside.pop(); one !== undefined; one = inside.pop()) {
    bytes += bytesEach + (typeof one === 'string' ? one.length : 0);
    if (typeof one !== 'object' || one === null) continue;
    if (!Array.isArray(one)) for (const name of Object.keys(one)) bytes += nameBytes + name.length;
    for (const member of Object.values(one)) inside.push(member);
  }
  return bytes;
};

const isText = (value: Value): value is string => typeof value === 'string';

/** A missing value equals nothing, not even another one. Numeric text is still text. */
export const equals = (left: Value, right: Value): boolean => {
  if (left === undefined || right === undefined) return false;
  if (left === right) return true;
  if (isText(left) && isText(right)) return false;
  const [a, b] = [toNumber(left), toNumber(right)];
  if (a !== undefined && b !== undefined) return a === b;
  return toText(left) === toText(right);
};

/** Negative, zero or positive; undefined when one is missing. Numeric when both are numbers. */
export const ordered = (left: Value, right: Value): number | undefined => {
  if (left === undefined || right === undefined) return undefined;
  const [a, b] = [toNumber(left), toNumber(right)];
  if (a !== undefined && b !== undefined) return a - b;
  const [x = '', y = ''] = [toText(left), toText(right)];
  return x < y ? -1 : x > y ? 1 : 0;
};

/**
 * The order of `sort` (CWL_QuerySyntax-Sort): non-numbers before numbers. Text is split into chunks
 * of digits and of other characters; digits compare by length, then value. Missing values come last
 * in both directions, which the caller handles.
 */
export const sortOrder = (left: Value, right: Value): number => {
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  const [a, b] = [toNumber(left), toNumber(right)];
  if (a !== undefined && b !== undefined) return a - b;
  if (a !== undefined) return 1;
  if (b !== undefined) return -1;
  return naturalOrder(toText(left) ?? '', toText(right) ?? '');
};

const isDigit = (unit: number): boolean => unit >= 48 && unit <= 57;

const digitsEnd = (text: string, from: number): number => {
  let end = from;
  while (isDigit(text.charCodeAt(end))) end++;
  return end;
};

const naturalOrder = (left: string, right: string): number => {
  let i = 0;
  let j = 0;
  while (i < left.length && j < right.length) {
    const [a, b] = [left.charCodeAt(i), right.charCodeAt(j)];
    if (isDigit(a) && isDigit(b)) {
      const [endI, endJ] = [digitsEnd(left, i), digitsEnd(right, j)];
      if (endI - i !== endJ - j) return endI - i - (endJ - j);
      for (; i < endI; i++, j++) {
        const difference = left.charCodeAt(i) - right.charCodeAt(j);
        if (difference !== 0) return difference;
      }
    } else {
      if (a !== b) return a - b;
      i++;
      j++;
    }
  }
  return left.length - i - (right.length - j);
};
