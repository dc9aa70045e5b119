// Resumes processes that a stalled leader has suspended late, and reports that once. Decides
// nothing.
import type { ScalingGroup } from '../../../api/cloud.ts';
import type { NodeGroup } from '../../../api/nodegroup.ts';
import type { GroupStep } from '../../../api/plan.ts';
import type { NodeGroupDeps } from '../deps.ts';
import { tell } from '../kube-events.ts';

/**
 * UIDs of updates whose late call was undone. Each update suspends in one call; later suspensions
 * are a user's.
 */
export interface LateMemory {
  resumedFor?: ReadonlySet<string>;
}

/**
 * A suspension by a user within this time is undone, too, and reported. That happens only once, so
 * a repeated suspension stays.
 */
export const resumeLate = async (
  deps: Pick<NodeGroupDeps, 'clock' | 'cloud' | 'kube' | 'log'>,
  group: NodeGroup,
  { scaling, memory }: { readonly scaling: ScalingGroup; readonly memory: LateMemory },
  { processes, updates, endedAt }: Extract<GroupStep, { kind: 'ResumeLate' }>,
  signal: AbortSignal,
): Promise<void> => {
  await deps.cloud.setProcesses({ name: scaling.name, processes, suspended: false }, { signal });
  memory.resumedFor = new Set([...(memory.resumedFor ?? []), ...updates]);
  const message =
    `${processes.join(', ')} was suspended after the update that does so had ended at ` +
    `${endedAt}: by a process that led before and stood still, as it seems. It runs again; to ` +
    'keep it suspended, suspend it once more';
  await tell(deps, group, { reason: 'LateSuspension', type: 'Warning', message }, signal);
};
