// Drover installed by helm on a real API server: for each pod of the chart's Deployment a process
// with exactly its arguments and a token bound to it. They drain a node, and `helm upgrade` in the
// middle of the drain replaces both.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { ControllerProcess, queueUrlOf } from '../support/controller-process.ts';
import { eventually, missing, type ServedWorld } from '../support/demo-world.ts';
import { whyNoStage } from '../support/given-reasons.ts';
import { charts, helm, whyNoHelm } from '../support/helm.ts';
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
        arg === '--metrics-port=8080'
          ? '--metrics-port=0'
          : arg.replace('--metrics-host=0.0.0.0', '--metrics-host=127.0.0.1'),
      );
      const path = await kubeconfigOfPod(this.#world, this.#kubectl, name);
      const process = ControllerProcess.candidate(this.#world, path, name, args);
      this.#processes.set(name, process);
    }
    return pods.map(({ spec }) => spec.containers[0]?.image ?? '');
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

describe('Drover from its chart', {
  skip: skipWhen('Drover from its chart on a real API server', whyNot),
  timeout: 600_000,
}, () => {
  it('drains a node, and an upgrade in the middle loses nothing', async () => {
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

        await helmed('upgrade', '--set', 'image.tag=0.2.0');
        await eventually('both replicas are replaced', () => bothRun('drover:0.2.0'), 180_000);
        await isIn('Draining')();
        await kubectl.ok('delete pdb never -n demo');
        await eventually(`${instance} has left`, isIn('Ended'), 120_000);
        await kubectl.ok(`wait node/${node} --for=delete --timeout=120s`);
        const outcome = `get nodedisruption ${instance} -o jsonpath={.status.outcome}`;
        assert.equal((await kubectl.ok(outcome)).trim(), 'Drained');
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
