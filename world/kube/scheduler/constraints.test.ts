// Spreading, affinity and preemption in a small real world.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/api/json.ts';
import { asPod, conditionOf, resources } from '../actors/index.ts';
import { aMachine, SmallWorld } from '../controllers/small-world.ts';

const zoneKey = 'topology.kubernetes.io/zone';

/** One machine in each named zone; n1 is in the first. */
const inZones = (...zones: string[]): SmallWorld => {
  const world = new SmallWorld();
  world.start(...zones.map((zone, i) => aMachine(i + 1, { zone: `eu-west-1${zone}` })));
  world.until(15, () => {
    const nodes = [...world.kube.readAll(resources.nodes)];
    return (
      nodes.length === zones.length && nodes.every((node) => isFree(world, node.metadata.name))
    );
  });
  return world;
};

const isFree = (world: SmallWorld, name: string): boolean =>
  (world.node(name).spec?.taints ?? []).length === 0 &&
  conditionOf(world.node(name).status?.conditions, 'Ready')?.status === 'True';

const run = (
  world: SmallWorld,
  name: string,
  spec: JsonObject = {},
  labels: JsonObject = { app: 'a' },
): void => {
  const { container, ...rest } = spec;
  world.must(
    world.admin.create(resources.pods, 'demo', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'demo', labels },
      spec: { containers: [{ name: 'c', image: 'x', ...(container as JsonObject) }], ...rest },
    }),
  );
  world.advance(0.2);
};

const nodeOf = (world: SmallWorld, name: string): string | undefined => {
  const object = world.kube.read(resources.pods, { namespace: 'demo', name });
  return object && asPod(object).spec.nodeName;
};

const zoneOf = (world: SmallWorld, name: string): string | undefined =>
  world.node(nodeOf(world, name) ?? '').metadata.labels?.[zoneKey];

const whyNot = (world: SmallWorld, name: string): string | undefined => {
  const object = world.kube.read(resources.pods, { namespace: 'demo', name });
  return object && conditionOf(asPod(object).status?.conditions, 'PodScheduled')?.message;
};

const spread = (more: JsonObject = {}): JsonObject => ({
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: zoneKey,
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { app: 'a' } },
      ...more,
    },
  ],
});

const cpu = (amount: string): JsonObject => ({ resources: { requests: { cpu: amount } } });

const priorityClass = (world: SmallWorld, name: string, value: number, more = {}): void => {
  world.must(
    world.admin.create(resources.priorityclasses, undefined, {
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name },
      value,
      ...more,
    }),
  );
};

describe('a spread constraint', () => {
  it('keeps zones even and says so when it cannot', () => {
    const world = inZones('a', 'b', 'b');
    for (const name of ['p1', 'p2', 'p3', 'p4']) run(world, name, spread());
    const zones = ['p1', 'p2', 'p3', 'p4'].map((name) => zoneOf(world, name)).sort();
    expect(zones).toEqual(['eu-west-1a', 'eu-west-1a', 'eu-west-1b', 'eu-west-1b']);
    const cordon = { type: 'merge', body: { spec: { unschedulable: true } } } as const;
    world.must(world.admin.patch(resources.nodes, { name: 'n1' }, cordon));
    run(world, 'p5', spread());
    run(world, 'p6', spread());
    const waiting = ['p5', 'p6'].filter((name) => nodeOf(world, name) === undefined);
    expect(waiting).toHaveLength(1);
    expect(whyNot(world, waiting[0] ?? '')).toBe(
      "0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) didn't match pod topology " +
        'spread constraints. preemption: 0/3 nodes are available: 1 Preemption is not helpful for ' +
        'scheduling, 2 No preemption victims found for incoming pod.',
    );
  });

  it('does not count nodes whose taints it honours', () => {
    const world = inZones('a', 'b');
    const cordon = { type: 'merge', body: { spec: { unschedulable: true } } } as const;
    world.must(world.admin.patch(resources.nodes, { name: 'n1' }, cordon));
    world.advance(1);
    for (const name of ['p1', 'p2', 'p3']) run(world, name, spread({ nodeTaintsPolicy: 'Honor' }));
    expect(['p1', 'p2', 'p3'].map((name) => nodeOf(world, name))).toEqual(['n2', 'n2', 'n2']);
  });

  it('with minDomains waits for a zone that does not exist yet', () => {
    const world = inZones('a', 'b');
    for (const name of ['p1', 'p2', 'p3']) run(world, name, spread({ minDomains: 3 }));
    expect(nodeOf(world, 'p3')).toBeUndefined();
    world.start(aMachine(3, { zone: 'eu-west-1c' }));
    world.until(30, () => nodeOf(world, 'p3') === 'n3');
  });

  it('that is soft prefers the emptier zone', () => {
    const world = inZones('a', 'b', 'c');
    const soft = spread({ whenUnsatisfiable: 'ScheduleAnyway' });
    for (const name of ['p1', 'p2', 'p3']) run(world, name, soft);
    expect(new Set(['p1', 'p2', 'p3'].map((name) => zoneOf(world, name))).size).toBe(3);
  });

  it('refuses nodes without its key', () => {
    const world = inZones('a');
    run(world, 'p1', spread({ topologyKey: 'rack' }));
    expect(whyNot(world, 'p1')).toContain(
      "1 node(s) didn't match pod topology spread constraints (missing required label).",
    );
  });
});

