// The page's times in a browser whose own clock is wrong: 10 minutes ahead or behind, and jumping.
// Ages and ends follow the server's time, do not turn back at 60 times the speed, and stand still
// when the server has gone. The server sends made rows through the real routes.
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import {
  type PageNode,
  type PageSnapshot,
  type PageTime,
  pageVersion,
} from '../../src/api/page.ts';
import { keyAccess, PageRoutes, pageKey, readPageFiles } from '../../src/serve/index.ts';
import { launch, noBrowser } from '../support/browser.ts';
import { eventually } from '../support/demo-world.ts';
import { ensurePage } from '../support/program.ts';
import { skipWhen } from '../support/stories.ts';

const secret = 'clock';
const start = Date.parse('2031-01-01T00:00:00Z');
const iso = (ms: number): string => new Date(ms).toISOString();
const minute = 60_000;

const draining: PageNode = {
  key: 'n1',
  group: null,
  zone: 'eu-west-1a',
  type: 'm5.large',
  isSpot: false,
  instance: 'i-1',
  version: 'v1.32.0',
  isOld: false,
  letter: 'D',
  health: 'Healthy',
  finding: null,
  isCordoned: true,
  cpu: 0.5,
  memory: 0.5,
  pods: 3,
  created: iso(start - 60 * minute),
  drain: null,
  repair: null,
  wait: {
    text: 'pod shop/cart waits for budget shop/cart',
    cause: 'budget shop/cart',
    since: iso(start - 2 * minute),
    until: iso(start + 10 * minute),
    atEnd: 'fail',
    more: 0,
  },
};
const empty = { group: [], update: [], drain: [], repair: [], budget: [] };
const none = { group: 0, node: 0, update: 0, drain: 0, repair: 0, budget: 0 };

interface Reader {
  send(event: { id?: string; event: string; data: string }): boolean;
}

class TimeServer {
  readonly #readers = new Set<Reader>();
  readonly #http: Server;
  time: PageTime = { now: iso(start), speed: 1 };

