// Validates a custom resource against its schema with the API server's messages (kube-openapi's
// validation and apiextensions' conversion of its errors): types, ranges, patterns, enums,
// required, combinations, list types. Updates do not report unchanged values (ratcheting).
import { isObject, type Json, type JsonObject } from '../../../src/api/json.ts';
import {
  childPath,
  flag,
  memberSchema,
  numberIn,
  objectIn,
  objectsIn,
  oldElement,
  oldMember,
  type SchemaError,
  someBelow,
  textIn,
  textsIn,
} from './custom-schema.ts';
import { scalarErrors } from './custom-validate-scalars.ts';
import { deepEqual, own } from './values.ts';

interface Subject {
  readonly schema: JsonObject;
  readonly value: Json;
  readonly old: Json | undefined;
  readonly path: string;
}

/** The JSON schema type of a value. */
function typeOf(value: Json): string {
  if (value === null) return 'null';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  if (typeof value === 'object') return isObject(value) ? 'object' : 'array';
  return typeof value;
}

const allowedTypes = (schema: JsonObject): readonly string[] => {
  if (flag(schema, 'x-kubernetes-int-or-string')) return ['integer', 'string'];
  const type = textIn(schema, 'type');
  return type === '' ? [] : [type];
};

function typeErrors({ schema, value, path }: Subject): readonly SchemaError[] {
  const allowed = allowedTypes(schema);
  const actual = typeOf(value);
  const fits =
    allowed.length === 0 ||
    allowed.includes(actual) ||
    (actual === 'integer' && allowed.includes('number'));
  if (fits) return [];
  const detail = `${path} in body must be of type ${allowed.join(',')}: "${actual}"`;
  return [
    { type: 'FieldValueTypeInvalid', field: path, body: `Invalid value: "${actual}": ${detail}` },
  ];
}

const combination = (message: string): SchemaError => ({
  type: 'FieldValueInvalid',
  field: '<nil>',
  body: `Invalid value: "": ${message}`,
});

