// Drover installed by helm on a real API server: for each pod of the chart's Deployment a process
// with exactly its arguments and a token bound to it. They drain a node, and `helm upgrade` in the
// middle of the drain replaces both. It enables the page too, on which each caller sees and does
// what its own rights allow.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { ControllerProcess, queueUrlOf } from '../support/controller-process.ts';
import { eventually, missing, type ServedWorld } from '../support/demo-world.ts';
import { whyNoStage } from '../support/given-reasons.ts';
import { charts, helm, whyNoHelm } from '../support/helm.ts';
import { PageCaller } from '../support/page-caller.ts';
import { kubeconfigOfPod } from '../support/pod-credentials.ts';
import { beginRealStage } from '../support/real-stage.ts';
import { type Steps, stepsOf } from '../support/steps.ts';
import { inWorld, skipWhen } from '../support/stories.ts';

const run = promisify(execFile);
const whyNot =
  (await missing('kubectl', ['version', '--client'])) ??
  (await missing('aws', ['--version'])) ??
  (await whyNoHelm()) ??
  (await whyNoStage({ fence: true }));
const system = '-n kube-system';
const selector = 'eks.amazonaws.com/nodegroup=demo-ng';

interface PodList {
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
    readonly spec: {
      readonly nodeName?: string;
      readonly containers: readonly { readonly args: readonly string[]; readonly image: string }[];
    };
  }[];
}

/** Keeps one process for each running pod of the Deployment, as kubelets would. */
class PodProcesses {
  readonly #world: ServedWorld;
  readonly #kubectl: Steps;
  readonly #processes = new Map<string, ControllerProcess>();

  constructor(world: ServedWorld, kubectl: Steps) {
    this.#world = world;
    this.#kubectl = kubectl;
  }

  /** Starts and ends processes; returns the images of the pods that run. */
  async sync(): Promise<readonly string[]> {
    const which = '-l app.kubernetes.io/name=drover-controller';
    const text = await this.#kubectl.ok(`get pods ${system} ${which} -o json`);
    const pods = (JSON.parse(text) as PodList).items.filter(
      ({ metadata, spec }) => metadata.deletionTimestamp === undefined && spec.nodeName,
    );
    const names = new Set(pods.map(({ metadata }) => metadata.name));
    for (const [name, process] of this.#processes) {
      if (names.has(name)) continue;
      this.#processes.delete(name);
      await process.stop();
    }
    for (const { metadata, spec } of pods) {
      const { name } = metadata;
      if (this.#processes.has(name)) continue;
      // All processes share one network here.
      const args = (spec.containers[0]?.args ?? []).map((arg) =>
        arg
          .replace(/^--(metrics|page)-port=\d+$/, '--$1-port=0')
          .replace('--metrics-host=$(POD_IP)', '--metrics-host=127.0.0.1'),
      );
      const path = await kubeconfigOfPod(this.#world, this.#kubectl, name);
      const process = ControllerProcess.candidate(this.#world, path, name, args);
      this.#processes.set(name, process);
    }
    return pods.map(({ spec }) => spec.containers[0]?.image ?? '');
  }

  /** Addresses of the pages that the controller's replicas serve. */
  pages(): readonly string[] {
    const served = /"url":"(http:[^"]+)"/;
    return [...this.#processes.values()].flatMap((one) => served.exec(one.output())?.[1] ?? []);
  }

  assertWell(): void {
    for (const process of this.#processes.values()) process.assertWell();
  }

  async stop(): Promise<void> {
    for (const process of this.#processes.values()) await process.stop();
  }
}

/** Pods of demo-ng's node wait for a budget that allows nothing, until it is deleted. */
const never = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'never', namespace: 'demo' },
  spec: { maxUnavailable: 0, selector: { matchLabels: { app: 'nginx-demo' } } },
};

const account = (name: string) => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name, namespace: 'demo' },
});
const granted = (name: string, accounts: readonly string[], rules: readonly object[]) => [
  { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name }, rules },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: accounts.map((one) => ({ kind: 'ServiceAccount', name: one, namespace: 'demo' })),
  },
];
/** The rights of docs/page.md: a viewer may read, an operator may act besides, a guest nothing. */
const callers = [
  ...['guest', 'viewer', 'operator'].map(account),
  ...granted(
    'page-story-viewer',
    ['viewer', 'operator'],
    [
      { apiGroups: [''], resources: ['nodes', 'pods'], verbs: ['list'] },
      { apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs: ['list'] },
      { apiGroups: ['drover.dev'], resources: ['*'], verbs: ['list'] },
    ],
  ),
  ...granted(
    'page-story-operator',
    ['operator'],
    [{ apiGroups: ['drover.dev'], resources: ['nodegroupupdates'], verbs: ['patch'] }],
  ),
];
/** Paused from its beginning: it starts no node. */
const pausedUpdate = {
  apiVersion: 'drover.dev/v1alpha1',
  kind: 'NodeGroupUpdate',
  metadata: { name: 'page-story' },
  spec: { nodeGroup: 'demo-ng', type: 'VersionUpdate', paused: true, params: [], change: {} },
};

