// Resource quantities: parsing, their value as a number, and the canonical text that the API server
// stores (apimachinery's api/resource). `0.5` becomes `500m`, `1024Mi` becomes `1Gi`. Parsing and
// printing are exact: integers only, no floats.

const PATTERN = /^([+-]?)(\d*)(?:\.(\d*))?([eEinumkKMGTP]*[-+]?\d*)$/;
const DECIMAL: readonly (readonly [string, number])[] = [
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
];
const BINARY: readonly string[] = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
/** Quantities have a precision of one billionth. */
const NANO = 9n;
const ONE = 10n ** NANO;

type Format = 'decimal' | 'binary' | 'exponent';
interface Suffix {
  readonly format: Format;
  readonly ten: number;
  readonly two: number;
}

function parseSuffix(text: string): Suffix | undefined {
  const decimal = DECIMAL.find(([suffix]) => suffix === text);
  if (decimal !== undefined) return { format: 'decimal', ten: decimal[1], two: 0 };
  const binary = BINARY.indexOf(text);
  if (binary >= 0) return { format: 'binary', ten: 0, two: (binary + 1) * 10 };
  const exponent = /^[eE]([-+]?\d{1,9})$/.exec(text)?.[1];
  if (exponent === undefined) return undefined;
  // Bounded, so that a long exponent cannot produce a huge number.
  const ten = Math.max(-60, Math.min(60, Number(exponent)));
  return { format: 'exponent', ten, two: 0 };
}

/** Divides, rounding away from zero. */
function divideUp(value: bigint, by: bigint): bigint {
  return value >= 0n ? (value + by - 1n) / by : -((-value + by - 1n) / by);
}

export interface Quantity {
  /** The value in billionths. */
  readonly nanos: bigint;
  readonly format: Format;
}

/** The API server's message about a text that is not a quantity. */
export const quantityError = (text: string): string =>
  PATTERN.test(text.trim()) && /^[+-]?\.?\d/.test(text.trim())
    ? "unable to parse quantity's suffix"
    : "quantities must match the regular expression '^([+-]?[0-9.]+)" +
      "([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/** Undefined when the text is not a quantity: `quantityError` returns the API server's message. */
export function parseQuantity(text: string): Quantity | undefined {
  const match = PATTERN.exec(text.trim());
  if (match === null) return undefined;
  const [, sign = '', whole = '', fraction = '', suffixText = ''] = match;
  const suffix = parseSuffix(suffixText);
  if (suffix === undefined || whole.length + fraction.length === 0) return undefined;
  let value = BigInt(`${whole}${fraction}`) * 2n ** BigInt(suffix.two);
  if (sign === '-') value = -value;
  const scale = suffix.ten - fraction.length + Number(NANO);
  value = scale >= 0 ? value * 10n ** BigInt(scale) : divideUp(value, 10n ** BigInt(-scale));
  return { nanos: value, format: suffix.format };
}

function printDecimal(nanos: bigint, exponentForm: boolean): string {
  if (nanos === 0n) return '0';
  let mantissa = nanos;
  let exponent = -Number(NANO);
  while (mantissa % 1000n === 0n && (exponentForm || exponent < 18)) {
    mantissa /= 1000n;
    exponent += 3;
  }
  if (exponentForm) return exponent === 0 ? `${mantissa}` : `${mantissa}e${exponent}`;
  const suffix = DECIMAL.find(([, ten]) => ten === exponent)?.[0] ?? '';
  return `${mantissa}${suffix}`;
}

export function printQuantity({ nanos, format }: Quantity): string {
  const small = nanos < 1024n * ONE && nanos > -1024n * ONE;
  const binary = format === 'binary' && !small && nanos % ONE === 0n;
  if (!binary) return printDecimal(nanos, format === 'exponent');
  let mantissa = nanos / ONE;
  let power = 0;
  while (mantissa % 1024n === 0n && power < BINARY.length) {
    mantissa /= 1024n;
    power += 1;
  }
  return `${mantissa}${power === 0 ? '' : (BINARY[power - 1] ?? '')}`;
}

/** The canonical text, or undefined when `text` is not a quantity. */
export function canonicalQuantity(text: string): string | undefined {
  const quantity = parseQuantity(text);
  return quantity === undefined ? undefined : printQuantity(quantity);
}

/** The common form: digits that a number holds exactly, and one of these suffixes. */
const USUAL = /^(\d{1,9})(m|Ki|Mi|Gi)?$/;
const USUAL_FACTORS: Readonly<Record<string, number>> = {
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
};

/**
 * '250m' -> 0.25, '70Mi' -> 73400320. Returns 0 for an absent or invalid quantity. Common texts are
 * parsed without big integers, because a plan reads some hundred thousand.
 */
export const quantityValue = (value: string | number | undefined): number => {
  if (value === undefined) return 0;
  if (typeof value === 'number') return value;
  const [, digits, suffix = ''] = USUAL.exec(value) ?? [];
  if (digits !== undefined) {
    return suffix === 'm' ? Number(digits) / 1000 : Number(digits) * (USUAL_FACTORS[suffix] ?? 1);
  }
  const nanos = parseQuantity(value)?.nanos ?? 0n;
  return Number(nanos / ONE) + Number(nanos % ONE) / 1e9;
};
