// Processes that a leader that stood still suspends when it wakes, after the update that it was for
// has ended under another one. No call of the cloud can be fenced, so they are resumed. Pure.
import { parseTime } from '../../api/brand.ts';
import type { NodeGroupUpdate } from '../../api/nodegroup-update.ts';
import type { GroupStep } from '../../api/plan.ts';
import { suspendedOf } from './members.ts';
import type { GroupObservation } from './observation.ts';

/** Longer than a process stands still that is not taken for dead, and goes on. */
const arrivesWithinMs = 5 * 60_000;
/**
 * A look at the group may be as old as this: what the update itself has just resumed may seem
 * suspended.
 */
const settledAfterMs = 10_000;

type Facts = Pick<
  GroupObservation,
  'updates' | 'group' | 'scaling' | 'resumedFor' | 'epoch' | 'now'
>;

/** Those that suspend processes and have ended, of whatever term: how long ago, in milliseconds. */
const endedOf = ({ updates, group, now }: Facts) =>
  updates.flatMap((update): readonly { update: NodeGroupUpdate; agoMs: number }[] => {
    const { endedAt, suspendedIn } = update.status ?? {};
    const at = parseTime(endedAt);
    const isOurs = update.spec.nodeGroup === group.metadata.name && suspendedIn !== undefined;
    return isOurs && at !== undefined ? [{ update, agoMs: now - at }] : [];
  });

/** For a group of which no update is under way. Each update suspends, and is resumed for, once. */
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
