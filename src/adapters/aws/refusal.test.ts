import { describe, expect, it } from 'vitest';
import { cloudErrorFrom } from '../../aws-cloud/index.ts';
import type { CloudErrorCode } from '../../ports/index.ts';
import { refusalFrom } from './refusal.ts';

const thrown = (name: string, message: string, more: object = {}): Error =>
  Object.assign(new Error(message), { name, ...more });
const http = (httpStatusCode: number): object => ({ $metadata: { httpStatusCode } });

const cloudErrorOf = (error: unknown) => cloudErrorFrom(refusalFrom(error), 'DescribeInstances');

describe('what an SDK call threw', () => {
  it.each<[CloudErrorCode, Error]>([
    ['Throttled', thrown('Throttling', 'Rate exceeded', http(400))],
    ['Throttled', thrown('RequestLimitExceeded', 'Request limit exceeded.', http(503))],
    ['Throttled', thrown('RequestThrottledException', 'slow down', http(400))],
    ['Throttled', thrown('SomethingNew', 'slow down', http(429))],
    ['Throttled', thrown('ResourceContentionFault', 'pending update', http(500))],
    ['Throttled', thrown('ScalingActivityInProgress', 'busy', http(400))],
    [
      'NoActiveLifecycleAction',
      thrown(
        'ValidationError',
        'No active Lifecycle Action found with instance ID i-07e9ea9eb19a67337',
        http(400),
      ),
    ],
    ['InvalidRequest', thrown('ValidationError', 'Invalid instance id', http(400))],
    ['InvalidRequest', thrown('InvalidInstanceID.NotFound', 'no such id', http(400))],
    ['InvalidRequest', thrown('QueueDoesNotExist', 'no such queue', http(400))],
    ['AccessDenied', thrown('UnauthorizedOperation', 'not authorized', http(403))],
    ['AccessDenied', thrown('AccessDeniedException', 'not authorized', http(400))],
    ['AccessDenied', thrown('SomethingNew', 'no', http(403))],
    ['AccessDenied', thrown('CredentialsProviderError', 'Could not load credentials')],
    ['Unsupported', thrown('NotImplemented', 'not here', http(501))],
    ['Unsupported', thrown('Error', 'not here', { Code: 'UnsupportedOperation', ...http(400) })],
    ['ServerError', thrown('InternalFailure', 'oops', http(500))],
    ['ServerError', thrown('SyntaxError', 'no XML', { $response: { statusCode: 500 } })],
    ['ServerError', thrown('SyntaxError', 'no XML', http(200))],
    ['Unreachable', thrown('Error', 'connect ECONNREFUSED', { code: 'ECONNREFUSED' })],
    ['Unreachable', thrown('TimeoutError', 'timed out')],
  ])('reads %s from %s', (code, error) => {
    expect(cloudErrorOf(error).code).toBe(code);
  });

  it('keeps the words of the service and its error as cause', () => {
    const cause = thrown('Throttling', 'Rate exceeded', http(400));
    const error = cloudErrorOf(cause);
    expect(error).toMatchObject({ code: 'Throttled', retry: 'backoff', cause });
    expect(error.message).toBe('DescribeInstances: Rate exceeded');
  });
});
