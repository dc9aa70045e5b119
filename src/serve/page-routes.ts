// The page over HTTP: its files, the snapshot, the event stream and the requests of operators.
// Checks who asks, and that a write comes from the page itself. Interprets no data.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type Json, type JsonObject, objectOr } from '../api/json.ts';
import { parseJson } from '../api/parse-json.ts';
import { headersOf, readRequest } from './message.ts';
import { bearerOf, cookieOf, type PageAccess, setCookie } from './page-access.ts';
import type { PageFile } from './page-files.ts';

type Answer =
  | { readonly kind: 'ok'; readonly body: object }
  | { readonly kind: 'error'; readonly status: number; readonly message: string };

export interface PageSource {
  /** JSON. */
  snapshot(): Promise<string>;
  subscribe(from: string | undefined, reader: StreamReader): Promise<Subscription>;
}

interface StreamReader {
  /** False: the connection is full; nothing is sent until `resume`. */
  send(event: { id?: string; event: string; data: string }): boolean;
  end(): void;
}

interface Subscription {
  resume(): void;
  end(): void;
}

export interface PageRoutesOptions {
  readonly source: PageSource;
  readonly access: PageAccess;
  /** Undefined: the page is not built. */
  readonly files: () => ReadonlyMap<string, PageFile> | undefined;
  /** GET /page/v1/NAME: details. */
  readonly reads: Readonly<Record<string, (query: URLSearchParams) => Promise<Answer>>>;
  /** POST /page/v1/NAME. `bearer`: the caller's own token, where one is required. */
  readonly writes: Readonly<
    Record<string, (input: JsonObject, bearer: string | undefined) => Promise<Answer>>
  >;
}

/** Readers of the stream; a browser has one per open page. */
const maxReaders = 64;
const gzipAbove = 1_400;
const gzipAsync = promisify(gzip);

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const security: Readonly<Record<string, string>> = {
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-frame-options': 'DENY',
};

const notBuilt =
  'The page is not built. In a checkout `npm run build:page` builds it, in about a second; then ' +
  'load this address again.\n';

const acceptsGzip = (headers: Readonly<Record<string, string>>): boolean =>
  /\bgzip\b/.test(headers['accept-encoding'] ?? '');

const send = (
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string | Buffer,
): void => {
  if (response.destroyed) return;
  const length = String(Buffer.byteLength(body));
  response.writeHead(status, { ...security, ...headers, 'content-length': length });
  response.end(body);
};

const text = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' };
const json = { 'content-type': 'application/json', 'cache-control': 'no-store' };

const sendJson = async (
  message: IncomingMessage,
  response: ServerResponse,
  body: string,
): Promise<void> => {
  const vary = { ...json, vary: 'accept-encoding' };
  if (body.length < gzipAbove || !acceptsGzip(headersOf(message))) {
    return send(response, 200, vary, body);
  }
  const zipped = await gzipAsync(body, { level: 4 });
  send(response, 200, { ...vary, 'content-encoding': 'gzip' }, zipped);
};

const sendError = (response: ServerResponse, status: number, message: string): void =>
  send(response, status, json, JSON.stringify({ error: message }));

const sendUnknown = (response: ServerResponse, { how, signIn }: PageAccess): void =>
  send(response, 401, json, JSON.stringify({ error: how, signIn }));

const sendFile = (message: IncomingMessage, response: ServerResponse, file: PageFile): void => {
  const zipped = acceptsGzip(headersOf(message));
  const headers = {
    'content-type': file.type,
    'cache-control': file.isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    vary: 'accept-encoding',
    ...(zipped ? { 'content-encoding': 'gzip' } : {}),
  };
  send(response, 200, headers, zipped ? file.gzip : file.bytes);
};

const prefix = '/page/v1/';

/** Calls of AWS clients use the same address: they are signed or name an action. */
export const isPagePath = (message: IncomingMessage): boolean => {
  const [path = '', query = ''] = (message.url ?? '').split('?');
  if (path.startsWith('/page/')) return true;
  const isSigned =
    message.headers.authorization !== undefined || /\b(?:X-Amz-|Action=)/.test(query);
  return path === '/' && message.method === 'GET' && !isSigned;
};

export class PageRoutes {
  readonly #options: PageRoutesOptions;
  #readers = 0;

  constructor(options: PageRoutesOptions) {
    this.#options = options;
  }

  /** Host and Origin were checked before. */
  async handle(message: IncomingMessage, response: ServerResponse, port: number): Promise<void> {
    const url = message.url ?? '/';
    const [path = '/', query = ''] = url.split('?');
    if (path.startsWith(prefix)) {
      return this.#api(message, response, { name: path.slice(prefix.length), query, port });
    }
    if (message.method !== 'GET') return sendError(response, 405, 'files take GET only');
    const files = this.#options.files();
    if (files === undefined) return send(response, 503, text, notBuilt);
    const name = path === '/' ? 'index.html' : path.slice('/page/'.length);
    const file = files.get(name);
    if (file === undefined) return send(response, 404, text, 'no such file\n');
    sendFile(message, response, file);
  }

