// The Http port on undici. Checks a name's addresses when the connection is made, so a name cannot
// change its addresses between check and use. Follows no redirects and keeps no connections.

import { createHmac } from 'node:crypto';
import { Agent, request } from 'undici';
import { defined } from '../../api/defined.ts';
import { shownAddress } from '../../api/update-hooks.ts';
import { type Http, type HttpAnswer, HttpError } from '../../ports/index.ts';
import {
  type AddressRule,
  guardedLookup,
  notAllowed,
  notMetadata,
  targetOf,
  webhookRule,
} from './addresses.ts';

/** Only the status is used; no more of the body is received. */
const maxBodyBytes = 64 * 1024;

/** `address`: as shown in errors. */
const errorOf = (error: unknown, address: string): HttpError => {
  if (error instanceof HttpError) return error;
  const { name, code, message } =
    error instanceof Error
      ? { code: undefined, ...error, name: error.name, message: error.message }
      : { name: '', code: undefined, message: String(error) };
  const isLate = /Timeout/.test(name) || String(code).includes('TIMEOUT');
  if (isLate)
    return new HttpError('Timeout', `no answer from ${address} in time`, { cause: error });
  return new HttpError('Unreachable', `no answer from ${address}: ${message}`, { cause: error });
};

type Headers = Readonly<Record<string, string | string[] | undefined>>;

const textOf = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value[0] : value;

/** Seconds, or a date (RFC 9110, 10.2.3) relative to the server's own clock. */
const retryAfterOf = (headers: Headers): Pick<HttpAnswer, 'retryAfterSeconds'> => {
  const value = textOf(headers['retry-after'])?.trim();
  if (value === undefined || value === '') return {};
  if (/^\d{1,9}$/.test(value)) return { retryAfterSeconds: Number(value) };
  const seconds = (Date.parse(value) - Date.parse(textOf(headers.date) ?? '')) / 1000;
  return Number.isFinite(seconds) ? { retryAfterSeconds: Math.max(0, seconds) } : {};
};

interface Call {
  readonly method: 'GET' | 'POST';
  readonly rule: AddressRule;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly ca?: string;
}

const call = async (address: string, target: URL, how: Call): Promise<HttpAnswer> => {
  const { method, rule, timeoutMs, signal, headers = {}, body, ca } = how;
  const agent = new Agent({
    connect: {
      lookup: guardedLookup(rule),
      timeout: timeoutMs,
      ...defined({ ca }),
    },
    maxResponseSize: maxBodyBytes,
    pipelining: 0,
  });
  const late = AbortSignal.timeout(timeoutMs);
  try {
    const answer = await request(target, {
      method,
      dispatcher: agent,
      signal: signal === undefined ? late : AbortSignal.any([signal, late]),
      headers: { 'user-agent': 'drover', ...headers },
      ...defined({ body }),
    });
    // Only the status is used, so an error while the rest of the body arrives is ignored.
    answer.body.on('error', () => {});
    answer.body.destroy();
    return { status: answer.statusCode, ...retryAfterOf(answer.headers) };
  } catch (error) {
    throw errorOf(error, address);
  } finally {
    void agent.destroy().catch(() => {});
  }
};

/** https://www.standardwebhooks.com: HMAC-SHA256 over `id.timestamp.body`. */
const signatureOf = (
  key: string,
  { id, body }: { readonly id: string; readonly body: string },
): Readonly<Record<string, string>> => {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const hmac = createHmac('sha256', Buffer.from(key, 'base64'));
  const signature = hmac.update(`${id}.${timestamp}.${body}`).digest('base64');
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
};

export const createHttp = (options: { readonly allowLoopback?: boolean } = {}): Http => {
  const { allowLoopback = false } = options;
  const ruleFor =
    (isPublicOnly: boolean) =>
    ({ protocol }: URL): AddressRule =>
      webhookRule({ allowLoopback, isPlain: protocol === 'http:', isPublicOnly });
  return {
    async get(url, { timeoutMs, signal }) {
      const target = targetOf(url, () => notMetadata);
      const { status } = await call(url, target, {
        method: 'GET',
        rule: notMetadata,
        timeoutMs,
        signal,
      });
      return { status };
    },
    async post(url, options) {
      const { body, idempotencyKey, bearerToken, ca, timeoutMs, signal, signingKey } = options;
      const ruleOf = ruleFor(options.isPublicOnly === true);
      const target = targetOf(url, ruleOf);
      if (target.username !== '' || target.password !== '') {
        throw notAllowed(
          target.origin,
          'the address must not contain a user or password; they are not sent as a token',
        );
      }
      const headers = {
        'content-type': options.contentType ?? 'application/json',
        'idempotency-key': idempotencyKey,
        ...(signingKey === undefined ? {} : signatureOf(signingKey, { id: idempotencyKey, body })),
        ...(bearerToken === undefined ? {} : { authorization: `Bearer ${bearerToken}` }),
      };
      const more = ca === undefined ? {} : { ca };
      const rule = ruleOf(target);
      return call(shownAddress(url), target, {
        method: 'POST',
        rule,
        timeoutMs,
        signal,
        headers,
        body,
        ...more,
      });
    },
  };
};
