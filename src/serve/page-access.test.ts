// Sessions of a controller's page: a token that is withdrawn ends its session and its stream.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { tokenAccess } from './page-access.ts';
import { PageRoutes } from './page-routes.ts';

const minuteMs = 60_000;
const refused = { kind: 'error', status: 401, message: 'revoked' } as const;
const unasked = { kind: 'error', status: 503, message: 'no API server' } as const;
type Verdict = { readonly kind: 'ok' } | typeof refused | typeof unasked;

/** A page's access with its own clock and an API server that answers `verdict`. */
const anAccess = async () => {
  const at = { now: 0, verdict: { kind: 'ok' } as Verdict, reviews: 0 };
  const review = async (): Promise<Verdict> => {
    at.reviews += 1;
    return at.verdict;
  };
  const access = tokenAccess(review, () => at.now);
  const opened = await access.open('token');
  if (opened.kind === 'error') throw new Error(opened.message);
  return { at, access, cookie: opened.cookie };
};

const rows: readonly [string, Verdict, number, boolean][] = [
  ['before the next review, whatever the token is worth', refused, minuteMs - 1, true],
  ['no longer than a minute after its token is refused', refused, minuteMs, false],
  ['while the API server cannot be asked', unasked, minuteMs, true],
  ['no longer than an hour, with a token that is still good', { kind: 'ok' }, 3_600_000, false],
];

describe('a session of the page', () => {
  for (const [when, verdict, now, isKnown] of rows) {
    it(`lasts: ${when}`, async () => {
      const { at, access, cookie } = await anAccess();
      Object.assign(at, { verdict, now });
      expect(await access.knows(cookie)).toBe(isKnown);
    });
  }

  it('does not come back when its token is accepted again, and asks once for many requests', async () => {
    const { at, access, cookie } = await anAccess();
    Object.assign(at, { verdict: refused, now: minuteMs });
    const answers = await Promise.all([1, 2, 3].map(() => access.knows(cookie)));
    expect([answers, at.reviews]).toEqual([[false, false, false], 2]);
    at.verdict = { kind: 'ok' };
    expect(await access.knows(cookie)).toBe(false);
  });

  it('ends its open stream', async () => {
    const { at, access, cookie } = await anAccess();
    const readers: { send(event: { event: string; data: string }): boolean }[] = [];
    const routes = new PageRoutes({
      source: {
        snapshot: async () => '{}',
        subscribe: async (_, reader) => {
          readers.push(reader);
          return { resume: () => undefined, end: () => undefined };
        },
      },
      access,
      files: () => undefined,
      reads: {},
      writes: {},
    });
    const server = createServer((message, response) => void routes.handle(message, response, 80));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = server.address() as AddressInfo;
      const address = `http://127.0.0.1:${port}/page/v1/events`;
      const ask = () => fetch(address, { headers: { cookie: `drover-page-80=${cookie}` } });
      const stream = (await ask()).body?.getReader();
      await stream?.read();
      const beat = () =>
        readers.forEach((reader) => void reader.send({ event: 'beat', data: '{}' }));
      beat();
      expect(new TextDecoder().decode((await stream?.read())?.value)).toContain('event: beat');
      Object.assign(at, { verdict: refused, now: minuteMs });
      beat();
      await expect(stream?.read().then(() => stream.read())).rejects.toThrow('terminated');
      expect((await ask()).status).toBe(401);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
