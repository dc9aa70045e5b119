// The machine's files: replaced completely or unchanged, never outside the root; the metadata
// service by version 2 only, and when it does not exist.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HostError } from '../../ports/index.ts';
import { createHost, createMetadata, endpointFault } from './index.ts';

const codeOf = async (run: () => Promise<unknown>): Promise<string> => {
  try {
    await run();
  } catch (error) {
    if (error instanceof HostError) return error.code;
    throw error;
  }
  return 'no error';
};

describe('files', () => {
  let root = '';
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'drover-host-'));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  it('are written with their mode, and nothing is left beside them', async () => {
    const host = createHost(root);
    await host.write({ path: '/etc/kubernetes/a.json', content: '{}', mode: '0600' });
    await host.write({ path: '/etc/kubernetes/a.json', content: '[]', mode: '0640' });
    expect(readdirSync(join(root, 'etc/kubernetes'))).toEqual(['a.json']);
    const found = await host.read('/etc/kubernetes/a.json');
    expect(found?.mode).toBe('0640');
    expect(new TextDecoder().decode(found?.bytes)).toBe('[]');
    expect(await host.list('/etc/kubernetes')).toEqual(['a.json']);
    await host.remove('/etc/kubernetes/a.json');
    await host.remove('/etc/kubernetes/a.json');
    expect(await host.read('/etc/kubernetes/a.json')).toBeUndefined();
    expect(await host.list('/nothing/here')).toEqual([]);
  });

  it('are as they were where writing fails', async () => {
    const host = createHost(root);
    // A directory in place of the file: the last step, the rename, fails.
    mkdirSync(join(root, 'etc/a/b'), { recursive: true });
    const write = () => host.write({ path: '/etc/a', content: 'x', mode: '0644' });
    expect(await codeOf(write)).toBe('io');
    expect(readdirSync(join(root, 'etc'))).toEqual(['a']);
  });

  it.each([
    ['a link that leads out', '/etc/kubernetes/f'],
    ['a link to nothing', '/etc/gone/f'],
    ['.. in a path', '/etc/../../drover-outside'],
  ])('are never written through %s', async (_what, path) => {
    const foreign = mkdtempSync(join(tmpdir(), 'drover-foreign-'));
    try {
      mkdirSync(join(root, 'etc'));
      symlinkSync(foreign, join(root, 'etc/kubernetes'));
      symlinkSync('/nothing/there', join(root, 'etc/gone'));
      const write = () => createHost(root).write({ path, content: 'x', mode: '0644' });
      expect(await codeOf(write)).toBe('outside');
      expect(readdirSync(foreign)).toEqual([]);
      expect(existsSync(join(root, '../drover-outside'))).toBe(false);
    } finally {
      rmSync(foreign, { recursive: true, force: true });
    }
  });

  it('of a link within the root are those that it names', async () => {
    mkdirSync(join(root, 'etc/real'), { recursive: true });
    symlinkSync('real', join(root, 'etc/linked'));
    await createHost(root).write({ path: '/etc/linked/f', content: 'x', mode: '0644' });
    expect(readFileSync(join(root, 'etc/real/f'), 'utf8')).toBe('x');
  });

  it('of others are refused by name', async () => {
    writeFileSync(join(root, 'f'), 'x');
    chmodSync(root, 0o555);
    const code = await codeOf(() =>
      createHost(root).write({ path: '/g', content: 'x', mode: '0644' }),
    );
    chmodSync(root, 0o755);
    // Root may write regardless.
    expect(['denied', 'no error']).toContain(code);
  });
});

describe('a tree that no machine runs', () => {
  it('has no systemd, and no kubelet is asked', async () => {
    const host = createHost('/tmp');
    expect(host.hasSystemd()).toBe(false);
    expect(await host.kubeletVersion()).toBeUndefined();
    expect(host.machine().cpus).toBeGreaterThan(0);
  });
});

describe('the metadata service', () => {
  let server: Server | undefined;
  const asked: string[] = [];
  let status = 200;
  beforeEach(() => {
    asked.length = 0;
    status = 200;
  });
  afterEach(() => server?.close());

  const served = async (): Promise<string> => {
    server = createServer((request, response) => {
      const token = request.headers['x-aws-ec2-metadata-token'] ?? '-';
      asked.push(`${request.method} ${request.url} ${token}`);
      if (request.url === '/latest/api/token') {
        response.writeHead(status).end('t-1');
      } else if (token !== 't-1') response.writeHead(401).end();
      else if (request.url === '/latest/user-data') response.end(Buffer.from([0x1f, 0x8b, 0xff]));
      else response.writeHead(404).end('<html>');
    });
    await new Promise<void>((done) => server?.listen(0, '127.0.0.1', done));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };

  it('is asked with one token for everything, and gives bytes', async () => {
    const metadata = createMetadata(await served());
    expect([...((await metadata.get('user-data')) ?? [])]).toEqual([0x1f, 0x8b, 0xff]);
    expect(await metadata.get('meta-data/nothing')).toBeUndefined();
    expect(asked).toEqual([
      'PUT /latest/api/token -',
      'GET /latest/user-data t-1',
      'GET /latest/meta-data/nothing t-1',
    ]);
  });

  it('that gives no token is refused, not asked by version 1', async () => {
    const metadata = createMetadata(await served());
    status = 403;
    expect(await codeOf(() => metadata.get('user-data'))).toBe('metadata-refused');
    expect(asked).toEqual(['PUT /latest/api/token -']);
  });

  it('that does not exist is reported', async () => {
    const origin = await served();
    await new Promise((done) => server?.close(done));
    expect(await codeOf(() => createMetadata(origin).get('user-data'))).toBe('no-metadata');
  });

  it('is told of as one that does not answer when it stops within an answer', async () => {
    const cut = createServer((_request, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('half', () => response.destroy());
    });
    await new Promise<void>((resolve) => cut.listen(0, '127.0.0.1', resolve));
    const { port } = cut.address() as AddressInfo;
    try {
      const get = () => createMetadata(`http://127.0.0.1:${port}`).get('user-data');
      expect(await codeOf(get)).toBe('no-metadata');
    } finally {
      await new Promise((resolve) => cut.close(resolve));
    }
  });

  it.each([
    ['http://169.254.169.254', undefined],
    ['http://[fd00:ec2::254]', undefined],
    ['http://127.0.0.1:1234', undefined],
    ['https://127.0.0.1', 'is no metadata service'],
    ['http://example.com', 'is no metadata service'],
    ['file:///etc/passwd', 'is no metadata service'],
    ['nonsense', 'is no URL'],
  ])('%s', (endpoint, fault) => {
    const found = endpointFault(endpoint);
    if (fault === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(fault);
  });
});
