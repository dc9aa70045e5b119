// The page with --page-actions: an update from its approval to its end by the operator's own token,
// two tabs that act at once, callers without rights, forged requests, hostile names, a server that
// goes away, and the page of a controller.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
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
import { ControllerProcess } from '../support/controller-process.ts';
import { eventually, missing, type ServedWorld } from '../support/demo-world.ts';
import { ensurePage } from '../support/program.ts';
import { type Steps, stepsOf } from '../support/steps.ts';
import { skipWhen, suiteWorld } from '../support/stories.ts';

const whyNot = noBrowser ?? (await missing('kubectl', ['version', '--client']));
const waitMs = 30_000;

const rights = `
apiVersion: v1
kind: ServiceAccount
metadata: { name: operator, namespace: default }
---
apiVersion: v1
kind: ServiceAccount
metadata: { name: guest, namespace: default }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: drover-operator }
rules:
  - { apiGroups: [""], resources: [nodes, pods], verbs: [list] }
  - { apiGroups: [policy], resources: [poddisruptionbudgets], verbs: [list] }
  - { apiGroups: [drover.dev], resources: ["*"], verbs: [list] }
  - { apiGroups: [drover.dev], resources: [nodegroupupdates], verbs: [patch] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: drover-operator }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: drover-operator }
subjects: [{ kind: ServiceAccount, name: operator, namespace: default }]
`;

