// Hooks of an update with the real clients: a Job before the drain, and a webhook before the
// termination. The webhook is a real HTTPS server with a token; it replies twice that it is not
// done.
import assert from 'node:assert/strict';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { createPki } from '../../src/adapters/signer/index.ts';
import { eventually, missing, type ServedWorld } from '../support/demo-world.ts';
import { type Steps, stepsOf } from '../support/steps.ts';
import { inWorld, skipWhen } from '../support/stories.ts';

const whyNot = await missing('kubectl', ['version', '--client']);

const token = 'an-opaque-token';

const cronJob = {
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { name: 'backup', namespace: 'default' },
  spec: {
    schedule: '0 0 1 1 *',
    suspend: true,
    jobTemplate: {
      spec: {
        backoffLimit: 0,
        template: {
          metadata: { annotations: { 'world.drover.dev/run-seconds': '30' } },
          spec: { restartPolicy: 'Never', containers: [{ name: 'work', image: 'work:1' }] },
        },
      },
    },
  },
};

const metadata = { name: 'webhook-token', namespace: 'default' };
const rbac = 'rbac.authorization.k8s.io';
/** As in docs/update-hooks.md: access to this one Secret only. */
const secret = [
  { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { token } },
  {
    apiVersion: `${rbac}/v1`,
    kind: 'Role',
    metadata,
    rules: [
      { apiGroups: [''], resources: ['secrets'], resourceNames: [metadata.name], verbs: ['get'] },
    ],
  },
  {
    apiVersion: `${rbac}/v1`,
    kind: 'RoleBinding',
    metadata,
    subjects: [{ apiGroup: rbac, kind: 'User', name: 'eks:node-manager' }],
    roleRef: { apiGroup: rbac, kind: 'Role', name: metadata.name },
  },
];

interface Asked {
  readonly authorization: string | undefined;
  readonly key: string | undefined;
  readonly body: { readonly phase: string; readonly attempt: number; readonly node: string };
}

/** An endpoint that answers 202 until `isDone` is set. */
const startEndpoint = async () => {
  const pki = await createPki(Date.now());
  const asked: Asked[] = [];
  const state = { isDone: false };
  const server = createServer(
    { cert: pki.server.certificate, key: pki.server.key },
    (request, response) => {
      let text = '';
      request.on('data', (part) => {
        text += String(part);
      });
      request.on('end', () => {
        const { authorization, 'idempotency-key': key } = request.headers;
        asked.push({ authorization, key: String(key), body: JSON.parse(text) });
        response.writeHead(state.isDone ? 200 : 202, state.isDone ? {} : { 'retry-after': '5' });
        response.end();
      });
    },
  );
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/node`,
    caBundle: Buffer.from(pki.ca.certificate).toString('base64'),
    asked,
    state,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};

/** Advances world time until the output of drover's `command` matches `text`. */
const until = (cli: Steps, command: string, text: RegExp): Promise<string> =>
  eventually(`\`drover ${command}\` says ${text}`, async () => {
    await cli.ok('world advance 5s');
    const told = await cli.ok(command);
    return text.test(told) ? told : undefined;
  });

const apply = async (world: ServedWorld, ...objects: readonly object[]): Promise<void> => {
  const items = { apiVersion: 'v1', kind: 'List', items: objects };
  const { code, stderr } = await world.kubectlInput(JSON.stringify(items), 'apply', '-f', '-');
  assert.equal(code, 0, stderr);
};

const patch = (kubectl: Steps, hooks: object): Promise<string> => {
  const updateConfig = { updateStrategy: 'SURGE', hooks };
  return kubectl.ok('patch ng demo-ng --type=merge -p', JSON.stringify({ spec: { updateConfig } }));
};

const demo = ['--demo', '--port', '0'];
const judged = { settled: true } as const;
const unmoved = 'the hook before the drain fails: no pod moves';
const exempt = {
  'evictions-within-budgets': unmoved,
  'nothing-forced-early': unmoved,
  'marks-before-eviction': unmoved,
  'evictions-sent-once': unmoved,
  'only-drainable-pods': unmoved,
} as const;

