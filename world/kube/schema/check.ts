// Field validation of request bodies and patched objects (`fieldValidation=Strict|Warn|Ignore`)
// with the API server's codes and messages. Checks types only; each kind's own validation checks
// required fields, ranges and names.
import type { Json, JsonObject } from '../../../src/api/json.ts';
import type { ApiStatus, SentBody } from '../../contracts.ts';
import { decode } from './decode.ts';
import { type DecodeForm, TypeMismatch } from './decode-scalar.ts';
import type { GroupVersionKind, KindSchema } from './facts.ts';
import { goFormat } from './values.ts';

/** The server treats a missing `fieldValidation` as Warn. */
type FieldValidation = 'Strict' | 'Warn' | 'Ignore';

export interface CheckOptions {
  readonly mode: FieldValidation;
  /** Set for the result of a patch, whose errors have another code and other messages. */
  readonly patch?: { readonly type: 'json' | 'merge' | 'strategic'; readonly body: Json };
  readonly sent?: SentBody;
}

export type CheckResult =
  /** `object` without unknown fields; `warnings` become Warning headers. */
  | { readonly kind: 'ok'; readonly object: JsonObject; readonly warnings: readonly string[] }
  | { readonly kind: 'error'; readonly status: ApiStatus };

/** The strict decoder stops after this many errors. */
const MAX_STRICT_ERRORS = 100;

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

const isBelow = (path: string, above: string): boolean =>
  path === above || path.startsWith(`${above}.`) || path.startsWith(`${above}[`);

/** Duplicate fields of the body; the server does not look inside unknown fields. */
const duplicatesIn = (options: CheckOptions, unknown: readonly string[]): readonly string[] => {
  const { sent, patch } = options;
  if (sent === undefined || sent.form === 'yaml') return sent?.duplicates ?? [];
  const isSteps = patch?.type === 'json';
  return sent.duplicates
    .filter((path) => !unknown.some((above) => isBelow(path, above)))
    .map((path) => `${isSteps ? 'json patch ' : ''}duplicate field ${JSON.stringify(path)}`);
};

/** Duplicates in YAML are one error of the converter to JSON, with a line each. */
const strictError = (
  duplicates: readonly string[],
  unknown: readonly string[],
  form: SentBody['form'],
): string => {
  const asOne = form === 'yaml' && duplicates.length > 0;
  const first = asOne ? [['yaml: unmarshal errors:', ...duplicates].join('\n  ')] : duplicates;
  return `strict decoding error: ${[...first, ...unknown].join(', ')}`;
};

/** Unknown and duplicate fields by mode: an error in Strict, warnings in Warn. */
export const fieldProblems = (
  options: CheckOptions,
  unknown: readonly string[],
): { readonly error: string | undefined; readonly warnings: readonly string[] } => {
  const { mode, sent } = options;
  if (mode === 'Ignore') return { error: undefined, warnings: [] };
  const duplicates = duplicatesIn(options, unknown);
  const named = unknown.map((path) => `unknown field ${JSON.stringify(path)}`);
  const warnings = [...duplicates, ...named].slice(0, MAX_STRICT_ERRORS);
  if (mode === 'Warn' || warnings.length === 0) return { error: undefined, warnings };
  const room = MAX_STRICT_ERRORS - Math.min(duplicates.length, MAX_STRICT_ERRORS);
  const kept = duplicates.slice(0, MAX_STRICT_ERRORS);
  return { error: strictError(kept, named.slice(0, room), sent?.form ?? 'json'), warnings: [] };
};

export function checkFields(object: Json, schema: KindSchema, options: CheckOptions): CheckResult {
  const { patch } = options;
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
    const { error, warnings } = fieldProblems(options, decoded.unknown);
    if (error !== undefined) return fail(error);
    return { kind: 'ok', object: decoded.object, warnings };
  } catch (error) {
    if (error instanceof TypeMismatch) return fail(error.message);
    throw error;
  }
}
