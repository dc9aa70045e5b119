// StatefulSets and ControllerRevisions in a small real world.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/api/json.ts';
import { asControllerRevision, asStatefulSet, resources } from '../actors/index.ts';
import { SmallWorld } from './small-world.ts';

const web = { namespace: 'demo', name: 'web' };

const aStatefulSet = (spec: JsonObject = {}): JsonObject => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'web', namespace: 'demo' },
  spec: {
    replicas: 3,
    serviceName: 'web',
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'web', image: 'web:1' }] },
    },
    ...spec,
  },
});

const running = (spec: JsonObject = {}): SmallWorld => {
  const world = new SmallWorld();
  world.ready(3);
  world.must(world.admin.create(resources.statefulsets, 'demo', aStatefulSet(spec)));
  const replicas = Number(spec.replicas ?? 3);
  world.until(60, () => world.readyPods().length === replicas);
  world.advance(1);
  return world;
};

const change = (world: SmallWorld, spec: JsonObject): void => {
  world.must(world.admin.patch(resources.statefulsets, web, { type: 'merge', body: { spec } }));
};

const newImage = (version: string): JsonObject => ({
  template: { spec: { containers: [{ name: 'web', image: `web:${version}` }] } },
});

const set = (world: SmallWorld) => {
  const object = world.kube.read(resources.statefulsets, web);
  if (object === undefined) throw new Error('no set');
  return asStatefulSet(object);
};

const images = (world: SmallWorld): Readonly<Record<string, string>> =>
  Object.fromEntries(
    world.pods().map((pod) => [pod.metadata.name, pod.spec.containers[0]?.image ?? '']),
  );

const revisions = (world: SmallWorld) =>
  [...world.kube.readAll(resources.controllerrevisions, 'demo')].map(asControllerRevision);

describe('a StatefulSet', () => {
  it('starts its pods one after the other, by name', () => {
    const world = new SmallWorld();
    world.ready(3);
    world.must(world.admin.create(resources.statefulsets, 'demo', aStatefulSet()));
    const seen: string[] = [];
    world.until(60, () => {
      const names = world.pods().map((pod) => pod.metadata.name);
      if (names.length > seen.length) {
        expect(world.readyPods()).toHaveLength(seen.length);
        seen.push(names.at(-1) ?? '');
      }
      return world.readyPods().length === 3;
    });
    expect(seen).toEqual(['web-0', 'web-1', 'web-2']);
    world.advance(1);
    expect(world.pods()[1]?.metadata.labels).toMatchObject({
      'statefulset.kubernetes.io/pod-name': 'web-1',
      'apps.kubernetes.io/pod-index': '1',
      'controller-revision-hash': set(world).status?.updateRevision,
    });
    expect(set(world).status).toMatchObject({
      observedGeneration: 1,
      replicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      currentReplicas: 3,
      updatedReplicas: 3,
      collisionCount: 0,
    });
    expect(world.events('SuccessfulCreate')).toEqual([
      'create Pod web-0 in StatefulSet web successful',
      'create Pod web-1 in StatefulSet web successful',
      'create Pod web-2 in StatefulSet web successful',
    ]);
  });

  it('in parallel starts all at once, from the ordinal asked for', () => {
    const world = new SmallWorld();
    world.ready(3);
    const spec = { podManagementPolicy: 'Parallel', ordinals: { start: 5 } };
    world.must(world.admin.create(resources.statefulsets, 'demo', aStatefulSet(spec)));
    world.advance(0.1);
    expect(world.pods().map((pod) => pod.metadata.name)).toEqual(['web-5', 'web-6', 'web-7']);
  });

  it('gives a replacement the name of the pod that was deleted, once that is gone', () => {
    const world = running();
    const before = world.pods()[1]?.metadata.uid;
    world.must(world.admin.delete(resources.pods, { namespace: 'demo', name: 'web-1' }));
    world.until(60, () => {
      expect(world.pods().length).toBeLessThanOrEqual(3);
      return world.readyPods().length === 3 && world.pods()[1]?.metadata.uid !== before;
    });
  });

  it('updates from the highest ordinal down, never two at a time', () => {
    const world = running();
    change(world, newImage('2'));
    const order: string[] = [];
    world.until(90, () => {
      expect(world.readyPods().length).toBeGreaterThanOrEqual(2);
      for (const [name, image] of Object.entries(images(world))) {
        if (image === 'web:2' && !order.includes(name)) order.push(name);
      }
      const { status } = set(world);
      return status?.currentRevision === status?.updateRevision && order.length === 3;
    });
    expect(order).toEqual(['web-2', 'web-1', 'web-0']);
    expect(set(world).status).toMatchObject({ updatedReplicas: 3, currentReplicas: 3 });
  });

  it('stops an update at the partition, also for pods that are replaced below it', () => {
    const world = running();
    change(world, {
      ...newImage('2'),
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } },
    });
    world.until(60, () => images(world)['web-2'] === 'web:2' && world.readyPods().length === 3);
    world.advance(10);
    world.must(world.admin.delete(resources.pods, { namespace: 'demo', name: 'web-0' }));
    world.advance(20);
    expect(images(world)).toEqual({ 'web-0': 'web:1', 'web-1': 'web:1', 'web-2': 'web:2' });
    expect(set(world).status).toMatchObject({ currentReplicas: 2, updatedReplicas: 1 });
  });

  it('with OnDelete replaces only what a user deletes', () => {
    const world = running({ updateStrategy: { type: 'OnDelete' } });
    change(world, newImage('2'));
    world.advance(20);
    expect(Object.values(images(world))).toEqual(['web:1', 'web:1', 'web:1']);
    world.must(world.admin.delete(resources.pods, { namespace: 'demo', name: 'web-1' }));
    world.advance(20);
    expect(images(world)).toEqual({ 'web-0': 'web:1', 'web-1': 'web:2', 'web-2': 'web:1' });
  });

  it('scales down from the highest ordinal, one at a time', () => {
    const world = running();
    change(world, { replicas: 1 });
    const gone: string[] = [];
    world.until(60, () => {
      const terminating = world.pods().filter((pod) => pod.metadata.deletionTimestamp);
      expect(terminating.length).toBeLessThanOrEqual(1);
      for (const pod of terminating) {
        if (!gone.includes(pod.metadata.name)) gone.push(pod.metadata.name);
      }
      return world.pods().length === 1;
    });
    expect(gone).toEqual(['web-2', 'web-1']);
  });

  it('keeps its templates as revisions and goes back to one as kubectl does', () => {
    const world = running();
    change(world, newImage('2'));
    world.until(90, () => {
      const { status, metadata } = set(world);
      if (status?.observedGeneration !== metadata.generation) return false;
      return status?.updatedReplicas === 3 && status.currentRevision === status.updateRevision;
    });
    const first = revisions(world).find((one) => one.revision === 1);
    expect(revisions(world).map((one) => one.revision)).toHaveLength(2);
    world.must(
      world.admin.patch(resources.statefulsets, web, {
        type: 'strategic',
        body: first?.data ?? {},
      }),
    );
    world.until(90, () => Object.values(images(world)).every((image) => image === 'web:1'));
    world.advance(10);
    expect(
      revisions(world)
        .map((one) => [one.metadata.name === first?.metadata.name, one.revision])
        .sort(),
    ).toEqual([
      [false, 2],
      [true, 3],
    ]);
  });

  it('adopts pods that were left by a set deleted without them', () => {
    const world = running();
    const uids = world.pods().map((pod) => pod.metadata.uid);
    world.must(world.admin.delete(resources.statefulsets, web, { propagationPolicy: 'Orphan' }));
    world.until(10, () => world.kube.read(resources.statefulsets, web) === undefined);
    world.must(world.admin.create(resources.statefulsets, 'demo', aStatefulSet()));
    world.advance(10);
    expect(world.pods().map((pod) => pod.metadata.uid)).toEqual(uids);
    expect(set(world).status).toMatchObject({ replicas: 3, readyReplicas: 3 });
  });

  it('counts for a budget by its scale', () => {
    const world = running();
    world.must(
      world.admin.create(resources.poddisruptionbudgets, 'demo', {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'web', namespace: 'demo' },
        spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'web' } } },
      }),
    );
    world.advance(1);
    expect(world.kube.read(resources.poddisruptionbudgets, web)?.status).toMatchObject({
      expectedPods: 3,
      desiredHealthy: 2,
      disruptionsAllowed: 1,
    });
    change(world, { replicas: 2 });
    world.advance(20);
    expect(world.kube.read(resources.poddisruptionbudgets, web)?.status).toMatchObject({
      expectedPods: 2,
      desiredHealthy: 1,
    });
  });
});

