// How long the drain of an update waits for a pod before it evicts it. Pure.
import type { FullPod } from '../../../api/workloads.ts';
import { isOfJob, protectedUntil, protectionOf } from '../../drain/index.ts';
import type { Snapshot } from './snapshot.ts';

/**
 * The longest wait that the policy allows for the pod. A Job may complete earlier, which is not
 * predicted; a protection may end earlier.
 */
export const waitSecondsOf = (
  pod: FullPod,
  { group: { podWaits }, now }: Pick<Snapshot, 'group' | 'now'>,
): number => {
  if (podWaits === undefined) return 0;
  const job = isOfJob(pod) ? podWaits.jobsSeconds : 0;
  const protection = protectionOf(pod);
  if (protection === undefined) return job;
  const until = protectedUntil(pod, protection) ?? Number.POSITIVE_INFINITY;
  return Math.max(job, Math.min(podWaits.doNotEvictSeconds, Math.max(0, (until - now) / 1000)));
};
