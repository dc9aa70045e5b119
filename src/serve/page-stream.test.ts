// The page's event stream over HTTP: a large change arrives whole, and a connection that is full is
// not written to until it has been read.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { keyAccess, pageKey } from './page-access.ts';
import { PageRoutes } from './page-routes.ts';

const secret = 'stream';
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

interface Reader {
  send(event: { id?: string; event: string; data: string }): boolean;
}

/** One open stream, with the reader that the routes subscribed. */
const aStream = async () => {
  const resumed = { times: 0 };
  let subscribed: (reader: Reader) => void;
  const reader = new Promise<Reader>((resolve) => {
    subscribed = resolve;
  });
  const access = keyAccess(secret);
  const routes = new PageRoutes({
    source: {
      snapshot: async () => '{}',
      subscribe: async (_, one) => {
        subscribed(one);
        return { resume: () => void resumed.times++, end: () => undefined };
      },
    },
    access,
    files: () => undefined,
    reads: {},
    writes: {},
  });
  const server = createServer((message, response) => void routes.handle(message, response, 80));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const opened = await access.open(pageKey(secret));
  if (opened.kind === 'error') throw new Error(opened.message);
  const headers = { cookie: `drover-page-80=${opened.cookie}` };
  const response = await fetch(`http://127.0.0.1:${port}/page/v1/events`, { headers });
  const body = response.body?.getReader();
  if (body === undefined) throw new Error('a stream has a body');
  return { reader: await reader, body, resumed };
};

describe('the stream', () => {
  it('carries a change of 8 MB whole, says that it is full, and resumes when it was read', async () => {
    const { reader, body, resumed } = await aStream();
    const data = JSON.stringify('x'.repeat(8_000_000));
    const before = resumed.times;
    expect(reader.send({ id: 'a-1', event: 'delta', data })).toBe(false);
    let text = '';
    const decoder = new TextDecoder();
    while (!text.endsWith('"\n\n')) {
      const { value, done } = await body.read();
      expect(done).toBe(false);
      text += decoder.decode(value, { stream: true });
    }
    expect(text).toContain(`id: a-1\nevent: delta\ndata: ${data}\n\n`);
    expect(resumed.times).toBeGreaterThan(before);
    expect(reader.send({ event: 'beat', data: '{}' })).toBe(true);
  });
});
