import { describe, expect, it } from 'vitest';
import { cloudErrorCodeOf } from './errors.ts';

const operation = 'DescribeInstances';

describe('cloudErrorCodeOf', () => {
  it.each([
    ['ScalingActivityInProgress', 400, 'Throttled'],
    ['ResourceContention', 500, 'Throttled'],
    ['ResourceContentionFault', 500, 'Throttled'],
    ['AWS.SimpleQueueService.NotImplemented', 400, 'Unsupported'],
    ['AuthFailure', 401, 'AccessDenied'],
    ['ValidationError', 400, 'InvalidRequest'],
    ['InternalFailure', 500, 'ServerError'],
    ['constructor', 400, 'InvalidRequest'],
    ['', undefined, 'Unreachable'],
  ] as const)('reads %s with status %s as %s', (code, httpStatus, expected) => {
    expect(cloudErrorCodeOf({ operation, codes: [code], message: 'no', httpStatus })).toBe(
      expected,
    );
  });
  it('knows a hook that is no longer open by its message alone', () => {
    const message = 'No active Lifecycle Action found with token t';
    const answer = { operation, codes: ['ValidationError'], message, httpStatus: 400 };
    expect(cloudErrorCodeOf(answer)).toBe('NoActiveLifecycleAction');
  });
  it.each([
    ['CompleteLifecycleAction', 'NoActiveLifecycleAction'],
    ['RecordLifecycleActionHeartbeat', 'NoActiveLifecycleAction'],
    ['UpdateAutoScalingGroup', 'InvalidRequest'],
  ] as const)('takes a group that is gone, to %s, as %s', (asked, expected) => {
    const message = 'AutoScalingGroup name not found - AutoScalingGroup: g not found';
    const answer = { operation: asked, codes: ['ValidationError'], message, httpStatus: 400 };
    expect(cloudErrorCodeOf(answer)).toBe(expected);
  });
  it('falls back on the second code where the first says nothing', () => {
    const answer = { operation, codes: ['Error', 'Throttling'], message: '', httpStatus: 400 };
    expect(cloudErrorCodeOf(answer)).toBe('Throttled');
  });
});