const term = (app: string, topologyKey = zoneKey): JsonObject => ({
  requiredDuringSchedulingIgnoredDuringExecution: [
    { labelSelector: { matchLabels: { app } }, topologyKey },
  ],
});

describe('affinity between pods', () => {
  it('puts a pod into the zone of those it wants near', () => {
    const world = inZones('a', 'b', 'c');
    run(world, 'first', {}, { app: 'db' });
    for (const name of ['p1', 'p2', 'p3']) {
      run(world, name, { affinity: { podAffinity: term('db') } });
      expect(zoneOf(world, name)).toBe(zoneOf(world, 'first'));
    }
    run(world, 'alone', { affinity: { podAffinity: term('nobody') } });
    expect(whyNot(world, 'alone')).toContain("3 node(s) didn't match pod affinity rules.");
    run(world, 'somebody', {}, { app: 'nobody' });
    world.until(30, () => nodeOf(world, 'alone') !== undefined);
    expect(zoneOf(world, 'alone')).toBe(zoneOf(world, 'somebody'));
  });

  it('lets the first of a group that wants itself near go anywhere', () => {
    const world = inZones('a', 'b');
    for (const name of ['p1', 'p2']) run(world, name, { affinity: { podAffinity: term('a') } });
    expect(zoneOf(world, 'p1')).toBeDefined();
    expect(zoneOf(world, 'p2')).toBe(zoneOf(world, 'p1'));
  });

  it('keeps apart by zone, also from pods that do not mind themselves', () => {
    const world = inZones('a', 'b');
    run(world, 'p1', { affinity: { podAntiAffinity: term('b') } });
    run(world, 'p2', {}, { app: 'b' });
    expect(zoneOf(world, 'p2')).not.toBe(zoneOf(world, 'p1'));
    run(world, 'p3', { affinity: { podAntiAffinity: term('b') } });
    expect(zoneOf(world, 'p3')).toBe(zoneOf(world, 'p1'));
    run(world, 'p4', { affinity: { podAntiAffinity: term('b') } }, { app: 'b' });
    expect(whyNot(world, 'p4')).toContain("1 node(s) didn't match pod anti-affinity rules");
    expect(whyNot(world, 'p4')).toContain(
      "1 node(s) didn't satisfy existing pods anti-affinity rules",
    );
  });

  it('that is preferred decides between nodes', () => {
    const world = inZones('a', 'b', 'c');
    run(world, 'first', {}, { app: 'db' });
    const preferred = {
      preferredDuringSchedulingIgnoredDuringExecution: [
        {
          weight: 100,
          podAffinityTerm: { labelSelector: { matchLabels: { app: 'db' } }, topologyKey: zoneKey },
        },
      ],
    };
    run(world, 'near', { affinity: { podAffinity: preferred } });
    expect(zoneOf(world, 'near')).toBe(zoneOf(world, 'first'));
    run(world, 'far', { affinity: { podAntiAffinity: preferred } });
    expect(zoneOf(world, 'far')).not.toBe(zoneOf(world, 'first'));
  });
});

