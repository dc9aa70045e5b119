// Functions of texts and lists added to the language in 2026: encodings, hashes, substrings
// (CWL_QuerySyntax-operations-functions, -hash-functions). Tests define the cases that the
// documentation leaves open.
import { createHash } from 'node:crypto';
import { type FunctionSpec, maxTextLength } from './function-spec.ts';
import { listIn, numberOrDigits, toNumber, toText, type Value } from './values.ts';

/** Undefined when the argument is. */
const ofText = (compute: (text: string) => Value): FunctionSpec => ({
  min: 1,
  max: 1,
  evaluate: ([value]) => {
    const text = toText(value);
    return text === undefined ? undefined : compute(text);
  },
});

const ofTwo = (compute: (text: string, other: string) => Value): FunctionSpec => ({
  min: 2,
  max: 2,
  evaluate: ([first, second]) => {
    const [text, other] = [toText(first), toText(second)];
    return text === undefined || other === undefined ? undefined : compute(text, other);
  },
});

/** Nested calls could lengthen a text a hundred thousand times. */
const bounded = (text: string): Value => (text.length > maxTextLength ? undefined : text);

/** Percent-encodes everything but letters, digits and `-_.~` (RFC 3986). */
const urlEncoded = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (unit) => `%${unit.charCodeAt(0).toString(16).toUpperCase()}`,
  );

const urlDecoded = (text: string): Value => {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
};

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2,3}={0,2})?$/;

const hash = (algorithm: 'md5' | 'sha256') =>
  ofText((text) => createHash(algorithm).update(text).digest('hex'));

const hexDigits = (text: string): string | undefined =>
  /^\s*-?(?:0[xX])?([0-9A-Fa-f]{1,16})\s*$/.exec(text)?.[1];

const hexToDecimal = (text: string): Value => {
  const digits = hexDigits(text);
  if (digits === undefined) return undefined;
  const number = BigInt(`0x${digits}`);
  return numberOrDigits(text.trim().startsWith('-') ? -number : number);
};

const decimalToHex = (value: Value): Value => {
  const number = toNumber(value);
  if (number === undefined || Math.abs(number) > Number.MAX_SAFE_INTEGER) return undefined;
  const whole = Math.trunc(number);
  return `${whole < 0 ? '-' : ''}0x${Math.abs(whole).toString(16)}`;
};

const containsValue = (list: readonly Value[], wanted: Value): boolean => {
  const text = toText(wanted);
  return text !== undefined && list.some((one) => toText(one) === text);
};

export const textFunctions: Readonly<Record<string, FunctionSpec>> = {
  startswith: ofTwo((text, part) => (text.startsWith(part) ? 1 : 0)),
  endswith: ofTwo((text, part) => (text.endsWith(part) ? 1 : 0)),
  split: ofTwo((text, by) => (by === '' ? [text] : text.split(by))),
  urlencode: ofText((text) => bounded(urlEncoded(text))),
  urldecode: ofText(urlDecoded),
  base64encode: ofText((text) => bounded(Buffer.from(text).toString('base64'))),
  base64decode: ofText((text) =>
    base64.test(text.trim()) ? Buffer.from(text, 'base64').toString() : undefined,
  ),
  hextoascii: ofText((text) =>
    /^(?:[0-9A-Fa-f]{2})*$/.test(text) ? Buffer.from(text, 'hex').toString('latin1') : undefined,
  ),
  hextodec: ofText(hexToDecimal),
  dectohex: { min: 1, max: 1, evaluate: ([value]) => decimalToHex(value) },
  md5: hash('md5'),
  sha256: hash('sha256'),
  messagesize: ofText((text) => Buffer.byteLength(text)),
  jsonarraysize: { min: 1, max: 1, evaluate: ([value]) => listIn(value)?.length },
  jsonarraycontains: {
    min: 2,
    max: 2,
    evaluate: ([list, wanted]) => containsValue(listIn(list) ?? [], wanted),
  },
};
