// Deployments, ReplicaSets and DaemonSets in a small real world.
import { describe, expect, it } from 'vitest';
import { asDeployment, asReplicaSet, resources } from '../actors/index.ts';
import { aDeployment, aMachine, SmallWorld } from './small-world.ts';

const nameOf = (object: { readonly metadata: { readonly name: string } }): string =>
  object.metadata.name;

const withNginx = (nodes: number, replicas: number, more = {}): SmallWorld => {
  const world = new SmallWorld();
  world.ready(nodes);
  world.must(
    world.admin.create(resources.deployments, 'demo', aDeployment('nginx', replicas, more)),
  );
  world.until(30, () => world.readyPods().length === replicas);
  world.advance(1);
  return world;
};

const deployment = (world: SmallWorld) => {
  const object = world.kube.read(resources.deployments, { namespace: 'demo', name: 'nginx' });
  if (object === undefined) throw new Error('no deployment');
  return asDeployment(object);
};

describe('a Deployment', () => {
  it('runs its pods, spread over nodes, named as real ones are', () => {
    const world = withNginx(3, 4);
    const pods = world.readyPods();
    const perNode = Map.groupBy(pods, (pod) => pod.spec.nodeName ?? '');
    expect([...perNode.values()].map((on) => on.length).sort()).toEqual([1, 1, 2]);
    for (const pod of pods) {
      expect(pod.metadata.name).toMatch(/^nginx-[bcdfghjklmnpqrstvwxz2456789]{8,10}-[a-z0-9]{5}$/);
    }
    expect(deployment(world).status).toMatchObject({
      observedGeneration: 1,
      replicas: 4,
      updatedReplicas: 4,
      readyReplicas: 4,
      availableReplicas: 4,
    });
    const conditions = deployment(world).status?.conditions ?? [];
    expect(conditions.map(({ type, status, reason }) => [type, status, reason])).toEqual([
      ['Available', 'True', 'MinimumReplicasAvailable'],
      ['Progressing', 'True', 'NewReplicaSetAvailable'],
    ]);
    expect(deployment(world).metadata.annotations?.['deployment.kubernetes.io/revision']).toBe('1');
  });

  it('replaces a pod that is deleted while the old one is still stopping', () => {
    const world = withNginx(3, 4);
    const doomed = world.pods()[0];
    if (doomed === undefined) throw new Error('no pod');
    world.must(world.admin.delete(resources.pods, { namespace: 'demo', name: nameOf(doomed) }));
    const seconds = world.until(1, () => world.pods().length === 5);
    expect(seconds).toBeLessThan(0.05);
    world.until(30, () => world.pods().length === 4 && world.readyPods().length === 4);
    expect(world.pods().map(nameOf)).not.toContain(nameOf(doomed));
  });

  it('rolls to a new template without ever going below its availability', () => {
    const world = withNginx(3, 4, { container: { readinessProbe: { initialDelaySeconds: 2 } } });
    world.must(
      world.admin.patch(
        resources.deployments,
        { namespace: 'demo', name: 'nginx' },
        {
          type: 'strategic',
          body: {
            spec: { template: { spec: { containers: [{ name: 'nginx', image: 'nginx:2' }] } } },
          },
        },
      ),
    );
    let least = 4;
    let most = 0;
    world.until(60, () => {
      least = Math.min(least, world.readyPods().length);
      most = Math.max(most, world.pods().filter((pod) => !pod.metadata.deletionTimestamp).length);
      const { metadata, status } = deployment(world);
      return (
        status?.observedGeneration === metadata.generation &&
        status?.updatedReplicas === 4 &&
        status.replicas === 4 &&
        status.availableReplicas === 4
      );
    });
    expect(least).toBeGreaterThanOrEqual(3);
    expect(most).toBeLessThanOrEqual(5);
    const sets = [...world.kube.readAll(resources.replicasets, 'demo')].map(asReplicaSet);
    expect(sets.map((set) => set.spec.replicas).sort()).toEqual([0, 4]);
    expect(deployment(world).metadata.annotations?.['deployment.kubernetes.io/revision']).toBe('2');
  });

  it('with Recreate starts new pods only when the old ones are gone', () => {
    const world = withNginx(2, 2, { spec: { strategy: { type: 'Recreate' } } });
    world.must(
      world.admin.patch(
        resources.deployments,
        { namespace: 'demo', name: 'nginx' },
        { type: 'merge', body: { spec: { template: { metadata: { labels: { v: '2' } } } } } },
      ),
    );
    world.until(30, () => {
      const pods = world.pods();
      const next = pods.filter((pod) => pod.metadata.labels?.v === '2');
      if (next.length > 0) expect(next).toHaveLength(pods.length);
      return next.length === 2 && world.readyPods().length === 2;
    });
  });

  it('scales up and down', () => {
    const world = withNginx(3, 2);
    for (const replicas of [5, 1]) {
      world.must(
        world.admin.patch(
          resources.deployments,
          { namespace: 'demo', name: 'nginx' },
          { type: 'merge', body: { spec: { replicas } } },
        ),
      );
      world.until(
        30,
        () => world.pods().length === replicas && world.readyPods().length === replicas,
      );
    }
    expect(world.events('ScalingReplicaSet').some((text) => text.endsWith('from 5 to 1'))).toBe(
      true,
    );
  });

  it('keeps still once it has arrived', () => {
    const world = withNginx(3, 4);
    const before = world.kube.revision;
    const leases = [...world.kube.readAll(resources.leases)].length;
    world.advance(60);
    // Only leases move: six renewals of three nodes.
    expect(world.kube.revision - before).toBeLessThanOrEqual(leases * 6);
  });
});

