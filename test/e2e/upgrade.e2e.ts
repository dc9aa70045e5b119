// An upgrade of Drover in the middle of a drain, with real processes: the replica that leads is
// replaced in three moments of one drain, by SIGTERM as a rollout does and once by SIGKILL. Each
// pod is evicted once, none is deleted, and the instance ends as it would without.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ControllerProcess } from '../support/controller-process.ts';
import { eventually, missing, type ServedWorld } from '../support/demo-world.ts';
import { type Steps, stepsOf } from '../support/steps.ts';
import { inWorld, skipWhen } from '../support/stories.ts';

const whyNot =
  (await missing('kubectl', ['version', '--client'])) ?? (await missing('aws', ['--version']));
const replicas = 4;
const patienceMs = 180_000;

const app = (unavailable: number): string => `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: ${replicas}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 5
      containers: [{name: web, image: "web:1"}]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: default}
spec: {maxUnavailable: ${unavailable}, selector: {matchLabels: {app: web}}}
`;

/** Two replicas; the one that leads is ended, and a new one is started. */
class Replicas {
  readonly #world: ServedWorld;
  readonly #running = new Map<string, ControllerProcess>();
  #nth = 0;
  constructor(world: ServedWorld) {
    this.#world = world;
  }

  add(): void {
    const name = `drover-${++this.#nth}`;
    const kubeconfig = join(this.#world.dataDir, 'controller.kubeconfig');
    this.#running.set(name, ControllerProcess.candidate(this.#world, kubeconfig, name));
  }

  /** Resolves when one of them leads. */
  leader(): Promise<string> {
    const path = 'jsonpath={.spec.holderIdentity}';
    const lease = ['get', 'lease', 'drover-controller', '-n', 'kube-system', '-o', path];
    return eventually(
      'a replica leads',
      async () => {
        const { stdout } = await this.#world.kubectl(...lease);
        const [name = ''] = stdout.split('_');
        return this.#running.has(name) ? name : undefined;
      },
      patienceMs,
    );
  }

  async replace(how: 'stop' | 'kill'): Promise<void> {
    const name = await this.leader();
    const leader = this.#running.get(name);
    this.#running.delete(name);
    this.add();
    await leader?.[how]();
    assert.notEqual(await this.leader(), name);
  }

  async stop(): Promise<void> {
    for (const one of this.#running.values()) await one.stop();
  }
}

const podsOn = async (kubectl: Steps, node: string): Promise<readonly string[]> => {
  const fields = `-l app=web --field-selector spec.nodeName=${node} -o name`;
  const text = await kubectl.ok(`get pods ${fields}`);
  return text.split('\n').filter((line) => line.startsWith('pod/'));
};

/** Evictions of `web` that were granted, and its pods that the controller deleted instead. */
const movesIn = (world: ServedWorld) => {
  const ours = world
    .audit()
    .filter(({ objectRef, user }) => objectRef?.resource === 'pods' && isNodeManager(user));
  const names = (verb: string, isMeant: (code: number) => boolean): readonly string[] =>
    ours
      .filter((event) => event.verb === verb && isMeant(event.responseStatus?.code ?? 0))
      .map(({ objectRef }) => objectRef?.name ?? '')
      .filter((name) => name.startsWith('web-'));
  return { evicted: names('create', (code) => code === 201), deleted: names('delete', () => true) };
};

const isNodeManager = ({ username }: { readonly username: string }): boolean =>
  username === 'eks:node-manager';

const clientsOf = (world: ServedWorld) => ({
  kubectl: stepsOf('kubectl', (args, input) =>
    input === undefined ? world.kubectl(...args) : world.kubectlInput(input, ...args),
  ),
  aws: stepsOf('aws', (args) => world.aws(...args)),
});

/** All pods of `web` on the node of demo-ng; no budget token. */
const prepare = async (kubectl: Steps): Promise<{ readonly node: string; readonly id: string }> => {
  const of = 'get nodes -l eks.amazonaws.com/nodegroup=demo-ng -o';
  const node = (await kubectl.ok(`${of} jsonpath={.items[0].metadata.name}`)).trim();
  const provider = await kubectl.ok(`${of} jsonpath={.items[0].spec.providerID}`);
  const others = (await kubectl.ok('get nodes -o name'))
    .split('\n')
    .filter((name) => name.startsWith('node/') && name !== `node/${node}`)
    .join(' ');
  await kubectl.ok(`cordon ${others}`);
  await kubectl.okWith(app(0), 'apply -f -');
  await kubectl.ok('rollout status deployment/web --timeout=120s');
  await kubectl.ok(`uncordon ${others}`);
  assert.equal((await podsOn(kubectl, node)).length, replicas);
  return { node, id: provider.trim().split('/').at(-1) ?? '' };
};

const until = (what: string, holds: () => Promise<boolean>): Promise<true> =>
  eventually(what, async () => ((await holds()) ? true : undefined), patienceMs);

describe('an upgrade of Drover in the middle of a drain', {
  skip: skipWhen('an upgrade in the middle of a drain', whyNot),
  timeout: 600_000,
}, () => {
  it('loses nothing: each pod is evicted once, and the instance ends', async () => {
    const args = ['--demo', '--port', '0', '--no-controller'];
    await inWorld({ args, unjudged: true }, async (world) => {
      const { kubectl, aws } = clientsOf(world);
      const drover = new Replicas(world);
      try {
        drover.add();
        drover.add();
        await drover.leader();
        const { node, id } = await prepare(kubectl);
        await aws.ok(
          `autoscaling terminate-instance-in-auto-scaling-group --instance-id ${id}`,
          '--should-decrement-desired-capacity',
        );
        const field = async (path: string): Promise<string> => {
          const get = ['get', 'nodedisruption', id, '-o', `jsonpath={.status.${path}}`];
          return (await world.kubectl(...get)).stdout;
        };
        const reaches = (phase: string) =>
          until(`the drain is ${phase}`, async () => (await field('phase')) === phase);

        await reaches('Draining');
        await drover.replace('stop');
        assert.deepEqual(movesIn(world), { evicted: [], deleted: [] });

        await kubectl.okWith(app(1), 'apply -f -');
        await until('a pod is evicted', async () => movesIn(world).evicted.length > 0);
        await drover.replace('kill');
        const isHalf = async () => (await podsOn(kubectl, node)).length <= replicas / 2;
        await until('half of the pods have left', isHalf);
        await drover.replace('stop');

        await reaches('Ended');
        assert.equal(await field('outcome'), 'Drained');
        await kubectl.ok(`wait node/${node} --for=delete --timeout=120s`);
        const { evicted, deleted } = movesIn(world);
        assert.equal(evicted.length, replicas, evicted.join(' '));
        assert.equal(new Set(evicted).size, replicas);
        assert.deepEqual(deleted, []);
      } finally {
        await drover.stop();
      }
    });
  });
});
