// HTTP probes and webhooks against servers on this machine: answers are values, every failure is a
// code. Link-local addresses are refused by number and by name; loopback is allowed only to
// webhooks that are configured so.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HttpError } from '../../ports/index.ts';
import { createPki } from '../signer/index.ts';
import { createHttp } from './index.ts';
import { isPublic } from './networks.ts';

let server: Server;
let base = '';
let redirected = 0;

beforeAll(async () => {
  server = createServer((request, response) => {
    const status = Number(request.url?.slice(1));
    if (request.url === '/never') return;
    if (request.url === '/target') redirected += 1;
    if (request.url === '/long') {
      response.writeHead(200);
      response.end('x'.repeat(1_000_000));
      return;
    }
    response.writeHead(Number.isNaN(status) ? 200 : status, { location: '/target' });
    response.end();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const codeOf = async (url: string, timeoutMs = 5_000): Promise<string> => {
  try {
    return String((await createHttp().get(url, { timeoutMs })).status);
  } catch (error) {
    if (error instanceof HttpError) return error.code;
    throw error;
  }
};

describe('a GET of the Http port', () => {
  it.each([
    ['/200', '200'],
    ['/503', '503'],
    ['/404', '404'],
    ['/302', '302'],
    ['/long', '200'],
  ])('%s answers %s', async (path, answer) => {
    expect(await codeOf(base + path)).toBe(answer);
    expect(redirected).toBe(0);
  });

  it('gives up in time', async () => {
    expect(await codeOf(`${base}/never`, 50)).toBe('Timeout');
  });

  it('tells of nobody there', async () => {
    expect(await codeOf('http://127.0.0.1:1/')).toBe('Unreachable');
    expect(await codeOf('http://no-such-host.invalid/')).toBe('Unreachable');
  });

  it.each([
    'http://169.254.169.254/latest/meta-data/',
    'http://[fe80::1]/',
    'http://[fd00:ec2::254]/',
    'http://[::ffff:169.254.169.254]/',
    'http://[64:ff9b::169.254.169.254]/',
    'http://[64:ff9b::a9fe:a9fe]/',
    'http://[64:ff9b:1::a9fe:a9fe]/',
    'http://[64:ff9b:1:a9fe:a9:fe00::]/',
    'http://100.100.100.200/latest/meta-data/',
    'http://[::ffff:100.100.100.200]/',
    'http://[64:ff9b::100.100.100.200]/',
    'http://[64:ff9b:1::6464:64c8]/',
    'http://[64:ff9b:1:6464:64:c800::]/',
    'http://2852039166/',
    'http://0xa9fea9fe/',
    'ftp://127.0.0.1/',
    'file:///etc/passwd',
    'nonsense',
  ])('never calls %s', async (url) => {
    expect(await codeOf(url)).toBe('NotAllowed');
  });
});

interface Seen {
  readonly request: IncomingMessage;
  readonly body: string;
}

/** Answers by path, such as `/503` and `/503/retry-after-value`. */
const answering = (seen: Seen[]) => (request: IncomingMessage, response: ServerResponse) => {
  let body = '';
  request.on('data', (part) => {
    body += String(part);
  });
  request.on('end', () => {
    seen.push({ request, body });
    const [, status = '200', wait] = (request.url ?? '').split('/');
    if (status === 'never') return;
    const retry = wait === undefined ? {} : { 'retry-after': decodeURIComponent(wait) };
    response.writeHead(Number(status), { location: '/200', ...retry });
    response.end('{}');
  });
};

describe('a POST of the Http port', () => {
  const seen: Seen[] = [];
  const plain = createServer(answering(seen));
  let origin = '';
  let port = 0;
  const allowed = createHttp({ allowLoopback: true });
  const how = { body: '{"a":1}', idempotencyKey: 'k-1', timeoutMs: 5_000 } as const;

  beforeAll(async () => {
    await new Promise<void>((resolve) => {
      plain.listen(0, '127.0.0.1', resolve);
    });
    port = (plain.address() as AddressInfo).port;
    origin = `http://127.0.0.1:${port}`;
  });
  afterAll(() => {
    plain.closeAllConnections();
    plain.close();
  });

  const failing = async (url: string, http = createHttp(), more = {}): Promise<HttpError> => {
    try {
      await http.post(url, { ...how, ...more });
    } catch (error) {
      if (error instanceof HttpError) return error;
      throw error;
    }
    throw new Error(`${url} answered`);
  };

  it('sends body, key and token', async () => {
    seen.length = 0;
    const answer = await allowed.post(`${origin}/204`, { ...how, bearerToken: 't0ken' });
    expect(answer).toEqual({ status: 204 });
    const [one] = seen;
    expect(one?.request.method).toBe('POST');
    expect(one?.body).toBe('{"a":1}');
    expect(one?.request.headers).toMatchObject({
      'content-type': 'application/json',
      'idempotency-key': 'k-1',
      authorization: 'Bearer t0ken',
    });
  });

  it('tells how long it is to wait, a date by the clock of the server', async () => {
    const later = new Date(Date.now() + 60_000).toUTCString();
    const waits = async (value: string) =>
      (await allowed.post(`${origin}/503/${encodeURIComponent(value)}`, how)).retryAfterSeconds;
    expect(await waits('7')).toBe(7);
    const seconds = (await waits(later)) ?? 0;
    expect(seconds).toBeGreaterThan(50);
    expect(seconds).toBeLessThan(70);
    expect(await waits('soon')).toBeUndefined();
    expect((await allowed.post(`${origin}/503`, how)).retryAfterSeconds).toBeUndefined();
  });

  it('follows no redirect, gives up in time and names no token', async () => {
    seen.length = 0;
    expect(await allowed.post(`${origin}/307`, how)).toEqual({ status: 307 });
    expect(seen).toHaveLength(1);
    const more = { timeoutMs: 50, bearerToken: 't0ken' };
    const late = await failing(`${origin}/never`, allowed, more);
    expect(late.code).toBe('Timeout');
    expect(`${late.message} ${String(late.cause)}`).not.toContain('t0ken');
  });

  it.each(['127.0.0.1', 'localhost', '[::1]', '0.0.0.0', '[::]', '[::ffff:127.0.0.1]', '127.1'])(
    'calls %s only where it was told that it may',
    async (host) => {
      seen.length = 0;
      for (const scheme of ['http', 'https']) {
        const { code, message } = await failing(`${scheme}://${host}:${port}/200`);
        expect([code, message.includes('--allow-loopback-webhooks')]).toEqual(['NotAllowed', true]);
      }
      expect(seen).toEqual([]);
    },
  );

  it.each([
    'https://169.254.169.254/latest/meta-data/',
    'https://[fe80::1]/',
    'https://[fd00:ec2::23]/',
    'https://[64:ff9b::a9fe:a9fe]/',
    'https://[64:ff9b:1:a9fe:a9:fe00::]/',
    'https://[64:ff9b:1:7::a9fe:a9fe]/',
    'https://[64:ff9b:1:fffe:a9:fea9:fe00:0]/',
    'https://[64:ff9b:1:a9:fe:a9fe::]/',
    'https://[2002:a9fe:a9fe::1]/',
    'https://[::ffff:0:a9fe:a9fe]/',
    'http://192.0.2.1/',
    'https://user:word@192.0.2.1/',
    'ftp://192.0.2.1/',
    'nonsense',
  ])('never calls %s', async (url) => {
    expect((await failing(url, allowed)).code).toBe('NotAllowed');
  });

  it('believes a certificate that its own authority has signed, and no other', async () => {
    const pki = await createPki(Date.now());
    const { certificate: cert, key } = pki.server;
    const tls = createTlsServer({ cert, key }, answering([]));
    await new Promise<void>((resolve) => {
      tls.listen(0, '127.0.0.1', resolve);
    });
    const url = `https://localhost:${(tls.address() as AddressInfo).port}/200`;
    try {
      expect(await allowed.post(url, { ...how, ca: pki.ca.certificate })).toEqual({ status: 200 });
      expect((await failing(url, allowed)).code).toBe('Unreachable');
    } finally {
      tls.closeAllConnections();
      tls.close();
    }
  });
});

describe('a signed POST', () => {
  const seen: Seen[] = [];
  const server = createServer(answering(seen));
  let origin = '';
  beforeAll(async () => {
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  it('passes the check of a library of Standard Webhooks, and no other body or key does', async () => {
    const key = Buffer.from('k'.repeat(32)).toString('base64');
    const body = JSON.stringify({ summary: 'drained ✓' });
    const contentType = 'application/cloudevents+json; charset=utf-8';
    const more = { contentType, signingKey: key, timeoutMs: 5_000 };
    await createHttp({ allowLoopback: true }).post(`${origin}/204`, {
      body,
      idempotencyKey: 'uid/1/node.drain.started',
      ...more,
    });
    const [one] = seen;
    const headers = one?.request.headers as Record<string, string>;
    expect(headers['content-type']).toBe(contentType);
    expect(new Webhook(key).verify(one?.body ?? '', headers)).toEqual({ summary: 'drained ✓' });
    expect(() => new Webhook(key).verify(`${body} `, headers)).toThrow();
    expect(() => new Webhook(btoa('j'.repeat(32))).verify(body, headers)).toThrow();
  });

  it('reaches a loopback address that is allowed, also where only public ones are', async () => {
    const how = { body: '{}', idempotencyKey: 'k', isPublicOnly: true, timeoutMs: 5_000 } as const;
    const { status } = await createHttp({ allowLoopback: true }).post(`${origin}/204`, how);
    expect(status).toBe(204);
  });

  it.each([
    'https://10.1.2.3/',
    'https://172.31.255.1/',
    'https://192.168.0.1/',
    'https://100.64.0.1/',
    'https://[fd12:3456::1]/',
    'https://[::ffff:10.1.2.3]/',
    'https://[64:ff9b::10.1.2.3]/',
    'https://[64:ff9b:1:a01:2:300::]/',
    'https://192.0.0.8/',
    'https://192.0.2.1/',
    'https://192.88.99.1/',
    'https://198.18.0.1/',
    'https://198.19.255.1/',
    'https://198.51.100.1/',
    'https://203.0.113.1/',
    'https://224.0.0.1/',
    'https://240.0.0.1/',
    'https://255.255.255.255/',
    'https://[::ffff:198.18.0.1]/',
    'https://[::ffff:0:198.18.0.1]/',
    'https://[::198.18.0.1]/',
    'https://[64:ff9b::198.18.0.1]/',
    'https://[2002:c612:1::1]/',
    'https://[2001::1]/',
    'https://[2001:db8::1]/',
    'https://[3fff::1]/',
    'https://[5f00::1]/',
    'https://[100::1]/',
    'https://[fec0::1]/',
    'https://[ff02::1]/',
  ])('to %s is refused where only public addresses are allowed', async (url) => {
    const how = { body: '{}', idempotencyKey: 'k', isPublicOnly: true, timeoutMs: 500 } as const;
    await expect(createHttp().post(url, how)).rejects.toMatchObject({ code: 'NotAllowed' });
  });
});

describe('public', () => {
  it.each([
    '1.1.1.1',
    '100.128.0.1',
    '192.0.1.1',
    '198.17.255.255',
    '198.20.0.1',
    '223.255.255.255',
    '2606:4700::1111',
    '2001:4860:4860::8888',
    '::ffff:1.1.1.1',
    '64:ff9b::1.1.1.1',
  ])('is %s', (address) => expect(isPublic(address)).toBe(true));
  it('is no text with a zone', () => expect(isPublic('fe80::1%eth0')).toBe(false));
});
