// Field validation of request bodies and patched objects (`fieldValidation=Strict|Warn|Ignore`)
// with the API server's codes and words. Knows types, not values: required, ranges and names are
// the validation of each kind, elsewhere.
import type { Json, JsonObject } from '../../../api/json.ts';
import type { ApiStatus } from '../../contracts.ts';
import { decode } from './decode.ts';
import { type DecodeForm, TypeMismatch } from './decode-scalar.ts';
import type { GroupVersionKind, KindSchema } from './facts.ts';
import { goFormat } from './values.ts';

/** The server takes a missing `fieldValidation` for Warn. */
type FieldValidation = 'Strict' | 'Warn' | 'Ignore';

export interface CheckOptions {
  readonly mode: FieldValidation;
  /** Set when the object is the result of a patch: other code, other words. */
  readonly patch?: { readonly type: 'json' | 'merge' | 'strategic'; readonly body: Json };
}

export type CheckResult =
  /** `object` has unknown fields dropped; `warnings` go into Warning headers. */
  | { readonly kind: 'ok'; readonly object: JsonObject; readonly warnings: readonly string[] }
  | { readonly kind: 'error'; readonly status: ApiStatus };

/** The strict decoder stops after this many. */
export const MAX_STRICT_ERRORS = 100;

export function badRequestBody(gvk: GroupVersionKind, problem: string): ApiStatus {
  const { kind, version } = gvk;
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: `${kind} in version "${version}" cannot be handled as a ${kind}: ${problem}`,
    reason: 'BadRequest',
    code: 400,
  };
}

/** apiserver names neither kind nor object here; kubectl prints "The request is invalid". */
export function invalidPatch(
  patch: NonNullable<CheckOptions['patch']>,
  object: JsonObject,
  problem: string,
): ApiStatus {
  const shown = patch.type === 'strategic' ? goFormat(patch.body) : JSON.stringify(object);
  const message = `Invalid value: ${JSON.stringify(shown)}: ${problem}`;
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: ` "" is invalid: patch: ${message}`,
    reason: 'Invalid',
    details: { causes: [{ reason: 'FieldValueInvalid', message, field: 'patch' }] },
    code: 422,
  };
}

export const strictError = (problems: readonly string[]): string =>
  `strict decoding error: ${problems.join(', ')}`;

export function checkFields(object: Json, schema: KindSchema, options: CheckOptions): CheckResult {
  const { mode, patch } = options;
  const form: DecodeForm = patch?.type === 'strategic' ? 'map' : 'json';
  const fail = (problem: string): CheckResult => ({
    kind: 'error',
    status:
      patch === undefined
        ? badRequestBody(schema, problem)
        : invalidPatch(patch, object as JsonObject, problem),
  });
  try {
    const decoded = decode(schema.type, object, form);
    const problems = decoded.unknown
      .slice(0, MAX_STRICT_ERRORS)
      .map((path) => `unknown field ${JSON.stringify(path)}`);
    if (mode === 'Strict' && problems.length > 0) return fail(strictError(problems));
    return { kind: 'ok', object: decoded.object, warnings: mode === 'Warn' ? problems : [] };
  } catch (error) {
    if (error instanceof TypeMismatch) return fail(error.message);
    throw error;
  }
}
