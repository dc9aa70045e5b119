// Functions of one event's values (CWL_QuerySyntax-operations-functions), as a table. Functions of
// a period, the clock or several events are compiled elsewhere.
import type { Json } from '../../api/json.ts';
import { addressOf, isInSubnet } from './addresses.ts';
import { type FunctionSpec, maxTextLength } from './function-spec.ts';
import { numberFunctions } from './functions-number.ts';
import { textFunctions } from './functions-text.ts';
import { fromJson, Instant, isTrue, toNumber, toText, type Value } from './values.ts';

const ofNumber = (compute: (value: number) => number): FunctionSpec => ({
  min: 1,
  max: 1,
  evaluate: ([value]) => {
    const number = toNumber(value);
    return number === undefined ? undefined : finite(compute(number));
  },
});

export const finite = (value: number): number | undefined =>
  Number.isFinite(value) ? value : undefined;

const ofNumbers = (pick: (values: readonly number[]) => number): FunctionSpec => ({
  min: 1,
  max: 50,
  evaluate: (args) => {
    const numbers = args.map(toNumber).filter((one) => one !== undefined);
    return numbers.length === 0 ? undefined : pick(numbers);
  },
});

/** Undefined when the first argument is. */
const ofText = (
  min: number,
  max: number,
  compute: (text: string, rest: readonly Value[]) => Value,
): FunctionSpec => ({
  min,
  max,
  evaluate: ([first, ...rest]) => {
    const text = toText(first);
    return text === undefined ? undefined : compute(text, rest);
  },
});

const ofAddress = (test: (value: Value) => boolean): FunctionSpec => ({
  min: 1,
  max: 1,
  evaluate: ([value]) => test(value),
});

const inSubnet = (version: 4 | 6 | undefined): FunctionSpec => ({
  min: 2,
  max: 2,
  evaluate: ([value, subnet]) =>
    (version === undefined || addressOf(value)?.version === version) && isInSubnet(value, subnet),
});

const trimmed = (
  text: string,
  chars: Value,
  sides: { readonly left: boolean; readonly right: boolean },
) => {
  const set = chars === undefined ? undefined : new Set(toText(chars) ?? '');
  const drops = (unit: string | undefined): boolean =>
    unit !== undefined && (set === undefined ? /\s/.test(unit) : set.has(unit));
  let start = 0;
  let end = text.length;
  if (sides.left) while (start < end && drops(text[start])) start++;
  if (sides.right) while (end > start && drops(text[end - 1])) end--;
  return text.slice(start, end);
};

const substring = (text: string, from: Value, length: Value): Value => {
  const start = toNumber(from);
  if (start === undefined) return undefined;
  const first = Math.max(0, Math.trunc(start));
  const count = length === undefined ? text.length : Math.max(0, Math.trunc(toNumber(length) ?? 0));
  return text.slice(first, first + count);
};

const replaced = (text: string, search: string, by: string): Value => {
  if (search === '') return text;
  const parts = text.split(search);
  const length = text.length + (parts.length - 1) * (by.length - search.length);
  return length > maxTextLength ? undefined : parts.join(by);
};

const parsedJson = (text: string): Value => {
  try {
    return fromJson(JSON.parse(text) as Json);
  } catch {
    return undefined;
  }
};

const contains = (text: string, part: string, anyCase: boolean): boolean =>
  anyCase ? text.toLowerCase().includes(part.toLowerCase()) : text.includes(part);