/** As long as the API allows; what stands in texts is markup, reordering and control characters. */
const longName = `${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.xyz`;
const evil = '<img src=x onerror=alert(1)><script>alert(2)</script>\u202Egnp.exe\u0007';
const hostile = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: longName, labels: { 'eks.amazonaws.com/nodegroup': 'demo-ng' } },
});
const hostileStatus = JSON.stringify({
  status: {
    conditions: [
      {
        // Nobody rewrites it: a Ready without a kubelet becomes Unknown in other words.
        type: 'StorageReady',
        status: 'False',
        reason: 'ReadonlyFilesystem',
        message: evil,
        lastHeartbeatTime: '2026-01-01T00:00:00Z',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ],
  },
});

describe('the page with actions', {
  skip: skipWhen('the page with actions in a browser', whyNot),
  timeout: 600_000,
  concurrency: 1,
}, () => {
  const suite = suiteWorld({ args: ['--demo', '--port', '0', '--page-actions'], unjudged: true });
  let world: ServedWorld;
  let kubectl: Steps;
  let drover: Steps;
  let browser: Browser;
  let link = '';
  let first: Opened;
  let second: Opened;
  const tokens = { operator: '', guest: '' };

  const confirm = async (page: Page, verb: string, token: string): Promise<void> => {
    await page.getByLabel('Your token').fill(token);
    await page.getByRole('dialog').getByRole('button', { name: verb, exact: true }).click();
  };

  before(async () => {
    await ensurePage();
    world = suite.world;
    kubectl = stepsOf('kubectl', (args) => world.kubectl(...args));
    drover = stepsOf('drover', (args) => world.drover(...args));
    browser = await launch();
    await drover.ok('world advance 60s');
    assert.equal((await world.kubectlInput(rights, 'apply', '-f', '-')).code, 0);
    for (const name of ['operator', 'guest'] as const) {
      tokens[name] = (await kubectl.ok(`create token ${name}`)).trim();
    }
    link = await linkOf(world);
    first = await open(browser, link);
    second = await open(browser, link);
  });
  after(() => browser?.close());

  it('approves an update with the plan that was shown, by the rights of the token alone', async () => {
    const patch = JSON.stringify({
      spec: { scaling: { desired: 4 }, updateConfig: { approval: 'Required' } },
    });
    await kubectl.ok('patch nodegroup demo-ng --type merge -p', patch);
    await drover.ok('world advance 3m');
    await drover.ok('update ng demo-ng --no-wait --strategy SURGE');
    const path = '{.items[0].metadata.name}';
    const id = await kubectl.ok('get nodegroupupdates -o', `jsonpath=${path}`);
    for (const { page } of [first, second]) {
      await goTo(page, `#/u/${id}`);
      await shows(page, 'not approved yet');
      await page.getByRole('button', { name: 'Approve', exact: true }).click();
      await shows(page, `drover approve update ${id}`);
    }
    await shot(first.page, 'approve');
    await confirm(first.page, 'Approve', tokens.guest);
    await shows(first.page, /guest may not patch nodegroupupdates\.drover\.dev/);
    await confirm(first.page, 'Approve', 'not-a-token');
    await shows(first.page, 'does not accept this token');
    await confirm(first.page, 'Approve', tokens.operator);
    await first.page.getByRole('dialog').waitFor({ state: 'detached', timeout: waitMs });
    const user = 'system:serviceaccount:default:operator';
    const patched = world
      .audit()
      .filter(({ verb, objectRef }) => verb === 'patch' && objectRef?.name === id)
      .filter(({ user: { username } }) => username === user);
    assert.equal(patched.length, 1, 'the write is the operator’s own');
  });

  it('refuses the same request of a second tab, which shows the older picture', async () => {
    await confirm(second.page, 'Approve', tokens.operator);
    await shows(second.page, /does not wait for an approval|the plan has changed meanwhile/);
    await second.page.getByRole('button', { name: 'Cancel' }).click();
  });

  it('shows the update with its pace, its nodes and its end', async () => {
    await drover.ok('world advance 4m');
    await shows(first.page, /nodes done/);
    await shot(first.page, 'update');
    await goTo(first.page, '#/');
    await shot(first.page, 'fleet-update');
    await goTo(first.page, '#/updates');
    await shot(first.page, 'updates');
    await drover.ok('world advance 40m');
    await shows(first.page, 'Successful');
  });

  it('takes no request from another origin, from a form, or by the cookie alone', async () => {
    const base = new URL(link).origin;
    const [cookie] = await first.page.context().cookies(`${base}/page/v1/snapshot`);
    const session = `${cookie?.name}=${cookie?.value}`;
    assert.ok(cookie?.httpOnly === true && cookie.sameSite === 'Strict');
    const body = JSON.stringify({ name: 'x', verb: 'pause', plan: [] });
    const headers = { cookie: session, 'content-type': 'application/json', 'x-drover-page': '1' };
    const send = async (more: Record<string, string>): Promise<number> => {
      const address = `${base}/page/v1/act`;
      const all = { ...headers, ...more };
      return (await fetch(address, { method: 'POST', headers: all, body })).status;
    };
    assert.equal(await send({ origin: 'http://evil.example' }), 403);
    assert.equal(await send({ 'x-drover-page': '' }), 403);
    assert.equal(await send({ 'content-type': 'text/plain' }), 403);
    assert.equal(await send({ cookie: '' }), 401);
    assert.equal(await send({}), 401, 'the cookie alone does not act');
    assert.equal((await fetch(`${base}/page/v1/snapshot`)).status, 401);
    const page = await fetch(`${base}/`);
    assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'/);
  });

  it('shows hostile names and texts as texts: nothing runs, nothing is asked elsewhere', async () => {
    assert.equal((await world.kubectlInput(hostile, 'create', '-f', '-')).code, 0);
    await kubectl.ok(`patch node ${longName} --subresource status --type merge -p`, hostileStatus);
    for (const hash of ['#/', `#/n/${longName}`, '#/g/demo-ng', '#/journal', '#/?q=%3Cscript%3E']) {
      await goTo(first.page, hash);
      await first.page.locator('h1').first().waitFor();
      assert.deepEqual(await violations(first.page), [], hash);
    }
    await goTo(first.page, `#/n/${longName}`);
    await first.page.getByText('Conditions', { exact: true }).click({ timeout: waitMs });
    const message = first.page.locator('details').getByText('<img src=x onerror=alert(1)>');
    await message.first().waitFor({ timeout: waitMs });
    await shows(first.page, '\\u202e');
    await shot(first.page, 'hostile');
    assert.deepEqual(first.faults, []);
    await kubectl.ok(`delete node ${longName} --wait=false`);
  });

  it('says that the server has gone, and goes on by itself when it is back', async () => {
    await goTo(first.page, '#/');
    await world.kill();
    await first.page.locator('.badge.lost').waitFor({ timeout: waitMs });
    await shot(first.page, 'lost');
    await world.restart(['--page-actions']);
    await first.page.locator('.badge.live').waitFor({ timeout: waitMs });
    await drover.ok('world advance 60s');
    await first.page.locator('[data-node]').first().waitFor({ timeout: waitMs });
  });
});

describe('the page of a controller', {
  skip: skipWhen('the page of a controller in a browser', whyNot),
  timeout: 300_000,
  concurrency: 1,
}, () => {
  const args = ['--demo', '--port', '0', '--no-controller'];
  const suite = suiteWorld({ args, unjudged: true });
  let browser: Browser;
  let controller: ControllerProcess | undefined;
  before(async () => {
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    await controller?.stop();
  });

  it('is signed in to with a token whose holder may read what it shows', async () => {
    const { world } = suite;
    const kubectl = stepsOf('kubectl', (words) => world.kubectl(...words));
    assert.equal((await world.kubectlInput(rights, 'apply', '-f', '-')).code, 0);
    const kubeconfig = String(world.env.KUBECONFIG);
    const own = ['controller', '--compat', 'native', '--page-port', '0'];
    const running = ControllerProcess.candidate(world, kubeconfig, 'page-story', own);
    controller = running;
    const address = await eventually('the page is served', async () => {
      running.assertRunning();
      return /"url":"(http:[^"]+)"/.exec(running.output())?.[1];
    });
    const { page, faults } = await open(browser, address);
    await page.getByLabel('Your token').fill((await kubectl.ok('create token guest')).trim());
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText(/guest may not list nodes/).waitFor({ timeout: waitMs });
    assert.deepEqual(await violations(page), []);
    await page.getByLabel('Your token').fill((await kubectl.ok('create token operator')).trim());
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.locator('[data-node]').first().waitFor({ timeout: waitMs });
    assert.equal(await page.getByRole('button', { name: 'Inject a fault' }).count(), 0);
    assert.deepEqual(faults, []);
  });
});
