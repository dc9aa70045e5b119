// Probes by HTTP against a server on this machine: answers are values, everything else a code; link-local
// addresses are called neither by number nor by name.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HttpError } from '../../ports/index.ts';
import { createHttp } from './index.ts';

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
    'http://2852039166/',
    'http://0xa9fea9fe/',
    'ftp://127.0.0.1/',
    'file:///etc/passwd',
    'nonsense',
  ])('never calls %s', async (url) => {
    expect(await codeOf(url)).toBe('NotAllowed');
  });
});
