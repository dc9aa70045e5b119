// Resumes what a leader that stood still has suspended late, and tells of it once. Decides nothing.
import type { ScalingGroup } from '../../../api/cloud.ts';
import type { NodeGroup } from '../../../api/nodegroup.ts';
import type { GroupStep } from '../../../api/plan.ts';
import type { NodeGroupDeps } from '../deps.ts';
import { tell } from '../tell.ts';

/**
 * Updates whose late call was taken back, by uid: each suspends in one call, and what is suspended
 * after that is people's.
 */
export interface LateMemory {
  resumedFor?: ReadonlySet<string>;
}

/**
 * What people suspend within these minutes runs again, too, and is told: once, so that it stays
 * when they do it again.
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
