// The stories of a termination, run in every arrangement: with budgets, with lost and duplicated
// messages, with a killed process. Real kubectl, aws and drover.
import assert from 'node:assert/strict';
import { type Arrangement, inArrangement, type Stage, type StageOptions } from './arrangements.ts';
import { eventually, run, type ServedWorld } from './demo-world.ts';
import { ownRequests, remember } from './own-requests.ts';
import type { FinalFacts } from './story-trace.ts';

interface Disruption {
  readonly spec: { readonly causes: readonly object[] };
  readonly status?: { readonly phase: string; readonly outcome?: string };
}

interface NodeFacts {
  readonly name: string;
  readonly instance: string;
}

/** The same seed for stories whose final states are compared; another one in every run. */
const seed = process.env.DROVER_STORY_SEED ?? String(Math.floor(Math.random() * 2 ** 32));
const deployment = 'deployment/nginx-demo-deployment';
const uncovered = { 'evictions-within-budgets': 'no budget covers the pods on ng1-public-ssh' };
/**
 * A new leader waits for the killed one's lease, a poll for the next poll. A budget waits two
 * minutes for a pod whose eviction was granted to a process that was killed before it deleted the
 * pod.
 */
const patienceSeconds = 200;

const json = async <T>(world: ServedWorld, ...args: readonly string[]): Promise<T> => {
  const ran = await world.kubectl(...args, '-o', 'json');
  assert.equal(ran.code, 0, ran.stderr);
  return JSON.parse(ran.stdout) as T;
};

const nodesOf = async (world: ServedWorld, group: string): Promise<readonly NodeFacts[]> => {
  const list = await json<{
    items: { metadata: { name: string }; spec: { providerID: string } }[];
  }>(world, 'get', 'nodes', '-l', `eks.amazonaws.com/nodegroup=${group}`);
  return list.items.map((node) => ({
    name: node.metadata.name,
    instance: node.spec.providerID.split('/').at(-1) ?? '',
  }));
};

const firstOf = async (world: ServedWorld, group: string): Promise<NodeFacts> => {
  const [node] = await nodesOf(world, group);
  assert.ok(node !== undefined, `${group} has a node`);
  return node;
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

/** kubectl's own wait: a watch instead of polling. */
const waits = async (world: ServedWorld, ...args: readonly string[]): Promise<void> => {
  const wait = ['wait', ...args, `--timeout=${patienceSeconds}s`];
  // kubectl itself times out and reports it.
  const ran = await run('kubectl', wait, {
    env: world.env,
    timeoutMs: (patienceSeconds + 30) * 1000,
  });
  assert.equal(ran.code, 0, ran.stderr);
};

const inPhase = async (world: ServedWorld, name: string, phase: string): Promise<Disruption> => {
  const resource = `nodedisruption/${name}`;
  await eventually(`there is ${resource}`, () => disruption(world, name), patienceSeconds * 1000);
  await waits(world, resource, `--for=jsonpath={.status.phase}=${phase}`);
  return json(world, 'get', resource);
};

const nodeIsGone = (world: ServedWorld, name: string): Promise<void> =>
  waits(world, `node/${name}`, '--for=delete');

const budget = async (world: ServedWorld, name: string, spec: object): Promise<void> => {
  const text = JSON.stringify({
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, namespace: 'demo' },
    spec: { selector: { matchLabels: { app: 'nginx-demo' } }, ...spec },
  });
  const ran = await world.kubectlInput(text, 'apply', '-f', '-');
  assert.equal(ran.code, 0, ran.stderr);
};

/** Granted and refused evictions of the node manager. */
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

const rolledOut = async (world: ServedWorld): Promise<void> => {
  const ran = await world.kubectl('-n', 'demo', 'rollout', 'status', deployment, '--timeout=60s');
  assert.equal(ran.code, 0, ran.stderr);
};

/** Waits until the demo and all its workloads run. */
const isUp = async (world: ServedWorld): Promise<void> => {
  await eventually('the demo has its workload', async () => {
    const ran = await world.kubectl('-n', 'demo', 'get', deployment);
    return ran.code === 0 ? true : undefined;
  });
  await rolledOut(world);
  const dns = ['-n', 'kube-system', 'rollout', 'status', 'deployment/coredns', '--timeout=60s'];
  const ran = await world.kubectl(...dns);
  assert.equal(ran.code, 0, ran.stderr);
  // Before a NodeGroup is Ready, a change of its group's size is not a requested one.
  await waits(world, 'nodegroups', '--all', '--for=condition=Ready');
};

