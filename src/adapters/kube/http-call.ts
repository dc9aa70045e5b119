// Requests and answers of a transport to one API server, and what all transports share: headers,
// one retry after a 401, and KubeError Unreachable for every missing answer.
import { KubeError } from '../../ports/index.ts';
import type { Authorization } from './auth.ts';
import type { UserAccess } from './kubeconfig.ts';

/**
 * Longer than the slowest eviction (10.7 s measured; the server tries 20 times at 0.5 s), shorter
 * than the server's own 60 s.
 */
export const answerTimeoutMs = 30_000;
/** Below the 90 s after which a Go server closes idle connections: the client must close first. */
export const keepAliveMs = 45_000;
export const connectTimeoutMs = 10_000;

/** Watches never queue behind requests, and there may be one for each draining node. */
export type Lane = 'requests' | 'watches';

export interface HttpCall {
  readonly lane: Lane;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Including the query. */
  readonly path: string;
  readonly body?: string;
  readonly contentType?: string;
  readonly signal?: AbortSignal | undefined;
  /** Longest silence within the answer; by default the same as for its start. */
  readonly idleTimeoutMs?: number;
}

export interface HttpAnswer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  /** Throws KubeError Unreachable when the connection breaks; the signal's reason on abort. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Discards the rest of the answer; closes the connection unless it was read completely. */
  discard(): void;
}

export const readText = async (answer: HttpAnswer): Promise<string> => {
  const parts: Uint8Array[] = [];
  for await (const chunk of answer.chunks) parts.push(chunk);
  return Buffer.concat(parts).toString('utf8');
};

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** Rethrows a caller's abort; a missing answer becomes Unreachable. */
export const failure = (error: unknown, what: string, signal: AbortSignal | undefined): unknown => {
  if (signal?.aborted === true) return signal.reason;
  if (error instanceof KubeError || codeOf(error) === 'UND_ERR_INVALID_ARG') return error;
  const reason = error instanceof Error && error.message !== '' ? error.message : codeOf(error);
  return new KubeError('Unreachable', `${what}: no answer: ${reason}`, { cause: error });
};

export const headerOf = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value[0] : value;

export async function* guarded(
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

export const headersOf = (
  call: HttpCall,
  authorization: Authorization,
  { user, userAgent }: { readonly user: UserAccess; readonly userAgent: string },
): Record<string, string | string[]> => {
  const headers: Record<string, string | string[]> = {
    accept: 'application/json',
    'user-agent': userAgent,
  };
  for (const [name, value] of Object.entries(user.headers)) {
    headers[name] = typeof value === 'string' ? value : [...value];
  }
  if (authorization.header !== undefined) headers.authorization = authorization.header;
  if (call.body !== undefined) headers['content-type'] = call.contentType ?? 'application/json';
  return headers;
};

export interface KubeTransport {
  /** Throws KubeError Unreachable without an answer, and the signal's reason on abort. */
  send(call: HttpCall): Promise<HttpAnswer>;
  /** Ends calls and watches in progress with an error, without waiting. */
  close(): Promise<void>;
}

/** The only retry: a request that was refused with a 401 had no effect. */
export const sendRenewed = async (
  user: UserAccess,
  once: () => Promise<HttpAnswer>,
): Promise<HttpAnswer> => {
  const answer = await once();
  if (answer.status !== 401 || !user.authenticator.renew()) return answer;
  await readText(answer);
  return once();
};
