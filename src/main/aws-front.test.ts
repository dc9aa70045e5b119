import { describe, expect, it } from 'vitest';
import { endOfToken } from './aws-front.ts';

describe('a token of aws eks get-token', () => {
  it('ends fifteen minutes after its signing', () => {
    const url = new URL('http://127.0.0.1:8700/?X-Amz-Date=20260102T030405Z&X-Amz-Expires=60');
    expect(endOfToken(url)).toBe(Date.parse('2026-01-02T03:19:05Z'));
  });
  it('is none when it does not say when it was signed', () => {
    expect(endOfToken(new URL('http://127.0.0.1:8700/?X-Amz-Date=soon'))).toBeUndefined();
    expect(endOfToken(new URL('http://127.0.0.1:8700/'))).toBeUndefined();
  });
});
