// Each finding of a plan comes true once it is waived: the same pod is affected, on the same node
// and at the same minute. Once its cause is fixed, the plan does not report it. This file has the
// checks of pods, volumes and zone placement.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/api/json.ts';
import type { WorldClient } from '../../world/contracts.ts';
import {
  app,
  expectNear,
  lastZone,
  loseZone,
  make,
  metadataOf,
  must,
  nodesOf,
  odd,
  type Prepare,
  playMended,
  playRow,
  type Row,
  type Story,
  zoneLabel,
} from '../support/plan-stories.ts';

/**
 * The reported pod was evicted from the reported node at the reported minute, and the update
 * continued.
 */
const leaves = ({ found, outcome }: Story): void => {
  const { pod, node, minute } = found.consequence;
  const one = outcome.evicted.find((each) => each.pod === pod);
  expect(one?.node).toBe(node);
  expectNear(minute, one?.seconds);
  expect(outcome.status).toBe('Successful');
};

const staysPending = (story: Story): void => {
  leaves(story);
  expect(story.found.consequence.text).toContain('stays Pending');
  expect(story.seen('odd').isPendingAtEnd).toBe(true);
};

const isMoved = (story: Story): void => {
  leaves(story);
  expect(story.seen('odd')).toMatchObject({ isPendingAtEnd: false, readyAtEnd: 1 });
};

/** The drain of the reported node ends the update. */
const comesBack = ({ found, outcome }: Story): void => {
  expect(outcome.codes).toEqual(['PodEvictionFailure']);
  expect(outcome.failed?.node).toBe(found.consequence.node);
  expectNear(found.consequence.minute, outcome.failed?.seconds);
  const sent = outcome.evicted.filter(({ pod }) => pod.startsWith('default/odd-'));
  expect(sent.length).toBeGreaterThan(1);
  expect(new Set(sent.map(({ node }) => node))).toEqual(new Set([found.consequence.node]));
};

/** A label of one node, set by an operator, which no new node gets. */
const pinned =
  (more: JsonObject): Prepare =>
  (world, user) => {
    const { name } = metadataOf(nodesOf(world)[0]);
    const body = { metadata: { labels: { disk: 'fast' } } };
    must(user.patch({ group: '', resource: 'nodes' }, { name }, { type: 'merge', body }));
    make(user, odd({ nodeSelector: { disk: 'fast' }, ...more }));
  };

const everything = { tolerations: [{ operator: 'Exists' }] };

/** A volume that only nodes with this label value can attach, and the pod that uses it. */
const withVolume = (user: WorldClient, source: JsonObject, key: string, value: string): void => {
  const core = { group: '' };
  const requests = { storage: '1Gi' };
  const accessModes = ['ReadWriteOnce'];
  const picks = [{ matchExpressions: [{ key, operator: 'In', values: [value] }] }];
  must(
    user.create({ ...core, resource: 'persistentvolumes' }, undefined, {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: 'pv1' },
      spec: {
        capacity: requests,
        accessModes,
        storageClassName: '',
        ...source,
        nodeAffinity: { required: { nodeSelectorTerms: picks } },
      },
    }),
  );
  must(
    user.create({ ...core, resource: 'persistentvolumeclaims' }, 'default', {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'data', namespace: 'default' },
      spec: { accessModes, storageClassName: '', volumeName: 'pv1', resources: { requests } },
    }),
  );
  make(user, odd({ volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'data' } }] }));
};

const local: Prepare = (world, user) => {
  const { name } = metadataOf(nodesOf(world)[0]);
  withVolume(user, { local: { path: '/mnt/d' } }, 'kubernetes.io/hostname', name);
};

const ebs = { csi: { driver: 'ebs.csi.aws.com', volumeHandle: 'vol-1' } };
const inLastZone: Prepare = (world, user) => {
  withVolume(user, ebs, zoneLabel, lastZone(world));
};