describe('a HorizontalPodAutoscaler', () => {
  it('keeps the size between its bounds and says that there are no metrics', () => {
    const world = withNginx(3, 1);
    const name = { namespace: 'demo', name: 'nginx' };
    world.must(
      world.admin.create(resources.horizontalpodautoscalers, 'demo', {
        apiVersion: 'autoscaling/v2',
        kind: 'HorizontalPodAutoscaler',
        metadata: name,
        spec: {
          minReplicas: 2,
          maxReplicas: 3,
          scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'nginx' },
        },
      }),
    );
    world.until(16, () => deployment(world).spec.replicas === 2);
    const body = { spec: { replicas: 5 } };
    world.must(world.admin.patch(resources.deployments, name, { type: 'merge', body }));
    world.until(16, () => deployment(world).spec.replicas === 3);
    world.advance(16);
    expect(world.events('SuccessfulRescale')).toEqual([
      'New size: 2; reason: Current number of replicas below Spec.MinReplicas',
      'New size: 3; reason: Current number of replicas above Spec.MaxReplicas',
    ]);
    expect(world.events('FailedGetResourceMetric')[0]).toContain('(get pods.metrics.k8s.io)');
    const before = world.kube.revision;
    world.advance(300);
    const leases = [...world.kube.readAll(resources.leases)].length;
    expect(world.kube.revision - before).toBeLessThanOrEqual(leases * 31 + 3);
  });
});

const aDaemonSet = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'agent', namespace: 'demo' },
  spec: {
    selector: { matchLabels: { app: 'agent' } },
    template: {
      metadata: { labels: { app: 'agent' } },
      spec: { hostNetwork: true, containers: [{ name: 'agent', image: 'agent:1' }] },
    },
  },
};

describe('a DaemonSet', () => {
  it('runs one pod per node, also on cordoned and on new nodes', () => {
    const world = new SmallWorld();
    world.ready(2);
    world.must(
      world.admin.patch(
        resources.nodes,
        { name: 'n1' },
        { type: 'merge', body: { spec: { unschedulable: true } } },
      ),
    );
    world.must(world.admin.create(resources.daemonsets, 'demo', aDaemonSet));
    world.until(20, () => world.readyPods().length === 2);
    world.start(aMachine(3));
    world.until(20, () => world.readyPods().length === 3);
    world.advance(1);
    expect(
      world
        .readyPods()
        .map((pod) => pod.spec.nodeName)
        .sort(),
    ).toEqual(['n1', 'n2', 'n3']);
    expect(world.readyPods().map((pod) => pod.status?.podIP)).toContain('192.168.3.10');
    const set = world.kube.read(resources.daemonsets, { namespace: 'demo', name: 'agent' });
    expect(set?.status).toMatchObject({
      desiredNumberScheduled: 3,
      currentNumberScheduled: 3,
      numberReady: 3,
      numberAvailable: 3,
      updatedNumberScheduled: 3,
    });
  });

  it('replaces outdated pods one at a time', () => {
    const world = new SmallWorld();
    world.ready(3);
    world.must(world.admin.create(resources.daemonsets, 'demo', aDaemonSet));
    world.until(20, () => world.readyPods().length === 3);
    world.advance(1);
    world.must(
      world.admin.patch(
        resources.daemonsets,
        { namespace: 'demo', name: 'agent' },
        { type: 'merge', body: { spec: { template: { metadata: { labels: { v: '2' } } } } } },
      ),
    );
    world.until(60, () => {
      expect(world.readyPods().length).toBeGreaterThanOrEqual(2);
      return world.readyPods().filter((pod) => pod.metadata.labels?.v === '2').length === 3;
    });
  });
});
