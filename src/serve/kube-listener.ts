// The Kubernetes API's TLS listener: authentication (client certificate or bearer token), body
// decoding, and watch streams written as changes are committed. The world answers all requests.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { TLSSocket } from 'node:tls';
import type {
  ApiRequest,
  ApiResponse,
  ApiStatus,
  UserInfo,
  WorldKube,
} from '../../world/contracts.ts';
import { nodeManagerUser } from '../../world/identities.ts';
import { type DecodedBody, decodeBody } from '../../world/kube/server/index.ts';
import { defined } from '../api/defined.ts';
import type { HttpRequest } from '../api/http.ts';
import type { Json } from '../api/json.ts';
import { checkHostAndOrigin } from './guard.ts';
import { type ListenerLimits, listenerLimits, maxConnections } from './limits.ts';
import { headersOf, jsonResponse, maxBodyBytes, readRequest, writeResponse } from './message.ts';
import type { Pacer } from './pacer.ts';

export interface KubeListenerOptions {
  readonly kube: WorldKube;
  readonly pacer: Pacer;
  readonly tls: { readonly ca: string; readonly cert: string; readonly key: string };
  /** The user of a bearer token, or undefined. */
  readonly authenticateToken: (token: string) => Promise<UserInfo | undefined>;
  /**
   * Converts one YAML document to JSON and finds duplicate keys; rejects with the parser's message.
   */
  readonly parseYaml: (
    text: string,
  ) => Promise<{ readonly value: Json; readonly duplicates: readonly string[] }>;
}

/** A watcher that lags this many bytes behind is disconnected, as by etcd. */
const maxBufferedBytes = 32 * 1024 * 1024;
const anonymousPaths = new Set(['/version', '/healthz', '/readyz', '/livez']);
const yamlTypes = new Set(['application/yaml', 'application/apply-patch+yaml']);
const methods = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);

const status = (code: number, reason: string, message: string): ApiStatus => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message,
  reason,
  code,
});

const userOfCertificate = (message: IncomingMessage): UserInfo | undefined => {
  const socket = message.socket as TLSSocket;
  if (!socket.authorized) return undefined;
  const subject = socket.getPeerCertificate().subject as
    | { readonly CN?: string; readonly O?: string | readonly string[] }
    | undefined;
  if (subject?.CN === undefined) return undefined;
  // As in EKS' authenticator: each audit event names the role's session.
  if (subject.CN === nodeManagerUser.username) return nodeManagerUser;
  const organisations = subject.O === undefined ? [] : [subject.O].flat();
  return { username: subject.CN, groups: [...organisations, 'system:authenticated'] };
};

/** Decodes YAML, since the world has no parser; the API server decodes everything else. */
const decode = async (
  request: HttpRequest,
  parseYaml: KubeListenerOptions['parseYaml'],
): Promise<DecodedBody> => {
  const contentType = request.headers['content-type'] ?? '';
  const media = contentType.split(';', 1)[0]?.trim().toLowerCase();
  if (media === undefined || !yamlTypes.has(media) || request.body.length === 0) {
    return decodeBody(contentType, request.body);
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(request.body);
    const { value, duplicates } = await parseYaml(text);
    return { kind: 'ok', body: value, sent: { form: 'yaml', duplicates } };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const doing = media === 'application/yaml' ? '' : 'error decoding YAML: ';
    const message = `${doing}error converting YAML to JSON: ${why}`;
    return { kind: 'error', status: status(400, 'BadRequest', message) };
  }
};

const authenticate = async (
  message: IncomingMessage,
  options: KubeListenerOptions,
): Promise<UserInfo | undefined> => {
  const header = message.headers.authorization;
  if (header?.startsWith('Bearer ')) return options.authenticateToken(header.slice(7).trim());
  return userOfCertificate(message);
};

const headerList = (value: string | readonly string[] | undefined): readonly string[] =>
  value === undefined ? [] : [value].flat();

const extraHeader = 'impersonate-extra-';

/**
 * Extra user information of the impersonated user: `Impersonate-Extra-KEY`, the key
 * percent-encoded.
 */
const extraOf = (headers: NodeJS.Dict<string[]>): UserInfo['extra'] => {
  const extra = Object.entries(headers).flatMap(([name, values]) => {
    if (!name.startsWith(extraHeader) || values === undefined) return [];
    const key = name.slice(extraHeader.length);
    try {
      return [[decodeURIComponent(key), values] as const];
    } catch {
      return [[key, values] as const];
    }
  });
  return extra.length === 0 ? undefined : Object.fromEntries(extra);
};

/**
 * The user that the Impersonate headers name (`kubectl --as`); without any, the caller.
 * Administrators may impersonate every user, others none: text is the reason.
 */
const impersonated = (message: IncomingMessage, user: UserInfo): UserInfo | string => {
  const { headersDistinct } = message;
  const username = headersDistinct['impersonate-user']?.[0];
  const groups = headerList(headersDistinct['impersonate-group']);
  if (username === undefined) {
    return groups.length === 0 ? user : 'requested impersonation without a user name';
  }
  if (!user.groups.includes('system:masters')) {
    const who = `User "${user.username}" cannot impersonate resource "users"`;
    return `users "${username}" is forbidden: ${who} in API group "" at the cluster scope`;
  }
  const uid = headersDistinct['impersonate-uid']?.[0];
  const account = /^system:serviceaccount:([^:]+):[^:]+$/.exec(username)?.[1];
  const implied =
    account === undefined || groups.length > 0
      ? []
      : ['system:serviceaccounts', `system:serviceaccounts:${account}`];
  const known = username === 'system:anonymous' ? [] : ['system:authenticated'];
  return {
    username,
    ...defined({ uid, extra: extraOf(headersDistinct) }),
    groups: [...new Set([...groups, ...implied, ...known])],
  };
};

