// The failures of a patch, with the API server's codes, reasons and messages (apiserver's
// endpoints/handlers/patch.go and apimachinery's api/errors, Kubernetes 1.32).
import { defined } from '../../../src/api/defined.ts';
import type { JsonObject } from '../../../src/api/json.ts';
import type { ApiStatus } from '../../contracts.ts';

export type PatchResult =
  | { readonly kind: 'ok'; readonly object: JsonObject }
  | { readonly kind: 'error'; readonly status: ApiStatus };

interface Failure {
  readonly code: number;
  readonly reason?: string;
  readonly message: string;
  readonly details?: JsonObject;
}

/** Thrown inside this folder only; the public functions convert it to a PatchResult. */
export class PatchError extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

export const badRequest = (message: string): PatchError =>
  new PatchError({ code: 400, reason: 'BadRequest', message });

/** A well-formed patch that cannot be applied; the server does not report why. */
export const cannotApply = (): PatchError =>
  new PatchError({
    code: 422,
    reason: 'Invalid',
    message: 'the server rejected our request due to an error in our request',
    details: {},
  });

export const tooManyOperations = (limit: number, got: number): PatchError =>
  new PatchError({
    code: 413,
    reason: 'RequestEntityTooLarge',
    message:
      'Request entity too large: ' +
      `The allowed maximum operations in a JSON patch is ${limit}, got ${got}`,
    details: {},
  });

/** An error that the API server does not classify: code 500 without a reason. */
export const unclassified = (message: string): PatchError => new PatchError({ code: 500, message });

const ACCEPTED =
  'application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml';

export const unsupportedMediaType = (accepted: string = ACCEPTED): PatchError =>
  new PatchError({
    code: 415,
    reason: 'UnsupportedMediaType',
    message:
      'the body of the request was in an unknown format - ' +
      `accepted media types include: ${accepted}`,
  });

function statusOf(error: PatchError): ApiStatus {
  const { code, reason, message, details } = error.failure;
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    ...defined({ reason, details }),
    code,
  };
}

/** Runs `apply` and returns a PatchError as a value; rethrows anything else as a defect. */
export function settle(apply: () => JsonObject): PatchResult {
  try {
    return { kind: 'ok', object: apply() };
  } catch (error) {
    if (error instanceof PatchError) return { kind: 'error', status: statusOf(error) };
    throw error;
  }
}
