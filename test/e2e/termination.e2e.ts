// What article 001 does not show: a termination against budgets, against lost and doubled messages,
// against a process that is killed at every step of its journal. Real kubectl, aws and drover;
// waits are skipped with world time.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually, missing, type ServedWorld } from '../support/demo-world.ts';
import { inWorld, skipWhen } from '../support/stories.ts';

const whyNot =
  (await missing('kubectl', ['version', '--client'])) ?? (await missing('aws', ['--version']));

interface Cause {
  readonly kind: string;
  readonly id: string;
}
interface Disruption {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly causes: readonly Cause[] };
  readonly status?: {
    readonly phase: string;
    readonly outcome?: string;
    readonly deadline?: string;
    readonly waitingOn?: readonly { readonly kind: string; readonly pod?: string }[];
  };
}

const advance = async (world: ServedWorld, duration: string): Promise<void> => {
  const ran = await world.drover('world', 'advance', duration);
  assert.equal(ran.code, 0, ran.stderr);
};

const json = async <T>(world: ServedWorld, ...args: readonly string[]): Promise<T> => {
  const ran = await world.kubectl(...args, '-o', 'json');
  assert.equal(ran.code, 0, ran.stderr);
  return JSON.parse(ran.stdout) as T;
};

interface NodeFacts {
  readonly name: string;
  readonly instance: string;
}

const nodesOf = async (world: ServedWorld, group: string): Promise<readonly NodeFacts[]> => {
  const list = await json<{
    items: { metadata: { name: string }; spec: { providerID: string } }[];
  }>(world, 'get', 'nodes', '-l', `eks.amazonaws.com/nodegroup=${group}`);
  return list.items.map((node) => ({
    name: node.metadata.name,
    instance: node.spec.providerID.split('/').at(-1) ?? '',
  }));
};

const terminate = async (world: ServedWorld, instance: string): Promise<void> => {
  const ran = await world.aws(
    'autoscaling',
    'terminate-instance-in-auto-scaling-group',
    '--instance-id',
    instance,
    '--should-decrement-desired-capacity',
  );
  assert.equal(ran.code, 0, ran.stderr);
};

const disruption = async (world: ServedWorld, name: string): Promise<Disruption | undefined> => {
  const ran = await world.kubectl('get', 'nodedisruption', name, '-o', 'json');
  return ran.code === 0 ? (JSON.parse(ran.stdout) as Disruption) : undefined;
};

const inPhase = (world: ServedWorld, name: string, phase: string): Promise<Disruption> =>
  eventually(`${name} in phase ${phase}`, async () => {
    const found = await disruption(world, name);
    return found?.status?.phase === phase ? found : undefined;
  });

const nodeIsGone = (world: ServedWorld, name: string): Promise<true> =>
  eventually(`node ${name} is gone`, async () => {
    const ran = await world.kubectl('get', 'node', name);
    return /NotFound/.test(ran.stderr) ? true : undefined;
  });

const budget = (name: string, spec: object): string =>
  JSON.stringify({
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, namespace: 'demo' },
    spec: { selector: { matchLabels: { app: 'nginx-demo' } }, ...spec },
  });

const apply = async (world: ServedWorld, text: string): Promise<void> => {
  const ran = await world.kubectlInput(text, 'apply', '-f', '-');
  assert.equal(ran.code, 0, ran.stderr);
};

/** Evictions that the node manager had granted, and those that were refused it. */
const evictions = (
  world: ServedWorld,
): { readonly granted: string[]; readonly refused: string[] } => {
  const all = world
    .audit()
    .filter(
      (e) => e.objectRef?.subresource === 'eviction' && e.user.username === 'eks:node-manager',
    );
  const names = (codes: (code: number) => boolean): string[] =>
    all
      .filter((event) => codes(event.responseStatus?.code ?? 0))
      .map((event) => `${event.objectRef?.namespace}/${event.objectRef?.name}`);
  return { granted: names((code) => code === 201), refused: names((code) => code >= 400) };
};

