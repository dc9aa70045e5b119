// Arbitrary requests to a Kubernetes API server, with the client certificate of a kubeconfig: those
// that no typed client sends. Answers are parsed JSON; nothing else is interpreted.

import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { isIP } from 'node:net';
import { parse } from 'yaml';
import { defined } from '../../src/api/defined.ts';
import type { JsonObject } from '../../src/api/json.ts';

export interface RawAnswer {
  readonly code: number;
  readonly body: JsonObject;
  readonly warnings: readonly string[];
}

export interface RawAsk {
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
  readonly userAgent?: string;
  /** Impersonates this user. */
  readonly as?: string;
  readonly groups?: readonly string[];
  /** With these extra fields of the impersonated user. */
  readonly extra?: Readonly<Record<string, string>>;
  readonly token?: string;
}

export type RawKube = (method: string, path: string, ask?: RawAsk) => Promise<RawAnswer>;

interface Kubeconfig {
  readonly clusters: readonly { readonly cluster: Readonly<Record<string, string>> }[];
  readonly users: readonly { readonly user: Readonly<Record<string, string>> }[];
}

const decoded = (value: string | undefined): Buffer => Buffer.from(value ?? '', 'base64');

const headersOf = (ask: RawAsk, length: number | undefined): Record<string, string | string[]> => ({
  accept: ask.accept ?? 'application/json',
  'user-agent': ask.userAgent ?? 'contract/1',
  ...(length === undefined
    ? {}
    : {
        'content-type': ask.contentType ?? 'application/json',
        'content-length': String(length),
      }),
  ...defined({ 'impersonate-user': ask.as }),
  ...(ask.groups === undefined ? {} : { 'impersonate-group': [...ask.groups] }),
  ...Object.fromEntries(
    Object.entries(ask.extra ?? {}).map(([key, value]) => [
      `impersonate-extra-${encodeURIComponent(key)}`,
      value,
    ]),
  ),
  ...(ask.token === undefined ? {} : { authorization: `Bearer ${ask.token}` }),
});

export const rawKube = (kubeconfigPath: string): RawKube => {
  const config = parse(readFileSync(kubeconfigPath, 'utf8')) as Kubeconfig;
  const cluster = config.clusters[0]?.cluster ?? {};
  const user = config.users[0]?.user ?? {};
  const server = new URL(String(cluster.server));
  const own = {
    cert: decoded(user['client-certificate-data']),
    key: decoded(user['client-key-data']),
  };
  return (method, path, ask = {}) =>
    new Promise((resolve, reject) => {
      const { body } = ask;
      const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
      const length = text === undefined ? undefined : Buffer.byteLength(text);
      const sent = request({
        method,
        host: server.hostname,
        port: server.port,
        path,
        agent: false,
        ca: decoded(cluster['certificate-authority-data']),
        ...(ask.token === undefined ? own : {}),
        // TLS allows no IP address as server name; the certificate is then checked against the
        // address.
        servername: isIP(server.hostname) === 0 ? server.hostname : '',
        headers: headersOf(ask, length),
      });
      sent.on('error', reject);
      sent.on('response', (response) => {
        let received = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          received += chunk;
        });
        response.on('error', reject);
        response.on('end', () => {
          const answer = received.startsWith('{') ? (JSON.parse(received) as JsonObject) : {};
          const warnings = [response.headers.warning ?? []].flat();
          resolve({ code: response.statusCode ?? 0, body: answer, warnings });
        });
      });
      sent.end(text);
    });
};