/** Limits the drain's time, in stories that must not wait for the usual fifteen minutes. */
const limitDrains = async ({ world, drainSeconds }: Stage): Promise<void> => {
  const patch = JSON.stringify({ spec: { drain: { timeoutSeconds: drainSeconds } } });
  const ran = await world.kubectl('patch', 'nodegroup', 'demo-ng', '--type=merge', '-p', patch);
  assert.equal(ran.code, 0, ran.stderr);
};

/** Stores the controllers' requests about the node, for comparison with other arrangements. */
const keep = (story: string, { arrangement, world }: Stage, node: NodeFacts): void =>
  remember(story, arrangement, ownRequests(world.audit(), node));

const told = (world: ServedWorld, node: NodeFacts, what: readonly RegExp[]): Promise<string> =>
  eventually(
    `explain says ${what.join(' and ')}`,
    async () => {
      const { stdout } = await world.drover('explain', node.name);
      return what.every((words) => words.test(stdout)) ? stdout : undefined;
    },
    20_000,
  );

/** An event also reports what blocks the drain. */
const isToldBlocked = (world: ServedWorld, node: NodeFacts): Promise<true> =>
  eventually(
    `an event says that ${node.name} waits`,
    async () => {
      const blocked = ['get', 'events', '-A', '--field-selector=reason=DrainBlocked', '-o', 'name'];
      const { stdout } = await world.kubectl(...blocked);
      return stdout.includes(node.instance) || undefined;
    },
    20_000,
  );

/** The group's size follows the termination, and its status reports it. */
const isFollowed = async (world: ServedWorld, group: string): Promise<void> => {
  for (const field of ['spec.scaling.desired', 'status.desired']) {
    await waits(world, `nodegroup/${group}`, `--for=jsonpath={.${field}}=0`);
  }
};

type Story = (arrangement: Arrangement) => Promise<FinalFacts | undefined>;

const stage = (arrangement: Arrangement, more: Partial<StageOptions> = {}): StageOptions => ({
  arrangement,
  judged: { settled: true, byWallClock: arrangement !== 'one process' },
  ...more,
});

/** Evicts one pod at a time when the budget allows one; no request is refused. */
export const onePodAtATime: Story = (arrangement) =>
  inArrangement(stage(arrangement), async (on) => {
    const { world } = on;
    await isUp(world);
    const scaled = await world.kubectl('-n', 'demo', 'scale', deployment, '--replicas=12');
    assert.equal(scaled.code, 0, scaled.stderr);
    await budget(world, 'one', { maxUnavailable: 1 });
    await rolledOut(world);
    const node = await firstOf(world, 'demo-ng');
    await terminate(world, node.instance);
    await nodeIsGone(world, node.name);
    const { granted, refused } = evictions(world);
    assert.ok(granted.filter((name) => name.startsWith('demo/')).length >= 2, 'several pods');
    assert.deepEqual(refused, []);
    assert.equal((await inPhase(world, node.instance, 'Ended')).status?.outcome, 'Drained');
    await rolledOut(world);
    await isFollowed(world, 'demo-ng');
    keep('one pod at a time', on, node);
  });

/** A budget that never allows is reported within seconds; the node is kept until the deadline. */
export const neverAllowed: Story = (arrangement) =>
  inArrangement(stage(arrangement), async (on) => {
    const { world, drainSeconds } = on;
    await isUp(world);
    await limitDrains(on);
    await budget(world, 'never', { maxUnavailable: 0 });
    const node = await firstOf(world, 'demo-ng');
    await terminate(world, node.instance);
    await inPhase(world, node.instance, 'Draining');
    const words = await told(world, node, [/never/, /demo\/nginx-demo-deployment-\S+/]);
    assert.match(words, /nginx-demo-deployment/);
    await isToldBlocked(world, node);
    await on.pass(drainSeconds / 3);
    const kept = await world.kubectl('get', 'node', node.name);
    assert.equal(kept.code, 0, 'the node is kept before its deadline');
    assert.ok(!evictions(world).granted.some((name) => name.startsWith('demo/')));
    await on.pass((drainSeconds / 3) * 2);
    const ended = await inPhase(world, node.instance, 'Ended');
    assert.equal(ended.status?.outcome, 'Forced');
    await nodeIsGone(world, node.name);
    await rolledOut(world);
    await isFollowed(world, 'demo-ng');
    keep('never allowed', on, node);
  });

