// The page without a mouse, in a real browser: each stop of Tab is visible, arrows move between
// nodes, and what is opened and closed by keys returns the focus to where it was.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import {
  goTo,
  launch,
  linkOf,
  noBrowser,
  type Opened,
  open,
  shows,
  violations,
} from '../support/browser.ts';
import { missing } from '../support/demo-world.ts';
import { ensurePage } from '../support/program.ts';
import { stepsOf } from '../support/steps.ts';
import { skipWhen, suiteWorld } from '../support/stories.ts';

const whyNot = noBrowser ?? (await missing('kubectl', ['version', '--client']));
/** More than the page has. */
const maxStops = 120;
const lookMs = 50;
/** Ten seconds. */
const maxLooks = 200;

interface Focused {
  /** Text or label. */
  readonly name: string;
  readonly id: string;
  readonly node: string;
  /** Landmark or dialog that it belongs to. */
  readonly within: string;
  /** Its ring is drawn, and lies in the window. */
  readonly isVisible: boolean;
}

const focusedOn = (page: Page): Promise<Focused> =>
  page.evaluate(`(() => {
    const element = document.activeElement;
    const box = element.getBoundingClientRect();
    const { outlineStyle, outlineWidth } = getComputedStyle(element);
    const isInside = box.bottom > 0 && box.top < innerHeight && box.width > 1;
    return {
      name: element.getAttribute('aria-label') ?? element.textContent.trim(),
      id: element.id,
      node: element.dataset.node ?? '',
      within: element.closest('dialog, main, header.top, section.worldbar')?.localName ?? '',
      isVisible: isInside && outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2,
    };
  })()`);

const press = async (page: Page, ...keys: readonly string[]): Promise<Focused> => {
  for (const key of keys) await page.keyboard.press(key);
  return focusedOn(page);
};

const hashOf = (page: Page): string => new URL(page.url()).hash;

const partOf = (on: Focused, wanted: Partial<Focused>): Partial<Focused> =>
  Object.fromEntries(Object.keys(wanted).map((key) => [key, on[key as keyof Focused]]));

/** Presses keys, and waits until the focus is where it belongs: pages render after events. */
const pressFor = async (
  page: Page,
  wanted: Partial<Focused>,
  ...keys: readonly string[]
): Promise<void> => {
  let on = await press(page, ...keys);
  for (let looks = 0; looks < maxLooks && !isDeepStrictEqual(partOf(on, wanted), wanted); looks++) {
    await page.waitForTimeout(lookMs);
    on = await focusedOn(page);
  }
  assert.deepEqual(partOf(on, wanted), wanted);
};

/** Waits for the part of the address that names the view. */
const atHash = async (page: Page, hash: string): Promise<void> => {
  for (let looks = 0; looks < maxLooks && hashOf(page) !== hash; looks++) {
    await page.waitForTimeout(lookMs);
  }
  assert.equal(hashOf(page), hash);
};

/** Presses Tab until an element has the focus that fits. */
const tabTo = async (page: Page, fits: (on: Focused) => boolean): Promise<Focused> => {
  const passed: string[] = [];
  for (let stop = 0; stop < maxStops; stop++) {
    const on = await press(page, 'Tab');
    if (fits(on)) return on;
    passed.push(on.name);
  }
  throw new assert.AssertionError({ message: `not among the stops: ${passed.join(' | ')}` });
};

const named = (name: string) => (on: Focused) => on.name === name;

