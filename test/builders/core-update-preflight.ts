// For tests only: builders of snapshots with overrides. Only tests in src import this.

import { epochMs, formatKubeTime } from '../../src/api/brand.ts';
import { defined } from '../../src/api/defined.ts';
import type { KubeObject, PodDisruptionBudget } from '../../src/api/kube.ts';
import type {
  CsiNode,
  FullNode,
  FullPod,
  PersistentVolume,
  PersistentVolumeClaim,
  Workload,
} from '../../src/api/workloads.ts';
import type { Check, Found } from '../../src/core/update/preflight/finding.ts';
import type { Forecast } from '../../src/core/update/preflight/forecast.ts';
import type {
  GroupFacts,
  PlannedNode,
  Snapshot,
} from '../../src/core/update/preflight/snapshot.ts';
import { viewOf } from '../../src/core/update/preflight/view.ts';

export const t0 = epochMs(Date.UTC(2026, 0, 1));
export const timeAgo = (seconds: number): string => formatKubeTime(epochMs(t0 - seconds * 1000));

const meta = (name: string, namespace?: string) => ({
  name,
  uid: `uid-${name}`,
  resourceVersion: '1',
  creationTimestamp: timeAgo(3600),
  ...defined({ namespace }),
});

export interface NodeOverrides {
  readonly zone?: string;
  readonly old?: boolean;
  readonly ofGroup?: boolean;
  readonly ready?: boolean;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: PlannedNode['node']['spec']['taints'];
  readonly unschedulable?: boolean;
  readonly allocatable?: Readonly<Record<string, string>>;
  readonly kubelet?: string;
  readonly arch?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A Ready old node of the group in zone a with 2 cores, 4 GiB and room for 17 pods. */
export const aNode = (name: string, more: NodeOverrides = {}): PlannedNode => {
  const zone = more.zone ?? 'a';
  const node: FullNode = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      ...meta(name),
      labels: {
        'kubernetes.io/hostname': name,
        'kubernetes.io/arch': more.arch ?? 'amd64',
        'kubernetes.io/os': 'linux',
        'topology.kubernetes.io/zone': zone,
        ...more.labels,
      },
      ...defined({ annotations: more.annotations }),
    },
    spec: {
      ...defined({ taints: more.taints }),
      ...(more.unschedulable === true ? { unschedulable: true } : {}),
    },
    status: {
      conditions: [{ type: 'Ready', status: (more.ready ?? true) ? 'True' : 'False' }],
      allocatable: more.allocatable ?? { cpu: '2', memory: '4Gi', pods: '17' },
      nodeInfo: {
        architecture: more.arch ?? 'amd64',
        kubeletVersion: more.kubelet ?? 'v1.32.9-eks-113cf36',
      },
    },
  };
  const isOld = more.old ?? true;
  return {
    node,
    isOld,
    isOfGroup: more.ofGroup ?? isOld,
    zone,
    instanceId: `i-${name}`,
    instanceType: 'm5.large',
  };
};

export interface PodOverrides {
  readonly node?: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Kind/name; '' for a pod without a controller. */
  readonly owner?: string;
  readonly ready?: boolean;
  readonly phase?: FullPod['status']['phase'];
  readonly started?: number;
  readonly spec?: Partial<FullPod['spec']>;
  readonly requests?: Readonly<Record<string, string>>;
}

/** A Running, Ready pod demo/NAME on n1 with label app=web, owned by StatefulSet web. */
export const aPod = (name: string, more: PodOverrides = {}): FullPod => {
  const [kind = '', owner = ''] = (more.owner ?? 'StatefulSet/web').split('/');
  const apiVersion = kind === 'Job' ? 'batch/v1' : 'apps/v1';
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...meta(name, more.namespace ?? 'demo'),
      labels: more.labels ?? { app: 'web' },
      ...defined({ annotations: more.annotations }),
      ...(owner === ''
        ? {}
        : {
            ownerReferences: [
              { apiVersion, kind, name: owner, uid: `uid-${owner}`, controller: true },
            ],
          }),
    },
    spec: {
      nodeName: more.node ?? 'n1',
      terminationGracePeriodSeconds: 30,
      containers: [
        { name: 'app', image: 'app:1', resources: { requests: more.requests ?? { cpu: '100m' } } },
      ],
      ...more.spec,
    },
    status: {
      phase: more.phase ?? 'Running',
      startTime: timeAgo(more.started ?? 3600),
      conditions: [{ type: 'Ready', status: (more.ready ?? true) ? 'True' : 'False' }],
    },
  };
};

export interface BudgetOverrides {
  readonly spec?: Partial<PodDisruptionBudget['spec']>;
  readonly status?: PodDisruptionBudget['status'];
  readonly namespace?: string;
}

/**
 * demo/NAME over app=web with maxUnavailable 1; status as written by its controller for `n` pods.
 */
