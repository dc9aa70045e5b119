// The page as a screen reader reads it, through the browser's accessibility tree: each view has its
// landmarks and one heading of level 1, everything that can be operated has a name, tables have
// headers, and what changes is announced seldom. Prints what is read: `READ=1` shows it all.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { announcements, linesOf, type Spoken, spokenOf } from '../support/accessible-tree.ts';
import { goTo, launch, linkOf, noBrowser, open, shows } from '../support/browser.ts';
import { missing } from '../support/demo-world.ts';
import { ensurePage } from '../support/program.ts';
import { stepsOf } from '../support/steps.ts';
import { skipWhen, suiteWorld } from '../support/stories.ts';

const whyNot = noBrowser ?? (await missing('kubectl', ['version', '--client']));

const never = JSON.stringify({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'never', namespace: 'demo' },
  spec: { maxUnavailable: 0, selector: { matchLabels: { app: 'nginx-demo' } } },
});

const operable = new Set(['button', 'link', 'checkbox', 'textbox', 'searchbox', 'combobox']);
const of = (spoken: readonly Spoken[], role: string): readonly Spoken[] =>
  spoken.filter((one) => one.role === role);

/** What every view must have. */
const faultsOf = (spoken: readonly Spoken[]): readonly string[] => {
  const once = ['banner', 'navigation', 'main'].filter((role) => of(spoken, role).length !== 1);
  const first = spoken.filter(({ role, level }) => role === 'heading' && level === 1);
  const headless = of(spoken, 'table').filter(({ name }) => name === '');
  const [table] = of(spoken, 'table');
  const [headers, heads] = ['columnheader', 'rowheader'].map((role) => of(spoken, role).length);
  const isBare = table !== undefined && ((headers ?? 0) < 3 || heads === 0);
  const levels = of(spoken, 'heading').map(({ level = 0 }) => level);
  const skipped = levels.some((level, at) => level - (levels[at - 1] ?? level) > 1);
  return [
    ...once.map((role) => `not one ${role}`),
    ...(first.length === 1 ? [] : [`${first.length} headings of level 1`]),
    ...(headless.length === 0 ? [] : ['a table without a name']),
    ...(isBare ? ['a table without headers of columns and rows'] : []),
    ...(skipped ? [`levels of headings: ${levels.join(' ')}`] : []),
    ...spoken
      .filter(({ role, name }) => operable.has(role) && name === '')
      .map(({ role }) => `a ${role} without a name`),
    ...spoken.filter(({ live }) => live === 'assertive').map(({ name }) => `interrupts: ${name}`),
  ];
};

describe('the page as it is read aloud', {
  skip: skipWhen('the page as it is read aloud, in a browser', whyNot),
  timeout: 300_000,
  concurrency: 1,
}, () => {
  const suite = suiteWorld({ args: ['--demo', '--port', '0', '--page-actions'], unjudged: true });
  let browser: Browser;
  let page: Page;
  let link = '';
  let node = '';
  let update = '';

  before(async () => {
    await ensurePage();
    const { world } = suite;
    const kubectl = stepsOf('kubectl', (args) => world.kubectl(...args));
    const drover = stepsOf('drover', (args) => world.drover(...args));
    await drover.ok('world advance 60s');
    const label = '-l eks.amazonaws.com/nodegroup=demo-ng';
    node = (await kubectl.ok(`get nodes ${label} -o name`)).trim().replace('node/', '');
    const patch = JSON.stringify({ spec: { updateConfig: { approval: 'Required' } } });
    await kubectl.ok('patch nodegroup demo-ng --type merge -p', patch);
    await drover.ok('update ng demo-ng --no-wait');
    update = await kubectl.ok('get nodegroupupdates -o', 'jsonpath={.items[0].metadata.name}');
    assert.equal((await world.kubectlInput(never, 'apply', '-f', '-')).code, 0);
    await drover.ok(`drain ${node} --no-wait --no-preflight`);
    browser = await launch();
    link = await linkOf(world);
    page = (await open(browser, link)).page;
    await shows(page, 'budget demo/never');
  });
  after(() => browser?.close());

  const views = (): readonly (readonly [string, string])[] => [
    ['fleet', '#/'],
    ['group', '#/g/demo-ng'],
    ['node', `#/n/${node}`],
    ['updates', '#/updates'],
    ['update', `#/u/${update}`],
    ['drains', '#/drains'],
    ['budgets', '#/budgets'],
    ['journal', '#/journal'],
  ];

  for (const width of [1440, 360]) {
    it(`has landmarks, headings, names and table headers, ${width} pixels wide`, async (t) => {
      await page.setViewportSize({ width, height: 900 });
      for (const [name, hash] of views()) {
        await goTo(page, hash);
        await page.locator('h1').first().waitFor();
        // Details arrive within a second.
        await sleep(1_200);
        const spoken = await spokenOf(page);
        if (process.env.READ === '1' && width > 360) {
          t.diagnostic([`view ${name}`, ...linesOf(spoken)].join('\n'));
        }
        assert.deepEqual(faultsOf(spoken), [], name);
      }
      await page.setViewportSize({ width: 1440, height: 900 });
    });
  }

  it('says of each node in the fleet what it is and what it waits for', async () => {
    await goTo(page, '#/');
    await page.locator('[data-node]').first().waitFor();
    const cells = (await spokenOf(page)).filter(({ name }) => /^ip-.* CPU \d+ %/.test(name));
    assert.equal(cells.length, await page.locator('[data-node]').count());
    const [waiting] = cells.filter(({ name }) => name.includes('Draining'));
    assert.match(
      waiting?.name ?? '',
      /CPU \d+ %, memory \d+ %; pod .* waits for budget demo\/never/,
    );
    assert.doesNotMatch(waiting?.name ?? '', /\dT\d\d:/, 'times as a person says them');
  });

  it('announces little: while 20 minutes pass at once, and when the server has gone', async () => {
    const { world } = suite;
    const during = await announcements(page, () => world.drover('world', 'advance', '20m'));
    assert.ok(during.length <= 3, during.join(' | '));
    const gone = await announcements(page, async () => {
      await world.kill();
      await page.locator('.badge.lost').waitFor({ timeout: 30_000 });
      await sleep(4_000);
    });
    assert.ok(gone.includes('lost'), gone.join(' | '));
    assert.ok(gone.length <= 3, gone.join(' | '));
    await world.restart(['--page-actions']);
  });
});