/** Whether the chart lets the controller review tokens and rights. */
const mayReview = async (world: ServedWorld): Promise<boolean> => {
  const as = '--as=system:serviceaccount:kube-system:drover-controller';
  const asked = await Promise.all(
    ['tokenreviews.authentication.k8s.io', 'subjectaccessreviews.authorization.k8s.io'].map(
      (resource) => world.kubectl('auth', 'can-i', 'create', resource, as),
    ),
  );
  return asked.every(({ stdout }) => stdout.trim() === 'yes');
};

/** The page of a pod: each caller sees and does what its own rights allow. */
const callPage = async (world: ServedWorld, kubectl: Steps, address: string): Promise<void> => {
  await kubectl.okWith(
    JSON.stringify({ apiVersion: 'v1', kind: 'List', items: callers }),
    'apply -f -',
  );
  const tokenOf = async (name: string) => (await kubectl.ok(`create token ${name} -n demo`)).trim();
  const [guest, viewer, operator] = await Promise.all(['guest', 'viewer', 'operator'].map(tokenOf));
  const page = new PageCaller(address);
  assert.equal((await page.signIn('not-a-token')).status, 401);
  const refused = await page.signIn(guest ?? '');
  assert.equal(refused.status, 403);
  assert.match(refused.error, /demo:guest may not list nodes, list pods, .*noderepairs/);
  assert.equal((await page.signIn(viewer ?? '')).status, 200);

  const nodes = (await kubectl.ok('get nodes -o name')).trim().split('\n').sort();
  const { rows, faults, server } = await page.snapshot();
  assert.deepEqual(rows.node.map(({ key }) => `node/${key}`).sort(), nodes);
  assert.deepEqual(rows.group.map(({ key }) => key).includes('demo-ng'), true);
  assert.deepEqual([faults, server.actions, server.world], [[], true, null]);

  const { name } = pausedUpdate.metadata;
  await kubectl.okWith(JSON.stringify(pausedUpdate), 'create -f -');
  const isShown = async () => (await page.snapshot()).rows.update.some(({ key }) => key === name);
  await eventually('the page shows the update', async () => (await isShown()) || undefined);
  const denied = await page.act(name, 'stop', viewer ?? '');
  assert.equal(denied.status, 403);
  assert.match(denied.error, /demo:viewer may not patch nodegroupupdates\.drover\.dev page-story/);
  assert.equal((await page.act(name, 'stop', operator ?? '')).status, 200);
  const status = `get nodegroupupdate ${name} -o jsonpath={.spec.abort},{.status.status}`;
  await eventually('the update is stopped', async () =>
    (await kubectl.ok(status)).trim() === 'Stop,Cancelled' ? true : undefined,
  );
  const writers = world
    .audit()
    .filter(({ verb, objectRef }) => verb === 'patch' && objectRef?.name === name)
    .filter(({ objectRef }) => objectRef?.subresource === undefined)
    .map(({ user }) => user.username);
  assert.ok(writers.includes('system:serviceaccount:demo:operator'), writers.join(', '));
};