  constructor() {
    const files = readPageFiles(join(import.meta.dirname, '..', '..', 'web', 'dist'));
    const routes = new PageRoutes({
      source: {
        snapshot: async () => JSON.stringify(this.#snapshot()),
        subscribe: async (_, reader) => {
          this.#readers.add(reader);
          return { resume: () => undefined, end: () => this.#readers.delete(reader) };
        },
      },
      access: keyAccess(secret),
      files: () => files,
      reads: {},
      writes: {},
    });
    this.#http = createServer((message, response) => {
      void routes.handle(message, response, (this.#http.address() as AddressInfo).port);
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#http.listen(0, '127.0.0.1', resolve));
    const { port } = this.#http.address() as AddressInfo;
    return `http://127.0.0.1:${port}/#key=${pageKey(secret)}`;
  }

  #snapshot(): PageSnapshot {
    return {
      version: pageVersion,
      id: 'clock-0',
      time: this.time,
      server: { version: 'clock', world: null, hasJournal: true, actions: false },
      rows: { ...empty, node: [draining] },
      left: none,
      journal: [],
      recorded: 0,
      faults: [],
    };
  }

  get readers(): number {
    return this.#readers.size;
  }
  #send(event: string, data: object): void {
    for (const reader of this.#readers) reader.send({ event, data: JSON.stringify(data) });
  }
  beat(now: number, speed: PageTime['speed'] = 1): void {
    this.time = { now: iso(now), speed };
    this.#send('beat', this.time);
  }
  /** A change that was made at `now`, and arrives late. */
  lateDelta(now: number): void {
    const time = { now: iso(now), speed: this.time.speed };
    this.#send('delta', { time, set: {}, gone: {}, journal: [], recorded: 0, faults: [] });
  }
  close(): void {
    this.#http.closeAllConnections();
    this.#http.close();
  }
}

const units = { d: 86_400, h: 3_600, m: 60, s: 1 } as const;
const secondsOf = (text: string): number =>
  [...text.matchAll(/(\d+)([dhms])/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * units[unit as keyof typeof units],
    0,
  );

/** What the list of waits says: seconds since its start, and of its end. */
const waitOf = async (page: Page): Promise<{ readonly age: number; readonly end: string }> => {
  const text = (await page.locator('.waiting .waittimes').textContent()) ?? '';
  const [, age = '', end = ''] = /^for (.*?[smhd])(the drain fails.*)$/.exec(text) ?? [];
  assert.notEqual(age, '', text);
  return { age: secondsOf(age), end };
};

describe('the times of the page', {
  skip: skipWhen('the times of the page in a browser', noBrowser),
  timeout: 120_000,
  concurrency: 1,
}, () => {
  let browser: Browser;
  let server: TimeServer;
  let link = '';

  before(async () => {
    await ensurePage();
    server = new TimeServer();
    link = await server.listen();
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    server.close();
  });

  /** `shift`: what the browser's own clock adds to the time, as JavaScript. */
  const opened = async (shift: string): Promise<Page> => {
    const page = await browser.newPage();
    await page.addInitScript(`{
      const Own = Date;
      let asked = 0;
      const shift = () => ${shift};
      globalThis.Date = class extends Own {
        constructor(...args) { args.length === 0 ? super(Own.now() + shift()) : super(...args); }
        static now() { return Own.now() + shift(); }
      };
    }`);
    await page.goto(link);
    await page.locator('.waiting .waittimes').waitFor();
    return page;
  };

  const clocks: readonly [string, string][] = [
    ['10 minutes ahead', '600_000'],
    ['10 minutes behind', '-600_000'],
    ['jumping by days', '(asked++ % 2 === 0 ? -1 : 1) * 86_400_000 * asked'],
  ];
  for (const [name, shift] of clocks) {
    it(`are the server's, whatever the reader's clock says: ${name}`, async () => {
      server.beat(start);
      const page = await opened(shift);
      const { age, end } = await waitOf(page);
      assert.ok(age >= 120 && age < 150, `waits for ${age} s`);
      assert.match(end, /^the drain fails in 9m \d+s$|in 10m$/);
      assert.match(
        (await page.locator('.clock').textContent()) ?? '',
        /^Time of the cluster 00:00:[0-2]\d$/,
      );
      await page.close();
    });
  }

  it('do not turn back where the server’s time is 60 times faster, and beats are late', async () => {
    server.beat(start, 60);
    const page = await opened('0');
    const begun = performance.now();
    const ages: number[] = [];
    for (let beat = 1; beat <= 3; beat++) {
      while (performance.now() - begun < beat * 2_000) {
        ages.push((await waitOf(page)).age);
        await sleep(100);
      }
      // Half a second old when it arrives.
      server.beat(start + (performance.now() - begun - 500) * 60, 60);
    }
    ages.push((await waitOf(page)).age);
    assert.deepEqual(
      ages,
      ages.toSorted((a, b) => a - b),
    );
    assert.ok((ages.at(-1) ?? 0) - (ages[0] ?? 0) > 120, `from ${ages[0]} to ${ages.at(-1)} s`);
    await page.close();
  });

  it('are not set back by changes that arrive late, and follow a server that is set back', async () => {
    server.beat(start + 30 * minute);
    const page = await opened('0');
    assert.equal((await waitOf(page)).age, 32 * 60);
    assert.match((await waitOf(page)).end, /^the drain fails, overdue by 20m/);
    server.lateDelta(start + 5 * minute);
    await sleep(1_500);
    assert.ok((await waitOf(page)).age >= 32 * 60);
    server.beat(start + 1 * minute);
    await eventually('the age follows', async () =>
      (await waitOf(page)).age < 200 ? true : undefined,
    );
    await page.close();
  });

  it('stand still when the server has gone, also after a day of sleep', async () => {
    server.beat(start, 60);
    const page = await browser.newPage();
    await page.clock.install();
    await page.goto(link);
    await page.locator('.waiting .waittimes').waitFor();
    await eventually('the page follows', async () => (server.readers > 0 ? true : undefined));
    server.close();
    await page.clock.fastForward(86_400_000);
    await page.clock.runFor(5_000);
    await page.locator('.badge.lost').waitFor();
    const { age } = await waitOf(page);
    assert.ok(age < 120 + 60 * 20, `${age} s after ${secondsOf('1d')} s of silence`);
  });
});
