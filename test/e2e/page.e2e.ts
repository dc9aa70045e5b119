// The page of an embedded world in a real browser: each view, a drain that a budget blocks and that
// is released, and what axe finds in either scheme and at 360 pixels.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import {
  goTo,
  launch,
  linkOf,
  noBrowser,
  type Opened,
  open,
  shot,
  shows,
  violations,
} from '../support/browser.ts';
import { eventually, missing, type ServedWorld } from '../support/demo-world.ts';
import { ensurePage } from '../support/program.ts';
import { skipWhen, suiteWorld } from '../support/stories.ts';

const whyNot = noBrowser ?? (await missing('kubectl', ['version', '--client']));

const never = `
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: { name: never, namespace: demo }
spec: { maxUnavailable: 0, selector: { matchLabels: { app: nginx-demo } } }
`;
const noHooks = {
  'hooks-never-run-out': 'drains by hand: no instance waits in a hook',
  'hooks-complete-when-empty': 'drains by hand: no instance waits in a hook',
  'foreign-hooks-left-alone': 'drains by hand: no instance waits in a hook',
};

describe('the page', {
  skip: skipWhen('the page in a browser', whyNot),
  timeout: 300_000,
  concurrency: 1,
}, () => {
  let world: ServedWorld;
  let browser: Browser;
  let link = '';
  let node = '';
  let first: Opened;
  const suite = suiteWorld({ judged: { settled: false, exempt: noHooks } });

  before(async () => {
    await ensurePage();
    world = suite.world;
    browser = await launch();
    assert.equal((await world.drover('world', 'advance', '60s')).code, 0);
    const label = 'eks.amazonaws.com/nodegroup=demo-ng';
    const listed = await world.kubectl('get', 'nodes', '-l', label, '-o', 'name');
    node = listed.stdout.trim().replace('node/', '');
    link = await linkOf(world);
    first = await open(browser, link);
  });
  after(() => browser?.close());

  it('opens by its link, and shows the groups with their nodes', async () => {
    const { page } = first;
    await page.locator('[data-node]').nth(3).waitFor();
    assert.equal(new URL(page.url()).hash, '#/', 'the key has left the address');
    await shows(first.page, 'Nothing waits');
    await shot(first.page, 'fleet');
  });

  it('shows a drain that a budget blocks: for what, since when, until when', async () => {
    assert.equal((await world.kubectlInput(never, 'apply', '-f', '-')).code, 0);
    const drained = await world.drover('drain', node, '--no-wait', '--no-preflight');
    assert.equal(drained.code, 0, drained.stderr);
    await shows(first.page, 'budget demo/never');
    await shot(first.page, 'blocked');
    await goTo(first.page, `#/n/${node}`);
    await shows(first.page, 'Waits for');
    await shows(first.page, 'Timeline');
    await shot(first.page, 'node', { width: 1200, height: 750 });
    await goTo(first.page, '#/drains');
    await shows(first.page, 'under way');
    await shot(first.page, 'drains');
    await goTo(first.page, '#/budgets');
    await shows(first.page, 'demo/never');
    await shot(first.page, 'budgets');
    await goTo(first.page, '#/journal');
    await shot(first.page, 'journal');
    await goTo(first.page, '#/g/demo-ng');
    await shows(first.page, 'node group');
    await shot(first.page, 'group');
  });

  it('shows the release at once', async () => {
    await goTo(first.page, '#/');
    assert.equal((await world.kubectl('delete', 'pdb', 'never', '-n', 'demo')).code, 0);
    await eventually('the fleet waits for nothing', async () => {
      const text = await first.page.locator('.waiting').textContent();
      return text?.includes('demo/never') ? undefined : true;
    });
    await shot(first.page, 'released');
  });

  const looks: readonly [string, BrowserContextOptions][] = [
    ['light and wide', {}],
    ['dark', { colorScheme: 'dark' }],
    ['360 pixels wide', { viewport: { width: 360, height: 740 } }],
  ];
  for (const [name, options] of looks) {
    it(`has no violation that axe sees, no script error and no foreign request: ${name}`, async () => {
      const { page, faults } = await open(browser, link, options);
      for (const hash of ['#/', `#/n/${node}`, '#/drains', '#/journal', '#/g/demo-ng']) {
        await goTo(page, hash);
        await page.locator('h1').first().waitFor();
        assert.deepEqual(await violations(page), [], hash);
      }
      await shot(page, name.replaceAll(' ', '-'));
      assert.deepEqual(faults, []);
    });
  }
});
