// Where pods are placed, and the message for pods that fit nowhere.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/api/json.ts';
import { conditionOf, resources } from '../actors/index.ts';
import { aDeployment, aMachine, SmallWorld } from '../controllers/small-world.ts';

const aPod = (name: string, spec: JsonObject = {}, labels: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'demo', labels },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
});

const asks = (requests: JsonObject): JsonObject => ({
  containers: [{ name: 'c', image: 'i', resources: { requests } }],
});

const create = (world: SmallWorld, pod: JsonObject): void => {
  world.must(world.admin.create(resources.pods, 'demo', pod));
};

const placeOf = (world: SmallWorld, name: string): string | undefined =>
  world.pods().find((pod) => pod.metadata.name === name)?.spec.nodeName;

const refusalOf = (world: SmallWorld, name: string): string | undefined =>
  conditionOf(
    world.pods().find((pod) => pod.metadata.name === name)?.status?.conditions,
    'PodScheduled',
  )?.message;

const cordon = (world: SmallWorld, name: string): void => {
  world.must(
    world.admin.patch(
      resources.nodes,
      { name },
      { type: 'merge', body: { spec: { unschedulable: true } } },
    ),
  );
};

const help = (total: number): string =>
  ` preemption: 0/${total} nodes are available: ${total} Preemption is not helpful for scheduling.`;

