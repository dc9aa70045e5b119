// Resumes processes that a stalled leader suspends late, after the update has ended under another
// leader. A call to AWS cannot be fenced, so its effect is undone. Pure.
import { parseTime } from '../../api/brand.ts';
import type { NodeGroupUpdate } from '../../api/nodegroup-update.ts';
import type { GroupStep } from '../../api/plan.ts';
import { suspendedOf } from './members.ts';
import type { GroupObservation } from './observation.ts';

/** Longer than a process can stall and continue; after a longer stall it counts as dead. */
const arrivesWithinMs = 5 * 60_000;
/**
 * The observed group may be this old, so processes that the update has just resumed may still look
 * suspended.
 */
const settledAfterMs = 10_000;

type Facts = Pick<
  GroupObservation,
  'updates' | 'group' | 'scaling' | 'resumedFor' | 'epoch' | 'now'
>;

/** Updates of any term that suspend processes and have ended, with the milliseconds since. */
const endedOf = ({ updates, group, now }: Facts) =>
  updates.flatMap((update): readonly { update: NodeGroupUpdate; agoMs: number }[] => {
    const { endedAt, suspendedIn } = update.status ?? {};
    const at = parseTime(endedAt);
    const isOurs = update.spec.nodeGroup === group.metadata.name && suspendedIn !== undefined;
    return isOurs && at !== undefined ? [{ update, agoMs: now - at }] : [];
  });

/**
 * The steps for a group without an update in progress. Processes are resumed at most once per
 * update.
 */
export const lateSuspension = (facts: Facts): readonly GroupStep[] => {
  const { scaling, resumedFor, epoch } = facts;
  const all = endedOf(facts);
  if (all.some(({ agoMs }) => agoMs < settledAfterMs)) return [];
  const late = all.flatMap(({ update, agoMs }) => {
    const isOfOthers = update.status?.suspendedIn !== epoch;
    const isDone = agoMs > arrivesWithinMs || resumedFor?.has(update.metadata.uid) === true;
    return isOfOthers && !isDone ? [update] : [];
  });
  const may = new Set(late.flatMap(({ status }) => status?.suspends ?? []));
  const processes = suspendedOf(scaling).filter((one) => may.has(one));
  if (processes.length === 0) return [];
  const updates = late.map(({ metadata }) => metadata.uid);
  const ends = late.map(({ status }) => status?.endedAt ?? '').toSorted();
  return [{ kind: 'ResumeLate', processes, updates, endedAt: ends.at(-1) ?? '' }];
};
