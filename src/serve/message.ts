// Converts node:http messages to HttpRequest and back, with a limit on the body. Never interprets.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpRequest, HttpResponse } from '../api/http.ts';

/** The API server's own limit for request bodies. */
export const maxBodyBytes = 3 * 1024 * 1024;
/**
 * A larger body is read up to here and discarded: a client that is still writing would see an early
 * answer as a broken connection.
 */
const maxDroppedBytes = 16 * 1024 * 1024;

export type ReadResult =
  | { readonly kind: 'ok'; readonly request: HttpRequest }
  | { readonly kind: 'tooLarge' }
  | { readonly kind: 'gone' };

const lowerHeaders = (message: IncomingMessage): Readonly<Record<string, string>> => {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(message.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return headers;
};

/** A request's headers, before the body is read. */
export const headersOf = lowerHeaders;

/** Reads the complete request; `gone` when the client closed or lost the connection. */
export const readRequest = async (message: IncomingMessage): Promise<ReadResult> => {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of message as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxDroppedBytes) return { kind: 'tooLarge' };
      if (size <= maxBodyBytes) chunks.push(chunk);
      else chunks.length = 0;
    }
    if (size > maxBodyBytes) return { kind: 'tooLarge' };
  } catch {
    return { kind: 'gone' };
  }
  const url = message.url ?? '/';
  const mark = url.indexOf('?');
  return {
    kind: 'ok',
    request: {
      method: message.method ?? 'GET',
      path: mark < 0 ? url : url.slice(0, mark),
      query: mark < 0 ? '' : url.slice(mark + 1),
      headers: lowerHeaders(message),
      body: Buffer.concat(chunks),
      remoteAddress: message.socket.remoteAddress ?? '127.0.0.1',
    },
  };
};

export const writeResponse = (response: ServerResponse, answer: HttpResponse): void => {
  if (response.destroyed) return;
  const bytes = typeof answer.body === 'string' ? Buffer.from(answer.body) : answer.body;
  response.writeHead(answer.status, { ...answer.headers, 'content-length': String(bytes.length) });
  response.end(bytes);
};

export const jsonResponse = (status: number, body: unknown): HttpResponse => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});
