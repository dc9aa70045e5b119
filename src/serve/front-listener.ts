// The plain HTTP listener on loopback: the AWS APIs, the page, world control under /drover/,
// health, metrics.
// Checks Host and Origin before anything else; AWS calls carry SigV4, world control a bearer token.
import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { HttpRequest, HttpResponse } from '../api/http.ts';
import { type Json, type JsonObject, objectOr } from '../api/json.ts';
import { maxJsonDepth, parseJson } from '../api/parse-json.ts';
import { checkHostAndOrigin } from './guard.ts';
import { type ListenerLimits, listenerLimits, maxConnections } from './limits.ts';
import { headersOf, jsonResponse, readRequest, writeResponse } from './message.ts';
import { isPagePath, type PageRoutes } from './page-routes.ts';

export type ControlAnswer =
  | { readonly kind: 'ok'; readonly body: JsonObject }
  | { readonly kind: 'error'; readonly status: number; readonly message: string };

/** Handlers by `METHOD /drover/v1/...`. */
export type ControlRoutes = Readonly<
  Record<string, (input: JsonObject, query: URLSearchParams) => Promise<ControlAnswer>>
>;

export interface FrontListenerOptions {
  readonly aws: (request: HttpRequest) => Promise<HttpResponse>;
  readonly control: ControlRoutes;
  /** Absent if the process serves no page. */
  readonly page?: PageRoutes;
  /** Text for Prometheus at /metrics: what the embedded controllers count. */
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>;
  /** Token for world control, the password in DROVER_URL. */
  readonly token: string;
}

const textEquals = (a: string, b: string): boolean => {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
};

const presentsToken = (request: HttpRequest, token: string): boolean => {
  const header = request.headers.authorization ?? '';
  if (header.startsWith('Bearer ')) return textEquals(header.slice(7), token);
  if (!header.startsWith('Basic ')) return false;
  const pair = Buffer.from(header.slice(6), 'base64').toString('utf8');
  return textEquals(pair.slice(pair.indexOf(':') + 1), token);
};

const errorResponse = (status: number, message: string): HttpResponse =>
  jsonResponse(status, { error: message });

const control = async (
  request: HttpRequest,
  options: FrontListenerOptions,
): Promise<HttpResponse> => {
  if (!presentsToken(request, options.token)) {
    return errorResponse(401, 'world control needs the token in DROVER_URL (see `drover env`)');
  }
  const route = options.control[`${request.method} ${request.path}`];
  if (route === undefined) {
    return errorResponse(404, `${request.method} ${request.path} is not a route of world control`);
  }
  let input: Json = {};
  if (request.body.length > 0) {
    try {
      input = parseJson(Buffer.from(request.body).toString('utf8'));
    } catch {
      return errorResponse(400, `the body is not JSON of at most ${maxJsonDepth} levels`);
    }
  }
  const answer = await route(objectOr(input), new URLSearchParams(request.query));
  return answer.kind === 'ok'
    ? jsonResponse(200, answer.body)
    : errorResponse(answer.status, answer.message);
};

const route = async (
  request: HttpRequest,
  options: FrontListenerOptions,
): Promise<HttpResponse> => {
  if (request.path === '/healthz') {
    return { status: 200, headers: { 'content-type': 'text/plain' }, body: 'ok' };
  }
  if (request.path === '/metrics') {
    const { contentType, text } = await options.metrics();
    return { status: 200, headers: { 'content-type': contentType }, body: text };
  }
  if (request.path.startsWith('/drover/')) return control(request, options);
  return options.aws(request);
};

const serveOne = async (
  message: IncomingMessage,
  response: ServerResponse,
  options: FrontListenerOptions,
  port: number,
): Promise<void> => {
  const verdict = checkHostAndOrigin(headersOf(message), port);
  if (verdict.kind === 'refused') {
    return writeResponse(response, errorResponse(403, verdict.why));
  }
  if (options.page !== undefined && isPagePath(message)) {
    return options.page.handle(message, response, port);
  }
  const read = await readRequest(message);
  if (read.kind === 'gone') return;
  if (read.kind === 'tooLarge') {
    return writeResponse(response, errorResponse(413, 'the request is larger than 3 MiB'));
  }
  writeResponse(response, await route(read.request, options));
};

export const createFrontListener = (
  options: FrontListenerOptions,
  more: {
    readonly port: () => number;
    readonly onError: (error: unknown) => void;
    readonly limits?: ListenerLimits;
  },
): Server => {
  const server = createServer({ ...listenerLimits, ...more.limits }, (message, response) => {
    serveOne(message, response, options, more.port()).catch((error: unknown) => {
      more.onError(error);
      writeResponse(response, errorResponse(500, 'the world failed on this request'));
    });
  });
  server.maxConnections = maxConnections;
  return server;
};
