// Snapshots of generated clusters of any size, as `drover plan update` reads them: 30 pods per node
// in Deployments of 10 to 500 pods, every second one with a budget of a tenth. Deterministic for
// each size.
import type { PodDisruptionBudget } from '../../src/api/kube.ts';
import type { UpdateStrategy } from '../../src/api/nodegroup-update.ts';
import type { FullPod, Workload } from '../../src/api/workloads.ts';
import type { Snapshot } from '../../src/core/update/preflight/index.ts';
import {
  aBudget,
  aGroup,
  aNode,
  aPod,
  aSnapshot,
  aWorkload,
  timeAgo,
} from '../../test/builders/core-update-preflight.ts';
import { Kernel } from '../../world/kernel/index.ts';

const podsPerNode = 30;
const zones = ['a', 'b', 'c'] as const;

interface Drawn {
  readonly pods: FullPod[];
  readonly budgets: PodDisruptionBudget[];
  readonly workloads: Workload[];
}

export const largeSnapshot = (nodeCount: number, strategy: UpdateStrategy): Snapshot => {
  const random = new Kernel({ seed: nodeCount, startAt: 0 }).random('snapshot');
  const drawn: Drawn = { pods: [], budgets: [], workloads: [] };
  const total = nodeCount * podsPerNode;
  for (let app = 0; drawn.pods.length < total; app++) {
    const name = `app${app}`;
    const left = total - drawn.pods.length;
    const size = Math.min(left, 10 + random.below(Math.min(490, Math.max(1, nodeCount))));
    const took = 5 + random.below(30);
    drawn.workloads.push(aWorkload('ReplicaSet', name));
    if (app % 2 === 0) {
      const allowed = Math.max(1, Math.floor(size / 10));
      const spec = { selector: { matchLabels: { app: name } }, maxUnavailable: allowed };
      drawn.budgets.push(aBudget(name, size, { spec }));
    }
    for (let i = 0; i < size; i++) {
      const pod = aPod(`${name}-${i}`, {
        node: `n${drawn.pods.length % nodeCount}`,
        labels: { app: name },
        owner: `ReplicaSet/${name}`,
      });
      const conditions: FullPod['status']['conditions'] = [
        { type: 'PodScheduled', status: 'True', lastTransitionTime: timeAgo(3600) },
        { type: 'Ready', status: 'True', lastTransitionTime: timeAgo(3600 - took) },
      ];
      drawn.pods.push({ ...pod, status: { ...pod.status, conditions } });
    }
  }
  const allocatable = { cpu: '16', memory: '64Gi', pods: '58' };
  return aSnapshot({
    ...drawn,
    group: aGroup({
      strategy,
      sizes: { minSize: 0, maxSize: 2 * nodeCount, desired: nodeCount },
      maxUnavailable: Math.min(100, Math.ceil(nodeCount / 3)),
      subnets: zones.map((zone) => `subnet-${zone}`),
    }),
    subnets: zones.map((zone) => ({ id: `subnet-${zone}`, zone, freeAddresses: 10 * nodeCount })),
    nodes: Array.from({ length: nodeCount }, (_, i) =>
      aNode(`n${i}`, { zone: zones[i % zones.length] ?? 'a', allocatable }),
    ),
  });
};
