// Requests that no well-behaved client sends: any header, any body, with or without the client
// certificate of a world's kubeconfig. Answers are text; nothing is interpreted.
import { readFileSync } from 'node:fs';
import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { parse } from 'yaml';
import type { ServedWorld } from './demo-world.ts';

export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

export interface Ask {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** False omits the client certificate. */
  readonly certificate?: boolean;
}

interface Kubeconfig {
  readonly clusters: readonly { readonly cluster: Readonly<Record<string, string>> }[];
  readonly users: readonly { readonly user: Readonly<Record<string, string>> }[];
}

const decoded = (value: string | undefined): Buffer => Buffer.from(value ?? '', 'base64');

const send = (
  origin: string,
  ask: Ask,
  tls: { readonly ca: Buffer; readonly cert?: Buffer; readonly key?: Buffer } | undefined,
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { method = ask.body === undefined ? 'GET' : 'POST', path, body } = ask;
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const options = { method, headers: { ...length, ...ask.headers }, agent: false as const };
    const url = new URL(origin);
    const target = { ...options, host: url.hostname, port: url.port, path };
    const sent =
      tls === undefined
        ? plainRequest(target)
        : tlsRequest({ ...target, ...tls, servername: 'localhost' });
    sent.on('error', reject);
    sent.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          contentType: response.headers['content-type'] ?? '',
          text,
        }),
      );
    });
    sent.end(body);
  });

/** The Kubernetes port of a world. */
export const askKube = (world: ServedWorld, ask: Ask): Promise<Answer> => {
  const config = parse(readFileSync(String(world.env.KUBECONFIG), 'utf8')) as Kubeconfig;
  const cluster = config.clusters[0]?.cluster ?? {};
  const user = config.users[0]?.user ?? {};
  const ca = decoded(cluster['certificate-authority-data']);
  const own = {
    cert: decoded(user['client-certificate-data']),
    key: decoded(user['client-key-data']),
  };
  const tls = ask.certificate === false ? { ca } : { ca, ...own };
  return send(String(cluster.server), ask, tls);
};

/** The port of the AWS APIs and of world control. */
export const askFront = (world: ServedWorld, ask: Ask): Promise<Answer> =>
  send(String(world.env.AWS_ENDPOINT_URL), ask, undefined);

/** World control's token, from DROVER_URL. */
export const tokenOf = (world: ServedWorld): string =>
  decodeURIComponent(new URL(String(world.env.DROVER_URL)).password);
