// What a leader that stood still suspends when it wakes, after the update that it was for has ended under another one:
// running again. No call of the cloud can be fenced. Knows nothing of sizes.
import { epochMs, formatTime, parseTime } from '../../api/brand.ts';
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

const lastEnded = ({ updates }: NodeGroupDeps, groupName: string): NodeGroupUpdate | undefined =>
  updates
    .list()
    .filter(({ spec, status }) => spec.nodeGroup === groupName && status?.endedAt !== undefined)
    .toSorted(inTurn)
    .at(-1);

/** To be called while no update is under way. What people suspend within these minutes runs again, too, and is told: they may do it after that. */
export const resumeLate = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  scaling: ScalingGroup,
  signal: AbortSignal,
): Promise<void> => {
  const {
    suspends = [],
    suspendedIn,
    endedAt,
  } = lastEnded(deps, group.metadata.name)?.status ?? {};
  if (suspendedIn === undefined || suspendedIn === deps.epoch) return;
  const since = parseTime(endedAt);
  if (since === undefined) return;
  const sinceMs = deps.clock.now() - since;
  if (sinceMs < settledAfterMs || sinceMs > arrivesWithinMs) return;
  const processes = suspends.filter((one) => suspendedOf(scaling).includes(one));
  if (processes.length === 0) return;
  mustLead(deps);
  await deps.cloud.setProcesses({ name: scaling.name, processes, suspended: false }, { signal });
  const message = `${processes.join(', ')} was suspended after the update that does so had ended at ${endedAt}: by a process that led before and stood still, as it seems. It runs again; to keep it suspended, suspend it after ${formatTime(epochMs(since + arrivesWithinMs))}`;
  await tell(deps, group, { reason: 'LateSuspension', type: 'Warning', message }, signal);
};
