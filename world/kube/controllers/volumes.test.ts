// Claims, volumes and attachments in a small real world.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/api/json.ts';
import {
  asAttachment,
  asClaim,
  asPod,
  asVolume,
  conditionOf,
  isReady,
  resources,
} from '../actors/index.ts';
import { aMachine, SmallWorld } from './small-world.ts';

const data = { namespace: 'demo', name: 'data' };

const storageClass = (name: string, more: JsonObject = {}): JsonObject => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name },
  provisioner: 'ebs.csi.aws.com',
  volumeBindingMode: 'WaitForFirstConsumer',
  ...more,
});

const claim = (name: string, storageClassName: string): JsonObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name, namespace: 'demo' },
  spec: {
    storageClassName,
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: '4Gi' } },
  },
});

const pod = (name: string, claimName: string, more: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'demo' },
  spec: {
    containers: [{ name: 'c', image: 'x' }],
    volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }],
    ...more,
  },
});

const withClass = (nodes = 2, more: JsonObject = {}): SmallWorld => {
  const world = new SmallWorld();
  const zones = ['a', 'a', 'b'];
  world.start(
    ...Array.from({ length: nodes }, (_, i) =>
      aMachine(i + 1, { zone: `eu-west-1${zones[i] ?? 'c'}` }),
    ),
  );
  world.until(15, () => {
    const found = [...world.kube.readAll(resources.nodes)];
    return (
      found.length === nodes &&
      found.every((one) => (world.node(one.metadata.name).spec?.taints ?? []).length === 0)
    );
  });
  world.must(world.admin.create(resources.storageclasses, undefined, storageClass('gp3', more)));
  return world;
};

const phase = (world: SmallWorld, name = 'data'): string | undefined => {
  const object = world.kube.read(resources.persistentvolumeclaims, { namespace: 'demo', name });
  return object && asClaim(object).status?.phase;
};

const volumes = (world: SmallWorld) =>
  [...world.kube.readAll(resources.persistentvolumes)].map(asVolume);
const attachments = (world: SmallWorld) =>
  [...world.kube.readAll(resources.volumeattachments)].map(asAttachment);

const podOf = (world: SmallWorld, name: string) => {
  const object = world.kube.read(resources.pods, { namespace: 'demo', name });
  return object && asPod(object);
};

const runs = (world: SmallWorld, name: string): boolean => {
  const found = podOf(world, name);
  return found !== undefined && isReady(found);
};

/** p1 runs on n1 with the claim `data`. */
const running = (nodes = 2): SmallWorld => {
  const world = withClass(nodes);
  world.must(world.admin.create(resources.persistentvolumeclaims, 'demo', claim('data', 'gp3')));
  const there = pod('p1', 'data', { nodeSelector: { 'kubernetes.io/hostname': 'n1' } });
  world.must(world.admin.create(resources.pods, 'demo', there));
  world.until(30, () => runs(world, 'p1'));
  return world;
};

const elsewhere = (world: SmallWorld): void => {
  const there = pod('p2', 'data', { nodeSelector: { 'kubernetes.io/hostname': 'n2' } });
  world.must(world.admin.create(resources.pods, 'demo', there));
};

const outOfService: JsonObject = {
  key: 'node.kubernetes.io/out-of-service',
  value: 'nodeshutdown',
  effect: 'NoExecute',
};

describe('a claim', () => {
  it('waits for its first pod, then gets a volume in the zone of that', () => {
    const world = withClass(3);
    world.must(world.admin.create(resources.persistentvolumeclaims, 'demo', claim('data', 'gp3')));
    world.advance(10);
    expect(phase(world)).toBe('Pending');
    expect(world.events('WaitForFirstConsumer')).toEqual([
      'waiting for first consumer to be created before binding',
    ]);
    const there = pod('p1', 'data', { nodeSelector: { 'kubernetes.io/hostname': 'n3' } });
    world.must(world.admin.create(resources.pods, 'demo', there));
    world.until(30, () => runs(world, 'p1'));
    expect(phase(world)).toBe('Bound');
    const [volume] = volumes(world);
    expect(volume?.status?.phase).toBe('Bound');
    expect(volume?.spec.nodeAffinity?.required?.nodeSelectorTerms[0]?.matchExpressions).toEqual([
      { key: 'topology.kubernetes.io/zone', operator: 'In', values: ['eu-west-1b'] },
    ]);
    expect(attachments(world).map((one) => [one.spec.nodeName, one.status?.attached])).toEqual([
      ['n3', true],
    ]);
    expect(world.events('SuccessfulAttachVolume')[0]).toContain('AttachVolume.Attach succeeded');
  });

  it('ties later pods to the zone of its volume', () => {
    const world = running(3);
    world.must(world.admin.delete(resources.pods, { namespace: 'demo', name: 'p1' }));
    const there = pod('p3', 'data', { nodeSelector: { 'kubernetes.io/hostname': 'n3' } });
    world.must(world.admin.create(resources.pods, 'demo', there));
    world.advance(30);
    const why = conditionOf(podOf(world, 'p3')?.status?.conditions, 'PodScheduled')?.message;
    expect(why).toContain('1 node(s) had volume node affinity conflict');
  });

  it('of a class that binds at once gets its volume without a pod, and is named while missing', () => {
    const world = withClass(2, { volumeBindingMode: 'Immediate' });
    world.must(world.admin.create(resources.pods, 'demo', pod('p1', 'data')));
    world.advance(2);
    const why = (): string | undefined =>
      conditionOf(podOf(world, 'p1')?.status?.conditions, 'PodScheduled')?.message;
    expect(why()).toContain('0/2 nodes are available: persistentvolumeclaim "data" not found.');
    world.must(world.admin.create(resources.persistentvolumeclaims, 'demo', claim('data', 'gp3')));
    world.advance(0.5);
    expect(why()).toContain('pod has unbound immediate PersistentVolumeClaims');
    world.until(40, () => runs(world, 'p1'));
  });

  it('takes the smallest free volume that fits', () => {
    const world = withClass(1);
    for (const [name, storage] of [
      ['big', '50Gi'],
      ['fits', '5Gi'],
      ['small', '1Gi'],
    ] as const) {
      world.must(
        world.admin.create(resources.persistentvolumes, undefined, {
          apiVersion: 'v1',
          kind: 'PersistentVolume',
          metadata: { name },
          spec: {
            capacity: { storage },
            accessModes: ['ReadWriteOnce'],
            storageClassName: 'manual',
            hostPath: { path: '/data' },
          },
        }),
      );
    }
    world.advance(1);
    const manual = claim('data', 'manual');
    world.must(world.admin.create(resources.persistentvolumeclaims, 'demo', manual));
    world.until(5, () => phase(world) === 'Bound');
    const object = world.kube.read(resources.persistentvolumeclaims, data);
    expect(object && asClaim(object).spec.volumeName).toBe('fits');
    world.must(world.admin.delete(resources.persistentvolumeclaims, data));
    world.advance(5);
    const kept = volumes(world).find((one) => one.metadata.name === 'fits');
    expect(kept?.status?.phase).toBe('Released');
  });

  it('that is deleted stays while a pod uses it, then goes with its volume', () => {
    const world = running();
    world.must(world.admin.delete(resources.persistentvolumeclaims, data));
    world.advance(30);
    expect(phase(world)).toBe('Bound');
    world.must(world.admin.delete(resources.pods, { namespace: 'demo', name: 'p1' }));
    world.until(60, () => volumes(world).length === 0);
    expect(phase(world)).toBeUndefined();
    expect(attachments(world)).toEqual([]);
  });
});

