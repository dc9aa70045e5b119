// The guided tour of the page, played to its end in a real browser: each step asks the world for
// what its button says, and goes on when the page has seen what the step waits for.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Locator } from 'playwright-core';
import { goTo, launch, linkOf, noBrowser, type Opened, open, shot } from '../support/browser.ts';
import { ensurePage } from '../support/program.ts';
import { skipWhen, suiteWorld } from '../support/stories.ts';

/** How often time is run ahead in one step. */
const mostAhead = 12;
const seenWithinMs = 15_000;

describe('the guided tour of the page', {
  skip: skipWhen('the guided tour in a browser', noBrowser),
  timeout: 900_000,
  concurrency: 1,
}, () => {
  const suite = suiteWorld({ args: ['--demo', '--port', '0'], unjudged: true });
  let browser: Browser;
  let opened: Opened;
  let panel: Locator;

  before(async () => {
    await ensurePage();
    browser = await launch();
    opened = await open(browser, await linkOf(suite.world));
    await opened.page.locator('[data-node]').nth(3).waitFor();
    panel = opened.page.locator('aside.tour');
  });
  after(() => browser?.close());

  const isSeen = (): Promise<boolean> =>
    panel
      .locator('.sight.seen')
      .waitFor({ timeout: seenWithinMs })
      .then(
        () => true,
        () => false,
      );

  /** Goes to a step and plays it; the label of the button that leads on. */
  const play = async (chapter: number, step: number): Promise<string> => {
    await goTo(opened.page, `#/?tour=${chapter}.${step}`);
    const here = panel.locator(`.chapters li:nth-child(${chapter}) [aria-current]`);
    await here.waitFor();
    await panel.getByText(`step ${step} of`).waitFor();
    const ask = panel.locator('button.primary');
    if ((await ask.count()) > 0 && (await panel.locator('.sight.seen').count()) === 0)
      await ask.click();
    const ahead = panel.locator('.buttons:not(.moves) button:not(.primary)');
    for (let i = 0; i < mostAhead && !(await isSeen()); i++) {
      if ((await ahead.count()) > 0) await ahead.click();
    }
    const text = await panel.locator('.sight').textContent();
    assert.match(text ?? '', /^Seen: /);
    return (await panel.locator('.moves button').last().textContent()) ?? '';
  };

  for (const chapter of [1, 2, 3, 4]) {
    it(`plays chapter ${chapter}`, async () => {
      for (let step = 1, label = 'Next'; label === 'Next'; step++)
        label = await play(chapter, step);
      await shot(opened.page, `tour-${chapter}`);
    });
  }

  it('ran no script that failed, and asked no other host', () => {
    assert.deepEqual(opened.faults, []);
  });
});
