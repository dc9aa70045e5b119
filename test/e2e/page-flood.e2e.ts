// The page under 11,000 events a second in a real browser: 6,000 journal entries and 5,000 changes
// of 1,500 nodes, for several seconds. It answers to clicks, its memory is bounded, and at the end
// it shows the last entry, the last state of each node, and how many entries it leaves out. A
// connection that reads nothing costs the server little. The objects are made; no controller runs.
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, CDPSession, Page } from 'playwright-core';
import { resourceTypes } from '../../src/api/kube.ts';
import { wallClock } from '../../src/main/wall-clock.ts';
import { JournalRing, PageHub } from '../../src/page/index.ts';
import type { JournalEntry } from '../../src/ports/index.ts';
import { keyAccess, PageRoutes, pageKey, readPageFiles } from '../../src/serve/index.ts';
import { CollectingLog, TestRandom } from '../builders/runtime.ts';
import { FakeKube } from '../builders/runtime-kube.ts';
import { announcements, spokenOf } from '../support/accessible-tree.ts';
import { goTo, launch, noBrowser, type Opened, open, shows } from '../support/browser.ts';
import { eventually } from '../support/demo-world.ts';
import { ensurePage } from '../support/program.ts';
import { skipWhen } from '../support/stories.ts';

const nodes = 1_500;
const floodMs = 6_000;
const stepMs = 20;
const entriesPerSecond = 6_000;
const changesPerSecond = 5_000;
/** A bound with room; the figure is printed. */
const maxGrowthMb = 30;
/** The kernel takes several megabytes for a connection. */
const maxRounds = 10;
const maxWaitingBytes = 4_000_000;

const nameOf = (at: number): string => `ip-10-0-${at >> 8}-${at & 255}.eu-west-1.compute.internal`;

class Flood {
  readonly kube = new FakeKube(wallClock);
  readonly ring = new JournalRing();
  readonly hub: PageHub;
  /** The version of each node that was written last. */
  readonly versions = new Map<string, string>();
  readonly #end = new AbortController();
  readonly #journal = this.ring.tee({ record: () => undefined }, wallClock);
  #changes = 0;

  constructor() {
    for (let at = 0; at < nodes; at++) this.#change(at);
    this.hub = new PageHub({
      kube: this.kube,
      clock: wallClock,
      wall: wallClock,
      random: new TestRandom(),
      log: new CollectingLog(),
      journal: this.ring,
      speed: () => 1,
      server: { version: 'flood', world: null, hasJournal: true, actions: false },
      signal: this.#end.signal,
    });
  }

  /** All entries and changes of `floodMs` at the rates above; longer on a machine that lags. */
  async run(): Promise<void> {
    const begun = performance.now();
    const due = (perSecond: number): number =>
      (Math.min(performance.now() - begun, floodMs) / 1_000) * perSecond;
    const sent = { entries: 0, changes: 0 };
    const all = (floodMs / 1_000) * (entriesPerSecond + changesPerSecond);
    while (sent.entries + sent.changes < all) {
      for (; sent.entries < due(entriesPerSecond); sent.entries++) this.#record();
      for (; sent.changes < due(changesPerSecond); sent.changes++) {
        this.#change(this.#changes % nodes);
      }
      await sleep(stepMs);
    }
  }

  /** One change of every node, at once. */
  changeAll(): void {
    for (let at = 0; at < nodes; at++) this.#change(at);
  }

  end(): void {
    this.#end.abort();
  }

  #record(): void {
    const at = this.ring.count;
    const facts = { pod: `shop/cart-${at}`, node: nameOf(at % nodes), budget: 'shop/cart' };
    this.#journal.record({
      type: 'pod:evicted',
      subject: `i-${at}`,
      facts,
    } as unknown as JournalEntry);
  }

  #change(at: number): void {
    const kubeletVersion = `v1.32.${this.#changes++}`;
    const name = nameOf(at);
    const zone = `eu-west-1${'abc'[at % 3]}`;
    const labels = { 'topology.kubernetes.io/zone': zone, 'eks.amazonaws.com/nodegroup': 'ng' };
    const conditions = [
      { type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' },
    ];
    const status = { nodeInfo: { kubeletVersion }, conditions };
    this.kube.put(resourceTypes.nodes, { name, labels, spec: {}, status });
    this.versions.set(name, kubeletVersion);
  }
}