export const aBudget = (
  name: string,
  n: number,
  more: BudgetOverrides = {},
): PodDisruptionBudget => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { ...meta(name, more.namespace ?? 'demo'), generation: 1 },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    ...(more.spec?.minAvailable === undefined ? { maxUnavailable: 1 } : {}),
    ...more.spec,
  },
  status: {
    observedGeneration: 1,
    expectedPods: n,
    currentHealthy: n,
    desiredHealthy: n - 1,
    disruptionsAllowed: 1,
    ...more.status,
  },
});

export const aWorkload = (
  kind: string,
  name: string,
  more: Partial<Omit<Workload, 'metadata'>> = {},
): Workload => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: meta(name, 'demo'),
  spec: { replicas: 1 },
  ...more,
});

export const aClaim = (name: string, volumeName: string): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: meta(name, 'demo'),
  spec: { volumeName },
});

export const aVolume = (name: string, spec: PersistentVolume['spec']): PersistentVolume => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: meta(name),
  spec,
});

/** A node whose CSI driver can attach `count` volumes. */
export const attachable = (name: string, count: number): CsiNode => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSINode',
  metadata: meta(name),
  spec: { drivers: [{ name: 'ebs.csi.aws.com', allocatable: { count } }] },
});

/** Any other object demo/NAME; `labels` are its metadata's. */
export const anObject = <T extends KubeObject>(
  kind: string,
  name: string,
  { labels, ...more }: Omit<T, keyof KubeObject> & { readonly labels?: Record<string, string> },
): T => {
  const object: KubeObject = {
    apiVersion: 'v1',
    kind,
    metadata: { ...meta(name, 'demo'), ...defined({ labels }) },
    ...more,
  };
  return object as T;
};

export const aGroup = (more: Partial<GroupFacts> = {}): GroupFacts => ({
  name: 'ng',
  cluster: 'c1',
  managedBy: 'drover',
  state: 'ACTIVE',
  amiType: 'AL2023_x86_64_STANDARD',
  capacityType: 'ON_DEMAND',
  instanceTypes: ['m5.large'],
  subnets: ['subnet-a'],
  labels: {},
  taints: [],
  sizes: { minSize: 0, maxSize: 10, desired: 1 },
  strategy: 'DEFAULT',
  maxUnavailable: 1,
  force: false,
  drainTimeoutSeconds: 900,
  cooldownSeconds: 60,
  current: { version: '1.32', releaseVersion: '1.32.9-20260801', imageId: 'ami-old' },
  ...more,
});

/** One old node n1 in zone a, target the next release; everything else empty. */
export const aSnapshot = (more: Partial<Snapshot> = {}): Snapshot => ({
  now: t0,
  group: aGroup(),
  target: { version: '1.32', releaseVersion: '1.32.9-20260905', imageId: 'ami-new' },
  nodes: [aNode('n1')],
  pods: [],
  budgets: [],
  workloads: [],
  claims: [],
  volumes: [],
  csiNodes: [],
  quotas: [],
  limitRanges: [],
  webhooks: [],
  endpointSlices: [],
  disruptions: [],
  subnets: [{ id: 'subnet-a', zone: 'a', freeAddresses: 200 }],
  instanceTypes: [
    {
      name: 'm5.large',
      interfaces: 3,
      addressesPerInterface: 10,
      vcpus: 2,
      architectures: ['x86_64'],
    },
  ],
  accountQuotas: [],
  controlPlaneVersion: '1.32',
  unread: {},
  ...more,
});

/** Nodes are drained in the order of their names, one per minute from minute 3 on. */
export const aForecast = (snapshot: Snapshot, more: Partial<Forecast> = {}): Forecast => {
  const order = snapshot.nodes
    .filter(({ isOld }) => isOld)
    .map(({ node }) => node.metadata.name)
    .toSorted();
  return {
    firstDrained: (nodes) => {
      const at = order.findIndex((name) => nodes.includes(name));
      const node = order[at];
      return node === undefined ? undefined : { node, minute: 3 + at };
    },
    starved: new Map(),
    starvedShare: 0,
    firstLaunchMinute: 1,
    p90Minutes: 30,
    replacementSeconds: () => 60,
    stopSeconds: () => 10,
    ...more,
  };
};

export const findingsOf = (
  check: Check,
  more: Partial<Snapshot> = {},
  forecast: Partial<Forecast> = {},
): readonly Found[] => {
  const snapshot = aSnapshot(more);
  return check.run(viewOf(snapshot, aForecast(snapshot, forecast)));
};

/** `severity kind/name` of each finding, as most tables compare. */
export const briefOf = (found: readonly Found[]): readonly string[] =>
  found.map(({ severity, object }) => `${severity} ${object.kind} ${object.name}`);
