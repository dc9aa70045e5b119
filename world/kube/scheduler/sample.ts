// How many of the nodes that could take a pod are scored: kube-scheduler's default, a share that
// falls as the cluster grows (pkg/scheduler/schedule_one.go, numFeasibleNodesToFind). Reads
// nothing.

/** Of a cluster of `all` nodes; where there are fewer, all of them are. */
export const nodesToScore = (all: number): number => {
  const percent = Math.max(5, 50 - Math.floor(all / 125));
  return Math.max(100, Math.floor((all * percent) / 100));
};
