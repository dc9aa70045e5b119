// Custom resources: applies the schema of their CustomResourceDefinition to a body (unknown fields,
// pruning) and validates objects. The schema of a version is its openAPIV3Schema.
import { isObject, type Json, type JsonObject } from '../../../src/api/json.ts';
import {
  badRequestBody,
  type CheckOptions,
  type CheckResult,
  fieldProblems,
  invalidPatch,
} from './check.ts';
import { ruleErrors } from './custom-rules.ts';
import type { SchemaError } from './custom-schema.ts';
import { pruneCustom } from './custom-shape.ts';
import { schemaErrors } from './custom-validate.ts';
import { decode } from './decode.ts';
import { TypeMismatch } from './decode-scalar.ts';
import { type GroupVersionKind, namedType } from './facts.ts';
import { jsonKind, ObjectDraft, withKey } from './values.ts';

/** metadata is typed whatever the schema; drops `creationTimestamp: null`. */
function checkMetadata(object: JsonObject): { object: JsonObject; unknown: readonly string[] } {
  const metadata = object.metadata;
  const type = namedType('meta/v1.ObjectMeta');
  if (metadata === undefined || metadata === null || type.kind !== 'struct') {
    return { object, unknown: [] };
  }
  const decoded = decode(type, metadata, 'json');
  const draft = new ObjectDraft(decoded.object);
  if (draft.get('creationTimestamp') === null) draft.delete('creationTimestamp');
  return {
    object: withKey(object, 'metadata', draft.finish()),
    unknown: decoded.unknown.map((path) => `metadata.${path}`),
  };
}

/**
 * Like `checkFields` for a custom resource: drops unknown fields, which are an error in Strict
 * mode. `validateAgainstStructuralSchema` checks the types of values.
 */
export function checkCustomFields(
  body: Json,
  target: { readonly gvk: GroupVersionKind; readonly schema: JsonObject },
  options: CheckOptions,
): CheckResult {
  const { gvk, schema } = target;
  const fail = (problem: string): CheckResult => ({
    kind: 'error',
    status:
      options.patch === undefined || !isObject(body)
        ? badRequestBody(gvk, problem)
        : invalidPatch(options.patch, body, problem),
  });
  if (!isObject(body)) {
    const type = 'map[string]interface {}';
    return fail(`json: cannot unmarshal ${jsonKind(body)} into Go value of type ${type}`);
  }
  try {
    const typed = checkMetadata(body);
    const pruned = pruneCustom(schema, typed.object);
    const { error, warnings } = fieldProblems(options, [...typed.unknown, ...pruned.unknown]);
    if (error !== undefined) return fail(error);
    return { kind: 'ok', object: pruned.object, warnings };
  } catch (error) {
    if (error instanceof TypeMismatch) return fail(error.message);
    throw error;
  }
}

/** Errors after which the API server does not run a schema's rules. */
const BLOCKING: ReadonlySet<SchemaError['type']> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
] as const);

const NOT_CHECKED: SchemaError = {
  type: 'FieldValueInvalid',
  field: '<nil>',
  body:
    'Invalid value: "null": some validation rules were not checked because the object was ' +
    'invalid; correct the existing errors to complete validation',
};

const haveRules = new WeakMap<JsonObject, boolean>();

const hasRules = (schema: JsonObject): boolean => {
  const known = haveRules.get(schema);
  if (known !== undefined) return known;
  const found = JSON.stringify(schema).includes('"x-kubernetes-validations"');
  haveRules.set(schema, found);
  return found;
};

/** `old` on update: used by transition rules and ratcheting. */
export function validateAgainstStructuralSchema(
  schema: JsonObject,
  object: JsonObject,
  old?: JsonObject,
): readonly SchemaError[] {
  const errors = schemaErrors(schema, object, old);
  if (!errors.some((error) => BLOCKING.has(error.type))) {
    return [...errors, ...ruleErrors(schema, object, old)];
  }
  return hasRules(schema) ? [...errors, NOT_CHECKED] : errors;
}
