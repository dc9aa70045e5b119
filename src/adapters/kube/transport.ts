// One API server over HTTP/1.1 with keep-alive: authentication, timeouts, and every failure to get
// an answer as KubeError Unreachable. Never retries, save once after a 401 with fresh credentials
// (a request that was refused so has done nothing).

import { type Dispatcher, Pool, ProxyAgent } from 'undici';
import { defined } from '../../api/defined.ts';
import { type DateReader, KubeError } from '../../ports/index.ts';
import type { Authorization, ClientCertificate } from './auth.ts';
import type { ClusterAccess, UserAccess } from './kubeconfig.ts';

/**
 * Longer than the slowest eviction (10.7 s measured; the server tries 20 times at 0.5 s), shorter
 * than the server's own 60 s.
 */
const answerTimeoutMs = 30_000;
/** Below the 90 s after which a Go server closes idle connections: it must be us who closes. */
const keepAliveMs = 45_000;
const connectTimeoutMs = 10_000;
/** Enough to have 64 evictions (each up to 10 s) and ordinary calls under way at once. */
const maxRequestConnections = 96;

/** Watches never queue behind requests, and there may be one for each draining node. */
type Lane = 'requests' | 'watches';

export interface HttpCall {
  readonly lane: Lane;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** With query. */
  readonly path: string;
  readonly body?: string;
  readonly contentType?: string;
  readonly signal?: AbortSignal | undefined;
  /** Longest silence within the answer; default as for its beginning. */
  readonly idleTimeoutMs?: number;
}

export interface HttpAnswer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  /** Throws KubeError Unreachable when the connection breaks; the signal's reason on abort. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** The rest of the answer is not wanted: closes the connection unless all was read. */
  discard(): void;
}

export const readText = async (answer: HttpAnswer): Promise<string> => {
  const parts: Uint8Array[] = [];
  for await (const chunk of answer.chunks) parts.push(chunk);
  return Buffer.concat(parts).toString('utf8');
};

interface Lanes {
  readonly certificate: ClientCertificate | undefined;
  readonly requests: Dispatcher;
  readonly watches: Dispatcher;
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** A caller's abort passes through as it is; what never got an answer becomes Unreachable. */
const failure = (error: unknown, what: string, signal: AbortSignal | undefined): unknown => {
  if (signal?.aborted === true) return signal.reason;
  if (error instanceof KubeError || codeOf(error) === 'UND_ERR_INVALID_ARG') return error;
  const reason = error instanceof Error && error.message !== '' ? error.message : codeOf(error);
  return new KubeError('Unreachable', `${what}: no answer: ${reason}`, { cause: error });
};

const headerOf = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value[0] : value;

async function* guarded(
  body: AsyncIterable<Uint8Array>,
  what: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw failure(error, what, signal);
  }
}

export class Transport {
  readonly #cluster: ClusterAccess;
  readonly #user: UserAccess;
  readonly #userAgent: string;
  readonly #dates: DateReader | undefined;
  readonly #origin: string;
  /** Path of the server's URL without a final slash: some clusters live below one. */
  readonly #base: string;
  #lanes: Lanes | undefined;
  #closed = false;

  constructor(options: {
    readonly cluster: ClusterAccess;
    readonly user: UserAccess;
    readonly userAgent: string;
    readonly dates?: DateReader;
  }) {
    this.#cluster = options.cluster;
    this.#user = options.user;
    this.#userAgent = options.userAgent;
    this.#dates = options.dates;
    const url = new URL(options.cluster.server);
    this.#origin = url.origin;
    this.#base = url.pathname.replace(/\/$/, '');
  }

  async send(call: HttpCall): Promise<HttpAnswer> {
    const answer = await this.#sendOnce(call);
    if (answer.status !== 401 || !this.#user.authenticator.renew()) return answer;
    await readText(answer);
    return this.#sendOnce(call);
  }

  /** Waits for nothing: calls and watches under way end with an error. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#destroy(this.#lanes);
    this.#lanes = undefined;
  }

  async #sendOnce(call: HttpCall): Promise<HttpAnswer> {
    const { signal } = call;
    const what = `${call.method} ${call.path}`;
    signal?.throwIfAborted();
    try {
      const authorization = await this.#user.authenticator.current();
      const lanes = this.#connect(authorization.certificate);
      const answered = this.#dates?.sent();
      const response = await lanes[call.lane].request({
        origin: this.#origin,
        path: this.#base + call.path,
        method: call.method,
        headers: this.#headers(call, authorization),
        headersTimeout: answerTimeoutMs,
        bodyTimeout: call.idleTimeoutMs ?? answerTimeoutMs,
        ...defined({ body: call.body, signal }),
      });
      answered?.(headerOf(response.headers.date));
      return {
        status: response.statusCode,
        retryAfter: headerOf(response.headers['retry-after']),
        chunks: guarded(response.body, what, signal),
        discard: () => {
          response.body.on('error', () => undefined);
          response.body.destroy();
        },
      };
    } catch (error) {
      throw failure(error, what, signal);
    }
  }

  #headers(call: HttpCall, authorization: Authorization): Record<string, string | string[]> {
    const headers: Record<string, string | string[]> = {
      accept: 'application/json',
      'user-agent': this.#userAgent,
    };
    for (const [name, value] of Object.entries(this.#user.headers)) {
      headers[name] = typeof value === 'string' ? value : [...value];
    }
    if (authorization.header !== undefined) headers.authorization = authorization.header;
    if (call.body !== undefined) {
      // The body is a string, so that undici states its length also for DELETE: a body without one
      // is not read by the server, and its preconditions are ignored.
      headers['content-type'] = call.contentType ?? 'application/json';
    }
    return headers;
  }

  #connect(certificate: ClientCertificate | undefined): Lanes {
    if (this.#closed) throw new KubeError('Unreachable', 'the client is closed');
    const current = this.#lanes;
    if (
      current !== undefined &&
      current.certificate?.certificate === certificate?.certificate &&
      current.certificate?.key === certificate?.key
    ) {
      return current;
    }
    const lanes: Lanes = {
      certificate,
      requests: this.#dispatcher(certificate, maxRequestConnections),
      watches: this.#dispatcher(certificate, null),
    };
    this.#lanes = lanes;
    // A renewed certificate: what runs on the old connections may finish.
    current?.requests.close().catch(() => undefined);
    current?.watches.close().catch(() => undefined);
    return lanes;
  }

  #dispatcher(certificate: ClientCertificate | undefined, connections: number | null): Dispatcher {
    const { certificateAuthority, tlsServerName, insecureSkipTlsVerify, proxyUrl } = this.#cluster;
    const tls = {
      timeout: connectTimeoutMs,
      keepAliveInitialDelay: 30_000,
      ...defined({ ca: certificateAuthority, servername: tlsServerName }),
      ...(insecureSkipTlsVerify === true ? { rejectUnauthorized: false } : {}),
      ...(certificate === undefined ? {} : { cert: certificate.certificate, key: certificate.key }),
    };
    const options = {
      connections,
      pipelining: 1,
      allowH2: false,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMs,
    };
    return proxyUrl === undefined
      ? new Pool(this.#origin, { ...options, connect: tls })
      : new ProxyAgent({ ...options, uri: proxyUrl, requestTls: tls });
  }

  async #destroy(lanes: Lanes | undefined): Promise<void> {
    const closed = new KubeError('Unreachable', 'the client is closed');
    await Promise.all([lanes?.requests.destroy(closed), lanes?.watches.destroy(closed)]);
  }
}