describe('the page by keys alone', {
  skip: skipWhen('the page by keys alone in a browser', whyNot),
  timeout: 300_000,
  concurrency: 1,
}, () => {
  const suite = suiteWorld({ args: ['--demo', '--port', '0', '--page-actions'], unjudged: true });
  let browser: Browser;
  let opened: Opened;
  let page: Page;
  let update = '';

  before(async () => {
    await ensurePage();
    const { world } = suite;
    const kubectl = stepsOf('kubectl', (args) => world.kubectl(...args));
    const drover = stepsOf('drover', (args) => world.drover(...args));
    await drover.ok('world advance 60s');
    const patch = JSON.stringify({ spec: { updateConfig: { approval: 'Required' } } });
    await kubectl.ok('patch nodegroup demo-ng --type merge -p', patch);
    await drover.ok('update ng demo-ng --no-wait');
    update = await kubectl.ok('get nodegroupupdates -o', 'jsonpath={.items[0].metadata.name}');
    browser = await launch();
    opened = await open(browser, await linkOf(world));
    page = opened.page;
    await page.locator('[data-node]').nth(3).waitFor();
  });
  after(() => browser?.close());

  it('skips to the content', async () => {
    await pressFor(page, { name: 'Skip to the content', isVisible: true }, 'Tab');
    await pressFor(page, { id: 'main' }, 'Enter');
    await pressFor(page, { within: 'main' }, 'Tab');
  });

  it('shows each stop of the fleet, and stops once among its nodes', async () => {
    const stops: Focused[] = [];
    await tabTo(page, named('Skip to the content'));
    await tabTo(page, (on) => {
      stops.push(on);
      return on.name === 'Tour';
    });
    const names = stops.map(({ name }) => name);
    assert.deepEqual(
      stops.filter(({ isVisible }) => !isVisible).map(({ name }) => name),
      [],
    );
    assert.equal(stops.filter(({ node }) => node !== '').length, 1);
    for (const name of ['Filter rows by words', 'Keys and signs', 'Inject a fault']) {
      assert.ok(names.includes(name), `${name} is not among ${names.join(' | ')}`);
    }
  });

  it('opens the node that the arrows lead to, and returns to it', async () => {
    const first = await tabTo(page, ({ node }) => node !== '');
    const { node } = await press(page, 'ArrowRight');
    assert.notEqual(node, first.node);
    await pressFor(page, { node }, 'End', 'Home', 'ArrowRight');
    await pressFor(page, { isVisible: true }, 'ArrowDown', 'ArrowUp');
    await press(page, 'Home', 'ArrowRight', 'Enter');
    await shows(page, 'drover explain node');
    await atHash(page, `#/n/${node}`);
    // The bar is passed.
    await pressFor(page, { within: 'main' }, 'Tab');
    await pressFor(page, { node, isVisible: true }, 'Escape');
    await atHash(page, '#/');
  });

  it('opens and closes its help; letters act until they are switched off there', async () => {
    // Its label tells what the node does, and may change meanwhile.
    const { node, id, within, isVisible } = await focusedOn(page);
    await pressFor(page, { within: 'dialog' }, '?');
    assert.deepEqual(await violations(page), []);
    await pressFor(page, { node, id, within, isVisible }, 'Escape');
    await tabTo(page, named('Keys and signs'));
    await pressFor(page, { within: 'dialog' }, 'Enter');
    await page.getByRole('checkbox', { name: 'letters and signs' }).focus();
    await press(page, 'Space');
    await page.getByRole('button', { name: 'Close', exact: true }).focus();
    await pressFor(page, { name: 'Keys and signs' }, 'Enter');
    await press(page, 'j');
    assert.equal(hashOf(page), '#/');
    await pressFor(page, { within: 'dialog' }, 'Enter');
    await page.getByRole('checkbox', { name: 'letters and signs' }).focus();
    await pressFor(page, { name: 'Keys and signs' }, 'Space', 'Escape');
    await press(page, 'j');
    await atHash(page, '#/journal');
    await page.waitForFunction(`document.title === 'journal - Drover'`);
  });

  it('opens and closes the dialog of a request to an update', async () => {
    await press(page, 'u');
    await page.locator('main a[href^="#/u/"]').first().waitFor();
    await page.locator('#main').focus();
    await tabTo(page, ({ name }) => name !== '' && update.endsWith(name));
    await press(page, 'Enter');
    await page.getByRole('button', { name: 'Approve', exact: true }).waitFor();
    await tabTo(page, named('Approve'));
    await pressFor(page, { within: 'dialog' }, 'Enter');
    await pressFor(page, { within: 'dialog' }, 'Tab');
    await pressFor(page, { name: 'Approve', isVisible: true }, 'Escape');
  });

  it('filters, and drops the filter', async () => {
    await goTo(page, '#/');
    await page.locator('[data-node]').first().waitFor();
    await pressFor(page, { name: 'Filter rows by words' }, '/');
    await page.keyboard.type('nothing-like-this');
    await shows(page, '0 nodes of');
    await press(page, 'Escape');
    await atHash(page, '#/');
    assert.deepEqual(opened.faults, []);
  });
});