const recordFrames = (page: Page): Promise<unknown> =>
  page.evaluate(`(() => {
    globalThis.frames = [];
    let last = performance.now();
    const step = (now) => {
      globalThis.frames.push(now - last);
      last = now;
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  })()`);

const heapMb = async (session: CDPSession): Promise<number> => {
  await session.send('HeapProfiler.collectGarbage');
  const { metrics } = await session.send('Performance.getMetrics');
  return (metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? 0) / 1e6;
};

const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN;

describe('the page under a flood', {
  skip: skipWhen('the page under a flood in a browser', noBrowser),
  timeout: 300_000,
  concurrency: 1,
}, () => {
  const flood = new Flood();
  const secret = 'flood';
  let server: Server;
  let browser: Browser;
  let opened: Opened;
  let page: Page;
  let origin = '';

  before(async () => {
    await ensurePage();
    const files = readPageFiles(join(import.meta.dirname, '..', '..', 'web', 'dist'));
    const routes = new PageRoutes({
      source: flood.hub,
      access: keyAccess(secret),
      files: () => files,
      reads: {},
      writes: {},
    });
    server = createServer((message, response) => {
      void routes.handle(message, response, (server.address() as AddressInfo).port);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    browser = await launch();
    opened = await open(browser, `${origin}/#key=${pageKey(secret)}`);
    page = opened.page;
    await page
      .locator('[data-node]')
      .nth(nodes - 1)
      .waitFor({ timeout: 60_000 });
  });
  after(async () => {
    await browser?.close();
    server.closeAllConnections();
    server.close();
    flood.end();
  });

  /** Milliseconds in the page, from the click on a link of the bar to the frame with its view. */
  const clicked = (name: string, heading: string): Promise<number> =>
    page.evaluate(`new Promise((resolve) => {
      const links = [...document.querySelectorAll('header nav a')];
      const begun = performance.now();
      links.find(({ textContent }) => textContent.startsWith('${name}')).click();
      const look = () => document.querySelector('h1')?.textContent.startsWith('${heading}')
        ? resolve(performance.now() - begun)
        : requestAnimationFrame(look);
      requestAnimationFrame(look);
    })`);

  it('answers to clicks, and its memory is bounded (seconds are printed, not judged)', async (t) => {
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable');
    const before = await heapMb(session);
    await recordFrames(page);
    const isOver = flood.run();
    const clicks: number[] = [];
    for (let round = 0; round < 3; round++) {
      clicks.push(await clicked('Journal', 'Journal'));
      await sleep(800);
      clicks.push(await clicked('Budgets', 'Budgets'));
      clicks.push(await clicked('Fleet', `${nodes.toLocaleString('en')} nodes`));
      await sleep(800);
    }
    await isOver;
    const frames = (await page.evaluate('globalThis.frames')) as readonly number[];
    const growth = (await heapMb(session)) - before;
    const [median, slow] = [quantile(frames, 0.5), quantile(frames, 0.99)];
    const figures = [
      `${flood.ring.count} entries in ${floodMs / 1_000} s`,
      `frames: median ${median.toFixed(0)} ms, 99 of 100 within ${slow.toFixed(0)} ms`,
      `clicks: ${clicks.map(Math.round).join(', ')} ms`,
      `heap of the page: ${before.toFixed(1)} MB, then ${growth.toFixed(1)} MB more`,
    ];
    t.diagnostic(figures.join('; '));
    assert.ok(flood.ring.count >= (floodMs / 1_000) * 5_000);
    assert.ok(growth < maxGrowthMb, `the heap grew by ${growth} MB`);
  });

  it('shows the last entry, how many are not shown, and the last state of each node', async () => {
    await clicked('Journal', 'Journal');
    const last = `i-${flood.ring.count - 1}`;
    await page.locator('.entries li').first().getByText(last, { exact: true }).waitFor();
    const older = (await page.locator('main').textContent()) ?? '';
    const [, hidden = '0'] = /([\d,]+) entries before these are in the log/.exec(older) ?? [];
    const [, listed = '0'] = /^Journal ([\d,]+) entr/.exec(older) ?? [];
    const sum = [hidden, listed].reduce((all, text) => all + Number(text.replaceAll(',', '')), 0);
    assert.equal(sum, flood.ring.count, older.slice(0, 300));
    await goTo(page, '#/g/ng');
    const more = page.getByRole('button', { name: 'Show more' });
    while ((await more.count()) > 0) await more.click();
    const rows = await page
      .locator('table tbody tr')
      .evaluateAll((found) => found.map((row) => row.textContent ?? ''));
    assert.equal(rows.length, nodes);
    const shown = new Set(rows.map((row) => /v1\.32\.\d+/.exec(row)?.[0]));
    assert.deepEqual(
      [...flood.versions.values()].filter((one) => !shown.has(one)),
      [],
    );
    assert.deepEqual(opened.faults, []);
  });

  it('holds the journal still on request, and counts what comes meanwhile', async () => {
    await goTo(page, '#/journal');
    await page.getByRole('checkbox', { name: 'hold still' }).check();
    const first = page.locator('.entries li').first();
    const held = await first.textContent();
    const isOver = flood.run();
    await shows(page, /hold still: [\d,]+ entries came since/);
    await isOver;
    assert.equal(await first.textContent(), held);
    await page.getByRole('checkbox', { name: 'hold still' }).uncheck();
    await first.getByText(`i-${flood.ring.count - 1}`, { exact: true }).waitFor();
  });

  it('announces little, and each of its cells has a name', async () => {
    await clicked('Fleet', nodes.toLocaleString('en'));
    const said = await announcements(page, () => flood.run());
    assert.ok(said.length <= 2, said.join(' | '));
    const cells = (await spokenOf(page)).filter(({ role, name }) => {
      return role === 'button' && /^ip-10-0-\d+-\d+; Ready; 0 pods; CPU/.test(name);
    });
    assert.equal(cells.length, nodes);
  });

  it('keeps little for a silent connection, and no page loses its stream', async (t) => {
    let streams = 1;
    page.on('request', (request) => {
      if (request.url().includes('/events')) streams += 1;
    });
    const [cookie] = await page.context().cookies(`${origin}/page/v1/`);
    const head = [
      'GET /page/v1/events HTTP/1.1',
      `Host: ${new URL(origin).host}`,
      `Cookie: ${cookie?.name}=${cookie?.value}`,
    ];
    const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve));
    const silent = connect(Number(new URL(origin).port), '127.0.0.1');
    silent.pause();
    silent.write(`${head.join('\r\n')}\r\n\r\n`);
    const connection = await accepted;
    let highest = 0;
    const sampling = setInterval(() => {
      highest = Math.max(highest, connection.writableLength);
    }, stepMs);
    sampling.unref();
    flood.changeAll();
    // Until the kernel takes no more for it.
    for (let round = 0; round < maxRounds && connection.writableLength === 0; round++) {
      await flood.run();
    }
    await eventually('the silent connection is closed', async () => connection.closed || undefined);
    clearInterval(sampling);
    silent.destroy();
    t.diagnostic(`at most ${(highest / 1e6).toFixed(1)} MB waited in the silent connection`);
    assert.ok(highest < maxWaitingBytes, `${highest} bytes waited in the silent connection`);
    assert.equal(await page.locator('.badge').textContent(), 'live');
    assert.equal(streams, 1, 'the page kept its stream');
    assert.deepEqual(opened.faults, []);
  });
});
