// The page at 5,000 nodes in a real browser: first paint, frames while it is scrolled and changes,
// memory after an hour of events. The server sends generated rows through the real routes; the
// browser runs the built page. Measures no cluster.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { CDPSession, Page } from 'playwright-core';
import { buildPage } from '../scripts/build-page.ts';
import { pageVersion } from '../src/api/page.ts';
import { keyAccess, PageRoutes, pageKey, readPageFiles } from '../src/serve/index.ts';
import { launch, noBrowser } from '../test/support/browser.ts';
import type { Bench, Outcome } from './support/report.ts';

const nodes = 5_000;
const zones = ['eu-west-1a', 'eu-west-1b', 'eu-west-1c'];
const groups = Array.from({ length: 20 }, (_, at) => `ng-${at}`);
/** Four deltas a second. */
const deltasPerHour = 4 * 3_600;
const rowsPerDelta = 20;
const entriesPerDelta = 5;
const scrollMs = 4_000;
const secret = 'bench';
const start = Date.parse('2026-01-01T00:00:00Z');

const iso = (seconds: number): string => new Date(start + seconds * 1_000).toISOString();

const nodeRow = (at: number, change: number): object => {
  const isWaiting = at % 50 === 0;
  const zone = zones[at % zones.length] ?? '';
  return {
    key: `ip-10-${at >> 8}-${at & 255}-1.eu-west-1.compute.internal`,
    group: groups[at % groups.length],
    zone,
    type: 'm5.large',
    isSpot: at % 7 === 0,
    instance: `i-${String(at).padStart(17, '0')}`,
    version: 'v1.32.9',
    isOld: (at + change) % 3 === 0,
    letter: isWaiting ? 'D' : (['', '', '', 'J', 'C'] as const)[(at + change) % 5],
    health: 'Healthy',
    finding: null,
    isCordoned: isWaiting,
    cpu: ((at * 7 + change) % 100) / 100,
    memory: ((at * 3 + change) % 100) / 100,
    pods: 30,
    created: iso(at),
    drain: null,
    repair: null,
    wait: isWaiting
      ? {
          text: `pod shop/cart-${at} waits for budget shop/cart-${at % 5}`,
          cause: `budget shop/cart-${at % 5}`,
          since: iso(change),
          until: iso(change + 900),
          atEnd: 'fail',
          more: 0,
        }
      : null,
  };
};

const groupRow = (key: string): object => ({
  key,
  isManaged: true,
  cluster: 'bench',
  state: 'ACTIVE',
  desired: nodes / groups.length,
  min: 0,
  max: nodes,
  ready: nodes / groups.length,
  version: '1.32',
  release: '1.32.9',
  types: ['m5.large'],
  capacity: 'ON_DEMAND',
  strategy: 'SURGE',
  ledger: { limit: 10, update: 5, repair: 0, notice: 0, other: 0 },
  issues: [],
  update: null,
  wait: null,
});

const time = (seconds: number) => ({ now: iso(seconds), speed: 1 });
const none = { group: 0, node: 0, update: 0, drain: 0, repair: 0, budget: 0 };

const snapshot = (): string =>
  JSON.stringify({
    version: pageVersion,
    id: 'bench-0',
    time: time(10_000),
    server: { version: 'bench', world: null, hasJournal: true, actions: false },
    rows: {
      group: groups.map(groupRow),
      node: Array.from({ length: nodes }, (_, at) => nodeRow(at, 0)),
      update: [],
      drain: [],
      repair: [],
      budget: [],
    },
    left: none,
    journal: [],
    recorded: 0,
    faults: [],
  });

const delta = (at: number): string => {
  const first = (at * 37) % nodes;
  const changed = Array.from({ length: rowsPerDelta }, (_, i) =>
    nodeRow((first + i * 13) % nodes, at),
  );
  const entries = Array.from({ length: entriesPerDelta }, (_, i) => ({
    at: iso(10_000 + at / 4),
    type: 'pod:evicted',
    subject: `i-${at}-${i}`,
    facts: { pod: `shop/cart-${at}`, node: `ip-10-0-${i}-1` },
  }));
  const sent = { time: time(10_000 + at / 4), set: { node: changed }, gone: {} };
  const recorded = (at + 1) * entriesPerDelta;
  return JSON.stringify({ ...sent, journal: entries, recorded, faults: [] });
};

interface Reader {
  send(event: { id?: string; event: string; data: string }): boolean;
}

