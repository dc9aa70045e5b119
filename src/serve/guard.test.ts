import { describe, expect, it } from 'vitest';
import { checkHostAndOrigin } from './guard.ts';

describe('the guard of a loopback listener', () => {
  it.each([
    [{ host: '127.0.0.1:8700' }, 'ok'],
    [{ host: 'localhost:8700' }, 'ok'],
    [{ host: '[::1]:8700' }, 'ok'],
    [{ host: 'LOCALHOST:8700', origin: 'http://localhost:8700' }, 'ok'],
    [{}, 'refused'],
    [{ host: 'localhost' }, 'refused'],
    [{ host: 'localhost:8701' }, 'refused'],
    [{ host: 'evil.example:8700' }, 'refused'],
    [{ host: '127.0.0.1.evil.example:8700' }, 'refused'],
    [{ host: '127.0.0.1:8700', origin: 'https://evil.example' }, 'refused'],
    [{ host: '127.0.0.1:8700', origin: 'null' }, 'refused'],
    [{ host: '127.0.0.1:8700', 'sec-fetch-site': 'cross-site' }, 'refused'],
  ])('answers %j with %s', (headers, verdict) => {
    expect(checkHostAndOrigin(headers as Record<string, string>, 8700).kind).toBe(verdict);
  });
});
