// A seeded cluster with the articles' nodes and workload.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/api/json.ts';
import { amount, asNode, asPod, milliCpu, resources } from '../actors/index.ts';
import { aMachine, SmallWorld } from '../controllers/small-world.ts';
import { demoWorkload, mapRolesEntry, seedKube } from './index.ts';

const role =
  'arn:aws:iam::111111111111:role/eksctl-ironman-2022-nodegroup-demo-ng-NodeInstanceRole-454Q2XHJ5LZ0';

const demo = (): SmallWorld => {
  const world = new SmallWorld({ empty: true });
  seedKube({ kube: world.kube, nodeRoleArns: [role] });
  const collections = { Namespace: resources.namespaces, Deployment: resources.deployments };
  for (const object of demoWorkload()) {
    const collection = object.kind === 'Namespace' ? collections.Namespace : collections.Deployment;
    const { namespace } = object.metadata as { readonly namespace?: string };
    world.must(world.admin.create(collection, namespace, object));
  }
  world.start(aMachine(1), aMachine(2), aMachine(3));
  return world;
};

describe('a seeded world', () => {
  it('has its nodes Ready and all pods running within 15 s', () => {
    const world = demo();
    const all = () => [...world.kube.readAll(resources.pods)].map(asPod);
    const ready = () => all().filter((pod) => pod.status?.phase === 'Running').length;
    const seconds = world.until(15, () => all().length === 12 && ready() === 12);
    expect(seconds).toBeLessThan(15);
    const owners = all().map((pod) => `${pod.metadata.namespace}/${pod.metadata.name}`);
    expect(owners.filter((name) => name.startsWith('kube-system/aws-node-'))).toHaveLength(3);
    expect(owners.filter((name) => name.startsWith('kube-system/kube-proxy-'))).toHaveLength(3);
    expect(owners.filter((name) => name.startsWith('kube-system/coredns-'))).toHaveLength(2);
    expect(owners.filter((name) => name.startsWith('demo/nginx-demo-deployment-'))).toHaveLength(4);
  });

  it('prints the percentages of article 001 on an m5.large', () => {
    const world = demo();
    world.advance(8);
    const allocatable = asNode(world.node('n1')).status?.allocatable ?? {};
    const percent = (part: number, whole: number): number => Math.trunc((part * 100) / whole);
    expect(allocatable).toMatchObject({ cpu: '1930m', pods: '29' });
    expect(percent(25, milliCpu(allocatable.cpu))).toBe(1);
    expect(percent(100, milliCpu(allocatable.cpu))).toBe(5);
    // The article prints 1 and 2 percent for 70Mi and 170Mi; its node has the memory of an m5.large
    // too.
    expect(percent(amount('70Mi'), amount(allocatable.memory))).toBe(1);
    expect(percent(amount('170Mi'), amount(allocatable.memory))).toBe(2);
  });

  it('gives a node the labels and annotations of article 002', () => {
    const world = demo();
    world.advance(8);
    const { metadata, spec } = world.node('n1');
    expect(Object.keys(metadata.labels ?? {}).sort()).toEqual([
      'beta.kubernetes.io/arch',
      'beta.kubernetes.io/instance-type',
      'beta.kubernetes.io/os',
      'eks.amazonaws.com/nodegroup',
      'failure-domain.beta.kubernetes.io/region',
      'failure-domain.beta.kubernetes.io/zone',
      'k8s.io/cloud-provider-aws',
      'kubernetes.io/arch',
      'kubernetes.io/hostname',
      'kubernetes.io/os',
      'node.kubernetes.io/instance-type',
      'topology.kubernetes.io/region',
      'topology.kubernetes.io/zone',
    ]);
    expect(metadata.annotations).toEqual({
      'node.alpha.kubernetes.io/ttl': '0',
      'volumes.kubernetes.io/controller-managed-attach-detach': 'true',
    });
    expect(spec?.providerID).toBe(`aws:///eu-west-1b/${aMachine(1).instanceId}`);
  });

  it('keeps aws-auth in the form of article 002 and changes nothing when seeded again', () => {
    const world = demo();
    const before = world.kube.revision;
    seedKube({ kube: world.kube, nodeRoleArns: [role] });
    expect(world.kube.revision).toBe(before);
    const map = world.kube.read(resources.configmaps, {
      namespace: 'kube-system',
      name: 'aws-auth',
    });
    expect(map?.data).toEqual({ mapRoles: mapRolesEntry(role), mapUsers: '[]\n' });
  });
});

describe("the API's own Service", () => {
  it('has Endpoints and an EndpointSlice, which is no mirror of them', () => {
    const world = new SmallWorld({ empty: true });
    seedKube({ kube: world.kube, nodeRoleArns: [role] });
    world.advance(5);
    const name = { namespace: 'default', name: 'kubernetes' };
    const [subset] = (world.kube.read(resources.endpoints, name)?.subsets ?? []) as JsonObject[];
    expect(subset?.ports).toEqual([{ name: 'https', port: 443, protocol: 'TCP' }]);
    const slices = [...world.kube.readAll(resources.endpointslices, 'default')];
    expect(slices.map((slice) => slice.metadata.name)).toEqual(['kubernetes']);
    expect(slices[0]?.endpoints).toHaveLength(2);
  });
});
