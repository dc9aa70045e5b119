// Clusters for rehearsing an update, drawn from a seed: nodes, zones and workloads. Pure; a cluster
// is data, so all strategies and all repetitions get the same one.
import type { Random } from '../../ports/index.ts';

export type AppKind = 'Deployment' | 'StatefulSet' | 'DaemonSet' | 'Pod';

export interface RolloutApp {
  readonly name: string;
  readonly kind: AppKind;
  readonly replicas: number;
  /** Maximum number of unavailable pods; undefined: no budget. */
  readonly maxUnavailable?: number;
  /** From binding to Ready. */
  readonly readySeconds: number;
  readonly stopSeconds: number;
  /** On the host network, so it needs no pod address; spread by the scheduler's defaults alone. */
  readonly isPlain?: boolean;
}

export interface RolloutCluster {
  readonly name: string;
  readonly nodes: number;
  readonly zones: readonly string[];
  readonly maxUnavailable: number;
  readonly apps: readonly RolloutApp[];
}

const zoneLetters = ['a', 'b', 'c'] as const;
/** Pods per node of the 29 possible, so that the pods of another node fit too. */
const podsPerNode = 10;

interface Size {
  readonly nodes: number;
  readonly zones: number;
  readonly maxUnavailable: number;
}

/** From the smallest groups in use to the largest number of nodes that EKS updates at once. */
const sizes: readonly Size[] = [
  { nodes: 3, zones: 1, maxUnavailable: 1 },
  { nodes: 3, zones: 3, maxUnavailable: 1 },
  { nodes: 5, zones: 3, maxUnavailable: 1 },
  { nodes: 6, zones: 2, maxUnavailable: 2 },
  { nodes: 9, zones: 3, maxUnavailable: 3 },
  { nodes: 12, zones: 3, maxUnavailable: 2 },
  { nodes: 15, zones: 1, maxUnavailable: 3 },
  { nodes: 20, zones: 2, maxUnavailable: 5 },
  { nodes: 30, zones: 3, maxUnavailable: 5 },
  { nodes: 40, zones: 3, maxUnavailable: 10 },
  { nodes: 60, zones: 3, maxUnavailable: 10 },
  { nodes: 100, zones: 3, maxUnavailable: 20 },
];

export const clusterCount = sizes.length;

const between = (random: Random, least: number, most: number): number =>
  least + random.below(most - least + 1);

/**
 * Web servers with budgets of all sizes, some slow StatefulSets, one application of each special
 * kind.
 */
const drawApps = (random: Random, { nodes, maxUnavailable }: Size): readonly RolloutApp[] => {
  const apps: RolloutApp[] = [
    { name: 'agent', kind: 'DaemonSet', replicas: nodes, readySeconds: 2, stopSeconds: 1 },
    { name: 'single', kind: 'Deployment', replicas: 1, readySeconds: 20, stopSeconds: 2 },
    { name: 'bare', kind: 'Pod', replicas: 1, readySeconds: 5, stopSeconds: 1 },
  ];
  let room = nodes * podsPerNode - 2;
  const slow = nodes >= 5 ? between(random, 1, Math.ceil(nodes / 15)) : 0;
  for (let i = 0; i < slow; i++) {
    const replicas = between(random, 3, 5);
    room -= replicas;
    apps.push({
      name: `db-${i}`,
      kind: 'StatefulSet',
      replicas,
      maxUnavailable: 1,
      readySeconds: between(random, 40, 120),
      stopSeconds: between(random, 2, 10),
    });
  }
  for (let i = 0; room >= 3; i++) {
    const replicas = Math.min(room, between(random, 3, Math.max(4, nodes)));
    room -= replicas;
    const width = between(random, 0, 3);
    apps.push({
      name: `web-${i}`,
      kind: 'Deployment',
      replicas,
      ...(width === 0 ? {} : { maxUnavailable: Math.max(width, Math.ceil(maxUnavailable / 2)) }),
      readySeconds: between(random, 3, 30),
      stopSeconds: between(random, 1, 8),
    });
  }
  return apps;
};

const clusterOf = (size: Size, random: Random): RolloutCluster => ({
  name: `${size.nodes} nodes, ${size.zones} zones, ${size.maxUnavailable} at once`,
  nodes: size.nodes,
  zones: zoneLetters.slice(0, size.zones),
  maxUnavailable: size.maxUnavailable,
  apps: drawApps(random, size),
});

/** One cluster of each size per round of seeds. */
export const drawCluster = (index: number, random: Random): RolloutCluster => {
  const size = sizes[index % sizes.length] ?? { nodes: 3, zones: 1, maxUnavailable: 1 };
  return clusterOf(size, random);
};

/**
 * Mostly small clusters, as in practice: 3 to 12 nodes; one in five has up to 30, one in twenty up
 * to 60.
 */
export const drawAnyCluster = (random: Random): RolloutCluster => {
  const kind = random.below(20);
  const nodes =
    kind === 0
      ? between(random, 31, 60)
      : kind < 5
        ? between(random, 13, 30)
        : between(random, 3, 12);
  const zones = Math.min(nodes, between(random, 1, zoneLetters.length));
  const maxUnavailable = between(random, 1, Math.max(1, Math.ceil(nodes / 4)));
  return clusterOf({ nodes, zones, maxUnavailable }, random);
};

/** The same cluster with start and stop times of its pods varied by up to `share`. */
export const varied = (cluster: RolloutCluster, random: Random, share: number): RolloutCluster => {
  const vary = (seconds: number): number => seconds * (1 + share * (2 * random.next() - 1));
  return {
    ...cluster,
    apps: cluster.apps.map((app) => ({
      ...app,
      readySeconds: vary(app.readySeconds),
      stopSeconds: vary(app.stopSeconds),
    })),
  };
};