describe('an attachment', () => {
  it('holds up a pod on another node until it is gone', () => {
    const world = running();
    elsewhere(world);
    world.advance(10);
    expect(runs(world, 'p2')).toBe(false);
    expect(world.events('FailedAttachVolume')[0]).toMatch(
      /^Multi-Attach error for volume "pvc-[-0-9a-f]+" Volume is already used by pod\(s\) p1$/,
    );
    world.must(world.admin.delete(resources.pods, { namespace: 'demo', name: 'p1' }));
    const seconds = world.until(60, () => runs(world, 'p2'));
    expect(seconds).toBeLessThan(20);
  });

  it('of a machine that died is given up after six minutes', () => {
    const world = running();
    world.kubelets.powerOff(aMachine(1).instanceId);
    world.advance(60);
    const force = { gracePeriodSeconds: 0 };
    world.must(world.admin.delete(resources.pods, { namespace: 'demo', name: 'p1' }, force));
    elsewhere(world);
    world.advance(300);
    expect(runs(world, 'p2')).toBe(false);
    expect(world.events('FailedAttachVolume').at(-1)).toContain(
      "Volume is already exclusively attached to one node and can't be attached to another",
    );
    world.until(90, () => runs(world, 'p2'));
  });

  it('is given up at once when the machine is said to be out of service', () => {
    const world = running();
    world.kubelets.powerOff(aMachine(1).instanceId);
    world.advance(60);
    elsewhere(world);
    const taints = [...(world.node('n1').spec?.taints ?? []), outOfService] as JsonObject[];
    const body = { spec: { taints } };
    world.must(world.admin.patch(resources.nodes, { name: 'n1' }, { type: 'merge', body }));
    const seconds = world.until(90, () => runs(world, 'p2'));
    expect(seconds).toBeLessThan(40);
  });
});

describe("a StatefulSet's claims", () => {
  it('are made once per ordinal, survive the pod, and go as the retention policy says', () => {
    const world = withClass(2);
    world.must(
      world.admin.create(resources.statefulsets, 'demo', {
        apiVersion: 'apps/v1',
        kind: 'StatefulSet',
        metadata: { name: 'db', namespace: 'demo' },
        spec: {
          replicas: 2,
          selector: { matchLabels: { app: 'db' } },
          persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete', whenDeleted: 'Retain' },
          template: {
            metadata: { labels: { app: 'db' } },
            spec: { containers: [{ name: 'c', image: 'x' }] },
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
      }),
    );
    world.until(60, () => world.readyPods().length === 2);
    const claims = (): string[] =>
      [...world.kube.readAll(resources.persistentvolumeclaims, 'demo')].map(
        (one) => one.metadata.name,
      );
    expect(claims()).toEqual(['data-db-0', 'data-db-1']);
    world.must(world.admin.delete(resources.pods, { namespace: 'demo', name: 'db-0' }));
    world.advance(1);
    world.until(60, () => world.readyPods().length === 2);
    expect(volumes(world)).toHaveLength(2);
    const db = { namespace: 'demo', name: 'db' };
    const body = { spec: { replicas: 1 } };
    world.must(world.admin.patch(resources.statefulsets, db, { type: 'merge', body }));
    world.until(60, () => volumes(world).length === 1);
    expect(claims()).toEqual(['data-db-0']);
    world.must(world.admin.delete(resources.statefulsets, db));
    world.advance(60);
    expect(claims()).toEqual(['data-db-0']);
  });
});