  async #isKnown(message: IncomingMessage, port: number): Promise<boolean> {
    const cookie = cookieOf(headersOf(message), port);
    return cookie !== undefined && this.#options.access.knows(cookie);
  }

  /** A stream ends with its session; the page then asks for a new token. */
  #endUnlessKnown(message: IncomingMessage, response: ServerResponse, port: number): void {
    this.#isKnown(message, port).then(
      (isKnown) => {
        if (!isKnown) response.destroy();
      },
      () => response.destroy(),
    );
  }

  async #api(
    message: IncomingMessage,
    response: ServerResponse,
    { name, query, port }: { readonly name: string; readonly query: string; readonly port: number },
  ): Promise<void> {
    const { access, reads, source } = this.#options;
    if (message.method === 'POST') return this.#write(message, response, { name, port });
    if (message.method !== 'GET') return sendError(response, 405, 'GET and POST only');
    if (!(await this.#isKnown(message, port))) return sendUnknown(response, access);
    if (name === 'snapshot') return sendJson(message, response, await source.snapshot());
    const parameters = new URLSearchParams(query);
    if (name === 'events') return this.#stream(message, response, { parameters, port });
    const read = Object.hasOwn(reads, name) ? reads[name] : undefined;
    if (read === undefined) return sendError(response, 404, `no document ${name}`);
    const answer = await read(parameters);
    if (answer.kind === 'error') return sendError(response, answer.status, answer.message);
    await sendJson(message, response, JSON.stringify(answer.body));
  }

  async #stream(
    message: IncomingMessage,
    response: ServerResponse,
    { parameters, port }: { readonly parameters: URLSearchParams; readonly port: number },
  ): Promise<void> {
    if (this.#readers >= maxReaders) {
      return sendError(response, 503, `${maxReaders} pages are open already: close one`);
    }
    this.#readers += 1;
    let subscription: Subscription | undefined;
    let isOver = false;
    const over = (): void => {
      if (isOver) return;
      isOver = true;
      this.#readers -= 1;
      subscription?.end();
    };
    response.on('close', over);
    response.on('drain', () => subscription?.resume());
    response.writeHead(200, {
      ...security,
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    response.write('retry: 1000\n\n');
    const last = headersOf(message)['last-event-id'];
    const from = last ?? parameters.get('from') ?? undefined;
    subscription = await this.#options.source.subscribe(from, {
      send: ({ id, event, data }) => {
        if (response.destroyed) return false;
        this.#endUnlessKnown(message, response, port);
        const position = id === undefined ? '' : `id: ${id}\n`;
        return response.write(`${position}event: ${event}\ndata: ${data}\n\n`);
      },
      end: () => response.destroy(),
    });
    if (isOver) subscription.end();
    else if (!response.writableNeedDrain) subscription.resume();
  }

  /**
   * A write must come from a script of this origin: JSON, with a header that no HTML form can send.
   */
  async #write(
    message: IncomingMessage,
    response: ServerResponse,
    { name, port }: { readonly name: string; readonly port: number },
  ): Promise<void> {
    const { access, writes } = this.#options;
    const headers = headersOf(message);
    if (headers['x-drover-page'] !== '1' || headers['content-type'] !== 'application/json') {
      message.resume();
      return sendError(response, 403, 'only the page itself may send this');
    }
    const read = await readRequest(message);
    if (read.kind === 'gone') return;
    if (read.kind === 'tooLarge') return sendError(response, 413, 'the request is too large');
    const bearer = bearerOf(headers);
    if (name === 'session') {
      const opened = await access.open(bearer ?? '');
      if (opened.kind === 'error') return sendError(response, opened.status, opened.message);
      const cookie = setCookie(opened.cookie, port);
      return send(response, 200, { ...json, 'set-cookie': cookie }, '{}');
    }
    if (!(await this.#isKnown(message, port))) return sendUnknown(response, access);
    const write = Object.hasOwn(writes, name) ? writes[name] : undefined;
    if (write === undefined) return sendError(response, 404, `this page cannot do ${name}`);
    let input: Json = {};
    try {
      input = parseJson(Buffer.from(read.request.body).toString('utf8'));
    } catch {
      return sendError(response, 400, 'the body is not JSON');
    }
    const answer = await write(objectOr(input), bearer);
    if (answer.kind === 'error') return sendError(response, answer.status, answer.message);
    await sendJson(message, response, JSON.stringify(answer.body));
  }
}
