// Whether a node may be taken out of service for causes that can wait (a rebalance recommendation,
// maintenance to come). By the group's disruption ledger such causes together never hold more than
// maxUnavailable of its nodes. Forced causes count in the ledger and wait for nothing. Pure.

import { type EpochMs, epochMs, parseTime } from '../../api/brand.ts';
import { isInForce } from '../../api/confirmation.ts';
import type { CauseKind, DisruptionCause, NodeDisruption } from '../../api/disruption.ts';
import type { Node } from '../../api/kube.ts';
import { causesInForce, isHeld, wasHeld } from './causes.ts';
import { hasMarksOfOurs, marksOn } from './marks.ts';
import type { Ledger, Waiting } from './observation.ts';
import { phaseOf } from './status.ts';

/** Causes that may wait for their turn. */
const mayWait: Readonly<Record<CauseKind, boolean>> = {
  RebalanceRecommendation: true,
  Maintenance: true,
  ScaleIn: false,
  SpotInterruption: false,
  LifecycleHook: false,
  Update: false,
  Repair: false,
  Manual: false,
};

/** Nothing has been done yet, and every cause in force may wait. */
export const awaitsTurn = (disruption: NodeDisruption, node: Node | undefined): boolean => {
  if (phaseOf(disruption) !== 'Pending') return false;
  const causes = causesInForce(disruption);
  if (causes.length === 0 || !causes.every(({ kind }) => mayWait[kind])) return false;
  // Out of service already, by an earlier episode.
  return !hasMarksOfOurs(node, disruption.status?.ownedMarks);
};

/**
 * Whether the node counts as out of service for its group. A surplus node that is scaled in does
 * not.
 */
export const isOutOfService = (disruption: NodeDisruption, node: Node | undefined): boolean => {
  const { causes } = disruption.spec;
  const counted = causes.filter(isInForce);
  if (counted.length > 0 && counted.every(({ kind }) => kind === 'ScaleIn')) return false;
  // An update marks all its nodes before their turn: those serve until then.
  if (isHeld(disruption) || wasHeld(disruption)) return false;
  const phase = phaseOf(disruption);
  if (phase === 'Marking' || phase === 'Draining' || phase === 'Completing') return true;
  return node !== undefined && marksOn(node).excludeLabel;
};

/** When a cause that may wait has to be over: the opening of its window. */
const endOf = ({ kind, deadline }: DisruptionCause): EpochMs | undefined =>
  kind === 'Maintenance' ? parseTime(deadline) : undefined;

/** The earliest end of the causes in force; undefined where none has one. */
export const dueAt = (disruption: NodeDisruption): EpochMs | undefined => {
  const ends = causesInForce(disruption).flatMap((cause) => endOf(cause) ?? []);
  return ends.length === 0 ? undefined : epochMs(Math.min(...ends));
};

const bySoonest = (a: Waiting, b: Waiting): number =>
  (a.dueAt ?? Number.POSITIVE_INFINITY) - (b.dueAt ?? Number.POSITIVE_INFINITY) ||
  (a.name < b.name ? -1 : 1);

/**
 * How many nodes may be out of service at once: maxUnavailable, or as many as it takes for each
 * that waits to be drained before it is due, whichever is more.
 */
export const slotsOf = (ledger: Ledger, now: EpochMs): number => {
  const { maxUnavailable, drainMs, out } = ledger;
  const due = ledger.waiting.flatMap((one) => one.dueAt ?? []).toSorted((a, b) => a - b);
  const needed = due.map((at, index) => {
    const rounds = Math.floor((at - now) / drainMs);
    const before = out + index + 1;
    return rounds < 1 ? before : Math.ceil(before / rounds);
  });
  return Math.max(maxUnavailable, ...needed);
};

/** Whether `name` may begin now. Of those with a window, the one that is due first goes first. */
export const mayBegin = (ledger: Ledger, name: string, now: EpochMs): boolean => {
  const order = ledger.waiting.toSorted(bySoonest);
  const own = order.findIndex((one) => one.name === name);
  const ahead = order.slice(0, Math.max(0, own)).filter(({ dueAt: at }) => at !== undefined);
  const isDated = order[own]?.dueAt !== undefined;
  return ledger.out + (isDated ? ahead.length : 0) < slotsOf(ledger, now);
};

/** When the number of slots grows by itself: the last moment for some of those that are due. */
export const looksAgainAt = (ledger: Ledger, now: EpochMs): EpochMs | undefined => {
  const due = ledger.waiting.flatMap((one) => one.dueAt ?? []);
  if (due.length === 0) return undefined;
  const left = Math.min(...due) - now;
  const rounds = Math.floor(left / ledger.drainMs);
  return rounds < 1 ? undefined : epochMs(Math.min(...due) - rounds * ledger.drainMs + 1);
};
