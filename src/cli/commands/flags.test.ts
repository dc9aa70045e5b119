// Decisions on flags only: durations, deadlines, addresses.
import { describe, expect, it } from 'vitest';
import { checkQueueUrl } from './controller.ts';
import { timeoutSeconds } from './drain.ts';

describe('drain --timeout', () => {
  it.each([
    ['0s', false, undefined],
    ['15m', false, 900],
    ['90s', true, 90],
  ])('%s (force %s) is %s seconds', (timeout, forceAtDeadline, seconds) => {
    expect(timeoutSeconds({ timeout, forceAtDeadline })).toBe(seconds);
  });
  it.each([
    ['15', false, /takes a duration such as/],
    ['soon', false, /not soon/],
    ['0s', true, /--force-at-deadline needs a deadline/],
  ])('refuses %s (force %s)', (timeout, forceAtDeadline, message) => {
    expect(() => timeoutSeconds({ timeout, forceAtDeadline })).toThrow(message);
  });
});

describe('controller --queue-url', () => {
  it.each([
    undefined,
    'https://sqs.eu-west-1.amazonaws.com/111111111111/q',
    'http://127.0.0.1:8700/111111111111/q',
  ])('takes %s', (url) => {
    expect(checkQueueUrl(url)).toBe(url);
  });
  it.each(['q', 'arn:aws:sqs:eu-west-1:111111111111:q', 'ftp://x/y'])('refuses %s', (url) => {
    expect(() => checkQueueUrl(url)).toThrow(/--queue-url takes the address/);
  });
});
