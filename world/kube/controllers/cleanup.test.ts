// Garbage collection: owners' dependents, namespaces, pods of lost nodes.
import { describe, expect, it } from 'vitest';
import { conditionOf, resources } from '../actors/index.ts';
import { aDeployment, aMachine, named, SmallWorld } from './small-world.ts';

const withWeb = (): SmallWorld => {
  const world = new SmallWorld();
  world.ready(2);
  world.must(world.admin.create(resources.deployments, 'demo', aDeployment('web', 2)));
  world.until(30, () => world.readyPods().length === 2);
  return world;
};

const sets = (world: SmallWorld) => [...world.kube.readAll(resources.replicasets, 'demo')];

const deleteWeb = (
  world: SmallWorld,
  propagationPolicy: 'Background' | 'Foreground' | 'Orphan',
): void => {
  const name = { namespace: 'demo', name: 'web' };
  world.must(world.admin.delete(resources.deployments, name, { propagationPolicy }));
};

describe('the garbage collector', () => {
  it('deletes ReplicaSets and pods after their Deployment', () => {
    const world = withWeb();
    deleteWeb(world, 'Background');
    world.until(40, () => sets(world).length === 0 && world.pods().length === 0);
  });

  it('in the foreground keeps the Deployment until its pods are gone', () => {
    const world = withWeb();
    deleteWeb(world, 'Foreground');
    const left = () =>
      world.kube.read(resources.deployments, { namespace: 'demo', name: 'web' }) !== undefined;
    world.until(40, () => {
      if (world.pods().length > 0 || sets(world).length > 0) expect(left()).toBe(true);
      return !left();
    });
    expect(world.pods()).toHaveLength(0);
  });

  it('orphans dependents when asked to', () => {
    const world = withWeb();
    deleteWeb(world, 'Orphan');
    world.advance(5);
    expect(
      world.kube.read(resources.deployments, { namespace: 'demo', name: 'web' }),
    ).toBeUndefined();
    expect(sets(world)).toHaveLength(1);
    expect(sets(world)[0]?.metadata.ownerReferences ?? []).toHaveLength(0);
    expect(world.readyPods()).toHaveLength(2);
  });

  it('lets a new Deployment of the same template adopt an orphaned ReplicaSet', () => {
    const world = withWeb();
    const names = world.pods().map((pod) => pod.metadata.name);
    deleteWeb(world, 'Orphan');
    world.advance(1);
    world.must(world.admin.create(resources.deployments, 'demo', aDeployment('web', 2)));
    world.advance(5);
    expect(sets(world)).toHaveLength(1);
    expect(sets(world)[0]?.metadata.ownerReferences?.[0]?.kind).toBe('Deployment');
    expect(world.pods().map((pod) => pod.metadata.name)).toEqual(names);
  });

  it('leaves a stranger of the same name alone: the new ReplicaSet gets another hash', () => {
    const first = withWeb();
    const taken = sets(first)[0]?.metadata.name ?? '';
    const world = new SmallWorld();
    world.ready(2);
    const { object } = world.must(
      world.admin.create(resources.configmaps, 'demo', named('v1', 'ConfigMap', 'other')),
    );
    const owner = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: 'other',
      uid: object.metadata.uid,
      controller: true,
    };
    const template = {
      metadata: { labels: { app: 'x' } },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    };
    world.must(
      world.admin.create(resources.replicasets, 'demo', {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        metadata: { name: taken, namespace: 'demo', ownerReferences: [owner] },
        spec: { replicas: 0, selector: { matchLabels: { app: 'x' } }, template },
      }),
    );
    world.must(world.admin.create(resources.deployments, 'demo', aDeployment('web', 2)));
    world.until(30, () => world.readyPods().length === 2);
    const names = sets(world).map((set) => set.metadata.name);
    expect(names).toHaveLength(2);
    expect(names).toContain(taken);
  });

  it('deletes what is created for an owner that does not exist', () => {
    const world = withWeb();
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'none', uid: 'no-such-uid' };
    world.must(
      world.admin.create(resources.configmaps, 'demo', {
        ...named('v1', 'ConfigMap', 'left'),
        metadata: { name: 'left', ownerReferences: [owner] },
      }),
    );
    world.advance(1);
    expect(
      world.kube.read(resources.configmaps, { namespace: 'demo', name: 'left' }),
    ).toBeUndefined();
  });
});

describe('a namespace', () => {
  it('starts with a service account and the root certificate', () => {
    const world = new SmallWorld();
    world.must(
      world.admin.create(resources.namespaces, undefined, named('v1', 'Namespace', 'new')),
    );
    world.advance(0.1);
    const account = { namespace: 'new', name: 'default' };
    expect(world.kube.read(resources.serviceaccounts, account)).toBeDefined();
    const authority = { namespace: 'new', name: 'kube-root-ca.crt' };
    expect(world.kube.read(resources.configmaps, authority)).toBeDefined();
  });

  it('is emptied, pods in their grace included, and then goes', () => {
    const world = withWeb();
    world.must(world.admin.delete(resources.namespaces, { name: 'demo' }));
    world.advance(0.2);
    expect(world.pods()).toHaveLength(2);
    world.until(40, () => world.kube.read(resources.namespaces, { name: 'demo' }) === undefined);
    expect(world.pods()).toHaveLength(0);
    expect(sets(world)).toHaveLength(0);
  });
});

describe('pods of a node that is gone', () => {
  it('are deleted 40 to 60 s later, and its Lease at once', () => {
    const world = withWeb();
    const { instanceId } = aMachine(1);
    world.kubelets.powerOff(instanceId);
    world.cloud.states.set(instanceId, 'terminated');
    world.until(10, () => world.kube.read(resources.nodes, { name: 'n1' }) === undefined);
    const orphans = () => world.pods().filter((pod) => pod.spec.nodeName === 'n1');
    const [orphan] = orphans();
    const seconds = world.until(70, () => orphans().length === 0);
    expect(seconds).toBeGreaterThan(39);
    expect(seconds).toBeLessThan(61);
    const lease = { namespace: 'kube-node-lease', name: 'n1' };
    expect(world.kube.read(resources.leases, lease)).toBeUndefined();
    expect(orphan).toBeDefined();
    const disrupted = conditionOf(orphan?.status?.conditions, 'DisruptionTarget');
    expect(disrupted).toBeUndefined();
    world.until(20, () => world.readyPods().length === 2);
  });
});
