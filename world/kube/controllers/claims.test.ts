// Adoption and release in a small real world, decided by the labels of a pod or a ReplicaSet.
import { describe, expect, it } from 'vitest';
import { type JsonObject, objectOr } from '../../../src/api/json.ts';
import type { KubeObject } from '../../../src/api/kube.ts';
import type { GroupResource } from '../../contracts.ts';
import { asBudget, controllerOf, metaOf, resources } from '../actors/index.ts';
import { claimOf } from './claims.ts';
import { aDeployment, SmallWorld } from './small-world.ts';

const namespace = 'demo';
const container = { name: 'c', image: 'nginx:latest' };
const labelled = (app: string): JsonObject => ({ matchLabels: { app } });
const template = (app: string): JsonObject => ({
  metadata: { labels: { app } },
  spec: { containers: [container] },
});

const aSet = (name: string, replicas: number, more: JsonObject = {}): JsonObject => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { name, namespace, labels: { app: name } },
  spec: { replicas, selector: labelled(name), template: template(name), ...more },
});

const aPod = (name: string, app: string): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace, labels: { app } },
  spec: { containers: [container] },
});

const create = (world: SmallWorld, of: GroupResource, object: JsonObject): KubeObject =>
  world.must(world.admin.create(of, namespace, object)).object;

const ownerOf = (world: SmallWorld, of: GroupResource, name: string): string | undefined => {
  const object = world.kube.read(of, { namespace, name });
  return object && controllerOf({ metadata: metaOf(object) })?.name;
};

const relabel = (world: SmallWorld, name: string, labels: JsonObject | null): void => {
  const body = { metadata: { labels } };
  world.must(world.admin.patch(resources.pods, { namespace, name }, { type: 'merge', body }));
};

const withoutOwner = (world: SmallWorld, name: string): void => {
  const body = { metadata: { ownerReferences: null, finalizers: null } };
  world.must(world.admin.patch(resources.pods, { namespace, name }, { type: 'merge', body }));
};

describe('what a controller does about a child', () => {
  const parent = { metadata: { uid: 'p' } } as KubeObject;
  const dying = { metadata: { uid: 'p', deletionTimestamp: 't' } } as unknown as KubeObject;
  const child = (owner?: string, deletionTimestamp?: string): KubeObject =>
    ({
      metadata: {
        deletionTimestamp,
        ...(owner === undefined ? {} : { ownerReferences: [{ uid: owner, controller: true }] }),
      },
    }) as unknown as KubeObject;

  it.each([
    ['an orphan that matches', parent, child(), true, 'adopt'],
    ['an orphan that does not match', parent, child(), false, 'leave'],
    ['an orphan on its way out', parent, child(undefined, 't'), true, 'leave'],
    ['an orphan, while the parent is deleted', dying, child(), true, 'leave'],
    ['its own that matches', parent, child('p'), true, 'keep'],
    ['its own that matches no longer', parent, child('p'), false, 'release'],
    ['its own, while the parent is deleted', dying, child('p'), false, 'keep'],
    ['a child of another', parent, child('q'), true, 'leave'],
  ] as const)('%s', (_name, above, below, matches, claim) => {
    expect(claimOf(above, below, matches)).toBe(claim);
  });
});