function combinationErrors(subject: Subject): readonly SchemaError[] {
  const { schema, path } = subject;
  const under = (part: JsonObject) => validate({ ...subject, schema: part });
  const errors: SchemaError[] = objectsIn(schema, 'allOf').flatMap(under);
  const anyOf = objectsIn(schema, 'anyOf').map(under);
  if (anyOf.length > 0 && !anyOf.some((found) => found.length === 0)) {
    errors.push(combination(`"${path}" must validate at least one schema (anyOf)`));
    errors.push(...(anyOf[0] ?? []));
  }
  const oneOf = objectsIn(schema, 'oneOf').map(under);
  const valid = oneOf.filter((found) => found.length === 0).length;
  if (oneOf.length > 0 && valid !== 1) {
    const found = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`;
    const only = `"${path}" must validate one and only one schema (oneOf). ${found}`;
    errors.push(combination(only), ...(valid === 0 ? (oneOf[0] ?? []) : []));
  }
  const not = objectIn(schema, 'not');
  if (not !== undefined && under(not).length === 0) {
    errors.push(combination(`"${path}" must not validate the schema (not)`));
  }
  return errors;
}

const tooMany = (field: string, actual: number, most: number): SchemaError => ({
  type: 'FieldValueTooMany',
  field,
  body: `Too many: ${actual}: must have at most ${most} item${most === 1 ? '' : 's'}`,
});

const tooFew = (field: string, options: { actual: number; least: number; what: string }) => ({
  type: 'FieldValueInvalid' as const,
  field,
  body:
    `Invalid value: ${options.actual}: ${field} in body should have at least ` +
    `${options.least} ${options.what}`,
});

function listErrors(subject: Subject, list: readonly Json[]): readonly SchemaError[] {
  const { schema, path, old } = subject;
  const errors: SchemaError[] = [];
  const items = objectIn(schema, 'items');
  list.forEach((value, index) => {
    if (items === undefined) return;
    const before = oldElement(schema, old, value);
    errors.push(...validate({ schema: items, value, old: before, path: `${path}[${index}]` }));
  });
  const least = numberIn(schema, 'minItems');
  const most = numberIn(schema, 'maxItems');
  if (least !== undefined && list.length < least) {
    errors.push(tooFew(path, { actual: list.length, least, what: 'items' }));
  }
  if (most !== undefined && list.length > most) errors.push(tooMany(path, list.length, most));
  return errors;
}

function objectErrors(subject: Subject, value: JsonObject): readonly SchemaError[] {
  const { schema, path, old } = subject;
  const errors: SchemaError[] = [];
  const size = Object.keys(value).length;
  const least = numberIn(schema, 'minProperties');
  const most = numberIn(schema, 'maxProperties');
  if (least !== undefined && size < least) {
    errors.push(tooFew(path, { actual: size, least, what: 'properties' }));
  }
  if (most !== undefined && size > most) errors.push(tooMany(path, size, most));
  for (const [key, member] of Object.entries(value)) {
    const below = memberSchema(schema, key);
    if (below === undefined || member === undefined) continue;
    const before = oldMember(old, key);
    errors.push(
      ...validate({ schema: below, value: member, old: before, path: childPath(path, key) }),
    );
  }
  for (const name of textsIn(schema, 'required')) {
    if (own(value, name) !== undefined) continue;
    const field = childPath(path, name);
    errors.push({ type: 'FieldValueRequired', field, body: 'Required value' });
  }
  return errors;
}

function validate(subject: Subject): SchemaError[] {
  const { schema, value, old } = subject;
  if (old !== undefined && deepEqual(value, old)) return [];
  if (value === null && flag(schema, 'nullable')) return [];
  const errors = [...typeErrors(subject), ...combinationErrors(subject)];
  errors.push(...scalarErrors(schema, value, subject.path));
  if (Array.isArray(value)) errors.push(...listErrors(subject, value));
  else if (isObject(value)) errors.push(...objectErrors(subject, value));
  return errors;
}

function duplicates(schema: JsonObject, list: readonly Json[], path: string): SchemaError[] {
  const type = textIn(schema, 'x-kubernetes-list-type');
  if (type !== 'map' && type !== 'set') return [];
  const keys = textsIn(schema, 'x-kubernetes-list-map-keys');
  const identity = (element: Json): Json => {
    if (type === 'set' || !isObject(element)) return element;
    return Object.fromEntries(keys.map((key) => [key, own(element, key) ?? null]));
  };
  const seen = new Set<string>();
  return list.flatMap((element, index): SchemaError[] => {
    if (type === 'map' && !isObject(element)) {
      const shown = JSON.stringify(element);
      const body = `Invalid value: ${shown}: must be an object for an array of list-type map`;
      return [{ type: 'FieldValueInvalid', field: `${path}[${index}]`, body }];
    }
    const text = JSON.stringify(identity(element));
    if (!seen.has(text)) {
      seen.add(text);
      return [];
    }
    const field = `${path}[${index}]`;
    return [{ type: 'FieldValueDuplicate', field, body: `Duplicate value: ${text}` }];
  });
}

/** Whether a list below requires unique items: most schemas have none. */
const hasUniqueLists = someBelow((schema) => {
  const type = textIn(schema, 'x-kubernetes-list-type');
  return type === 'map' || type === 'set';
});

/** Elements of sets and list maps are unique. */
function uniqueErrors(schema: JsonObject, value: Json, path: string): SchemaError[] {
  if (!hasUniqueLists(schema)) return [];
  if (Array.isArray(value)) {
    const list: readonly Json[] = value;
    const items = objectIn(schema, 'items');
    const below =
      items === undefined
        ? []
        : list.flatMap((item, index) => uniqueErrors(items, item, `${path}[${index}]`));
    return [...duplicates(schema, list, path), ...below];
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => {
    const below = memberSchema(schema, key);
    if (below === undefined || member === undefined) return [];
    return uniqueErrors(below, member, childPath(path, key));
  });
}

/** All validation except the schema's rules (x-kubernetes-validations). */
export function schemaErrors(
  schema: JsonObject,
  object: JsonObject,
  old: JsonObject | undefined,
): readonly SchemaError[] {
  const errors = validate({ schema, value: object, old, path: '' });
  // Lists that held duplicates before may keep them.
  const twice = uniqueErrors(schema, object, '');
  if (twice.length === 0) return errors;
  if (old === undefined || uniqueErrors(schema, old, '').length === 0) errors.push(...twice);
  return errors;
}