const firstOf = async (world: ServedWorld, group: string): Promise<NodeFacts> => {
  const [node] = await nodesOf(world, group);
  assert.ok(node !== undefined, `${group} has a node`);
  return node;
};

const rolledOut = async (world: ServedWorld): Promise<void> => {
  const deployment = 'deployment/nginx-demo-deployment';
  const ran = await world.kubectl('-n', 'demo', 'rollout', 'status', deployment, '--timeout=60s');
  assert.equal(ran.code, 0, ran.stderr);
};

/** The same world for stories whose ends are compared; another in every run. */
const seed = process.env.DROVER_STORY_SEED ?? String(Math.floor(Math.random() * 2 ** 32));
const seeded = ['--demo', '--port', '0', '--seed', seed];

const uncovered = {
  'evictions-within-budgets': 'no budget covers the pods on ng1-public-ssh',
};

/** Terminates the node of demo-ng; `meanwhile` may harm the world after it began. */
const endsOneNode = (meanwhile: (world: ServedWorld, node: NodeFacts) => Promise<void>) =>
  inWorld({ args: seeded, judged: { settled: true } }, async (world) => {
    await advance(world, '25s');
    const node = await firstOf(world, 'demo-ng');
    await meanwhile(world, node);
    await advance(world, '3m');
    await nodeIsGone(world, node.name);
    const ended = await inPhase(world, node.instance, 'Ended');
    assert.equal(ended.status?.outcome, 'Drained');
    const { granted } = evictions(world);
    assert.equal(new Set(granted).size, granted.length, 'no pod is evicted twice');
    assert.ok(granted.length > 0);
  });

/** Terminates both nodes of ng1-public-ssh while `fault` is on. */
const endsTwoNodes = (fault?: string) =>
  inWorld({ args: seeded, judged: { settled: true, exempt: uncovered } }, async (world) => {
    await advance(world, '25s');
    if (fault !== undefined) {
      const injected = await world.drover('world', 'inject', fault);
      assert.equal(injected.code, 0, injected.stderr);
    }
    const nodes = await nodesOf(world, 'ng1-public-ssh');
    assert.equal(nodes.length, 2);
    for (const node of nodes) await terminate(world, node.instance);
    await advance(world, '3m');
    for (const node of nodes) {
      await nodeIsGone(world, node.name);
      const ended = await disruption(world, node.instance);
      assert.equal(ended?.status?.phase, 'Ended');
      assert.equal(ended?.status?.outcome, 'Drained');
      assert.equal(ended?.spec.causes.length, 1, 'one hook is one cause');
    }
    await rolledOut(world);
  });

/** The story in which nothing goes wrong is told once, when it is first compared with. */
const once = <T>(begin: () => Promise<T>): (() => Promise<T>) => {
  let begun: Promise<T> | undefined;
  return () => {
    begun ??= begin();
    return begun;
  };
};

// Each story has a world of its own, and waits for it most of the time.
const options = {
  skip: skipWhen('stories of terminations', whyNot),
  timeout: 600_000,
  concurrency: 3,
};