describe('a quota', () => {
  it('that refuses a pod of a StatefulSet is reported in an event and tried again', () => {
    const world = new SmallWorld();
    world.ready(2);
    const quota = { namespace: 'demo', name: 'small' };
    const resourcequotas = { group: '', resource: 'resourcequotas' };
    world.must(
      world.admin.create(resourcequotas, 'demo', {
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: quota,
        spec: { hard: { pods: '1' } },
      }),
    );
    world.advance(1);
    world.must(world.admin.create(resources.statefulsets, 'demo', aStatefulSet()));
    world.advance(30);
    expect(world.pods()).toHaveLength(1);
    expect(world.events('FailedCreate')[0]).toMatch(
      /^create Pod web-1 in StatefulSet web failed error: .*exceeded quota: small/,
    );
    world.must(world.admin.delete(resourcequotas, quota));
    world.until(400, () => world.readyPods().length === 3);
  });
});

describe("a DaemonSet's revisions", () => {
  it('are kept for each template, the newest with the highest number', () => {
    const world = new SmallWorld();
    world.ready(2);
    const agent = (image: string): JsonObject => ({
      selector: { matchLabels: { app: 'agent' } },
      template: {
        metadata: { labels: { app: 'agent' } },
        spec: { containers: [{ name: 'agent', image }] },
      },
    });
    const name = { namespace: 'demo', name: 'agent' };
    world.must(
      world.admin.create(resources.daemonsets, 'demo', {
        apiVersion: 'apps/v1',
        kind: 'DaemonSet',
        metadata: name,
        spec: agent('agent:1'),
      }),
    );
    for (const image of ['agent:2', 'agent:1']) {
      world.advance(20);
      const body = { spec: agent(image) };
      world.must(world.admin.patch(resources.daemonsets, name, { type: 'merge', body }));
    }
    world.advance(30);
    const pods = world.readyPods();
    expect(pods.map((pod) => pod.spec.containers[0]?.image)).toEqual(['agent:1', 'agent:1']);
    const newest = revisions(world).sort((a, b) => b.revision - a.revision);
    expect(newest.map((one) => one.revision)).toEqual([3, 2]);
    expect(newest[0]?.metadata.name).toBe(
      `agent-${pods[0]?.metadata.labels?.['controller-revision-hash']}`,
    );
  });
});
