import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { defined } from '../../api/defined.ts';
import type { JsonObject } from '../../api/json.ts';
import { type Node, type Pod, resourceTypes } from '../../api/kube.ts';
import { KubeError, type WatchEvent } from '../../ports/index.ts';
import { type Authenticator, fixedAuthenticator } from './auth.ts';
import { createKubeClient, type KubeClient } from './client.ts';

const cleanups: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const clientFor = (
  port: number,
  authenticator: Authenticator = fixedAuthenticator({ header: 'Bearer t' }),
  more: { pageSize?: number; watchIdleMs?: number } = {},
): KubeClient => {
  const client = createKubeClient({
    cluster: { server: `http://127.0.0.1:${port}/base/` },
    user: { authenticator, headers: { 'impersonate-user': 'jane' } },
    userAgent: 'drover/test',
    isLight,
    ...more,
  });
  cleanups.push(() => client.close());
  return client;
};

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}
type Answer = (seen: Seen, response: ServerResponse) => void;

const json = (response: ServerResponse, status: number, body: JsonObject): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

/**
 * A server that answers each call with the next function; the last one answers all further calls.
 */
const serve = async (...answers: Answer[]): Promise<{ port: number; seen: Seen[] }> => {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const { method = '', url = '', headers } = request;
    const call = { method, url, headers, body: Buffer.concat(parts).toString() };
    seen.push(call);
    (answers.length > 1 ? answers.shift() : answers[0])?.(call, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, seen };
};

const status = (code: number, reason: string, message: string): JsonObject => ({
  kind: 'Status',
  apiVersion: 'v1',
  status: 'Failure',
  code,
  reason,
  message,
});

const collect = async <T>(events: AsyncIterable<WatchEvent<T>>): Promise<WatchEvent<T>[]> => {
  const all: WatchEvent<T>[] = [];
  for await (const event of events) all.push(event);
  return all;
};

const { nodes, pods } = resourceTypes;

/** Set by each suite: both transports must meet the same expectations. */
let isLight = false;

