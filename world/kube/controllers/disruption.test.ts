// Budgets in a small real world: numbers, conditions, disrupted pods.
import { describe, expect, it } from 'vitest';
import { asBudget, resources } from '../actors/index.ts';
import { aDeployment, SmallWorld } from './small-world.ts';

const aBudget = (spec: object) => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'web', namespace: 'demo' },
  spec: { selector: { matchLabels: { app: 'web' } }, ...spec },
});

const webWorld = (replicas: number, budget: object): SmallWorld => {
  const world = new SmallWorld();
  world.ready(3);
  world.must(world.admin.create(resources.deployments, 'demo', aDeployment('web', replicas)));
  world.until(30, () => world.readyPods().length === replicas);
  world.must(world.admin.create(resources.poddisruptionbudgets, 'demo', aBudget(budget)));
  world.advance(0.1);
  return world;
};

const status = (world: SmallWorld) => {
  const object = world.kube.read(resources.poddisruptionbudgets, {
    namespace: 'demo',
    name: 'web',
  });
  if (object === undefined) throw new Error('no budget');
  return asBudget(object).status ?? {};
};

const evict = (world: SmallWorld, name: string, more: object = {}): number => {
  const answer = world.kube.handle({
    method: 'POST',
    path: `/api/v1/namespaces/demo/pods/${name}/eviction`,
    query: new URLSearchParams(),
    contentType: 'application/json',
    accept: 'application/json',
    body: {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name, namespace: 'demo' },
      ...more,
    },
    user: { username: 'admin', groups: ['system:masters'] },
    userAgent: 'test',
    sourceIp: '127.0.0.1',
  });
  return answer.kind === 'object' ? answer.status : 0;
};

describe("a budget's numbers", () => {
  const table: [string, number, object, object][] = [
    [
      'minAvailable 2 of 3',
      3,
      { minAvailable: 2 },
      { disruptionsAllowed: 1, desiredHealthy: 2, expectedPods: 3 },
    ],
    [
      'maxUnavailable 1 of 3',
      3,
      { maxUnavailable: 1 },
      { disruptionsAllowed: 1, desiredHealthy: 2, expectedPods: 3 },
    ],
    [
      'maxUnavailable 0',
      3,
      { maxUnavailable: 0 },
      { disruptionsAllowed: 0, desiredHealthy: 3, expectedPods: 3 },
    ],
    [
      'minAvailable 100%',
      3,
      { minAvailable: '100%' },
      { disruptionsAllowed: 0, desiredHealthy: 3, expectedPods: 3 },
    ],
    [
      'maxUnavailable 30% of 4 rounds up',
      4,
      { maxUnavailable: '30%' },
      { disruptionsAllowed: 2, desiredHealthy: 2, expectedPods: 4 },
    ],
    [
      'minAvailable 50% of 3 rounds up',
      3,
      { minAvailable: '50%' },
      { disruptionsAllowed: 1, desiredHealthy: 2, expectedPods: 3 },
    ],
  ];
  it.each(table)('%s', (_name, replicas, spec, numbers) => {
    const world = webWorld(replicas, spec);
    expect(status(world)).toMatchObject({
      ...numbers,
      currentHealthy: replicas,
      observedGeneration: 1,
    });
    const allowed = (status(world).disruptionsAllowed ?? 0) > 0;
    expect(status(world).conditions?.[0]).toMatchObject({
      type: 'DisruptionAllowed',
      status: allowed ? 'True' : 'False',
      reason: allowed ? 'SufficientPods' : 'InsufficientPods',
    });
  });

  it('follow the size of the Deployment', () => {
    const world = webWorld(3, { maxUnavailable: 1 });
    world.must(
      world.admin.patch(
        resources.deployments,
        { namespace: 'demo', name: 'web' },
        { type: 'merge', body: { spec: { replicas: 5 } } },
      ),
    );
    world.advance(0.1);
    expect(status(world)).toMatchObject({
      expectedPods: 5,
      desiredHealthy: 4,
      disruptionsAllowed: 0,
    });
    world.until(30, () => status(world).disruptionsAllowed === 1);
  });
});

describe('an eviction', () => {
  it('closes the budget until the replacement is Ready', () => {
    const world = webWorld(3, { maxUnavailable: 1 });
    const [first, second] = world.readyPods().map((pod) => pod.metadata.name);
    expect(evict(world, first ?? '')).toBe(201);
    expect(evict(world, second ?? '')).toBe(429);
    world.advance(0.1);
    expect(status(world)).toMatchObject({ currentHealthy: 2, disruptionsAllowed: 0 });
    expect(status(world).disruptedPods).toBeUndefined();
    world.until(30, () => status(world).disruptionsAllowed === 1);
    expect(evict(world, second ?? '')).toBe(201);
  });

  it('that fails on its uid holds the token for two minutes', () => {
    const world = webWorld(3, { maxUnavailable: 1 });
    const name = world.readyPods()[0]?.metadata.name ?? '';
    const options = { deleteOptions: { preconditions: { uid: 'another' } } };
    expect(evict(world, name, options)).toBe(409);
    world.advance(100);
    expect(status(world)).toMatchObject({ currentHealthy: 2, disruptionsAllowed: 0 });
    expect(Object.keys(status(world).disruptedPods ?? {})).toEqual([name]);
    world.advance(21);
    expect(status(world)).toMatchObject({ currentHealthy: 3, disruptionsAllowed: 1 });
    expect(status(world).disruptedPods).toBeUndefined();
  });
});
