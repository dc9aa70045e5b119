// The query parameters of writes (CreateOptions, UpdateOptions, PatchOptions) and their validation
// with the API server's messages. Reads nothing else of a request.
import type { ApiRequest } from '../../contracts.ts';
import { patchTypeOf } from '../patch/index.ts';
import { dryRunOf } from './deletion.ts';
import { managerOf } from './managers.ts';
import type { FieldValidation } from './schemas.ts';
import {
  type FieldError,
  forbiddenValue,
  invalid,
  invalidValue,
  requiredValue,
  unsupportedValue,
} from './status.ts';
import type { WriteOptions } from './write.ts';

const fieldValidations: readonly string[] = ['', 'Ignore', 'Strict', 'Warn'];
const maximumManagerLength = 128;
const kinds: Readonly<Record<string, string>> = {
  POST: 'CreateOptions',
  PUT: 'UpdateOptions',
  PATCH: 'PatchOptions',
};

function troubles({ method, query, contentType }: ApiRequest): readonly FieldError[] {
  const errors: FieldError[] = [];
  const manager = query.get('fieldManager') ?? '';
  const isPatch = method === 'PATCH';
  const isApply = isPatch && patchTypeOf(contentType) === 'apply';
  if (isApply && manager === '') {
    errors.push(requiredValue('fieldManager', 'is required for apply patch'));
  }
  if (isPatch && !isApply && query.has('force')) {
    errors.push(forbiddenValue('force', 'may not be specified for non-apply patch'));
  }
  if (manager.length > maximumManagerLength) {
    const message = `may not be more than ${maximumManagerLength} bytes`;
    errors.push({ type: 'FieldValueTooLong', field: 'fieldManager', body: `Too long: ${message}` });
  }
  if (/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(manager)) {
    errors.push(invalidValue('fieldManager', manager, 'should only contain printable characters'));
  }
  const validation = query.get('fieldValidation') ?? '';
  if (!fieldValidations.includes(validation)) {
    errors.push(unsupportedValue('fieldValidation', validation, fieldValidations));
  }
  return errors;
}

/** Throws the API server's error for invalid parameters. */
export function writeOptionsOf(
  request: ApiRequest,
  more: { readonly trusted: boolean; readonly warnings: string[] },
): WriteOptions {
  const errors = more.trusted ? [] : troubles(request);
  if (errors.length > 0) {
    const kind = kinds[request.method] ?? 'PatchOptions';
    throw invalid({ group: 'meta.k8s.io', kind }, '', errors);
  }
  const { query, user } = request;
  return {
    user,
    dryRun: dryRunOf(query.getAll('dryRun')),
    fieldValidation: (query.get('fieldValidation') || 'Warn') as FieldValidation,
    trusted: more.trusted,
    sent: request.sent,
    manager: managerOf(request),
    warnings: more.warnings,
  };
}