describe('a ReplicaSet', () => {
  it('adopts a pod that was there before it, and releases it when its label changes', () => {
    const world = new SmallWorld();
    world.ready(1);
    create(world, resources.pods, aPod('first', 'web'));
    world.advance(1);
    create(world, resources.replicasets, aSet('web', 1));
    world.advance(1);
    expect(ownerOf(world, resources.pods, 'first')).toBe('web');
    expect(world.pods()).toHaveLength(1);
    relabel(world, 'first', { app: 'out-of-service' });
    world.until(30, () => world.readyPods().length === 2);
    expect(ownerOf(world, resources.pods, 'first')).toBeUndefined();
    const patched = world.audit.filter(({ objectRef, verb }) => {
      const { name, resource } = objectRef as JsonObject;
      return verb === 'patch' && resource === 'pods' && name === 'first';
    });
    const users = patched.map(({ user }) => String((user as JsonObject).username));
    expect(users.filter((user) => !user.startsWith('system:node:'))).toEqual([
      'system:serviceaccount:kube-system:replicaset-controller',
      'admin',
      'system:serviceaccount:kube-system:replicaset-controller',
    ]);
  });

  it('takes back a pod that gets its label again, and shrinks to its size', () => {
    const world = new SmallWorld();
    world.ready(2);
    create(world, resources.replicasets, aSet('web', 2));
    world.until(30, () => world.readyPods().length === 2);
    const name = world.pods()[0]?.metadata.name ?? '';
    relabel(world, name, { app: 'debug' });
    world.until(30, () => world.readyPods().length === 3);
    relabel(world, name, { app: 'web' });
    world.until(60, () => world.pods().length === 2);
    expect(world.pods().every((pod) => controllerOf(pod)?.name === 'web')).toBe(true);
  });

  it('replaces a pod that loses its owner reference and its label together', () => {
    const world = new SmallWorld();
    world.ready(1);
    create(world, resources.replicasets, aSet('web', 1));
    world.until(30, () => world.readyPods().length === 1);
    const name = world.pods()[0]?.metadata.name ?? '';
    const metadata = { ownerReferences: null, labels: null };
    world.must(
      world.admin.patch(resources.pods, { namespace, name }, { type: 'merge', body: { metadata } }),
    );
    world.until(30, () => world.readyPods().length === 2);
  });

  it('leaves pods of its label alone that another controls', () => {
    const world = new SmallWorld();
    world.ready(1);
    create(world, resources.replicasets, aSet('web', 1));
    world.until(30, () => world.readyPods().length === 1);
    create(
      world,
      resources.replicasets,
      aSet('other', 1, { selector: labelled('web'), template: template('web') }),
    );
    world.advance(5);
    expect(
      world
        .pods()
        .map((pod) => controllerOf(pod)?.name)
        .sort(),
    ).toEqual(['other', 'web']);
  });

  it('adopts and releases what waits when its world starts again', () => {
    const world = new SmallWorld();
    world.ready(1);
    create(world, resources.replicasets, aSet('web', 1));
    world.until(30, () => world.readyPods().length === 1);
    relabel(world, world.pods()[0]?.metadata.name ?? '', { app: 'debug' });
    const again = new SmallWorld({ tables: world.tables, cloud: world.cloud });
    again.until(30, () => again.readyPods().length === 2);
    expect(again.pods().filter((pod) => controllerOf(pod) === undefined)).toHaveLength(1);
  });
});

describe('a budget over pods of which one is taken out of service', () => {
  it('counts the replacement and not the relabelled pod', () => {
    const world = new SmallWorld();
    world.ready(3);
    create(world, resources.deployments, aDeployment('web', 3));
    create(world, resources.poddisruptionbudgets, {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'web', namespace },
      spec: { maxUnavailable: 1, selector: labelled('web') },
    });
    world.until(60, () => world.readyPods().length === 3);
    relabel(world, world.pods()[0]?.metadata.name ?? '', { app: 'debug' });
    world.until(60, () => world.readyPods().length === 4);
    world.advance(2);
    const budget = world.kube.read(resources.poddisruptionbudgets, { namespace, name: 'web' });
    expect(budget && asBudget(budget).status).toMatchObject({
      currentHealthy: 3,
      desiredHealthy: 2,
      expectedPods: 3,
      disruptionsAllowed: 1,
    });
  });
});

