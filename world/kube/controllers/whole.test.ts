// The Kubernetes side end to end: the same seed gives the same world, and a restart loses nothing.
import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/api/json.ts';
import type { RowChange } from '../../../src/ports/index.ts';
import { Tables } from '../../kernel/index.ts';
import { resources } from '../actors/index.ts';
import { aDeployment, SmallWorld } from './small-world.ts';

const story = (world: SmallWorld): void => {
  world.ready(3);
  world.must(world.admin.create(resources.deployments, 'demo', aDeployment('web', 5)));
  world.advance(20);
  const [doomed] = world.readyPods();
  const name = { namespace: 'demo', name: doomed?.metadata.name ?? '' };
  world.must(world.admin.delete(resources.pods, name));
  world.faults.inject('kubelet-stop', { node: 'n2' });
  world.advance(400);
};

const traceOf = (seed: number): string => {
  const world = new SmallWorld({ seed });
  story(world);
  return JSON.stringify(world.audit);
};

describe('the Kubernetes side', () => {
  it('lives the same life twice from one seed, and another from another', () => {
    const first = traceOf(7);
    expect(traceOf(7)).toBe(first);
    expect(traceOf(8)).not.toBe(first);
  });

  it.each([0.002, 0.05, 0.4, 1.1, 2.5, 5])(
    'continues after a restart %d s into a rollout',
    (after) => {
      const world = new SmallWorld();
      world.ready(3);
      world.must(world.admin.create(resources.deployments, 'demo', aDeployment('web', 6)));
      world.advance(after);
      const disk = new Map<string, RowChange>();
      const second = restarted(world, disk);
      second.until(60, () => second.readyPods().length === 6);
      second.must(second.admin.delete(resources.deployments, { namespace: 'demo', name: 'web' }));
      second.advance(0.3);
      const third = restarted(second, disk);
      expect([...third.kube.readAll(resources.nodes)]).toHaveLength(3);
      third.until(60, () => third.pods().length === 0);
      expect(third.cloud.held.size).toBe(0);
    },
  );
});

const storageClass = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'gp3' },
  provisioner: 'ebs.csi.aws.com',
  volumeBindingMode: 'WaitForFirstConsumer',
};

const database = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'db', namespace: 'demo' },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'db' } },
    template: {
      metadata: { labels: { app: 'db' } },
      spec: { containers: [{ name: 'db', image: 'db:1' }] },
    },
    volumeClaimTemplates: [
      {
        metadata: { name: 'data' },
        spec: {
          storageClassName: 'gp3',
          accessModes: ['ReadWriteOnce'],
          resources: { requests: { storage: '1Gi' } },
        },
      },
    ],
  },
};

const minutely = {
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { name: 'tick', namespace: 'demo' },
  spec: {
    schedule: '* * * * *',
    jobTemplate: {
      spec: {
        ttlSecondsAfterFinished: 20,
        template: {
          metadata: { annotations: { 'world.drover.dev/run-seconds': '5' } },
          spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'x' }] },
        },
      },
    },
  },
};

describe('workloads with a memory', () => {
  it.each([0.01, 0.5, 2, 4, 6, 9, 62, 66, 75])('continue after a restart %d s in', (after) => {
    const world = new SmallWorld();
    world.ready(2);
    world.must(world.admin.create(resources.storageclasses, undefined, storageClass));
    world.must(world.admin.create(resources.statefulsets, 'demo', database));
    world.must(world.admin.create(resources.cronjobs, 'demo', minutely));
    world.advance(after);
    const second = restarted(world, new Map());
    const named = (start: string) =>
      second.readyPods().filter((pod) => pod.metadata.name.startsWith(start));
    second.until(60, () => named('db-').length === 2);
    expect([...second.kube.readAll(resources.persistentvolumes)]).toHaveLength(2);
    expect([...second.kube.readAll(resources.volumeattachments)]).toHaveLength(2);
    second.until(120, () => second.events('SawCompletedJob').length > 0);
    second.advance(60);
    // Each minute's Job is deleted 20 s after it ends.
    expect([...second.kube.readAll(resources.jobs, 'demo')].length).toBeLessThanOrEqual(1);
    expect(second.pods().filter((pod) => pod.metadata.name.startsWith('tick')).length).toBeLessThan(
      2,
    );
  });
});

/** The world as a new process reads it from disk: everything flushed so far. */
const restarted = (world: SmallWorld, disk: Map<string, RowChange>): SmallWorld => {
  world.kernel.checkpoint();
  for (const change of world.tables.takeChanges()) {
    disk.set(`${change.table} ${change.key}`, change);
  }
  const tables = new Tables();
  for (const { table, key, value } of disk.values()) {
    if (value !== undefined) tables.restore(table, key, JSON.parse(JSON.stringify(value)) as Json);
  }
  return new SmallWorld({ tables, cloud: world.cloud });
};
