// How long the hooks take that run beside each other before old nodes of blue/green go for good: by
// how long they took in this update and in earlier ones of its group. Where none has run nobody
// knows. Pure.
import { defaultHookTimeoutSeconds } from '../../../api/update-hooks.ts';
import { quantileOf } from '../../quantile.ts';
import type { UpdateObservation } from '../observation.ts';

export interface LastHooks {
  readonly p50Ms: number;
  readonly p90Ms: number;
}

type Known = Pick<UpdateObservation, 'hooks' | 'hookHistory' | 'status'>;

/** Zero where there is no such hook; undefined: nobody knows. */
export const lastHooks = ({ hooks, hookHistory = [], status }: Known): LastHooks | undefined => {
  const hook = hooks?.preTerminate;
  if (hook === undefined) return { p50Ms: 0, p90Ms: 0 };
  const most = hook.timeoutSeconds ?? defaultHookTimeoutSeconds;
  const took = [...hookHistory, ...(status.hookTimes ?? [])]
    .filter((one) => one.hook === 'preTerminate')
    .map(({ seconds }) => Math.min(seconds, most));
  if (took.length === 0) return undefined;
  // The slowest of all decides.
  const nodes = Math.max(1, status.progress?.total ?? 1);
  const slowest = (share: number): number => 1000 * quantileOf(took, share ** (1 / nodes));
  return { p50Ms: slowest(0.5), p90Ms: slowest(0.9) };
};
