// Debian's chromium without a screen, driven by playwright-core, on the page of a served world.
// Collects what must not happen on any page: script errors, requests to another host, violations of
// the content security policy, rules of axe. Judges no story.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import type { ServedWorld } from './demo-world.ts';

const candidates = [
  process.env.CHROMIUM ?? '',
  '/usr/bin/chromium',
  '/usr/bin/chromium-headless-shell',
];
const executable = candidates.find((path) => path !== '' && existsSync(path));

/** Why no browser runs; undefined: one does. */
export const noBrowser =
  executable === undefined ? 'chromium is not installed (CHROMIUM names another one)' : undefined;

export const launch = (): Promise<Browser> =>
  chromium.launch({
    executablePath: executable ?? '',
    // Root has no user namespace of its own in most containers; the page comes from this machine.
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });

/** The link that `drover page` prints. */
export const linkOf = async (world: ServedWorld): Promise<string> => {
  const { code, stdout, stderr } = await world.drover('page');
  assert.equal(code, 0, stderr);
  return stdout.trim();
};

/** Where a story's pictures are kept; without PAGE_SHOTS none are taken. */
const shots = process.env.PAGE_SHOTS ?? '';

/** `size`: of a picture for docs/, which is smaller than the window. */
export const shot = async (
  page: Page,
  name: string,
  size?: { readonly width: number; readonly height: number },
): Promise<void> => {
  if (shots === '') return;
  const before = page.viewportSize();
  if (size !== undefined) await page.setViewportSize(size);
  await page.screenshot({ path: join(shots, `${name}.png`) });
  if (before !== null) await page.setViewportSize(before);
};

/** Follows a link within the page. */
export const goTo = (page: Page, hash: string): Promise<void> =>
  page.evaluate((to) => {
    (globalThis as unknown as { location: { hash: string } }).location.hash = to;
  }, hash);

/** Waits until the page shows a text. */
export const shows = (page: Page, text: string | RegExp): Promise<void> =>
  page.getByText(text).first().waitFor({ timeout: 30_000 });

export interface Opened {
  readonly page: Page;
  /** Errors, foreign requests and violations so far. */
  readonly faults: string[];
}

/** A page of its own, without the session of another one. */
export const open = async (
  browser: Browser,
  address: string,
  options: BrowserContextOptions = {},
): Promise<Opened> => {
  const viewport = { width: 1440, height: 900 };
  const context = await browser.newContext({ viewport, reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  const { origin } = new URL(address);
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(`script error: ${error.message}`));
  page.on('console', (message) => {
    const text = message.text();
    if (message.type() === 'error' && !/Failed to load resource|ERR_/.test(text)) faults.push(text);
  });
  page.on('dialog', (dialog) => {
    faults.push(`a dialog of a script: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    const asked = new URL(request.url()).origin;
    if (asked !== origin) faults.push(`a request to ${asked}`);
  });
  await page.goto(address);
  return { page, faults };
};

const require = createRequire(import.meta.url);
const axe = readFileSync(join(require.resolve('axe-core'), '..', 'axe.min.js'), 'utf8');

/** The violations of WCAG 2.2 AA that axe sees in what is shown. */
export const violations = async (page: Page): Promise<readonly string[]> => {
  // The policy forbids script elements; an evaluation by the driver is not one.
  await page.evaluate(axe);
  return page.evaluate(async () => {
    const { axe: checker } = globalThis as unknown as {
      axe: { run: (root: unknown, options: object) => Promise<AxeResult> };
    };
    interface AxeResult {
      violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[];
    }
    const values = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
    const found = await checker.run((globalThis as unknown as { document: unknown }).document, {
      runOnly: { type: 'tag', values },
    });
    return found.violations.map(({ id, nodes }) => {
      const [node] = nodes;
      return `${id} x${nodes.length}: ${node?.html.slice(0, 200)} ${node?.failureSummary ?? ''}`;
    });
  });
};
