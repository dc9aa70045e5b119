// The API server's errors with its messages (apimachinery's api/errors and util/validation/field,
// Kubernetes 1.32): Status objects with reason, details and causes. Thrown inside this folder,
// converted to answers at its border.
import { defined } from '../../../src/api/defined.ts';
import type { Json, JsonObject } from '../../../src/api/json.ts';
import type { ApiStatus } from '../../contracts.ts';

export interface GroupResourceName {
  readonly group: string;
  readonly resource: string;
}

/** Thrown by any step of a request; carries the complete answer. */
export class ApiError extends Error {
  readonly status: ApiStatus;
  constructor(status: ApiStatus) {
    // An answer, not a defect: its stack is never read, and capturing it costs more than the
    // request.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(status.message);
    Error.stackTraceLimit = stackTraceLimit;
    this.status = status;
  }
}

export function failure(
  code: number,
  reason: string | undefined,
  message: string,
  details?: JsonObject,
): ApiError {
  return new ApiError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    ...defined({ reason, details }),
    code,
  });
}

export const success = (): JsonObject => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Success',
});

const qualified = (of: GroupResourceName): string =>
  of.group === '' ? of.resource : `${of.resource}.${of.group}`;

const detailsOf = (of: GroupResourceName, name: string, more: JsonObject = {}): JsonObject => ({
  ...(name === '' ? {} : { name }),
  ...(of.group === '' ? {} : { group: of.group }),
  kind: of.resource,
  ...more,
});

export const notFound = (of: GroupResourceName, name: string): ApiError =>
  failure(404, 'NotFound', `${qualified(of)} "${name}" not found`, detailsOf(of, name));

/** The path or resource type does not exist. */
export const noSuchResource = (): ApiError =>
  failure(404, 'NotFound', 'the server could not find the requested resource', {});

export const alreadyExists = (of: GroupResourceName, name: string, prefix = ''): ApiError => {
  const message = `${prefix}${qualified(of)} "${name}" already exists`;
  return failure(409, 'AlreadyExists', message, detailsOf(of, name));
};

export const conflict = (of: GroupResourceName, name: string, why: string): ApiError => {
  const message = `Operation cannot be fulfilled on ${qualified(of)} "${name}": ${why}`;
  return failure(409, 'Conflict', message, detailsOf(of, name));
};

export const otherNamespace =
  'the namespace of the provided object does not match the namespace sent on the request';

export const modifiedMessage =
  'the object has been modified; please apply your changes to the latest version and try again';

export const uidMismatch = (wanted: string, found: string): string =>
  `the UID in the precondition (${wanted}) does not match the UID in record (${found}). ` +
  'The object might have been deleted and then recreated';

export const versionMismatch = (wanted: string, found: string): string =>
  `the ResourceVersion in the precondition (${wanted}) does not match the ResourceVersion ` +
  `in record (${found}). The object might have been modified`;

export const badRequest = (message: string): ApiError => failure(400, 'BadRequest', message);

export const forbidden = (
  of: GroupResourceName,
  name: string,
  why: string,
  causes?: readonly JsonObject[],
): ApiError => {
  const subject = name === '' ? qualified(of) : `${qualified(of)} "${name}"`;
  const more = causes === undefined ? {} : { causes };
  return failure(403, 'Forbidden', `${subject} is forbidden: ${why}`, detailsOf(of, name, more));
};

export const expired = (message: string, token?: string): ApiError => {
  const error = failure(410, 'Expired', message);
  if (token === undefined) return error;
  return new ApiError({ ...error.status, metadata: { continue: token } });
};

export const methodNotAllowed = (of: GroupResourceName, action: string): ApiError =>
  failure(
    405,
    'MethodNotAllowed',
    `${action} is not supported on resources of kind "${qualified(of)}"`,
    detailsOf(of, ''),
  );

export const unsupportedMediaType = (accepted: readonly string[]): ApiError =>
  failure(
    415,
    'UnsupportedMediaType',
    'the body of the request was in an unknown format - ' +
      `accepted media types include: ${accepted.join(', ')}`,
  );

export const tooManyRequests = (
  message: string,
  retryAfterSeconds: number,
  causes: readonly JsonObject[],
): ApiError =>
  failure(429, 'TooManyRequests', message, {
    causes,
    ...(retryAfterSeconds > 0 ? { retryAfterSeconds } : {}),
  });

export const internalError = (message: string): ApiError =>
  failure(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] });

/** The answer for features that this world does not model. */
export const notImplemented = (what: string): ApiError =>
  failure(501, 'NotImplemented', `${what} is not available in this embedded world`);

// ---- field errors ----

type FieldErrorType =
  | 'FieldValueInvalid'
  | 'FieldValueTypeInvalid'
  | 'FieldValueRequired'
  | 'FieldValueForbidden'
  | 'FieldValueNotSupported'
  | 'FieldValueDuplicate'
  | 'FieldValueNotFound'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany';

export interface FieldError {
  readonly type: FieldErrorType;
  readonly field: string;
  readonly body: string;
}

const printed = (value: Json | undefined): string =>
  value === undefined ? '""' : JSON.stringify(value);

export const invalidValue = (
  field: string,
  value: Json | undefined,
  detail: string,
): FieldError => ({
  type: 'FieldValueInvalid',
  field,
  body: `Invalid value: ${printed(value)}${detail === '' ? '' : `: ${detail}`}`,
});

export const requiredValue = (field: string, detail = ''): FieldError => ({
  type: 'FieldValueRequired',
  field,
  body: `Required value${detail === '' ? '' : `: ${detail}`}`,
});

export const forbiddenValue = (field: string, detail: string): FieldError => ({
  type: 'FieldValueForbidden',
  field,
  body: `Forbidden: ${detail}`,
});

export const duplicateValue = (field: string, value: Json): FieldError => ({
  type: 'FieldValueDuplicate',
  field,
  body: `Duplicate value: ${printed(value)}`,
});

export const notFoundValue = (field: string, value: Json): FieldError => ({
  type: 'FieldValueNotFound',
  field,
  body: `Not found: ${printed(value)}`,
});

export const unsupportedValue = (
  field: string,
  value: Json | undefined,
  supported: readonly string[],
): FieldError => ({
  type: 'FieldValueNotSupported',
  field,
  body:
    `Unsupported value: ${printed(value)}: supported values: ` +
    supported.map((item) => `"${item}"`).join(', '),
});

export const immutableField = (field: string, value: Json | undefined): FieldError =>
  invalidValue(field, value ?? null, 'field is immutable');

export function invalid(
  of: { readonly group: string; readonly kind: string },
  name: string,
  errors: readonly FieldError[],
): ApiError {
  const kind = of.group === '' ? of.kind : `${of.kind}.${of.group}`;
  const lines = [...new Set(errors.map((error) => `${error.field}: ${error.body}`))];
  const all = lines.length === 1 ? (lines[0] ?? '') : `[${lines.join(', ')}]`;
  return failure(422, 'Invalid', `${kind} "${name}" is invalid: ${all}`, {
    ...(name === '' ? {} : { name }),
    ...(of.group === '' ? {} : { group: of.group }),
    kind: of.kind,
    causes: errors.map((error) => ({
      reason: error.type,
      message: error.body,
      field: error.field,
    })),
  });
}