describe.each([
  ['undici', false],
  ['node:http', true],
])('over %s', (_transport, light) => {
  beforeEach(() => {
    isLight = light;
  });

  describe('requests', () => {
    it('carry credentials, user agent, impersonation and the path of the server', async () => {
      const { port, seen } = await serve((_, response) => json(response, 200, { kind: 'Node' }));
      const found = await clientFor(port).get<Node>(nodes, { name: 'n1' });
      expect(found.kind).toBe('found');
      expect(seen[0]).toMatchObject({ method: 'GET', url: '/base/api/v1/nodes/n1' });
      expect(seen[0]?.headers).toMatchObject({
        authorization: 'Bearer t',
        'user-agent': 'drover/test',
        'impersonate-user': 'jane',
        accept: 'application/json',
      });
    });

    it('send a DELETE body with its length, and a dry run inside that body', async () => {
      // Raw sockets, because a node:http server would hide an unframed body.
      let text = '';
      const server = createTcpServer((socket) => {
        socket.on('error', () => undefined);
        socket.on('data', (data) => {
          text += data.toString();
          if (text.includes('}')) {
            socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}');
          }
        });
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      cleanups.push(() => server.close());
      const client = clientFor((server.address() as AddressInfo).port);
      const name = { namespace: 'demo', name: 'p1' };
      await client.delete(pods, name, { uid: 'u', gracePeriodSeconds: 0, dryRun: true });
      const [head = '', body = ''] = text.split('\r\n\r\n');
      expect(head).toMatch(/^DELETE \/base\/api\/v1\/namespaces\/demo\/pods\/p1 HTTP/);
      expect(head).toMatch(new RegExp(`content-length: ${body.length}\\b`));
      expect(JSON.parse(body)).toMatchObject({
        kind: 'DeleteOptions',
        preconditions: { uid: 'u' },
        gracePeriodSeconds: 0,
        dryRun: ['All'],
      });
    });

    it('evict with the pod uid as precondition', async () => {
      const { port, seen } = await serve((_, response) => json(response, 201, {}));
      const pod = { namespace: 'demo', name: 'p1', uid: 'u1' };
      expect(await clientFor(port).evict(pod, { dryRun: true })).toEqual({ kind: 'evicted' });
      expect(seen[0]).toMatchObject({
        method: 'POST',
        url: '/base/api/v1/namespaces/demo/pods/p1/eviction?dryRun=All',
      });
      expect(JSON.parse(seen[0]?.body ?? '')).toMatchObject({
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        deleteOptions: { preconditions: { uid: 'u1' } },
      });
    });

    it('never address a collection for want of a name', async () => {
      const client = clientFor(1);
      await expect(client.delete(nodes, { name: '' })).rejects.toThrow(TypeError);
      await expect(client.delete(pods, { name: 'p1' })).rejects.toThrow(TypeError);
    });

    it('find nothing: gone, for get, patch, delete and evict', async () => {
      const { port } = await serve((_, response) =>
        json(response, 404, status(404, 'NotFound', '')),
      );
      const client = clientFor(port);
      const gone = { kind: 'gone' };
      const patch = { type: 'merge', body: {} } as const;
      expect(await client.get(nodes, { name: 'n' })).toEqual(gone);
      expect(await client.patch(nodes, { name: 'n' }, patch)).toEqual(gone);
      expect(await client.delete(nodes, { name: 'n' })).toEqual(gone);
      expect(await client.evict({ namespace: 'd', name: 'p', uid: 'u' })).toEqual(gone);
    });

    it('are sent once more with fresh credentials after a 401, and only once', async () => {
      const { port, seen } = await serve((_, response) =>
        json(response, 401, status(401, 'Unauthorized', 'Unauthorized')),
      );
      let token = 1;
      const authenticator: Authenticator = {
        current: () => Promise.resolve({ header: `Bearer ${token}` }),
        renew: () => {
          token += 1;
          return true;
        },
      };
      const failed = clientFor(port, authenticator).get(nodes, { name: 'n' });
      await expect(failed).rejects.toMatchObject({ code: 'Unauthorized' });
      expect(seen.map((call) => call.headers.authorization)).toEqual(['Bearer 1', 'Bearer 2']);
    });

    it('become Unreachable without an answer, and the reason of an abort when aborted', async () => {
      await expect(clientFor(1).get(nodes, { name: 'n' })).rejects.toMatchObject({
        code: 'Unreachable',
      });
      const { port } = await serve((_, response) => response.destroy());
      await expect(clientFor(port).get(nodes, { name: 'n' })).rejects.toMatchObject({
        code: 'Unreachable',
      });
      const silent = await serve(() => undefined);
      const controller = new AbortController();
      const call = clientFor(silent.port).get(nodes, { name: 'n' }, { signal: controller.signal });
      controller.abort(new Error('shutting down'));
      await expect(call).rejects.toThrow('shutting down');
    });

    it('quote an answer that is not from an API server', async () => {
      const { port } = await serve((_, response) =>
        response.writeHead(502).end('<html>Bad gateway'),
      );
      const failed = clientFor(port).get(nodes, { name: 'n' });
      await expect(failed).rejects.toMatchObject({ code: 'ServerError' });
      await expect(failed).rejects.toThrow('<html>Bad gateway');
    });

    it('fail after close', async () => {
      const { port } = await serve((_, response) => json(response, 200, {}));
      const client = clientFor(port);
      await client.get(nodes, { name: 'n' });
      await client.close();
      await expect(client.get(nodes, { name: 'n' })).rejects.toMatchObject({ code: 'Unreachable' });
    });
  });

  const page = (names: readonly string[], next?: string): JsonObject => ({
    kind: 'PodList',
    apiVersion: 'v1',
    metadata: { resourceVersion: '9', ...defined({ continue: next }) },
    items: names.map((name) => ({ metadata: { name } })),
  });

  describe('lists', () => {
    it('are read page by page, each item with its kind', async () => {
      const { port, seen } = await serve(
        (_, response) => json(response, 200, page(['a', 'b'], 'more/1')),
        (_, response) => json(response, 200, page(['c'])),
      );
      const listed = await clientFor(port, undefined, { pageSize: 2 }).list<Pod>(pods, {
        fieldSelector: 'spec.nodeName=n1',
        resourceVersion: '0',
      });
      expect(listed.resourceVersion).toBe('9');
      expect(listed.items.map((item) => item.metadata.name)).toEqual(['a', 'b', 'c']);
      expect(listed.items[2]).toMatchObject({ kind: 'Pod', apiVersion: 'v1' });
      const selector = 'fieldSelector=spec.nodeName%3Dn1&limit=2';
      expect(seen.map((call) => call.url)).toEqual([
        `/base/api/v1/pods?${selector}&resourceVersion=0`,
        `/base/api/v1/pods?${selector}&continue=more%2F1`,
      ]);
    });

    it('start again when a page expired, and in the end without pages', async () => {
      const expired: Answer = (_, response) =>
        json(response, 410, status(410, 'Expired', 'too old'));
      const first: Answer = (_, response) => json(response, 200, page(['a'], 'next'));
      const { port, seen } = await serve(
        ...[first, expired, first, expired, first, expired],
        (_, response) => json(response, 200, page(['a', 'b'])),
      );
      const listed = await clientFor(port).list<Pod>(pods);
      expect(listed.items).toHaveLength(2);
      expect(seen.at(-1)?.url).toBe('/base/api/v1/pods');
    });

    it('that are cut off fail instead of being short', async () => {
      const { port } = await serve((_, response) => response.end('{"kind":"PodList","items":[{}'));
      await expect(clientFor(port).list(pods)).rejects.toMatchObject({ code: 'ServerError' });
    });
  });

  describe('watches', () => {
    const frame = (type: string, object: JsonObject): string =>
      `${JSON.stringify({ type, object })}\n`;
    const from = { resourceVersion: '5' };

    it('deliver events and bookmarks and end when the server ends them', async () => {
      const { port, seen } = await serve((_, response) => {
        response.write(frame('ADDED', { metadata: { name: 'a' } }));
        response.write(frame('BOOKMARK', { metadata: { resourceVersion: '7' } }).slice(0, 9));
        response.end(frame('BOOKMARK', { metadata: { resourceVersion: '7' } }).slice(9));
      });
      expect(await collect(clientFor(port).watch(nodes, from))).toEqual([
        { type: 'ADDED', object: { metadata: { name: 'a' } } },
        { type: 'BOOKMARK', resourceVersion: '7' },
      ]);
      const query = new URL(seen[0]?.url ?? '', 'http://x').searchParams;
      expect(query.get('allowWatchBookmarks')).toBe('true');
      expect(query.get('resourceVersion')).toBe('5');
      expect(Number(query.get('timeoutSeconds'))).toBeGreaterThanOrEqual(300);
    });

    it.each<[string, string, Answer]>([
      [
        'an expired version in the stream',
        'Expired',
        (_, response) => response.end(frame('ERROR', status(410, 'Expired', 'too old'))),
      ],
      [
        'an expired version at once',
        'Expired',
        (_, response) => json(response, 410, status(410, 'Expired', 'too old')),
      ],
      ['a line that is no event', 'ServerError', (_, response) => response.end('{"type":"X"}\n')],
      ['a line cut off', 'Unreachable', (_, response) => response.end('{"type":"AD')],
      [
        'a broken connection',
        'Unreachable',
        (_, response) => {
          response.write(frame('ADDED', {}));
          setImmediate(() => response.destroy());
        },
      ],
    ])('throw for %s', async (_what, code, answer) => {
      const { port } = await serve(answer);
      await expect(collect(clientFor(port).watch(nodes, from))).rejects.toMatchObject({
        name: 'KubeError',
        code,
      });
    });

    it('end with the reason when aborted, and close the connection when left', async () => {
      let closed = 0;
      const { port } = await serve((_, response) => {
        response.on('close', () => {
          closed += 1;
        });
        response.write(frame('ADDED', {}));
      });
      const client = clientFor(port);
      const controller = new AbortController();
      const watching = (async () => {
        for await (const _ of client.watch(nodes, { ...from, signal: controller.signal })) {
          controller.abort(new Error('enough'));
        }
      })();
      await expect(watching).rejects.toThrow('enough');
      for await (const _ of client.watch(nodes, from)) break;
      await expect.poll(() => closed).toBe(2);
    });

    it('in which nothing comes are taken for dead', async () => {
      const { port } = await serve((_, response) => response.flushHeaders());
      const client = clientFor(port, undefined, { watchIdleMs: 20 });
      await expect(collect(client.watch(nodes, from))).rejects.toBeInstanceOf(KubeError);
    });

    it('do not hold up requests, however many are open', async () => {
      const { port, seen } = await serve(({ url }, response) =>
        url.includes('watch=') ? response.flushHeaders() : json(response, 200, { kind: 'Node' }),
      );
      const client = clientFor(port);
      const watches = Array.from({ length: 20 }, () => collect(client.watch(nodes, from)));
      const ended = Promise.allSettled(watches);
      await expect.poll(() => seen.length).toBe(20);
      const found = await client.get<Node>(nodes, { name: 'n1' });
      expect(found.kind).toBe('found');
      await client.close();
      expect((await ended).every(({ status }) => status === 'rejected')).toBe(true);
    });

    it('do not read ahead of a slow consumer without bound', async () => {
      const line = frame('MODIFIED', { metadata: { name: 'x'.repeat(1000) } });
      let sent = 0;
      const { port } = await serve((_, response) => {
        const pump = (): void => {
          while (sent < 64_000_000) {
            sent += line.length;
            if (!response.write(line)) return void response.once('drain', pump);
          }
        };
        pump();
      });
      for await (const _ of clientFor(port).watch(nodes, from)) {
        for (let quiet = 0, before = -1; quiet < 100; before = sent) {
          quiet = before === sent ? quiet + 1 : 0;
          await new Promise(setImmediate);
        }
        break;
      }
      expect(sent).toBeLessThan(32_000_000);
    });
  });
});
