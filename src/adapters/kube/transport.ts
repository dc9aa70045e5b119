// One API server over undici: pools of keep-alive connections for requests and for watches. undici
// is loaded at the first call, because it costs 28 MB. Never retries, except once after a 401 with
// fresh credentials.

import type { Dispatcher } from 'undici';
import { defined } from '../../api/defined.ts';
import { type DateReader, KubeError } from '../../ports/index.ts';
import type { ClientCertificate } from './auth.ts';
import {
  answerTimeoutMs,
  connectTimeoutMs,
  failure,
  guarded,
  type HttpAnswer,
  type HttpCall,
  headerOf,
  headersOf,
  type KubeTransport,
  keepAliveMs,
  sendRenewed,
} from './http-call.ts';
import type { ClusterAccess, UserAccess } from './kubeconfig.ts';

/** Enough for 64 concurrent evictions (each up to 10 s) and ordinary calls. */
const maxRequestConnections = 96;

const loadUndici = () => import('undici');
type Undici = Awaited<ReturnType<typeof loadUndici>>;

interface Lanes {
  readonly certificate: ClientCertificate | undefined;
  readonly requests: Dispatcher;
  readonly watches: Dispatcher;
}

export class Transport implements KubeTransport {
  readonly #cluster: ClusterAccess;
  readonly #user: UserAccess;
  readonly #caller: { readonly user: UserAccess; readonly userAgent: string };
  readonly #dates: DateReader | undefined;
  readonly #origin: string;
  /** Path of the server's URL without a final slash: some clusters are below a path. */
  readonly #base: string;
  #undici: Promise<Undici> | undefined;
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
    this.#caller = { user: options.user, userAgent: options.userAgent };
    this.#dates = options.dates;
    const url = new URL(options.cluster.server);
    this.#origin = url.origin;
    this.#base = url.pathname.replace(/\/$/, '');
  }

  send(call: HttpCall): Promise<HttpAnswer> {
    return sendRenewed(this.#user, () => this.#sendOnce(call));
  }

  /** Ends calls and watches in progress with an error, without waiting. */
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
      this.#undici ??= loadUndici();
      const lanes = this.#connect(await this.#undici, authorization.certificate);
      const answered = this.#dates?.sent();
      const response = await lanes[call.lane].request({
        origin: this.#origin,
        path: this.#base + call.path,
        method: call.method,
        headers: headersOf(call, authorization, this.#caller),
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

  #connect(undici: Undici, certificate: ClientCertificate | undefined): Lanes {
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
      requests: this.#dispatcher(undici, certificate, maxRequestConnections),
      watches: this.#dispatcher(undici, certificate, null),
    };
    this.#lanes = lanes;
    // After a certificate renewal, requests on the old connections may finish.
    current?.requests.close().catch(() => undefined);
    current?.watches.close().catch(() => undefined);
    return lanes;
  }

  #dispatcher(
    { Pool, ProxyAgent }: Undici,
    certificate: ClientCertificate | undefined,
    connections: number | null,
  ): Dispatcher {
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
