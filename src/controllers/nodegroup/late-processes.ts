// What a leader that stood still suspends when it wakes, after the update that it was for has ended under another one:
// running again. No call of the cloud can be fenced. Knows nothing of sizes.
import { parseTime } from '../../api/brand.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import type { NodeGroupUpdate } from '../../api/nodegroup-update.ts';
import { inTurn } from '../../core/update/index.ts';
import type { ScalingGroup } from '../../ports/index.ts';
import { mustLead, type NodeGroupDeps } from './deps.ts';
import { suspendedOf } from './rollout-input.ts';
import { tell } from './tell.ts';

/** Longer than a process stands still that is not taken for dead, and goes on. */
const arrivesWithinMs = 5 * 60_000;
/** A look at the group may be as old as this: what the update itself has just resumed may seem suspended. */
const settledAfterMs = 10_000;

/** The last one that suspends processes: others tell nothing of when the call may arrive. */
const lastSuspending = (
  { updates }: Pick<NodeGroupDeps, 'updates'>,
  groupName: string,
): NodeGroupUpdate | undefined =>
  updates
    .list()
    .filter(
      ({ spec, status }) =>
        spec.nodeGroup === groupName &&
        status?.endedAt !== undefined &&
        status.suspendedIn !== undefined,
    )
    .toSorted(inTurn)
    .at(-1);

/** Of the update whose late call was taken back: it suspends in one call, and what is suspended after that is people's. */
export interface LateMemory {
  resumedFor?: string;
}

/**
 * To be called while no update is under way. True: they were made to run again. What people suspend within these minutes runs
 * again, too, and is told: once, so that it stays when they do it again.
 */
export const resumeLate = async (
  deps: Pick<NodeGroupDeps, 'updates' | 'epoch' | 'clock' | 'cloud' | 'kube' | 'log' | 'isLeader'>,
  group: NodeGroup,
  { scaling, memory }: { readonly scaling: ScalingGroup; readonly memory: LateMemory },
  signal: AbortSignal,
): Promise<boolean> => {
  const update = lastSuspending(deps, group.metadata.name);
  const { suspends = [], suspendedIn, endedAt } = update?.status ?? {};
  if (update === undefined || suspendedIn === deps.epoch) return false;
  if (memory.resumedFor === update.metadata.uid) return false;
  const since = parseTime(endedAt);
  if (since === undefined) return false;
  const sinceMs = deps.clock.now() - since;
  if (sinceMs < settledAfterMs || sinceMs > arrivesWithinMs) return false;
  const processes = suspends.filter((one) => suspendedOf(scaling).includes(one));
  if (processes.length === 0) return false;
  mustLead(deps);
  await deps.cloud.setProcesses({ name: scaling.name, processes, suspended: false }, { signal });
  memory.resumedFor = update.metadata.uid;
  const message = `${processes.join(', ')} was suspended after the update that does so had ended at ${endedAt}: by a process that led before and stood still, as it seems. It runs again; to keep it suspended, suspend it once more`;
  await tell(deps, group, { reason: 'LateSuspension', type: 'Warning', message }, signal);
  return true;
};
