// One process of the benchmark `rollout`: updates a group of the given size and prints its cost as
// JSON. A process of its own, so that its memory is that of one size.
import { lowerBoundSeconds } from '../../src/sim/rollout/bound.ts';
import type { RolloutCluster } from '../../src/sim/rollout/cluster.ts';
import { runRollout } from '../../src/sim/rollout/run.ts';

export interface RolloutFigures {
  readonly status: string;
  readonly message: string;
  readonly pods: number;
  /**
   * Processor time of the update and of building its cluster, in seconds, including garbage
   * collection.
   */
  readonly cpuSeconds: number;
  readonly buildCpuSeconds: number;
  readonly wallSeconds: number;
  readonly makespanSeconds: number;
  readonly boundSeconds: number;
  readonly launches: number;
  readonly evictions: number;
  readonly lowest: number;
  readonly events: number;
  readonly updateBytes: number;
  readonly peakMiB: number;
}

const podsPerNode = 30;
/** Replicas per Deployment; every second one has a budget of half of them. */
const podsPerSet = 500;
/** Maximum of concurrently updated nodes in EKS and Drover. */
const mostAtOnce = 100;
/** The embedded world's mean times, as in `updates`. */
const times = { bootSeconds: 4.4, cooldownSeconds: 60, terminateSeconds: 6.5 };

const settle = async (): Promise<void> => {
  await undefined;
  await new Promise<void>((resolve) => process.nextTick(resolve));
};

const clusterOf = (nodes: number, percentage: number): RolloutCluster => ({
  name: `${nodes} nodes`,
  nodes,
  zones: ['a', 'b', 'c'],
  maxUnavailable: Math.min(mostAtOnce, Math.floor((nodes * percentage) / 100)),
  apps: Array.from({ length: Math.round((nodes * podsPerNode) / podsPerSet) }, (_, i) => ({
    name: `web-${i}`,
    kind: 'Deployment',
    replicas: podsPerSet,
    ...(i % 2 === 0 ? {} : { maxUnavailable: podsPerSet / 2 }),
    readySeconds: 5,
    stopSeconds: 2,
    isPlain: true,
  })),
});

const cpuSeconds = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

const measure = async (nodes: number, percentage: number): Promise<RolloutFigures> => {
  const cluster = clusterOf(nodes, percentage);
  const built = { cpu: 0, wall: 0 };
  const outcome = await runRollout({
    cluster,
    strategy: 'SURGE',
    seed: 1,
    settle,
    instanceType: 'm5.4xlarge',
    updateConfig: { maxUnavailablePercentage: percentage },
    before: async () => {
      built.cpu = cpuSeconds();
      built.wall = performance.now();
      return undefined;
    },
  });
  const { status, message, pods, makespanSeconds, launches, lowest, events } = outcome;
  return {
    ...{ status, message, pods, makespanSeconds, launches, lowest, events },
    evictions: outcome.evictions,
    updateBytes: outcome.updateBytes,
    cpuSeconds: cpuSeconds() - built.cpu,
    buildCpuSeconds: built.cpu,
    wallSeconds: (performance.now() - built.wall) / 1000,
    boundSeconds: lowerBoundSeconds(cluster, times),
    peakMiB: process.resourceUsage().maxRSS / 1024,
  };
};

const [nodes = 500, percentage = 10] = process.argv.slice(2).map(Number);
process.stdout.write(`${JSON.stringify(await measure(nodes, percentage))}\n`);
