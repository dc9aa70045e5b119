// Functions that choose, convert and measure, added to the language in 2026
// (CWL_QuerySyntax-operations-functions).
import { addressKind, addressOf } from './addresses.ts';
import type { FunctionSpec } from './function-spec.ts';
import { isTrue, numberOrDigits, toNumber, type Value } from './values.ts';

const ofOne = (evaluate: (value: Value) => Value): FunctionSpec => ({
  min: 1,
  max: 1,
  evaluate: ([value]) => evaluate(value),
});

/** Numbers and numeric text: times and booleans are not converted. */
const numberIn = (value: Value): number | undefined =>
  typeof value === 'number' || typeof value === 'string' ? toNumber(value) : undefined;

const maxLongDigits = 19;
/** Longer text is not treated as an integer. */
const maxWholeLength = 400;

/** The integer part of numeric text, without loss of digits; undefined for other text. */
const wholeText = (text: string): bigint | undefined => {
  if (text.length > maxWholeLength) return undefined;
  const [, sign = '', digits = ''] = /^\s*([+-]?)0*([0-9]+)(?:\.[0-9]*)?\s*$/.exec(text) ?? [];
  return digits === '' || digits.length > maxLongDigits ? undefined : BigInt(`${sign}${digits}`);
};

/** Drops the fraction; undefined beyond the range of `bits`. */
const whole = (bits: number) =>
  ofOne((value) => {
    const exact = typeof value === 'string' ? wholeText(value) : undefined;
    if (exact !== undefined) {
      return BigInt.asIntN(bits, exact) === exact ? numberOrDigits(exact) : undefined;
    }
    const number = numberIn(value);
    if (number === undefined) return undefined;
    const cut = Math.trunc(number);
    const limit = 2 ** (bits - 1);
    return cut >= -limit && cut < limit ? cut : undefined;
  });

const maxDigits = 15;

/** Shifts the decimal text: in binary, 1.005 times 100 is less than 100.5. */
const timesTenTo = (number: number, places: number): number => {
  const [digits, exponent = '0'] = String(number).split('e');
  return Number(`${digits}e${Number(exponent) + places}`);
};

/** Rounds half away from zero. */
const rounded = (value: Value, digits: Value): Value => {
  const number = numberIn(value);
  if (number === undefined) return undefined;
  const places = Math.trunc(toNumber(digits) ?? 0);
  if (Math.abs(places) > maxDigits) return undefined;
  const moved = timesTenTo(Math.abs(number), places);
  // A number this large has no digits to round there.
  if (moved > Number.MAX_SAFE_INTEGER) return number;
  return Math.sign(number) * timesTenTo(Math.round(moved), -places);
};

const earthRadiusKm = 6371;

const haversine = (args: readonly Value[]): Value => {
  const [lat1, lon1, lat2, lon2] = args.map((one) => {
    const degrees = numberIn(one);
    return degrees === undefined ? undefined : (degrees * Math.PI) / 180;
  });
  if (lat1 === undefined || lon1 === undefined) return undefined;
  if (lat2 === undefined || lon2 === undefined) return undefined;
  const half = (angle: number): number => Math.sin(angle / 2) ** 2;
  const a = half(lat2 - lat1) + Math.cos(lat1) * Math.cos(lat2) * half(lon2 - lon1);
  return 2 * earthRadiusKm * Math.asin(Math.min(1, Math.sqrt(a)));
};

/** Alternating conditions and values; a trailing value is the default. */
const chosen = (args: readonly Value[]): Value => {
  for (let at = 0; at + 1 < args.length; at += 2) {
    if (isTrue(args[at])) return args[at + 1];
  }
  return args.length % 2 === 1 ? args.at(-1) : undefined;
};

const maxBranches = 10;

export const numberFunctions: Readonly<Record<string, FunctionSpec>> = {
  round: { min: 1, max: 2, evaluate: ([value, digits]) => rounded(value, digits) },
  haversine: { min: 4, max: 4, evaluate: haversine },
  tonumber: ofOne(numberIn),
  todouble: ofOne(numberIn),
  toint: whole(32),
  tolong: whole(64),
  isnumeric: ofOne((value) => numberIn(value) !== undefined),
  if: { min: 3, max: 3, evaluate: chosen },
  case: { min: 2, max: maxBranches * 2 + 1, evaluate: chosen },
  ipv4tonumber: ofOne((value) => {
    const address = addressOf(value);
    return address?.version === 4 ? Number(address.bits) : undefined;
  }),
  isprivateip: ofOne((value) => addressKind(value) === 'private'),
  isreservedip: ofOne((value) => addressKind(value) === 'reserved'),
  ispublicip: ofOne((value) => addressKind(value) === 'public'),
};