const both =
  (...all: readonly Prepare[]): Prepare =>
  (world, user) => {
    for (const one of all) one(world, user);
  };

const apart = (topologyKey: string): JsonObject => ({
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey, labelSelector: { matchLabels: { app: 'odd' } } },
      ],
    },
  },
});

const zones = ['a', 'b'] as const;
const twoZones = { nodes: 4, zones, strategy: 'MINIMAL' } as const;
const guarded = { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } };

const rows: readonly Row[] = [
  {
    check: 'tolerates-everything',
    severity: 'blocker',
    object: /^default\/odd$/,
    scene: { prepare: pinned(everything) },
    happens: comesBack,
    mended: { prepare: (_, user) => make(user, odd(everything)) },
  },
  {
    check: 'bare-pod',
    severity: 'blocker',
    object: /^default\/alone$/,
    scene: { apps: [app(), app({ name: 'alone', kind: 'Pod', replicas: 1 })] },
    happens: (story) => {
      leaves(story);
      expect(story.seen('alone')).toMatchObject({ readyAtEnd: 0, isPendingAtEnd: false });
    },
    mended: { apps: [app(), app({ name: 'alone', replicas: 1 })] },
  },
  {
    check: 'local-data',
    severity: 'blocker',
    object: /^pv1$/,
    scene: { prepare: local },
    happens: staysPending,
    mended: { objects: [odd({})] },
  },
  {
    check: 'local-data',
    severity: 'warning',
    object: /^default\/odd$/,
    scene: { objects: [odd({ volumes: [{ name: 'd', emptyDir: {} }] })] },
    happens: isMoved,
    mended: { objects: [odd({ volumes: [{ name: 'd', emptyDir: { medium: 'Memory' } }] })] },
  },
  {
    check: 'do-not-evict',
    severity: 'blocker',
    object: /^default\/odd$/,
    scene: { objects: [odd({}, guarded)] },
    happens: isMoved,
    mended: { objects: [odd({})] },
  },
  {
    check: 'zonal-volume',
    severity: 'blocker',
    object: /^pv1$/,
    scene: { ...twoZones, prepare: both(inLastZone, loseZone) },
    happens: staysPending,
    mended: { ...twoZones, prepare: inLastZone },
  },
  {
    check: 'fits-no-new-node',
    severity: 'blocker',
    object: /^default\/odd$/,
    scene: { prepare: pinned({}) },
    happens: staysPending,
    mended: { objects: [odd({})] },
  },
  {
    check: 'spread-unsatisfiable',
    severity: 'blocker',
    object: /^default\/odd$/,
    scene: {
      ...twoZones,
      prepare: both((_, user) => make(user, odd(apart(zoneLabel), { replicas: 2 })), loseZone),
    },
    happens: (story) => {
      leaves(story);
      expect(story.seen('odd')).toMatchObject({ isPendingAtEnd: true, readyAtEnd: 1 });
    },
    mended: { ...twoZones, objects: [odd(apart(zoneLabel), { replicas: 2 })] },
  },
  {
    check: 'spread-unsatisfiable',
    severity: 'warning',
    object: /^default\/odd$/,
    scene: {
      objects: [odd(apart('kubernetes.io/hostname'), { replicas: 3 })],
      strategy: 'MINIMAL',
    },
    happens: (story) => {
      leaves(story);
      expect(story.seen('odd').pending).toBeGreaterThan(30);
      expect(story.seen('odd').readyAtEnd).toBeGreaterThanOrEqual(2);
    },
    mended: {
      objects: [odd(apart('kubernetes.io/hostname'), { replicas: 3 })],
      strategy: 'SURGE',
    },
  },
];

describe('what a plan predicts of pods and places', () => {
  it.each(rows)('$check, a $severity, happens as it was told', playRow);

  it.each(rows)('$check: fixed, a $severity is not told and does not happen', playMended);
});
