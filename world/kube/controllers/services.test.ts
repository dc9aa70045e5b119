// Endpoints and load balancer targets of Services.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/api/json.ts';
import { resources } from '../actors/index.ts';
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
  const name = { namespace: 'demo', name: 'web' };
  const withBalancer = (spec: JsonObject = {}): SmallWorld => {
    const world = new SmallWorld();
    world.ready(3);
    const wanted = aService({ type: 'LoadBalancer', ...spec });
    world.must(world.admin.create(resources.services, 'demo', wanted));
    world.advance(0.2);
    return world;
  };
  const balancer = (world: SmallWorld) => [...world.cloud.balancers.values()][0];
  const change = (world: SmallWorld, body: JsonObject): void => {
    world.must(world.admin.patch(resources.services, name, { type: 'merge', body }));
    world.advance(0.2);
  };

  it('is made with the node ports of its Service, and shown in its status', () => {
    const world = withBalancer();
    const service = world.kube.read(resources.services, name);
    const spec = service?.spec as { readonly ports: readonly { readonly nodePort: number }[] };
    const [port] = spec.ports;
    expect(balancer(world)).toMatchObject({
      name: `a${service?.metadata.uid.replaceAll('-', '')}`.slice(0, 32),
      service: 'demo/web',
      isInternal: false,
      ports: [{ port: 80, nodePort: port?.nodePort, protocol: 'TCP' }],
    });
    const hostname = expect.stringMatching(/^a[0-9a-f]{31}\.elb\./);
    expect(service?.status).toEqual({ loadBalancer: { ingress: [{ hostname }] } });
  });

  it('leaves out nodes with the exclusion label, while they have it', () => {
    const world = withBalancer();
    const all = [1, 2, 3].map((number) => `i-${String(number).padStart(17, '0')}`);
    expect(balancer(world)?.instances).toEqual(all);
    const label = (value: string | null): void => {
      const labels = { 'node.kubernetes.io/exclude-from-external-load-balancers': value };
      const patch = { type: 'merge', body: { metadata: { labels } } } as const;
      world.must(world.admin.patch(resources.nodes, { name: 'n2' }, patch));
      world.advance(0.2);
    };
    label('true');
    expect(balancer(world)?.instances).toEqual([all[0], all[2]]);
    label(null);
    expect(balancer(world)?.instances).toEqual(all);
  });

  it('goes before its Service does, and when the type changes', () => {
    const world = withBalancer();
    world.must(world.admin.delete(resources.services, name));
    expect(world.kube.read(resources.services, name)).toBeDefined();
    world.advance(0.2);
    expect(world.kube.read(resources.services, name)).toBeUndefined();
    expect(balancer(world)).toBeUndefined();

    const other = withBalancer();
    change(other, { spec: { type: 'NodePort' } });
    expect(balancer(other)).toBeUndefined();
    const left = other.kube.read(resources.services, name);
    expect(left?.status).toEqual({ loadBalancer: {} });
    expect(left?.metadata.finalizers).toBeUndefined();
  });

  it('is left to the controller of another class', () => {
    expect(balancer(withBalancer({ loadBalancerClass: 'service.k8s.aws/nlb' }))).toBeUndefined();
  });
});
