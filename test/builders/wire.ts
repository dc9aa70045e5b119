// For the tests of wire only: a dispatcher with known credentials, and requests signed for it.
import { createHash } from 'node:crypto';
import type { HttpRequest, HttpResponse } from '../../src/api/http.ts';
import {
  type AwsCallRecord,
  type AwsHandlers,
  createAwsDispatcher,
} from '../../src/aws-wire/dispatcher.ts';
import { type Signed, signatureOf } from '../../src/aws-wire/sigv4.ts';

export const SECRET = 'secret';
export const NOW = 1_735_394_773_000;

export const principal = {
  type: 'IAMUser',
  accountId: '123456789012',
  arn: 'arn:aws:iam::123456789012:user/u',
  principalId: 'AIDA',
} as const;

export function dispatcher(handlers: AwsHandlers) {
  const records: AwsCallRecord[] = [];
  const defects: string[] = [];
  const { handle } = createAwsDispatcher({
    handlers,
    authenticate: (key) => {
      if (key === 'AKID') return { secretAccessKey: SECRET, principal };
      if (key === 'ASIA') return { secretAccessKey: SECRET, sessionToken: 'tok', principal };
      return undefined;
    },
    now: () => NOW,
    nextRequestId: () => 'req-1',
    onCall: (record) => records.push(record),
    onDefect: (error) => defects.push(error.message),
  });
  return { handle, records, defects };
}

export interface Asked {
  readonly service?: string;
  readonly method?: string;
  readonly path?: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly key?: string;
}

export function unsigned({ method = 'POST', path = '/', query = '', ...rest }: Asked): HttpRequest {
  const { headers = {}, body = new Uint8Array() } = rest;
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const all = { host: 'localhost', 'x-amz-date': '20241228T140613Z', ...headers };
  return { method, path, query, headers: all, body: bytes, remoteAddress: '127.0.0.1' };
}

export function signedRequest(asked: Asked & { readonly service: string }): HttpRequest {
  const request = unsigned(asked);
  const names = Object.keys(request.headers).sort();
  const signed: Signed = {
    kind: 'signed',
    accessKeyId: asked.key ?? 'AKID',
    date: '20241228',
    region: 'eu-west-1',
    service: asked.service,
    timestamp: '20241228T140613Z',
    signedHeaders: names,
    signature: '',
    sessionToken: undefined,
    presigned: false,
  };
  const payload = createHash('sha256').update(request.body).digest('hex');
  const signature = signatureOf(request, signed, SECRET, payload);
  const scope = `${signed.accessKeyId}/20241228/eu-west-1/${asked.service}/aws4_request`;
  const fields = [
    `Credential=${scope}`,
    `SignedHeaders=${names.join(';')}`,
    `Signature=${signature}`,
  ];
  const authorization = `AWS4-HMAC-SHA256 ${fields.join(', ')}`;
  return { ...request, headers: { ...request.headers, authorization } };
}

export const FORM = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' };
export const form = (service: string, body: string): HttpRequest =>
  signedRequest({ service, headers: FORM, body });
export const json = (service: string, target: string, body: string | Uint8Array): HttpRequest =>
  signedRequest({
    service,
    headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': target },
    body,
  });
export const rest = (method: string, path: string, more: Partial<Asked> = {}): HttpRequest =>
  signedRequest({ service: 'eks', method, path, ...more });

export const queryError = (code: string, type = 'Sender') =>
  new RegExp(`<ErrorResponse[^>]*><Error><Type>${type}</Type><Code>${code}</Code><Message>`);

/** Properties of every answer, whatever its protocol. */
export function checkEnvelope({ headers, body }: HttpResponse): void {
  const length = String(Buffer.byteLength(body));
  if (headers['content-length'] !== length) throw new Error(`content-length is not ${length}`);
  if (headers['x-amzn-requestid'] !== 'req-1') throw new Error('no request id');
}
