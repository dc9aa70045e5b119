// How long the preTerminate hooks take that run in parallel before blue/green terminates old nodes.
// Estimated from this update and earlier ones of the group; unknown if none has run. Pure.
import { defaultHookTimeoutSeconds } from '../../../api/update-hooks.ts';
import { quantileOf } from '../../quantile.ts';
import type { UpdateObservation } from '../observation.ts';

export interface LastHooks {
  readonly p50Ms: number;
  readonly p90Ms: number;
}

type Known = Pick<UpdateObservation, 'hooks' | 'hookHistory' | 'status'>;

/** Zero without such a hook; undefined if unknown. */
export const lastHooks = ({ hooks, hookHistory = [], status }: Known): LastHooks | undefined => {
  const hook = hooks?.preTerminate;
  if (hook === undefined) return { p50Ms: 0, p90Ms: 0 };
  const most = hook.timeoutSeconds ?? defaultHookTimeoutSeconds;
  const took = [...hookHistory, ...(status.hookTimes ?? [])]
    .filter((one) => one.hook === 'preTerminate')
    .map(({ seconds }) => Math.min(seconds, most));
  if (took.length === 0) return undefined;
  // The end depends on the slowest hook of all nodes.
  const nodes = Math.max(1, status.progress?.total ?? 1);
  const slowest = (share: number): number => 1000 * quantileOf(took, share ** (1 / nodes));
  return { p50Ms: slowest(0.5), p90Ms: slowest(0.9) };
};
