// A lower bound for the duration of an update of a drawn cluster. It is the larger of two times:
// that of its nodes, `maxUnavailable` at a time, and that of its slowest budget, with any number of
// nodes at once. Pure.
import type { RolloutCluster } from './cluster.ts';

export interface BoundTimes {
  /** Launch to Ready. */
  readonly bootSeconds: number;
  /** From the end of the drain to the termination. */
  readonly cooldownSeconds: number;
  /** From the termination call to its end. */
  readonly terminateSeconds: number;
}

export const lowerBoundSeconds = (
  { nodes, maxUnavailable, apps }: RolloutCluster,
  { bootSeconds, cooldownSeconds, terminateSeconds }: BoundTimes,
): number => {
  const moved = apps.filter(({ kind }) => kind !== 'DaemonSet');
  const end = cooldownSeconds + terminateSeconds;
  const pods = moved.reduce((sum, { replicas }) => sum + replicas, 0);
  // A drain lasts as long as its slowest pod takes to stop; on average, each node has pods of
  // average stop time.
  const stop = moved.reduce((sum, { replicas, stopSeconds }) => sum + replicas * stopSeconds, 0);
  const byNodes = bootSeconds + (nodes * (stop / Math.max(1, pods) + end)) / maxUnavailable;
  const byBudgets = moved.map(({ kind, replicas, maxUnavailable: allowed, ...times }) => {
    if (allowed === undefined) return 0;
    const { readySeconds, stopSeconds } = times;
    const recovery = kind === 'StatefulSet' ? readySeconds + stopSeconds : readySeconds;
    return bootSeconds + (Math.ceil(replicas / allowed) - 1) * recovery + stopSeconds + end;
  });
  return Math.max(byNodes, ...byBudgets);
};
