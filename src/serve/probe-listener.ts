// The plain HTTP listener of a process for its operators: /metrics for Prometheus, /healthz and
// /readyz for the kubelet. Answers GET and HEAD of fixed paths; changes nothing, checks no caller.
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ListenError } from './listen.ts';

/** Importing node:http as a module would also load Node's fetch and HTTP/2: 6 to 10 MB. */
const { createServer } = process.getBuiltinModule('node:http');

export interface ProbeAnswer {
  readonly status: number;
  /** Default: text/plain. */
  readonly contentType?: string;
  readonly body: string;
}

/** Answers by path, such as `/healthz`. */
export type ProbeRoutes = Readonly<Record<string, () => ProbeAnswer | Promise<ProbeAnswer>>>;

/** Requests have no body; a scraper sends its headers at once. */
const limits = { headersTimeout: 5_000, requestTimeout: 10_000, maxHeaderSize: 8 * 1024 };
const maxConnections = 64;

const answerTo = async (
  routes: ProbeRoutes,
  method: string,
  path: string,
): Promise<ProbeAnswer> => {
  const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
  if (route === undefined) {
    return { status: 404, body: `known paths: ${Object.keys(routes).sort().join(' ')}\n` };
  }
  if (method !== 'GET' && method !== 'HEAD') return { status: 405, body: 'GET only\n' };
  return route();
};

export const createProbeListener = (
  routes: ProbeRoutes,
  onError: (error: unknown) => void,
): Server => {
  const server = createServer(limits, (request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? '';
    answerTo(routes, request.method ?? '', path)
      .catch((error: unknown): ProbeAnswer => {
        onError(error);
        return { status: 500, body: 'the answer failed; see the log\n' };
      })
      .then(({ status, contentType = 'text/plain; charset=utf-8', body }) => {
        response.writeHead(status, {
          'content-type': contentType,
          'x-content-type-options': 'nosniff',
        });
        response.end(request.method === 'HEAD' ? undefined : body);
      })
      .catch(onError);
  });
  server.maxConnections = maxConnections;
  return server;
};

/** Listens on `host`:`port` (0 = any free port); returns the port. Throws ListenError. */
export const listenForProbes = (
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<number> =>
  new Promise((resolve, reject) => {
    const failed = (error: Error): void =>
      reject(
        new ListenError(
          `cannot listen on ${host} port ${port} for metrics and probes (${error.message}): pass ` +
            'another --metrics-port or --metrics-host',
          { cause: error },
        ),
      );
    server.once('error', failed);
    server.listen(port, host, () => {
      server.off('error', failed);
      resolve((server.address() as AddressInfo).port);
    });
  });
