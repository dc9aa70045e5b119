import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../api/json.ts';
import type { KubeErrorCode } from './kube.ts';
import { kubeErrorFrom } from './kube-status.ts';

const because = (reason: string, message = 'm'): JsonObject => ({
  details: { causes: [{ reason, message }] },
});
const refused = "Cannot evict pod as it would violate the pod's disruption budget.";

// Bodies as a Kubernetes 1.36 API server sends them.
const answers: readonly [KubeErrorCode, number, JsonObject][] = [
  ['AlreadyExists', 409, { reason: 'AlreadyExists', message: 'configmaps "x" already exists' }],
  [
    'Conflict',
    409,
    {
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on nodes "precondition": the object has been modified',
    },
  ],
  [
    'PreconditionFailed',
    409,
    {
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on ConfigMap "x": the UID in the precondition (z) does ' +
        'not match the UID in record (2b7c). The object might have been deleted and then recreated',
    },
  ],
  [
    'PreconditionFailed',
    409,
    {
      reason: 'Conflict',
      message: 'x: the ResourceVersion in the precondition (1) does not match the ResourceVersion',
    },
  ],
  [
    'PreconditionFailed',
    409,
    {
      reason: 'Conflict',
      message: 'Precondition failed: UID in precondition: a, UID in object: b',
    },
  ],
  ['Invalid', 422, { reason: 'Invalid', message: 'metadata.uid: field is immutable' }],
  ['BadRequest', 400, { reason: 'BadRequest', message: 'error decoding patch' }],
  ['BadRequest', 405, { reason: 'MethodNotAllowed' }],
  ['BadRequest', 415, { reason: 'UnsupportedMediaType' }],
  ['NotFound', 404, { reason: 'NotFound', message: 'namespaces "nope" not found' }],
  ['Unauthorized', 401, { reason: 'Unauthorized' }],
  ['Forbidden', 403, { reason: 'Forbidden', message: 'nodes is forbidden' }],
  ['NamespaceTerminating', 403, { reason: 'Forbidden', ...because('NamespaceTerminating') }],
  ['Expired', 410, { reason: 'Expired', message: 'too old resource version: 1 (216)' }],
  [
    'DisruptionBudget',
    429,
    { ...because('DisruptionBudget', 'The disruption budget b needs 2 ...'), message: refused },
  ],
  [
    'TooManyRequests',
    429,
    {
      ...because('DisruptionBudget', 'The disruption budget b is still being processed by ...'),
      message: refused,
    },
  ],
  ['TooManyRequests', 429, { reason: 'TooManyRequests' }],
  [
    'MultipleBudgets',
    500,
    { message: 'This pod has more than one PodDisruptionBudget, which the eviction ...' },
  ],
  ['ServerError', 500, { reason: 'InternalError' }],
  ['Timeout', 500, { reason: 'ServerTimeout' }],
  ['ServerError', 503, { reason: 'ServiceUnavailable' }],
  ['Timeout', 504, { reason: 'Timeout', message: 'Timeout: Too large resource version' }],
];

describe('kubeErrorFrom', () => {
  it.each(answers)('reads %s from a %i', (code, httpStatus, status) => {
    expect(kubeErrorFrom('evict p1', httpStatus, status).code).toBe(code);
  });

  it('says what was asked, in the words of the server, and keeps the details', () => {
    const error = kubeErrorFrom('evict demo/p1', 429, {
      message: refused,
      ...because('DisruptionBudget', 'The disruption budget b needs 2 healthy pods'),
    });
    expect(error.message).toBe(
      `evict demo/p1: ${refused}: The disruption budget b needs 2 healthy pods`,
    );
    expect(error.details).toEqual(
      because('DisruptionBudget', 'The disruption budget b needs 2 healthy pods').details,
    );
    expect(kubeErrorFrom('get n1', 502, {}).message).toBe('get n1: HTTP 502');
  });

  it.each([
    ['10', { details: { retryAfterSeconds: 3 } }, 10],
    [undefined, { details: { retryAfterSeconds: 3 } }, 3],
    [undefined, {}, undefined],
    ['Wed, 21 Oct 2026 07:28:00 GMT', {}, undefined],
  ])('waits as long as the header says, else the details: %s %j', (header, status, seconds) => {
    expect(kubeErrorFrom('x', 429, status, header).retryAfterSeconds).toBe(seconds);
  });
});