describe('preemption', () => {
  it('removes as few and as unimportant pods as possible and keeps their room', () => {
    const world = inZones('a', 'b');
    priorityClass(world, 'high', 1000);
    priorityClass(world, 'middle', 100);
    const slow = { terminationGracePeriodSeconds: 30 };
    const stays = { 'world.drover.dev/stop-seconds': '20' };
    for (const [name, priorityClassName] of [
      ['m1', 'middle'],
      ['m2', 'middle'],
      ['l1', ''],
    ] as const) {
      const classed = priorityClassName === '' ? {} : { priorityClassName };
      world.must(
        world.admin.create(resources.pods, 'demo', {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name, namespace: 'demo', annotations: stays },
          spec: { containers: [{ name: 'c', image: 'x', ...cpu('900m') }], ...slow, ...classed },
        }),
      );
      world.advance(5);
    }
    run(world, 'm3', { container: cpu('900m'), priorityClassName: 'middle' });
    expect(['m1', 'm2', 'l1', 'm3'].every((name) => nodeOf(world, name))).toBe(true);
    run(world, 'big', { container: cpu('900m'), priorityClassName: 'high' });
    const gone = world.pods().filter((pod) => pod.metadata.deletionTimestamp);
    expect(gone.map((pod) => pod.metadata.name)).toEqual(['l1']);
    expect(conditionOf(gone[0]?.status?.conditions, 'DisruptionTarget')?.reason).toBe(
      'PreemptionByScheduler',
    );
    const big = world.kube.read(resources.pods, { namespace: 'demo', name: 'big' });
    const nominated = big && asPod(big).status?.nominatedNodeName;
    expect(nominated).toBe(nodeOf(world, 'l1'));
    expect(whyNot(world, 'big')).toBe('0/2 nodes are available: 2 Insufficient cpu.');
    expect(world.events('Preempted')[0]).toBe(
      `Preempted by pod ${big?.metadata.uid} on node ${nominated}`,
    );
    // A pod of lower priority may not take the freed room.
    run(world, 'thief', { container: cpu('900m'), priorityClassName: 'middle' });
    world.until(60, () => nodeOf(world, 'big') !== undefined);
    expect(nodeOf(world, 'big')).toBe(nominated);
    expect(nodeOf(world, 'thief')).toBeUndefined();
  });

  it('spares pods whose budget would be violated', () => {
    const world = inZones('a', 'b');
    priorityClass(world, 'high', 1000);
    run(world, 'guarded', { container: cpu('1500m') }, { app: 'guarded' });
    run(world, 'free', { container: cpu('1500m') }, { app: 'free' });
    world.must(
      world.admin.create(resources.poddisruptionbudgets, 'demo', {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'guarded', namespace: 'demo' },
        spec: { minAvailable: 1, selector: { matchLabels: { app: 'guarded' } } },
      }),
    );
    world.advance(10);
    run(world, 'big', { container: cpu('1500m'), priorityClassName: 'high' });
    const gone = world.pods().filter((pod) => pod.metadata.deletionTimestamp);
    expect(gone.map((pod) => pod.metadata.name)).toEqual(['free']);
  });

  it('is not tried by a class that never preempts, nor for what no node has', () => {
    const world = inZones('a');
    priorityClass(world, 'patient', 1000, { preemptionPolicy: 'Never' });
    priorityClass(world, 'high', 1000);
    run(world, 'p1', { container: cpu('1500m') });
    run(world, 'patient', { container: cpu('1500m'), priorityClassName: 'patient' });
    run(world, 'huge', { container: cpu('50'), priorityClassName: 'high' });
    world.advance(10);
    expect(world.pods().filter((pod) => pod.metadata.deletionTimestamp)).toEqual([]);
    expect(whyNot(world, 'patient')).toBe(
      '0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to ' +
        'preemptionPolicy=Never.',
    );
    expect(whyNot(world, 'huge')).toContain('1 Preemption is not helpful for scheduling.');
  });
});

describe('scheduling gates', () => {
  it('hold a pod back until they are taken away', () => {
    const world = inZones('a');
    run(world, 'gated', { schedulingGates: [{ name: 'example.com/wait' }] });
    world.advance(30);
    expect(nodeOf(world, 'gated')).toBeUndefined();
    expect(whyNot(world, 'gated')).toBe('Scheduling is blocked due to non-empty scheduling gates');
    world.must(
      world.admin.patch(
        resources.pods,
        { namespace: 'demo', name: 'gated' },
        { type: 'merge', body: { spec: { schedulingGates: null } } },
      ),
    );
    world.advance(1);
    expect(nodeOf(world, 'gated')).toBe('n1');
  });
});