const toApiRequest = (
  request: HttpRequest,
  user: UserInfo,
  { body, sent }: Extract<DecodedBody, { kind: 'ok' }>,
): ApiRequest => ({
  method: request.method as ApiRequest['method'],
  path: decodeURIComponent(request.path),
  query: new URLSearchParams(request.query),
  contentType: request.headers['content-type'] ?? 'application/json',
  accept: request.headers.accept ?? 'application/json',
  ...defined({ body, sent }),
  user,
  userAgent: request.headers['user-agent'] ?? '',
  sourceIp: request.remoteAddress,
});

const streamWatch = (
  answer: Extract<ApiResponse, { kind: 'watch' }>,
  response: ServerResponse,
  pacer: Pacer,
): void => {
  response.writeHead(200, {
    'content-type': 'application/json',
    'cache-control': 'no-cache, private',
    'transfer-encoding': 'chunked',
  });
  response.flushHeaders();
  let pending: string[] = [];
  let ended = false;
  const flush = (): void => {
    if (pending.length > 0 && !response.destroyed) {
      response.write(pending.join(''));
      pending = [];
      if (response.writableLength > maxBufferedBytes) response.destroy();
    }
    if (ended) response.end();
  };
  const later = (): void => pacer.afterCommit(flush);
  const stop = pacer.enter(() =>
    answer.open({
      frame: (frame) => {
        if (pending.push(`${JSON.stringify(frame)}\n`) === 1) later();
      },
      end: () => {
        ended = true;
        later();
      },
    }),
  );
  response.on('close', () => {
    // A stopped world has no watches left to end.
    if (!ended && pacer.whole) pacer.enter(stop);
  });
};

const respond = async (
  answer: ApiResponse,
  response: ServerResponse,
  pacer: Pacer,
): Promise<void> => {
  switch (answer.kind) {
    case 'watch':
      streamWatch(answer, response, pacer);
      return;
    case 'text':
      await pacer.committed();
      writeResponse(response, {
        status: answer.status,
        headers: { 'content-type': answer.contentType ?? 'text/plain; charset=utf-8' },
        body: answer.body,
      });
      return;
    case 'object': {
      // Rendered immediately: objects are immutable, but the answer is as of this revision.
      const body = `${JSON.stringify(answer.body)}\n`;
      await pacer.committed();
      writeResponse(response, {
        status: answer.status,
        headers: { 'content-type': answer.contentType ?? 'application/json', ...answer.headers },
        body,
      });
    }
  }
};

const serveOne = async (
  message: IncomingMessage,
  response: ServerResponse,
  options: KubeListenerOptions,
  port: number,
): Promise<void> => {
  const refuse = (body: ApiStatus): void => writeResponse(response, jsonResponse(body.code, body));
  const verdict = checkHostAndOrigin(headersOf(message), port);
  if (verdict.kind === 'refused') return refuse(status(403, 'Forbidden', verdict.why));
  const read = await readRequest(message);
  if (read.kind === 'gone') return;
  if (read.kind === 'tooLarge') {
    const limit = `Request entity too large: limit is ${maxBodyBytes}`;
    refuse(status(413, 'RequestEntityTooLarge', limit));
    return;
  }
  const { request } = read;
  if (!methods.has(request.method)) {
    return refuse(status(405, 'MethodNotAllowed', `${request.method} is not served here`));
  }
  const known = await authenticate(message, options);
  if (known === undefined && !anonymousPaths.has(request.path)) {
    return refuse(status(401, 'Unauthorized', 'Unauthorized'));
  }
  const caller = known ?? { username: 'system:anonymous', groups: ['system:unauthenticated'] };
  const user = impersonated(message, caller);
  if (typeof user === 'string') return refuse(status(403, 'Forbidden', user));
  const decoded = await decode(request, options.parseYaml);
  if (decoded.kind === 'error') return refuse(decoded.status);
  let apiRequest: ApiRequest;
  try {
    apiRequest = toApiRequest(request, user, decoded);
  } catch {
    return refuse(status(400, 'BadRequest', 'the path is not valid URL encoding'));
  }
  await respond(
    options.pacer.enter(() => options.kube.handle(apiRequest)),
    response,
    options.pacer,
  );
};

/**
 * The listener, not yet listening. Calls `port()` per request, because port 0 selects a free one.
 */
export const createKubeListener = (
  options: KubeListenerOptions,
  more: {
    readonly port: () => number;
    readonly onError: (error: unknown) => void;
    readonly limits?: ListenerLimits;
  },
): Server => {
  const server = createServer(
    {
      ca: options.tls.ca,
      cert: options.tls.cert,
      key: options.tls.key,
      requestCert: true,
      // A bearer token may replace the certificate; `authenticate` decides.
      rejectUnauthorized: false,
      ...listenerLimits,
      ...more.limits,
    },
    (message, response) => {
      serveOne(message, response, options, more.port()).catch((error: unknown) => {
        more.onError(error);
        writeResponse(
          response,
          jsonResponse(500, status(500, 'InternalError', 'the world failed on this request')),
        );
      });
    },
  );
  server.maxConnections = maxConnections;
  return server;
};