const table: Readonly<Record<string, FunctionSpec>> = {
  abs: ofNumber(Math.abs),
  ceil: ofNumber(Math.ceil),
  floor: ofNumber(Math.floor),
  log: ofNumber(Math.log),
  sqrt: ofNumber(Math.sqrt),
  greatest: ofNumbers((values) => Math.max(...values)),
  least: ofNumbers((values) => Math.min(...values)),
  ispresent: { min: 1, max: 1, evaluate: ([value]) => value !== undefined },
  coalesce: { min: 1, max: 50, evaluate: (args) => args.find((one) => one !== undefined) },
  isempty: { min: 1, max: 1, evaluate: ([value]) => (toText(value) ?? '') === '' },
  isblank: { min: 1, max: 1, evaluate: ([value]) => (toText(value) ?? '').trim() === '' },
  concat: {
    min: 1,
    max: 50,
    evaluate: (args) =>
      args
        .map((one) => toText(one) ?? '')
        .join('')
        .slice(0, maxTextLength),
  },
  trim: ofText(1, 2, (text, [chars]) => trimmed(text, chars, { left: true, right: true })),
  ltrim: ofText(1, 2, (text, [chars]) => trimmed(text, chars, { left: true, right: false })),
  rtrim: ofText(1, 2, (text, [chars]) => trimmed(text, chars, { left: false, right: true })),
  // Counts Unicode characters.
  strlen: ofText(1, 1, (text) => [...text].length),
  toupper: ofText(1, 1, (text) => text.toUpperCase()),
  tolower: ofText(1, 1, (text) => text.toLowerCase()),
  substr: ofText(2, 3, (text, [from, length]) => substring(text, from, length)),
  replace: ofText(3, 3, (text, [search, by]) =>
    replaced(text, toText(search) ?? '', toText(by) ?? ''),
  ),
  strcontains: ofText(2, 3, (text, [part, anyCase]) =>
    contains(text, toText(part) ?? '', isTrue(anyCase)) ? 1 : 0,
  ),
  frommillis: {
    min: 1,
    max: 1,
    evaluate: ([value]) => {
      const ms = toNumber(value);
      return ms === undefined ? undefined : new Instant(ms);
    },
  },
  tomillis: { min: 1, max: 1, evaluate: ([value]) => toNumber(value) },
  jsonparse: ofText(1, 1, parsedJson),
  jsonstringify: {
    min: 1,
    max: 1,
    evaluate: ([value]) => toText(value),
  },
  isvalidip: ofAddress((value) => addressOf(value) !== undefined),
  isvalidipv4: ofAddress((value) => addressOf(value)?.version === 4),
  isvalidipv6: ofAddress((value) => addressOf(value)?.version === 6),
  isipinsubnet: inSubnet(undefined),
  isipv4insubnet: inSubnet(4),
  isipv6insubnet: inSubnet(6),
  ...textFunctions,
  ...numberFunctions,
};

/** By name, ignoring case. */
export const findFunction = (name: string): FunctionSpec | undefined => {
  const lower = name.toLowerCase();
  return Object.hasOwn(table, lower) ? table[lower] : undefined;
};

/** As spelled in the documentation. */
export const functionNames: readonly string[] = [
  ...['abs', 'ceil', 'floor', 'log', 'sqrt', 'greatest', 'least', 'ispresent', 'coalesce'],
  ...['isempty', 'isblank', 'concat', 'trim', 'ltrim', 'rtrim', 'strlen', 'toupper', 'tolower'],
  ...['substr', 'replace', 'strcontains', 'fromMillis', 'toMillis', 'jsonParse', 'jsonStringify'],
  ...['isValidIp', 'isValidIpV4', 'isValidIpV6', 'isIpInSubnet', 'isIpv4InSubnet'],
  ...['isIpv6InSubnet', 'bin', 'datefloor', 'dateceil', 'now', 'round', 'haversine', 'toNumber'],
  ...['toInt', 'toLong', 'toDouble', 'isNumeric', 'if', 'case', 'messageSize', 'startsWith'],
  ...['endsWith', 'regexReplace', 'split', 'urlencode', 'urldecode', 'base64encode'],
  ...['base64decode', 'hexToAscii', 'hexToDec', 'decToHex', 'md5', 'sha256', 'jsonArraySize'],
  ...['jsonArrayContains', 'ipv4ToNumber', 'isPrivateIP', 'isPublicIP', 'isReservedIP'],
  ...['queryStartTime', 'queryEndTime', 'queryTimeRange'],
];