/** Serves the built page with generated rows; `send` passes a delta to every reader. */
const serve = async () => {
  const readers = new Set<Reader>();
  let seq = 0;
  const files = readPageFiles(join(import.meta.dirname, '..', 'web', 'dist'));
  const routes = new PageRoutes({
    source: {
      snapshot: async () => snapshot(),
      subscribe: async (_, reader) => {
        readers.add(reader);
        return { resume: () => undefined, end: () => readers.delete(reader) };
      },
    },
    access: keyAccess(secret),
    files: () => files,
    reads: {},
    writes: {},
  });
  const server = createServer((message, response) => {
    const { port } = server.address() as AddressInfo;
    void routes.handle(message, response, port);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const send = (event = 'delta'): void => {
    seq += 1;
    const data = event === 'beat' ? JSON.stringify(time(10_000 + seq / 4)) : delta(seq);
    for (const reader of readers) reader.send({ id: `bench-${seq}`, event, data });
  };
  const bytes = [...(files ?? new Map())].reduce((sum, [, { gzip }]) => sum + gzip.length, 0);
  return { server, send, bytes, link: `http://127.0.0.1:${port}/#key=${pageKey(secret)}` };
};

const ours = (what: string, values: readonly number[]) =>
  ({ what, who: 'page', role: 'ours', values }) as const;

/** From the first requested byte to the frame in which the document contains all cells. */
const firstPaint = async (page: Page, link: string): Promise<number> => {
  await page.addInitScript(`
    globalThis.painted = new Promise((resolve) => {
      const look = () => document.querySelectorAll('[data-node]').length >= ${nodes}
        ? requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now())))
        : requestAnimationFrame(look);
      requestAnimationFrame(look);
    });`);
  await page.goto(link);
  return page.evaluate('globalThis.painted') as Promise<number>;
};

/** Milliseconds of each frame while the page scrolls to its end, and rows change beside it. */
const frames = async (page: Page, send: () => void): Promise<readonly number[]> => {
  const timer = setInterval(send, 250);
  const found = (await page.evaluate(`new Promise((resolve) => {
    const times = [];
    const begun = performance.now();
    let last = begun;
    const step = (now) => {
      times.push(now - last);
      last = now;
      const height = document.documentElement.scrollHeight - innerHeight;
      scrollTo(0, height * Math.abs(Math.sin((now - begun) / 1000)));
      if (now - begun > ${scrollMs}) resolve(times.slice(1));
      else requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  })`)) as readonly number[];
  clearInterval(timer);
  return found;
};

const heapMb = async (session: CDPSession): Promise<number> => {
  await session.send('HeapProfiler.collectGarbage');
  const { metrics } = await session.send('Performance.getMetrics');
  const used = metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? 0;
  return used / 1e6;
};

/** Sends the deltas of an hour; waits now and then until the page has applied them. */
const anHour = async (page: Page, send: () => void): Promise<void> => {
  for (let at = 0; at < deltasPerHour; at++) {
    send();
    if (at % 20 === 19) await page.evaluate('new Promise(requestAnimationFrame)');
  }
  await page.evaluate('new Promise((resolve) => setTimeout(resolve, 1000))');
};

const run = async ({ runs }: { readonly runs: number }): Promise<Outcome> => {
  if (noBrowser !== undefined) return { series: [], notRun: [`page: ${noBrowser}`], notes: [] };
  await buildPage();
  const { server, send, bytes, link } = await serve();
  const browser = await launch();
  try {
    const paints: number[] = [];
    const times: number[] = [];
    const heaps: { before: number; after: number }[] = [];
    for (let at = 0; at < runs; at++) {
      const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
      const page = await context.newPage();
      paints.push(await firstPaint(page, link));
      times.push(...(await frames(page, send)));
      const session = await context.newCDPSession(page);
      await session.send('Performance.enable');
      const before = await heapMb(session);
      await anHour(page, send);
      heaps.push({ before, after: await heapMb(session) });
      await context.close();
    }
    const series = [
      ours('page, compressed (kB)', [bytes / 1_000]),
      ours(`first paint of ${nodes} nodes (ms)`, paints),
      ours('frame while scrolling, rows changing (ms)', times),
      ours(
        'heap at the start (MB)',
        heaps.map(({ before }) => before),
      ),
      ours(
        `heap after ${deltasPerHour} deltas, an hour (MB)`,
        heaps.map(({ after }) => after),
      ),
    ];
    const slow = times.filter((time) => time > 50).length;
    const notes = [`${slow} of ${times.length} frames took more than 50 ms`];
    return { series, notRun: [], notes };
  } finally {
    await browser.close();
    server.closeAllConnections();
    server.close();
  }
};

export const page: Bench = {
  name: 'page',
  summary: 'the page at 5,000 nodes: first paint, frames while scrolling, memory after an hour',
  defaultRuns: 1,
  run,
};