describe('Drover from its chart', {
  skip: skipWhen('Drover from its chart on a real API server', whyNot),
  timeout: 600_000,
}, () => {
  it('drains a node, loses nothing in an upgrade, and its page obeys rights', async () => {
    await inWorld({ args: ['--demo', '--port', '0', '--no-controller'] }, async (world) => {
      const stage = await beginRealStage(world);
      const kubectl = stepsOf('kubectl', (args, input) =>
        input === undefined ? world.kubectl(...args) : world.kubectlInput(input, ...args),
      );
      const aws = stepsOf('aws', (args) => world.aws(...args));
      const processes = new PodProcesses(world, kubectl);
      const helmed = (...args: readonly string[]) => {
        const values = [
          `controller.queueUrl=${queueUrlOf(world)}`,
          'controller.compat=eks',
          'controller.awsRegion=eu-west-1',
          // Not on the node that this story drains.
          'nodeSelector.eks\\.amazonaws\\.com/nodegroup=ng1-public-ssh',
        ].flatMap((value) => ['--set', value]);
        const chart = join(charts, 'drover');
        const all = [...args, 'drover', chart, '--namespace', 'kube-system', ...values];
        return run(helm, all, { env: world.env });
      };
      try {
        await run(
          helm,
          ['install', 'crds', join(charts, 'drover-crds'), '-n', 'kube-system', '--take-ownership'],
          { env: world.env },
        );
        await helmed('install', '--take-ownership');
        const bothRun = async (image: string) => {
          const images = await processes.sync();
          return images.length === 2 && images.every((one) => one === image) ? true : undefined;
        };
        await eventually('both replicas run', () => bothRun('drover:0.1.0'), 120_000);

        await kubectl.okWith(JSON.stringify(never), 'apply -f -');
        const of = `get nodes -l ${selector} -o jsonpath=`;
        const node = (await kubectl.ok(`${of}{.items[0].metadata.name}`)).trim();
        const provider = (await kubectl.ok(`${of}{.items[0].spec.providerID}`)).trim();
        const instance = provider.split('/').at(-1) ?? '';
        await aws.ok(
          `autoscaling terminate-instance-in-auto-scaling-group --instance-id ${instance} ` +
            '--should-decrement-desired-capacity',
        );
        const isIn = (phase: string) => async () => {
          await processes.sync();
          const { code, stdout } = await world.kubectl(
            ...['get', 'nodedisruption', instance, '-o', 'jsonpath={.status.phase}'],
          );
          return code === 0 && stdout === phase ? true : undefined;
        };
        await eventually(`${instance} is drained`, isIn('Draining'), 120_000);

        assert.equal(await mayReview(world), false);
        await helmed('upgrade', '--set', 'image.tag=0.2.0,page.enabled=true,page.actions=true');
        await eventually('both replicas are replaced', () => bothRun('drover:0.2.0'), 180_000);
        await isIn('Draining')();
        await kubectl.ok('delete pdb never -n demo');
        await eventually(`${instance} has left`, isIn('Ended'), 120_000);
        await kubectl.ok(`wait node/${node} --for=delete --timeout=120s`);
        const outcome = `get nodedisruption ${instance} -o jsonpath={.status.outcome}`;
        assert.equal((await kubectl.ok(outcome)).trim(), 'Drained');
        assert.equal(await mayReview(world), true);
        const [address = ''] = await eventually('both pods serve the page', async () =>
          processes.pages().length === 2 ? processes.pages() : undefined,
        );
        await callPage(world, kubectl, address);
        processes.assertWell();
      } finally {
        await processes.stop();
        await run(helm, ['uninstall', 'drover', '-n', 'kube-system'], { env: world.env }).catch(
          () => undefined,
        );
        await stage.end();
      }
    });
  });
});
