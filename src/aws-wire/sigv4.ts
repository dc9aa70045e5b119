// Parses and verifies AWS Signature Version 4, from the Authorization header or a presigned URL.
// Has no clock: skew and expiry are not enforced, because the world's time may be ahead of the
// caller's. Rules: AWS General Reference, "Create a signed AWS API request".
import { createHash, createHmac } from 'node:crypto';
import type { HttpRequest } from '../api/http.ts';

const ALGORITHM = 'AWS4-HMAC-SHA256';
const UNSIGNED_PAYLOAD = 'UNSIGNED-PAYLOAD';

export interface Signed {
  readonly kind: 'signed';
  readonly accessKeyId: string;
  /** `YYYYMMDD` of the credential scope. */
  readonly date: string;
  readonly region: string;
  readonly service: string;
  /** ISO 8601 basic form, `YYYYMMDDTHHMMSSZ`. */
  readonly timestamp: string;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
  readonly sessionToken: string | undefined;
  readonly presigned: boolean;
}

export type Credentials =
  | Signed
  | { readonly kind: 'none' }
  /** `scope` is set when at least service and region were readable, to route the error. */
  | {
      readonly kind: 'incomplete';
      readonly reason: string;
      readonly service: string | undefined;
    };

const sha256Hex = (data: string | Uint8Array): string =>
  createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Uint8Array, data: string): Uint8Array =>
  createHmac('sha256', key).update(data).digest();

export function readCredentials(request: HttpRequest): Credentials {
  const header = request.headers.authorization;
  if (header !== undefined) return fromHeader(header, request);
  const query = new URLSearchParams(request.query);
  if (query.has('X-Amz-Algorithm') || query.has('X-Amz-Signature')) return fromQuery(query);
  return { kind: 'none' };
}

function fromHeader(header: string, request: HttpRequest): Credentials {
  const fields = new Map<string, string>();
  const [algorithm = '', ...rest] = header.trim().split(/\s+/);
  for (const part of rest.join(' ').split(',')) {
    const equals = part.indexOf('=');
    if (equals > 0) fields.set(part.slice(0, equals).trim(), part.slice(equals + 1).trim());
  }
  return complete({
    algorithm,
    where: 'Authorization header',
    credential: fields.get('Credential'),
    signedHeaders: fields.get('SignedHeaders'),
    signature: fields.get('Signature'),
    timestamp: request.headers['x-amz-date'] ?? basicDate(request.headers.date),
    sessionToken: request.headers['x-amz-security-token'],
    presigned: false,
  });
}

function fromQuery(query: URLSearchParams): Credentials {
  return complete({
    algorithm: query.get('X-Amz-Algorithm') ?? '',
    where: 'AWS query-string parameters',
    credential: query.get('X-Amz-Credential') ?? undefined,
    signedHeaders: query.get('X-Amz-SignedHeaders') ?? undefined,
    signature: query.get('X-Amz-Signature') ?? undefined,
    timestamp: query.get('X-Amz-Date') ?? undefined,
    sessionToken: query.get('X-Amz-Security-Token') ?? undefined,
    presigned: true,
  });
}

interface RawCredentials {
  readonly algorithm: string;
  readonly where: string;
  readonly credential: string | undefined;
  readonly signedHeaders: string | undefined;
  readonly signature: string | undefined;
  readonly timestamp: string | undefined;
  readonly sessionToken: string | undefined;
  readonly presigned: boolean;
}

function complete(raw: RawCredentials): Credentials {
  const scope = (raw.credential ?? '').split('/');
  const service = scope.at(-2);
  const incomplete = (reason: string): Credentials => ({ kind: 'incomplete', reason, service });
  if (raw.algorithm !== ALGORITHM) {
    return incomplete(`Unsupported AWS 'algorithm': '${raw.algorithm}', use ${ALGORITHM}.`);
  }
  const { credential, signedHeaders, signature, timestamp } = raw;
  const missing = (name: string): Credentials =>
    incomplete(`${raw.where} requires '${name}' parameter.`);
  if (credential === undefined) return missing('Credential');
  if (signedHeaders === undefined) return missing('SignedHeaders');
  if (signature === undefined) return missing('Signature');
  if (timestamp === undefined || !/^\d{8}T\d{6}Z$/.test(timestamp)) {
    return incomplete(`${raw.where} requires a date: 'X-Amz-Date' in the form YYYYMMDDTHHMMSSZ.`);
  }
  // Counts from the end, in case an access key contains a slash.
  const [date, region, , terminator] = scope.slice(-4);
  const accessKeyId = scope.slice(0, -4).join('/');
  if (
    accessKeyId === '' ||
    date === undefined ||
    region === undefined ||
    service === undefined ||
    terminator !== 'aws4_request'
  ) {
    return incomplete(
      `Credential must be ACCESS_KEY/DATE/REGION/SERVICE/aws4_request, not '${credential}'.`,
    );
  }
  return {
    kind: 'signed',
    accessKeyId,
    date,
    region,
    service,
    timestamp,
    signedHeaders: signedHeaders.split(';').map((name) => name.toLowerCase()),
    signature,
    sessionToken: raw.sessionToken,
    presigned: raw.presigned,
  };
}