describe('the scheduler', () => {
  const refusals: [string, JsonObject, string][] = [
    [
      'too large',
      asks({ cpu: '3' }),
      '0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available: ' +
        '2 Preemption is not helpful for scheduling.',
    ],
    [
      'of another zone',
      { nodeSelector: { 'topology.kubernetes.io/zone': 'eu-west-1z' } },
      `0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector.${help(2)}`,
    ],
  ];
  it.each(refusals)('says why a pod that is %s waits', (_name, spec, message) => {
    const world = new SmallWorld();
    world.ready(2);
    create(world, aPod('p1', spec));
    world.advance(1);
    expect(refusalOf(world, 'p1')).toBe(message);
    expect(world.events('FailedScheduling')).toEqual([message]);
  });

  it('counts reasons per node in one message', () => {
    const world = new SmallWorld();
    world.ready(2);
    world.start(aMachine(3, { nodeTaints: [{ key: 'team', value: 'a', effect: 'NoSchedule' }] }));
    world.advance(10);
    cordon(world, 'n1');
    cordon(world, 'n2');
    world.advance(1);
    create(world, aPod('p1'));
    world.advance(1);
    expect(refusalOf(world, 'p1')).toBe(
      '0/3 nodes are available: 1 node(s) had untolerated taint {team: a}, ' +
        `2 node(s) were unschedulable.${help(3)}`,
    );
  });

  it('says so when there is no node at all, and places the pod when one comes', () => {
    const world = new SmallWorld();
    create(world, aPod('p1'));
    world.advance(1);
    expect(refusalOf(world, 'p1')).toBe('no nodes available to schedule pods');
    world.start(aMachine(1));
    world.until(30, () => placeOf(world, 'p1') === 'n1');
  });

  it('fills a node up to its pods and no further', () => {
    const world = new SmallWorld();
    world.start(aMachine(1, { maxPods: 3 }));
    world.advance(10);
    for (const name of ['p1', 'p2', 'p3', 'p4']) create(world, aPod(name));
    world.advance(1);
    const placed = world.pods().filter((pod) => pod.spec.nodeName === 'n1');
    expect(placed).toHaveLength(3);
    const left = world.pods().find((pod) => pod.spec.nodeName === undefined);
    expect(refusalOf(world, left?.metadata.name ?? '')).toContain('1 Too many pods');
    world.must(
      world.admin.delete(resources.pods, {
        namespace: 'demo',
        name: placed[0]?.metadata.name ?? '',
      }),
    );
    world.until(20, () => placeOf(world, left?.metadata.name ?? '') === 'n1');
  });

  it.each([
    ['the same port', { hostPort: 80 }, { hostPort: 80 }, false],
    [
      'the same port at two addresses',
      { hostPort: 80, hostIP: '10.0.0.1' },
      { hostPort: 80, hostIP: '10.0.0.2' },
      true,
    ],
    [
      'the same port and address',
      { hostPort: 80, hostIP: '10.0.0.1' },
      { hostPort: 80, hostIP: '10.0.0.1' },
      false,
    ],
    ['one address and all', { hostPort: 80, hostIP: '10.0.0.1' }, { hostPort: 80 }, false],
    [
      'all and one address',
      { hostPort: 80, hostIP: '0.0.0.0' },
      { hostPort: 80, hostIP: '10.0.0.1' },
      false,
    ],
    ['two protocols', { hostPort: 80, protocol: 'UDP' }, { hostPort: 80 }, true],
    ['two ports', { hostPort: 80 }, { hostPort: 81 }, true],
  ] as const)('places two pods on one node with %s or not', (_name, first, second, fits) => {
    const world = new SmallWorld();
    world.ready(1);
    const listening = (port: JsonObject): JsonObject => ({
      containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 8080, ...port }] }],
    });
    create(world, aPod('p1', listening(first)));
    world.advance(1);
    create(world, aPod('p2', listening(second)));
    world.advance(1);
    expect(placeOf(world, 'p1')).toBe('n1');
    expect(placeOf(world, 'p2')).toBe(fits ? 'n1' : undefined);
    const words = "1 node(s) didn't have free ports for the requested pod ports";
    if (!fits) expect(refusalOf(world, 'p2')).toContain(words);
  });

  it('keeps pods with required anti-affinity apart', () => {
    const world = new SmallWorld();
    world.ready(2);
    const pod = {
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            {
              labelSelector: { matchLabels: { app: 'web' } },
              topologyKey: 'kubernetes.io/hostname',
            },
          ],
        },
      },
    };
    world.must(world.admin.create(resources.deployments, 'demo', aDeployment('web', 3, { pod })));
    world.advance(10);
    const places = world.pods().map((one) => one.spec.nodeName ?? 'none');
    expect(places.sort()).toEqual(['n1', 'n2', 'none']);
    expect(world.events('FailedScheduling')[0]).toContain("didn't match pod anti-affinity rules");
  });

  it('honours a hard spread constraint', () => {
    const world = new SmallWorld();
    world.ready(3);
    cordon(world, 'n3');
    world.advance(0.1);
    const constraint = {
      maxSkew: 1,
      topologyKey: 'kubernetes.io/hostname',
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { app: 'web' } },
    };
    const pod = { topologySpreadConstraints: [constraint] };
    world.must(world.admin.create(resources.deployments, 'demo', aDeployment('web', 3, { pod })));
    world.advance(10);
    // The cordoned node is a domain with zero pods, so a third pod would make the skew two.
    expect(world.pods().filter((one) => one.spec.nodeName !== undefined)).toHaveLength(2);
  });

  it('follows a preference for nodes, but keeps preferred distance before it', () => {
    const world = new SmallWorld();
    world.ready(3);
    const preference = {
      matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['n2'] }],
    };
    const term = {
      labelSelector: { matchLabels: { app: 'web' } },
      topologyKey: 'kubernetes.io/hostname',
    };
    const pod = {
      affinity: {
        nodeAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, preference }],
        },
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm: term }],
        },
      },
    };
    world.must(world.admin.create(resources.deployments, 'demo', aDeployment('web', 2, { pod })));
    world.advance(1);
    const places = world.pods().map((one) => one.spec.nodeName);
    expect(places).toContain('n2');
    expect(new Set(places).size).toBe(2);
  });

  it.each([1, 2, 3, 4])('does not keep away from a pod that is leaving (seed %d)', (seed) => {
    const world = new SmallWorld({ seed });
    world.ready(2);
    const annotations = { 'world.drover.dev/stop-seconds': '20' };
    world.must(
      world.admin.create(resources.deployments, 'demo', aDeployment('web', 2, { annotations })),
    );
    world.until(20, () => world.readyPods().length === 2);
    const doomed = world.pods().find((pod) => pod.spec.nodeName === 'n1');
    const name = { namespace: 'demo', name: doomed?.metadata.name ?? '' };
    world.must(world.admin.delete(resources.pods, name));
    world.until(10, () => world.readyPods().length === 2);
    expect(
      world
        .readyPods()
        .map((pod) => pod.spec.nodeName)
        .sort(),
    ).toEqual(['n1', 'n2']);
  });

  it('leaves pods of other schedulers and gated pods alone', () => {
    const world = new SmallWorld();
    world.ready(1);
    create(world, aPod('p1', { schedulerName: 'mine' }));
    create(world, aPod('p2', { schedulingGates: [{ name: 'wait' }] }));
    world.advance(5);
    expect([placeOf(world, 'p1'), placeOf(world, 'p2')]).toEqual([undefined, undefined]);
  });
});
