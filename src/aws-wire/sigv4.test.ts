// Signature Version 4 against AWS's published test suite values and against tampering.
import { describe, expect, it } from 'vitest';
import type { HttpRequest } from '../api/http.ts';
import { type Credentials, readCredentials, type Signed, signatureFault } from './sigv4.ts';

const SECRET = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
const SCOPE = 'AKIDEXAMPLE/20150830/us-east-1/service/aws4_request';

function request(changes: Partial<HttpRequest> & { readonly signature?: string }): HttpRequest {
  const { signature = '', headers = {}, ...rest } = changes;
  const all = { host: 'example.amazonaws.com', 'x-amz-date': '20150830T123600Z', ...headers };
  const signedHeaders = Object.keys(all)
    .filter((name) => name !== 'authorization')
    .sort()
    .join(';');
  const names = `SignedHeaders=${signedHeaders}`;
  const authorization = `AWS4-HMAC-SHA256 Credential=${SCOPE}, ${names}, Signature=${signature}`;
  return {
    method: 'GET',
    path: '/',
    query: '',
    body: new Uint8Array(),
    remoteAddress: '127.0.0.1',
    headers: { authorization, ...all },
    ...rest,
  };
}

function signed(credentials: Credentials): Signed {
  if (credentials.kind !== 'signed') throw new Error(`not signed: ${JSON.stringify(credentials)}`);
  return credentials;
}

const fault = (asked: HttpRequest, secret = SECRET): string | undefined =>
  signatureFault(asked, signed(readCredentials(asked)), secret);

const VANILLA = '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31';
const POSTED = {
  method: 'POST',
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: new TextEncoder().encode('Param1=value1'),
  signature: 'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
};

describe('signatures of the AWS Signature Version 4 test suite', () => {
  it.each([
    ['get-vanilla', request({ signature: VANILLA })],
    [
      'get-vanilla-query-order-key-case',
      request({
        query: 'Param2=value2&Param1=value1',
        signature: 'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
      }),
    ],
    ['post-x-www-form-urlencoded', request(POSTED)],
    ['get-slash, normalised', request({ path: '//', signature: VANILLA })],
    ['get-relative-relative, normalised', request({ path: '/a/b/../..', signature: VANILLA })],
  ])('accepts %s', (_, asked) => {
    expect(fault(asked)).toBeUndefined();
  });
});

describe('a wrong signature', () => {
  it.each([
    ['another secret', request({ signature: VANILLA }), 'other', /signature we calculated/],
    ['another path', request({ path: '/x', signature: VANILLA }), SECRET, /we calculated/],
    ['another query', request({ query: 'a=b', signature: VANILLA }), SECRET, /we calculated/],
    ['another body', { ...request(POSTED), body: new Uint8Array([1]) }, SECRET, /we calculated/],
    ['a cut signature', request({ signature: VANILLA.slice(0, 60) }), SECRET, /we calculated/],
    [
      'a declared hash that is not the body',
      request({ headers: { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' }, signature: VANILLA }),
      SECRET,
      /x-amz-content-sha256/,
    ],
    [
      'a date other than the scope',
      request({ headers: { 'x-amz-date': '20150831T000000Z' }, signature: VANILLA }),
      SECRET,
      /Date in Credential scope/,
    ],
  ])('is named: %s', (_, asked, secret, message) => {
    expect(fault(asked, secret)).toMatch(message);
  });

  it('is one that leaves out the host', () => {
    const asked = request({ signature: VANILLA });
    const authorization = asked.headers.authorization?.replace('host;', '') ?? '';
    const bare = { ...asked, headers: { ...asked.headers, authorization } };
    expect(fault(bare)).toMatch(/'Host' must be/);
  });
});

describe('credentials of a request', () => {
  const header = (authorization: string): Credentials =>
    readCredentials({ ...request({}), headers: { authorization } });

  it('are none without header and signed query', () => {
    expect(readCredentials({ ...request({}), headers: {} })).toEqual({ kind: 'none' });
  });

  it.each([
    ['Bearer abc', /Unsupported AWS 'algorithm': 'Bearer'/],
    ['AWS4-HMAC-SHA256 SignedHeaders=host, Signature=a', /requires 'Credential'/],
    [`AWS4-HMAC-SHA256 Credential=${SCOPE}, Signature=a`, /requires 'SignedHeaders'/],
    [`AWS4-HMAC-SHA256 Credential=${SCOPE}, SignedHeaders=host`, /requires 'Signature'/],
    [`AWS4-HMAC-SHA256 Credential=${SCOPE}, SignedHeaders=host, Signature=a`, /requires a date/],
  ])('are incomplete in %s', (authorization, reason) => {
    expect(header(authorization)).toMatchObject({
      kind: 'incomplete',
      reason: expect.stringMatching(reason),
    });
  });

  it('must name key, date, region, service and terminator', () => {
    const asked = request({});
    const authorization = 'AWS4-HMAC-SHA256 Credential=A/1/2, SignedHeaders=host, Signature=a';
    const credentials = readCredentials({ ...asked, headers: { ...asked.headers, authorization } });
    expect(credentials).toMatchObject({
      kind: 'incomplete',
      reason: expect.stringMatching(/^Credential must be/),
    });
  });

  it('are read from a presigned URL, with its session token', () => {
    const query =
      `Action=GetCallerIdentity&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=` +
      `${encodeURIComponent(SCOPE)}&X-Amz-Date=20150830T123600Z&X-Amz-SignedHeaders=host` +
      '&X-Amz-Security-Token=tok&X-Amz-Signature=abc';
    expect(readCredentials({ ...request({}), headers: { host: 'h' }, query })).toMatchObject({
      kind: 'signed',
      presigned: true,
      service: 'service',
      region: 'us-east-1',
      sessionToken: 'tok',
    });
  });

  it('take the Date header where X-Amz-Date is missing', () => {
    const asked = request({});
    const { 'x-amz-date': _, ...headers } = asked.headers;
    const dated = { ...asked, headers: { ...headers, date: 'Sun, 30 Aug 2015 12:36:00 GMT' } };
    expect(readCredentials(dated)).toMatchObject({ timestamp: '20150830T123600Z' });
  });
});