describe('a Deployment', () => {
  it('adopts the ReplicaSets and with them the pods of one that was deleted without them', () => {
    const world = new SmallWorld();
    world.ready(2);
    create(world, resources.deployments, aDeployment('web', 2));
    world.until(60, () => world.readyPods().length === 2);
    const before = world.pods().map((pod) => pod.metadata.name);
    const target = { namespace, name: 'web' };
    const orphan = { propagationPolicy: 'Orphan' } as const;
    world.must(world.admin.delete(resources.deployments, target, orphan));
    world.until(10, () => world.kube.read(resources.deployments, target) === undefined);
    const [set] = [...world.kube.readAll(resources.replicasets, namespace)];
    expect(ownerOf(world, resources.replicasets, set?.metadata.name ?? '')).toBeUndefined();
    create(world, resources.deployments, aDeployment('web', 2));
    world.advance(5);
    expect(ownerOf(world, resources.replicasets, set?.metadata.name ?? '')).toBe('web');
    expect([...world.kube.readAll(resources.replicasets, namespace)]).toHaveLength(1);
    expect(world.pods().map((pod) => pod.metadata.name)).toEqual(before);
  });

  it('adopts a ReplicaSet of its template that was made by hand, under its own name', () => {
    const world = new SmallWorld();
    world.ready(2);
    const { template: pods } = aDeployment('web', 2).spec as JsonObject;
    create(world, resources.replicasets, aSet('web', 2, { template: pods ?? {} }));
    world.until(60, () => world.readyPods().length === 2);
    create(world, resources.deployments, aDeployment('web', 2));
    world.advance(5);
    expect(ownerOf(world, resources.replicasets, 'web')).toBe('web');
    expect([...world.kube.readAll(resources.replicasets, namespace)]).toHaveLength(1);
  });

  it('rolls from an adopted ReplicaSet of another template to its own', () => {
    const world = new SmallWorld();
    world.ready(2);
    create(world, resources.replicasets, aSet('web', 1));
    world.until(60, () => world.readyPods().length === 1);
    create(world, resources.deployments, aDeployment('web', 2));
    world.until(120, () => {
      const old = world.kube.read(resources.replicasets, { namespace, name: 'web' });
      return objectOr(old?.spec).replicas === 0 && world.readyPods().length === 2;
    });
    expect(ownerOf(world, resources.replicasets, 'web')).toBe('web');
  });
});

describe('other controllers', () => {
  it('a Job adopts an orphan of its own and counts it, and releases what is relabelled', () => {
    const world = new SmallWorld();
    world.ready(1);
    create(world, resources.jobs, {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'work', namespace },
      spec: {
        parallelism: 2,
        template: {
          metadata: { annotations: { 'world.drover.dev/run-seconds': '3600' } },
          spec: { restartPolicy: 'Never', containers: [container] },
        },
      },
    });
    world.until(30, () => world.readyPods().length === 2);
    const name = world.pods()[0]?.metadata.name ?? '';
    withoutOwner(world, name);
    world.advance(1);
    const pod = world.kube.read(resources.pods, { namespace, name });
    expect(ownerOf(world, resources.pods, name)).toBe('work');
    expect(pod?.metadata.finalizers).toEqual(['batch.kubernetes.io/job-tracking']);
    relabel(world, name, null);
    world.until(30, () => world.pods().length === 3);
    expect(ownerOf(world, resources.pods, name)).toBeUndefined();
    expect(world.kube.read(resources.pods, { namespace, name })?.metadata.finalizers ?? []).toEqual(
      [],
    );
  });

  it('a DaemonSet releases a relabelled pod and starts another on its node', () => {
    const world = new SmallWorld();
    world.ready(1);
    create(world, resources.daemonsets, {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name: 'agent', namespace },
      spec: { selector: labelled('agent'), template: template('agent') },
    });
    world.until(30, () => world.readyPods().length === 1);
    const name = world.pods()[0]?.metadata.name ?? '';
    relabel(world, name, { app: 'debug' });
    world.until(30, () => world.readyPods().length === 2);
    expect(ownerOf(world, resources.pods, name)).toBeUndefined();
    withoutOwner(
      world,
      world.pods().find((pod) => pod.metadata.name !== name)?.metadata.name ?? '',
    );
    world.advance(5);
    expect(
      world
        .pods()
        .map((pod) => controllerOf(pod)?.name)
        .sort(),
    ).toEqual(['agent', undefined]);
  });

  it('a StatefulSet releases a relabelled pod and waits for its name', () => {
    const world = new SmallWorld();
    world.ready(1);
    create(world, resources.statefulsets, {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'db', namespace },
      spec: { replicas: 1, serviceName: 'db', selector: labelled('db'), template: template('db') },
    });
    world.until(30, () => world.readyPods().length === 1);
    relabel(world, 'db-0', { app: 'debug' });
    world.advance(5);
    expect(ownerOf(world, resources.pods, 'db-0')).toBeUndefined();
    relabel(world, 'db-0', { app: 'db' });
    world.advance(5);
    expect(ownerOf(world, resources.pods, 'db-0')).toBe('db');
  });
});
