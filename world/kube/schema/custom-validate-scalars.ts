// Custom resource validation of single numbers and strings: ranges, lengths, patterns, formats,
// enums. Does not check formats that are not listed here.
import type { Json, JsonObject } from '../../../src/api/json.ts';
import { flag, numberIn, type SchemaError, textIn } from './custom-schema.ts';
import { normalizeTime } from './time-text.ts';
import { deepEqual, own } from './values.ts';

const invalid = (field: string, value: Json, detail: string): SchemaError => ({
  type: 'FieldValueInvalid',
  field,
  body: `Invalid value: ${JSON.stringify(value)}: ${field} in body ${detail}`,
});

function numberErrors(schema: JsonObject, value: number, path: string): readonly SchemaError[] {
  const errors: SchemaError[] = [];
  const most = numberIn(schema, 'maximum');
  const least = numberIn(schema, 'minimum');
  const factor = numberIn(schema, 'multipleOf');
  if (factor !== undefined && value % factor !== 0) {
    errors.push(invalid(path, value, `should be a multiple of ${factor}`));
  }
  if (most !== undefined) {
    const exclusive = flag(schema, 'exclusiveMaximum');
    const words = exclusive ? 'less than' : 'less than or equal to';
    const fits = exclusive ? value < most : value <= most;
    if (!fits) errors.push(invalid(path, value, `should be ${words} ${most}`));
  }
  if (least !== undefined) {
    const exclusive = flag(schema, 'exclusiveMinimum');
    const words = exclusive ? 'greater than' : 'greater than or equal to';
    const fits = exclusive ? value > least : value >= least;
    if (!fits) errors.push(invalid(path, value, `should be ${words} ${least}`));
  }
  return errors;
}

/** A number that does not fit an integer's format is reported without a field. */
function integerErrors(schema: JsonObject, value: number, path: string): readonly SchemaError[] {
  if (textIn(schema, 'type') !== 'integer') return [];
  const format = textIn(schema, 'format');
  const limit = format === 'int32' ? 2 ** 31 : 2 ** 63;
  if (Number.isInteger(value) && value >= -limit && value < limit) return [];
  const shown =
    format === 'int32' || format === 'int64' ? `with format ${format}` : '(default format)';
  const message = `Checked value must be of type integer ${shown} in ${path}`;
  return [{ type: 'FieldValueInvalid', field: '<nil>', body: `Invalid value: "": ${message}` }];
}

/**
 * Go's RE2 as far as JavaScript supports it; a pattern that only RE2 accepts matches everything.
 */
function compile(pattern: string): RegExp | undefined {
  const flags = /^\(\?([is]+)\)/.exec(pattern);
  try {
    return new RegExp(pattern.slice(flags?.[0].length ?? 0), `u${flags?.[1] ?? ''}`);
  } catch {
    try {
      return new RegExp(pattern);
    } catch {
      return undefined;
    }
  }
}

const patterns = new Map<string, RegExp | undefined>();

function matches(pattern: string, value: string): boolean {
  if (!patterns.has(pattern)) patterns.set(pattern, compile(pattern));
  return patterns.get(pattern)?.test(value) ?? true;
}

/** strfmt also accepts words, such as `3 days`. */
const GO_DURATION = /^[+-]?((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+$|^[+-]?0$/;

const FORMATS: Readonly<Record<string, (value: string) => boolean>> = {
  'date-time': (value) => normalizeTime(value, false).kind === 'ok',
  datetime: (value) => normalizeTime(value, false).kind === 'ok',
  date: (value) => normalizeTime(`${value}T00:00:00Z`, false).kind === 'ok',
  duration: (value) =>
    GO_DURATION.test(value) || /^\d+ (day|week|hour|minute|second)s?$/.test(value),
  byte: (value) => /^[A-Za-z0-9+/]*={0,2}$/.test(value) && value.length % 4 === 0,
  uuid: (value) =>
    /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(value),
  ipv4: (value) => /^(\d{1,3}\.){3}\d{1,3}$/.test(value) && value.split('.').every((p) => +p < 256),
};

/** The first violation of length or pattern: the server reports only one. */
function lengthError(schema: JsonObject, value: string, path: string): SchemaError | undefined {
  const length = [...value].length;
  const most = numberIn(schema, 'maxLength');
  const least = numberIn(schema, 'minLength');
  const pattern = textIn(schema, 'pattern');
  if (most !== undefined && length > most) {
    const body = `Too long: may not be more than ${most} byte${most === 1 ? '' : 's'}`;
    return { type: 'FieldValueTooLong', field: path, body };
  }
  if (least !== undefined && length < least) {
    return invalid(path, value, `should be at least ${least} chars long`);
  }
  if (pattern === '' || matches(pattern, value)) return undefined;
  return invalid(path, value, `should match '${pattern}'`);
}

function stringErrors(schema: JsonObject, value: string, path: string): readonly SchemaError[] {
  const format = textIn(schema, 'format');
  const lengths = lengthError(schema, value, path);
  const errors = lengths === undefined ? [] : [lengths];
  if (!Object.hasOwn(FORMATS, format) || FORMATS[format]?.(value) !== false) return errors;
  const shown = JSON.stringify(value);
  const body = `Invalid value: ${shown}: ${path} in body must be of type ${format}: ${shown}`;
  return [...errors, { type: 'FieldValueTypeInvalid', field: path, body }];
}

function enumErrors(schema: JsonObject, value: Json, path: string): readonly SchemaError[] {
  const allowed = own(schema, 'enum');
  if (!Array.isArray(allowed) || allowed.some((item) => deepEqual(item, value))) return [];
  const shown = allowed.map((item) =>
    JSON.stringify(typeof item === 'string' ? item : JSON.stringify(item)),
  );
  return [
    {
      type: 'FieldValueNotSupported',
      field: path,
      body: `Unsupported value: ${JSON.stringify(value)}: supported values: ${shown.join(', ')}`,
    },
  ];
}

export function scalarErrors(
  schema: JsonObject,
  value: Json,
  path: string,
): readonly SchemaError[] {
  const errors: SchemaError[] = [];
  if (typeof value === 'string') errors.push(...stringErrors(schema, value, path));
  if (typeof value === 'number') {
    errors.push(...integerErrors(schema, value, path), ...numberErrors(schema, value, path));
  }
  errors.push(...enumErrors(schema, value, path));
  return errors;
}
