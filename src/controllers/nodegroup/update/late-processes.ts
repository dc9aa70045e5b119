// What a leader that stood still suspends when it wakes, after the update that it was for has ended
// under another one: running again. No call of the cloud can be fenced. Knows nothing of sizes.
import { parseTime } from '../../../api/brand.ts';
import type { ScalingGroup } from '../../../api/cloud.ts';
import type { NodeGroup } from '../../../api/nodegroup.ts';
import type { NodeGroupUpdate } from '../../../api/nodegroup-update.ts';
import type { NodeGroupDeps } from '../deps.ts';
import { tell } from '../tell.ts';
import { suspendedOf } from './input.ts';

/** Longer than a process stands still that is not taken for dead, and goes on. */
const arrivesWithinMs = 5 * 60_000;
/**
 * A look at the group may be as old as this: what the update itself has just resumed may seem
 * suspended.
 */
const settledAfterMs = 10_000;

/** Those that suspend processes and have ended, of whatever term: how long ago, in milliseconds. */
const ended = (
  { updates, clock }: Pick<NodeGroupDeps, 'updates' | 'clock'>,
  groupName: string,
): readonly { readonly update: NodeGroupUpdate; readonly agoMs: number }[] =>
  updates.list().flatMap((update) => {
    const { endedAt, suspendedIn } = update.status ?? {};
    const at = parseTime(endedAt);
    const isOurs = update.spec.nodeGroup === groupName && suspendedIn !== undefined;
    return isOurs && at !== undefined ? [{ update, agoMs: clock.now() - at }] : [];
  });

/**
 * Updates whose late call was taken back, by uid: each suspends in one call, and what is suspended
 * after that is people's.
 */
export interface LateMemory {
  resumedFor?: ReadonlySet<string>;
}

/**
 * To be called while no update is under way. True: they were made to run again. What people suspend
 * within these minutes runs again, too, and is told: once, so that it stays when they do it again.
 */
export const resumeLate = async (
  deps: Pick<NodeGroupDeps, 'updates' | 'epoch' | 'clock' | 'cloud' | 'kube' | 'log'>,
  group: NodeGroup,
  { scaling, memory }: { readonly scaling: ScalingGroup; readonly memory: LateMemory },
  signal: AbortSignal,
): Promise<boolean> => {
  const all = ended(deps, group.metadata.name);
  if (all.some(({ agoMs }) => agoMs < settledAfterMs)) return false;
  const { resumedFor = new Set() } = memory;
  const late = all.flatMap(({ update, agoMs }) => {
    const isOfOthers = update.status?.suspendedIn !== deps.epoch;
    const isDone = agoMs > arrivesWithinMs || resumedFor.has(update.metadata.uid);
    return isOfOthers && !isDone ? [update] : [];
  });
  const may = new Set(late.flatMap(({ status }) => status?.suspends ?? []));
  const processes = suspendedOf(scaling).filter((one) => may.has(one));
  if (processes.length === 0) return false;
  await deps.cloud.setProcesses({ name: scaling.name, processes, suspended: false }, { signal });
  memory.resumedFor = new Set([...resumedFor, ...late.map(({ metadata }) => metadata.uid)]);
  const endedAt = late
    .map(({ status }) => status?.endedAt ?? '')
    .toSorted()
    .at(-1);
  const message = `${processes.join(', ')} was suspended after the update that does so had ended at ${endedAt}: by a process that led before and stood still, as it seems. It runs again; to keep it suspended, suspend it once more`;
  await tell(deps, group, { reason: 'LateSuspension', type: 'Warning', message }, signal);
  return true;
};