/** Reports both budgets of a pod that two select; the pod is deleted only at the deadline. */
export const twoBudgets: Story = (arrangement) =>
  inArrangement(stage(arrangement), async (on) => {
    const { world } = on;
    await isUp(world);
    await limitDrains(on);
    await budget(world, 'first', { maxUnavailable: 1 });
    await budget(world, 'second', { minAvailable: 1 });
    const node = await firstOf(world, 'demo-ng');
    await terminate(world, node.instance);
    await told(world, node, [/first/, /second/, /demo\/nginx-demo-deployment-\S+/]);
    await isToldBlocked(world, node);
    await on.pass(on.drainSeconds);
    assert.equal((await inPhase(world, node.instance, 'Ended')).status?.outcome, 'Forced');
    await nodeIsGone(world, node.name);
    await rolledOut(world);
    await isFollowed(world, 'demo-ng');
    keep('two budgets', on, node);
  });

/** Terminates the node of demo-ng; `meanwhile` may disturb the process after the start. */
const endsOneNode = (
  arrangement: Arrangement,
  story: string | undefined,
  meanwhile: (on: Stage, node: NodeFacts) => Promise<void>,
) =>
  inArrangement(stage(arrangement, { seed }), async (on) => {
    const { world } = on;
    await isUp(world);
    const node = await firstOf(world, 'demo-ng');
    await meanwhile(on, node);
    await nodeIsGone(world, node.name);
    const ended = await inPhase(world, node.instance, 'Ended');
    assert.equal(ended.status?.outcome, 'Drained');
    const { granted } = evictions(world);
    assert.equal(new Set(granted).size, granted.length, 'no pod is evicted twice');
    assert.ok(granted.length > 0);
    await rolledOut(world);
    await isFollowed(world, 'demo-ng');
    if (story !== undefined) keep(story, on, node);
  });

export const oneNode: Story = (arrangement) =>
  endsOneNode(arrangement, 'one node', ({ world }, node) => terminate(world, node.instance));

/** `kill -9` as soon as the drain is in `phase`. */
export const killedIn =
  (phase: string): Story =>
  (arrangement) =>
    endsOneNode(arrangement, undefined, async ({ world, crash }, node) => {
      // kubectl's watch shows the phase as soon as it is committed.
      const reached = world.untilPhase(node.instance, phase);
      await terminate(world, node.instance);
      await reached;
      await crash();
    });

/** A hook that is never completed times out, whoever started the drain. */
export const abandoned: Story = (arrangement) =>
  inArrangement(stage(arrangement, { judged: undefined }), async (on) => {
    const { world } = on;
    await isUp(world);
    await budget(world, 'never', { maxUnavailable: 0 });
    const node = await firstOf(world, 'demo-ng');
    await terminate(world, node.instance);
    await inPhase(world, node.instance, 'Draining');
    await on.abandon();
    assert.equal((await world.drover('world', 'advance', '29m')).code, 0);
    assert.equal((await world.kubectl('get', 'node', node.name)).code, 0);
    assert.equal((await world.drover('world', 'advance', '3m')).code, 0);
    await nodeIsGone(world, node.name);
  });

/** Terminates both nodes of ng1-public-ssh while `fault` is active. */
export const twoNodes =
  (fault?: string): Story =>
  (arrangement) => {
    const { judged } = stage(arrangement);
    const exempt = uncovered;
    const options = stage(arrangement, { seed, judged: { settled: true, ...judged, exempt } });
    return inArrangement(options, async ({ world }) => {
      await isUp(world);
      if (fault !== undefined) {
        const injected = await world.drover('world', 'inject', fault);
        assert.equal(injected.code, 0, injected.stderr);
      }
      const nodes = await nodesOf(world, 'ng1-public-ssh');
      assert.equal(nodes.length, 2);
      for (const node of nodes) await terminate(world, node.instance);
      for (const node of nodes) {
        await nodeIsGone(world, node.name);
        const ended = await inPhase(world, node.instance, 'Ended');
        assert.equal(ended.status?.outcome, 'Drained');
        assert.equal(ended.spec.causes.length, 1, 'one hook is one cause');
      }
      await rolledOut(world);
      await isFollowed(world, 'ng1-public-ssh');
    });
  };
