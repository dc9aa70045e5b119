// One API server over node:http and node:https, for processes with few calls: the node agent saves
// memory and commands start sooner, because undici takes long to load. Supports no proxy. Never
// retries, except once after a 401 with fresh credentials.

import type * as Http from 'node:http';
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

/** Importing node:http as an ES module also loads Node's fetch and HTTP/2: 6 to 10 MB more. */
const http = process.getBuiltinModule('node:http');
const https = process.getBuiltinModule('node:https');

/** Connections for requests: these processes make few at once. Watches have no limit. */
const maxRequestConnections = 8;

interface Connected {
  readonly certificate: ClientCertificate | undefined;
  readonly requests: Http.Agent;
  readonly watches: Http.Agent;
}

export class LightTransport implements KubeTransport {
  readonly #cluster: ClusterAccess;
  readonly #user: UserAccess;
  readonly #caller: { readonly user: UserAccess; readonly userAgent: string };
  readonly #dates: DateReader | undefined;
  readonly #url: URL;
  readonly #base: string;
  readonly #open = new Set<Http.ClientRequest>();
  #connected: Connected | undefined;
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
    this.#url = new URL(options.cluster.server);
    this.#base = this.#url.pathname.replace(/\/$/, '');
  }

  send(call: HttpCall): Promise<HttpAnswer> {
    return sendRenewed(this.#user, () => this.#sendOnce(call));
  }

  async close(): Promise<void> {
    this.#closed = true;
    const closed = new KubeError('Unreachable', 'the client is closed');
    for (const request of this.#open) request.destroy(closed);
    this.#connected?.requests.destroy();
    this.#connected?.watches.destroy();
    this.#connected = undefined;
  }

  async #sendOnce(call: HttpCall): Promise<HttpAnswer> {
    const { signal } = call;
    const what = `${call.method} ${call.path}`;
    signal?.throwIfAborted();
    try {
      const authorization = await this.#user.authenticator.current();
      const agent = this.#connect(authorization.certificate)[call.lane];
      const answered = this.#dates?.sent();
      const headers = headersOf(call, authorization, this.#caller);
      const body = call.body === undefined ? undefined : Buffer.from(call.body);
      if (body !== undefined) headers['content-length'] = String(body.length);
      const response = await this.#exchange(call, { agent, headers, body });
      answered?.(headerOf(response.headers.date));
      return {
        status: response.statusCode ?? 0,
        retryAfter: headerOf(response.headers['retry-after']),
        chunks: guarded(response, what, signal),
        discard: () => {
          response.on('error', () => undefined);
          response.destroy();
        },
      };
    } catch (error) {
      throw failure(error, what, signal);
    }
  }

  #exchange(
    call: HttpCall,
    sent: {
      readonly agent: Http.Agent;
      readonly headers: Http.OutgoingHttpHeaders;
      readonly body: Buffer | undefined;
    },
  ): Promise<Http.IncomingMessage> {
    const { hostname, port } = this.#url;
    const { request } = this.#url.protocol === 'https:' ? https : http;
    return new Promise((resolve, reject) => {
      const open = request({
        // An IPv6 address is in brackets in a URL, and without them here.
        host: hostname.replace(/^\[|\]$/g, ''),
        ...(port === '' ? {} : { port }),
        path: this.#base + call.path,
        method: call.method,
        headers: sent.headers,
        agent: sent.agent,
        // Until the socket is connected; `setTimeout` below applies afterwards.
        timeout: connectTimeoutMs,
        ...defined({ signal: call.signal }),
      });
      this.#open.add(open);
      open.setTimeout(call.idleTimeoutMs ?? answerTimeoutMs, () =>
        open.destroy(new Error('nothing came in time')),
      );
      open.on('close', () => this.#open.delete(open));
      open.on('error', reject);
      open.on('response', resolve);
      open.end(sent.body);
    });
  }

  #connect(certificate: ClientCertificate | undefined): Connected {
    if (this.#closed) throw new KubeError('Unreachable', 'the client is closed');
    const current = this.#connected;
    const isSame =
      current?.certificate?.certificate === certificate?.certificate &&
      current?.certificate?.key === certificate?.key;
    if (current !== undefined && isSame) return current;
    const requests = this.#agent(certificate, maxRequestConnections);
    const watches = this.#agent(certificate, Number.POSITIVE_INFINITY);
    this.#connected = { certificate, requests, watches };
    return this.#connected;
  }

  #agent(certificate: ClientCertificate | undefined, maxSockets: number): Http.Agent {
    const { certificateAuthority, tlsServerName, insecureSkipTlsVerify } = this.#cluster;
    const keeping = { keepAlive: true, timeout: keepAliveMs, maxSockets };
    if (this.#url.protocol !== 'https:') return new http.Agent(keeping);
    return new https.Agent({
      ...keeping,
      ...defined({ ca: certificateAuthority, servername: tlsServerName }),
      ...(insecureSkipTlsVerify === true ? { rejectUnauthorized: false } : {}),
      ...(certificate === undefined ? {} : { cert: certificate.certificate, key: certificate.key }),
    });
  }
}