/** `Sun, 06 Nov 1994 08:49:37 GMT` as `19941106T084937Z`: some signers send only Date. */
function basicDate(value: string | undefined): string | undefined {
  const match = /^\w{3}, (\d\d) (\w{3}) (\d{4}) (\d\d):(\d\d):(\d\d) GMT$/.exec(value ?? '');
  if (match === null) return undefined;
  const [, day, name = '', year, hour, minute, second] = match;
  const month = 1 + 'JanFebMarAprMayJunJulAugSepOctNovDec'.indexOf(name) / 3;
  return `${year}${String(month).padStart(2, '0')}${day}T${hour}${minute}${second}Z`;
}

/** Why the signature is wrong; undefined when correct. */
export function signatureFault(
  request: HttpRequest,
  signed: Signed,
  secret: string,
): string | undefined {
  if (!signed.signedHeaders.includes('host')) return "'Host' must be a signed header.";
  if (!signed.timestamp.startsWith(signed.date)) {
    return `Date in Credential scope does not match YYYYMMDD of '${signed.timestamp}'.`;
  }
  const bodyHash = sha256Hex(request.body);
  const declared = request.headers['x-amz-content-sha256'];
  if (declared !== undefined && declared !== bodyHash) {
    return 'The provided x-amz-content-sha256 header does not match what was computed.';
  }
  // A presigned URL has no body: some signers hash the empty one, others use UNSIGNED-PAYLOAD.
  const bodiless = signed.presigned && request.body.length === 0;
  const payloads = bodiless ? [bodyHash, UNSIGNED_PAYLOAD] : [bodyHash];
  const matches = payloads.some((payload) =>
    equalInConstantTime(signatureOf(request, signed, secret, payload), signed.signature),
  );
  return matches
    ? undefined
    : 'The request signature we calculated does not match the signature you provided. ' +
        'Check your AWS Secret Access Key and signing method. ' +
        'Consult the service documentation for details.';
}

/** The expected signature of `signed` over `payload` (a hash in hex, or a literal). */
export function signatureOf(
  request: HttpRequest,
  signed: Signed,
  secret: string,
  payload: string,
): string {
  const headers = signed.signedHeaders.map(
    (name) => `${name}:${(request.headers[name] ?? '').trim().replace(/\s+/g, ' ')}\n`,
  );
  const canonical = [
    request.method.toUpperCase(),
    uriEncode(normalisePath(request.path), '/'),
    canonicalQuery(request.query),
    headers.join(''),
    signed.signedHeaders.join(';'),
    payload,
  ].join('\n');
  const scope = [signed.date, signed.region, signed.service, 'aws4_request'];
  const key = scope.reduce<Uint8Array>(
    (previous, part) => hmac(previous, part),
    new TextEncoder().encode(`AWS4${secret}`),
  );
  const text = [ALGORITHM, signed.timestamp, scope.join('/'), sha256Hex(canonical)].join('\n');
  return Buffer.from(hmac(key, text)).toString('hex');
}

function canonicalQuery(query: string): string {
  if (query === '') return '';
  return query
    .split('&')
    .map((pair) => {
      const equals = pair.indexOf('=');
      const name = equals < 0 ? pair : pair.slice(0, equals);
      const value = equals < 0 ? '' : pair.slice(equals + 1);
      return [uriEncode(uriDecode(name)), uriEncode(uriDecode(value))] as const;
    })
    .filter(([name]) => name !== 'X-Amz-Signature')
    .sort(([a, x], [b, y]) => (a === b ? (x < y ? -1 : 1) : a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

/** Clients remove dot segments and doubled slashes before signing; the wire keeps them. */
function normalisePath(path: string): string {
  const kept: string[] = [];
  const segments = path.split('/');
  for (const segment of segments) {
    if (segment === '..') kept.pop();
    else if (segment !== '' && segment !== '.') kept.push(segment);
  }
  const slash = kept.length > 0 && segments.at(-1) === '' ? '/' : '';
  return `/${kept.join('/')}${slash}`;
}

/** RFC 3986: keeps only unreserved characters. A path is encoded twice, as AWS requires. */
function uriEncode(text: string, safe = ''): string {
  let encoded = '';
  for (const byte of new TextEncoder().encode(text)) {
    const character = String.fromCharCode(byte);
    encoded +=
      /[A-Za-z0-9\-._~]/.test(character) || (safe !== '' && character === safe)
        ? character
        : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return encoded;
}

function uriDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function equalInConstantTime(a: string, b: string): boolean {
  let difference = a.length ^ b.length;
  for (let i = 0; i < a.length; i += 1) difference |= a.charCodeAt(i) ^ b.charCodeAt(i);
  return difference === 0;
}
