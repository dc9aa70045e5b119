// Endpoints and load balancer targets of Services.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../api/json.ts';
import { resources } from '../actors/index.ts';
import { targetsAnnotation } from './service-lb.ts';
import { spreadOverSlices } from './slices.ts';
import { aDeployment, SmallWorld } from './small-world.ts';

const aService = (spec: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'demo' },
  spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 'http' }], ...spec },
});

const withService = (): SmallWorld => {
  const world = new SmallWorld();
  world.ready(2);
  world.must(world.admin.create(resources.services, 'demo', aService()));
  const container = { ports: [{ containerPort: 8080, name: 'http' }] };
  const deployment = aDeployment('web', 2, { container });
  world.must(world.admin.create(resources.deployments, 'demo', deployment));
  world.until(30, () => world.readyPods().length === 2);
  world.advance(0.1);
  return world;
};

const endpoints = (world: SmallWorld): readonly JsonObject[] =>
  [...world.kube.readAll(resources.endpointslices, 'demo')].flatMap(
    (slice) => (slice.endpoints ?? []) as readonly JsonObject[],
  );

const conditions = (world: SmallWorld): string[] =>
  endpoints(world)
    .map(({ conditions: of }) => JSON.stringify(of))
    .sort();

describe("a Service's endpoints", () => {
  it('are its Ready pods, with node, zone and the named port', () => {
    const world = withService();
    expect(endpoints(world)).toHaveLength(2);
    expect(endpoints(world)[0]).toMatchObject({
      conditions: { ready: true, serving: true, terminating: false },
      zone: expect.stringMatching(/^eu-west-1[abc]$/),
    });
    const [slice] = world.kube.readAll(resources.endpointslices, 'demo');
    expect(slice?.ports).toMatchObject([{ port: 8080, protocol: 'TCP' }]);
    expect(slice?.metadata.labels?.['kubernetes.io/service-name']).toBe('web');
  });

  it('still serve while a pod terminates, and drop it when it is gone', () => {
    const world = withService();
    const doomed = world.readyPods()[0]?.metadata.name ?? '';
    world.must(world.admin.delete(resources.pods, { namespace: 'demo', name: doomed }));
    world.advance(0.05);
    expect(conditions(world)).toContain('{"ready":false,"serving":true,"terminating":true}');
    world.until(30, () => world.pods().length === 2 && world.readyPods().length === 2);
    world.advance(0.1);
    expect(conditions(world)).toEqual([
      '{"ready":true,"serving":true,"terminating":false}',
      '{"ready":true,"serving":true,"terminating":false}',
    ]);
  });

  it('are told to older clients by an Endpoints object that leaves out who terminates', () => {
    const world = withService();
    const name = { namespace: 'demo', name: 'web' };
    const subsets = () =>
      (world.kube.read(resources.endpoints, name)?.subsets ?? []) as readonly JsonObject[];
    expect(subsets()).toMatchObject([{ ports: [{ port: 8080, protocol: 'TCP' }] }]);
    expect(subsets()[0]?.addresses).toHaveLength(2);
    const doomed = world.readyPods()[0]?.metadata.name ?? '';
    world.must(world.admin.delete(resources.pods, { namespace: 'demo', name: doomed }));
    world.advance(0.05);
    expect(subsets()[0]?.addresses).toHaveLength(1);
    world.must(world.admin.delete(resources.services, name));
    world.advance(0.1);
    expect(world.kube.read(resources.endpoints, name)).toBeUndefined();
  });

  it('fill slices of at most 100 and stay where they are', () => {
    const endpoint = (number: number): JsonObject => ({ targetRef: { uid: `u${number}` } });
    const many = Array.from({ length: 250 }, (_, i) => endpoint(i));
    const first = spreadOverSlices(many, []);
    expect(first.map((slice) => slice.endpoints.length)).toEqual([100, 100, 50]);
    const stored = first.map((slice, i) => ({ ...slice, name: `s${i}` }));
    const second = spreadOverSlices([...many.slice(1), endpoint(250)], stored);
    expect(second.map((slice) => slice.endpoints.length)).toEqual([100, 100, 50]);
    expect(second[1]?.endpoints).toEqual(stored[1]?.endpoints);
  });
});

describe('a load balancer', () => {
  it('leaves out nodes with the exclusion label', () => {
    const world = new SmallWorld();
    world.ready(3);
    world.must(world.admin.create(resources.services, 'demo', aService({ type: 'LoadBalancer' })));
    const targets = () => {
      const name = { namespace: 'demo', name: 'web' };
      return world.kube.read(resources.services, name)?.metadata.annotations?.[targetsAnnotation];
    };
    world.advance(0.1);
    expect(targets()).toBe('n1,n2,n3');
    const labels = { 'node.kubernetes.io/exclude-from-external-load-balancers': 'true' };
    world.must(
      world.admin.patch(
        resources.nodes,
        { name: 'n2' },
        { type: 'merge', body: { metadata: { labels } } },
      ),
    );
    world.advance(0.1);
    expect(targets()).toBe('n1,n3');
  });
});