describe('an update with hooks', {
  skip: skipWhen('hooks of updates', whyNot),
  timeout: 600_000,
}, () => {
  it('runs a Job before the drain, and asks a webhook before the termination', async () => {
    const endpoint = await startEndpoint();
    const { url, caBundle, asked, state } = endpoint;
    try {
      await inWorld({ judged, args: [...demo, '--allow-loopback-webhooks'] }, async (world) => {
        const cli = stepsOf('drover', (args) => world.drover(...args));
        const kubectl = stepsOf('kubectl', (args) => world.kubectl(...args));
        await apply(world, cronJob, ...secret);
        const { name, namespace } = metadata;
        const bearerTokenSecret = { name, namespace };
        await patch(kubectl, {
          preDrain: { job: { namespace: 'default', cronJob: 'backup' }, timeoutSeconds: 7_200 },
          preTerminate: { webhook: { url, caBundle, bearerTokenSecret }, timeoutSeconds: 86_400 },
        });
        assert.match(await cli.ok('plan update demo-ng --details'), /hook preTerminate/);
        await cli.ok('update nodegroup demo-ng --no-wait');
        const describeIt = 'describe update --nodegroup demo-ng';
        await until(cli, describeIt, /hook preDrain runs for \S+ \(Job default\/pre-drain-i-/);
        const waits = await until(
          cli,
          describeIt,
          /hook preTerminate runs for \S+ \(webhook https:\S+\).*: it answered 202/,
        );
        const [, node = ''] = /hook preTerminate runs for (\S+) /.exec(waits) ?? [];
        assert.match(await cli.ok('get updates'), /Hook \(preTerminate\)/);
        assert.match(await kubectl.ok(`get node ${node}`), /SchedulingDisabled/);
        assert.match(await kubectl.ok('get nodedisruptions -o yaml'), /kind: terminationHold/);
        state.isDone = true;
        await until(cli, 'get updates', /Successful +Ended +1\/1/);
        // The update ends while the instance is still terminating.
        await eventually('the old node is gone', async () => {
          await cli.ok('world advance 5s');
          const left = await kubectl.ok('get nodes -o name');
          return left.includes(node) ? undefined : true;
        });
        assert.ok(asked.length >= 2, 'it was asked again after 202');
        const { body: first } = asked[0] ?? { body: undefined };
        assert.deepEqual([first?.phase, first?.attempt, first?.node], ['preTerminate', 1, node]);
        assert.deepEqual([...new Set(asked.map(({ key }) => key))].length, 1);
        assert.deepEqual(
          new Set(asked.map((one) => one.authorization)),
          new Set([`Bearer ${token}`]),
        );
        assert.doesNotMatch(await kubectl.ok('get ngu,ng,events -A -o yaml'), new RegExp(token));
      });
    } finally {
      endpoint.stop();
    }
  });

  it('calls no loopback address unless it was told that it may', async () => {
    const endpoint = await startEndpoint();
    const { url, caBundle, asked } = endpoint;
    try {
      await inWorld({ judged: { ...judged, exempt } }, async (world) => {
        const cli = stepsOf('drover', (args) => world.drover(...args));
        const kubectl = stepsOf('kubectl', (args) => world.kubectl(...args));
        await patch(kubectl, { preDrain: { webhook: { url, caBundle } } });
        await cli.ok('update nodegroup demo-ng --no-wait');
        const told = await until(cli, 'describe update --nodegroup demo-ng', /Failed/);
        assert.match(told, /Hook preDrain of node \S+ \(webhook https:/);
        assert.match(told, /127\.0\.0\.1 is loopback \(allowed by --allow-loopback-webhooks\)/);
        await until(cli, 'get updates', /Failed +Ended/);
        assert.deepEqual(asked, []);
      });
    } finally {
      endpoint.stop();
    }
  });
});