describe('a termination', options, () => {
  it('takes one pod at a time where the budget allows one, and never asks in vain', async () => {
    await inWorld({ judged: { settled: true } }, async (world) => {
      await advance(world, '25s');
      const scaled = await world.kubectl(
        '-n',
        'demo',
        'scale',
        'deployment/nginx-demo-deployment',
        '--replicas=12',
      );
      assert.equal(scaled.code, 0, scaled.stderr);
      await apply(world, budget('one', { maxUnavailable: 1 }));
      await advance(world, '30s');
      const node = await firstOf(world, 'demo-ng');
      await terminate(world, node.instance);
      await nodeIsGone(world, node.name);
      const { granted, refused } = evictions(world);
      assert.ok(granted.filter((name) => name.startsWith('demo/')).length >= 2, 'several pods');
      assert.deepEqual(refused, []);
      assert.equal((await disruption(world, node.instance))?.status?.outcome, 'Drained');
      await rolledOut(world);
    });
  });

  it('names the budget that never allows within seconds, keeps the node until the deadline, then forces', async () => {
    await inWorld({ judged: { settled: true } }, async (world) => {
      await advance(world, '25s');
      await apply(world, budget('never', { maxUnavailable: 0 }));
      const node = await firstOf(world, 'demo-ng');
      await terminate(world, node.instance);
      await inPhase(world, node.instance, 'Draining');
      const told = await eventually(
        'explain names pod, budget and owner',
        async () => {
          const ran = await world.drover('explain', node.name);
          return /never/.test(ran.stdout) ? ran.stdout : undefined;
        },
        10_000,
      );
      assert.match(told, /demo\/nginx-demo-deployment-\S+/);
      assert.match(told, /nginx-demo-deployment/);
      await advance(world, '10m');
      const kept = await world.kubectl('get', 'node', node.name);
      assert.equal(kept.code, 0, 'the node is kept before its deadline');
      assert.ok(!evictions(world).granted.some((name) => name.startsWith('demo/')));
      await advance(world, '6m');
      const ended = await inPhase(world, node.instance, 'Ended');
      assert.equal(ended.status?.outcome, 'Forced');
      await advance(world, '30s');
      await nodeIsGone(world, node.name);
      await rolledOut(world);
    });
  });

  it('names both budgets of a pod that two select, and forces it only at the deadline', async () => {
    await inWorld({ judged: { settled: true } }, async (world) => {
      await advance(world, '25s');
      await apply(world, budget('first', { maxUnavailable: 1 }));
      await apply(world, budget('second', { minAvailable: 1 }));
      const node = await firstOf(world, 'demo-ng');
      await terminate(world, node.instance);
      const told = await eventually('explain names both budgets', async () => {
        const ran = await world.drover('explain', node.name);
        return /first/.test(ran.stdout) && /second/.test(ran.stdout) ? ran.stdout : undefined;
      });
      assert.match(told, /demo\/nginx-demo-deployment-\S+/);
      await advance(world, '16m');
      assert.equal((await inPhase(world, node.instance, 'Ended')).status?.outcome, 'Forced');
      await advance(world, '1m');
      await nodeIsGone(world, node.name);
      await rolledOut(world);
    });
  });

  describe('ends in the same state', { concurrency: 1 }, () => {
    const calm = once(() => endsOneNode((world, node) => terminate(world, node.instance)));
    for (const phase of ['Pending', 'Marking', 'Draining', 'Completing', 'Ended']) {
      it(`when the process is killed in phase ${phase}`, async () => {
        const facts = await endsOneNode(async (world, node) => {
          // kubectl's watch tells of the phase the moment it is committed.
          const reached = world.untilPhase(node.instance, phase);
          await terminate(world, node.instance);
          await reached;
          await world.kill();
          await world.restart();
          assert.match(world.readyLine, /resumed/);
        });
        assert.deepEqual(facts, await calm());
      });
    }
  });

  describe('ends in the same state, its messages hit by', { concurrency: 1 }, () => {
    const calm = once(() => endsTwoNodes());
    for (const fault of [
      'message-loss',
      'message-duplicate',
      'message-delay',
      'message-malformed',
    ]) {
      it(fault, async () => assert.deepEqual(await endsTwoNodes(fault), await calm()));
    }
  });

  it('goes on without anybody when nobody completes the hook: the hook times out', async () => {
    await inWorld({ args: ['--demo', '--no-controller', '--port', '0'] }, async (world) => {
      await advance(world, '25s');
      const node = await firstOf(world, 'demo-ng');
      await terminate(world, node.instance);
      await advance(world, '29m');
      assert.equal((await world.kubectl('get', 'node', node.name)).code, 0);
      await advance(world, '3m');
      await nodeIsGone(world, node.name);
    });
  });
});
