// The least time that any order could take for a drawn cluster: by its nodes, `maxUnavailable` at a
// time, and by its slowest budget, however many nodes at once. Formula: reference updates 3.4,
// T_LB. Pure.
import type { RolloutCluster } from './cluster.ts';

export interface BoundTimes {
  /** Launch to Ready. */
  readonly bootSeconds: number;
  /** Between empty and terminate. */
  readonly cooldownSeconds: number;
  /** From terminate to gone. */
  readonly terminateSeconds: number;
}

export const lowerBoundSeconds = (
  { nodes, maxUnavailable, apps }: RolloutCluster,
  { bootSeconds, cooldownSeconds, terminateSeconds }: BoundTimes,
): number => {
  const moved = apps.filter(({ kind }) => kind !== 'DaemonSet');
  const end = cooldownSeconds + terminateSeconds;
  const pods = moved.reduce((sum, { replicas }) => sum + replicas, 0);
  // A drain takes as long as its slowest pod stops; spread out, each node has one of the usual
  // ones.
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
