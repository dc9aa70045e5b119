// Both listeners of a world against web pages of other sites, DNS rebinding, and clients that hold
// idle connections. Each is refused by its headers alone, or closed after a timeout.
import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createFrontListener,
  createKubeListener,
  listenOnLoopback,
  Pacer,
} from '../../src/serve/index.ts';
import { listenerLimits } from '../../src/serve/limits.ts';
import { Kernel } from '../../world/kernel/index.ts';
import { createAuthority } from '../support/certificates.ts';

/** The world's limits, a hundred times shorter. */
const limits = {
  headersTimeout: 100,
  requestTimeout: 300,
  keepAliveTimeout: 100,
  handshakeTimeout: 100,
  connectionsCheckingInterval: 20,
  maxHeaderSize: 4096,
};

const asked: string[] = [];
let front: Server;
let kube: Server;

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

beforeAll(async () => {
  const onError = (error: unknown): void => {
    throw error;
  };
  front = createFrontListener(
    {
      aws: async ({ path }) => {
        asked.push(path);
        return { status: 200, headers: {}, body: 'aws' };
      },
      metrics: async () => ({ contentType: 'text/plain', text: '' }),
      control: {},
      token: 'token',
    },
    { port: () => portOf(front), onError, limits },
  );
  const pacer = new Pacer({
    kernel: new Kernel({ startAt: 0, seed: 1 }),
    wallMs: () => 0,
    speed: 1,
    settle: async () => undefined,
    commit: () => undefined,
  });
  const authority = await createAuthority();
  const pair = await authority.server('world', ['127.0.0.1']);
  kube = createKubeListener(
    {
      kube: {
        handle: ({ path }: { readonly path: string }) => {
          asked.push(path);
          return { kind: 'text', status: 200, body: 'kube' };
        },
      } as never,
      pacer,
      tls: { ca: authority.certificate, cert: pair.certificate, key: pair.key },
      authenticateToken: async () => ({ username: 'u', groups: ['system:masters'] }),
      parseYaml: async () => ({ value: {}, duplicates: [] }),
    },
    { port: () => portOf(kube), onError, limits },
  );
  await listenOnLoopback(front, 0);
  await listenOnLoopback(kube, 0);
});
afterAll(() => {
  for (const server of [front, kube]) {
    server.closeAllConnections();
    server.close();
  }
});

type Listener = 'front' | 'kube';
const both: readonly Listener[] = ['front', 'kube'];
const serverOf = (listener: Listener): Server => (listener === 'front' ? front : kube);

const dial = async (listener: Listener): Promise<Socket> => {
  const port = portOf(serverOf(listener));
  const socket =
    listener === 'front'
      ? connect({ port, host: '127.0.0.1' })
      : connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false });
  await once(socket, listener === 'front' ? 'connect' : 'secureConnect');
  return socket;
};

/** The bytes that arrive until the listener closes the connection. */
const untilClosed = async (socket: Socket): Promise<string> => {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.on('error', () => undefined);
  if (!socket.closed) await once(socket, 'close');
  return Buffer.concat(chunks).toString();
};

const head = (host: string, ...more: readonly string[]): string =>
  ['POST /version HTTP/1.1', `Host: ${host}`, ...more, '', ''].join('\r\n');

/** The first bytes of the answer to a request whose body never arrives. */
const answerTo = async (listener: Listener, text: string): Promise<string> => {
  const socket = await dial(listener);
  socket.write(text);
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return chunk.toString();
};

describe.each(both)('the %s listener', (listener) => {
  it.each([
    ['evil.example', []],
    ['evil.example:PORT', []],
    ['127.0.0.1:1', []],
    ['127.0.0.1:PORT', ['Origin: https://evil.example']],
    ['127.0.0.1:PORT', ['Origin: null']],
    ['127.0.0.1:PORT', ['Sec-Fetch-Site: cross-site']],
  ])('refuses Host %s with %j before the body comes', async (host, more) => {
    asked.length = 0;
    const own = host.replace('PORT', String(portOf(serverOf(listener))));
    const text = head(own, ...more, 'Authorization: Bearer token', 'Content-Length: 3000000');
    expect(await answerTo(listener, text)).toMatch(/^HTTP\/1\.1 403 /);
    expect(asked).toEqual([]);
  });

  it('answers its own host', async () => {
    const own = `localhost:${portOf(serverOf(listener))}`;
    const text = head(own, 'Authorization: Bearer token', 'Content-Length: 0');
    expect(await answerTo(listener, text)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it.each([
    ['nothing at all', ''],
    ['half a header', 'POST / HTTP/1.1\r\nHo'],
    ['headers without an end', 'POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: 1\r\n'],
  ])('cuts off a client that sends %s', async (_what, text) => {
    const socket = await dial(listener);
    if (text !== '') socket.write(text);
    expect(await untilClosed(socket)).toMatch(/^(?:HTTP\/1\.1 408 |$)/);
  });

  it('cuts off a body that stops, without asking the world', async () => {
    asked.length = 0;
    const socket = await dial(listener);
    const own = `127.0.0.1:${portOf(serverOf(listener))}`;
    socket.write(`${head(own, 'Authorization: Bearer token', 'Content-Length: 100')}{"a":`);
    expect(await untilClosed(socket)).toMatch(/^(?:HTTP\/1\.1 408 |$)/);
    expect(asked).toEqual([]);
  });

  it('cuts off a connection that stays idle after an answer', async () => {
    const socket = await dial(listener);
    const own = `127.0.0.1:${portOf(serverOf(listener))}`;
    socket.write(head(own, 'Authorization: Bearer token', 'Content-Length: 0'));
    expect(await untilClosed(socket)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('refuses headers larger than its limit', async () => {
    const socket = await dial(listener);
    socket.write(`GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ${'x'.repeat(10_000)}\r\n\r\n`);
    expect(await untilClosed(socket)).toMatch(/^HTTP\/1\.1 431 /);
  });

  it('has a limit for each of them, and for connections', () => {
    for (const [name, most] of Object.entries(listenerLimits)) {
      expect([name, most > 0 && most <= 120_000]).toEqual([name, true]);
    }
    expect(serverOf(listener).maxConnections).toBe(4096);
  });
});

describe('TLS', () => {
  it('a client that never shakes hands is cut off', async () => {
    const socket = connect({ port: portOf(kube), host: '127.0.0.1' });
    await once(socket, 'connect');
    expect(await untilClosed(socket)).toBe('');
  });
});
