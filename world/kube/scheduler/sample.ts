// How many feasible nodes are scored: kube-scheduler's default, a percentage that falls as the
// cluster grows (pkg/scheduler/schedule_one.go, numFeasibleNodesToFind). Reads nothing.

/** For a cluster of `all` nodes, at least 100; a smaller cluster scores all of its nodes. */
export const nodesToScore = (all: number): number => {
  const percent = Math.max(5, 50 - Math.floor(all / 125));
  return Math.max(100, Math.floor((all * percent) / 100));
};
