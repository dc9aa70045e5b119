// Whether a node may be taken out of service for causes that can wait (a rebalance recommendation,
// announced maintenance). The group's disruption ledger limits such causes to maxUnavailable nodes
// at once. Forced causes count in the ledger but never wait. Pure.

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
  StateChange: false,
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
  // An earlier episode took it out of service.
  return !hasMarksOfOurs(node, disruption.status?.ownedMarks);
};

/**
 * Whether the node is out of service for its group. A surplus node being scaled in does not count.
 */
export const isOutOfService = (disruption: NodeDisruption, node: Node | undefined): boolean => {
  const { causes } = disruption.spec;
  const counted = causes.filter(isInForce);
  if (counted.length > 0 && counted.every(({ kind }) => kind === 'ScaleIn')) return false;
  // An update marks all its nodes before their turn; they serve until then.
  if (isHeld(disruption) || wasHeld(disruption)) return false;
  const phase = phaseOf(disruption);
  if (phase === 'Marking' || phase === 'Draining' || phase === 'Completing') return true;
  return node !== undefined && marksOn(node).excludeLabel;
};

/** When a cause that may wait has to be over: at the opening of its window. */
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
 * How many nodes may be out of service at once: maxUnavailable, or more if that is needed to drain
 * every waiting node before it is due.
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

/** Whether `name` may begin. Among drains with a window, the earliest due one is first. */
export const mayBegin = (ledger: Ledger, name: string, now: EpochMs): boolean => {
  const order = ledger.waiting.toSorted(bySoonest);
  const own = order.findIndex((one) => one.name === name);
  const ahead = order.slice(0, Math.max(0, own)).filter(({ dueAt: at }) => at !== undefined);
  const isDated = order[own]?.dueAt !== undefined;
  return ledger.out + (isDated ? ahead.length : 0) < slotsOf(ledger, now);
};

/** When the number of slots next grows because waiting drains come due. */
export const looksAgainAt = (ledger: Ledger, now: EpochMs): EpochMs | undefined => {
  const due = ledger.waiting.flatMap((one) => one.dueAt ?? []);
  if (due.length === 0) return undefined;
  const left = Math.min(...due) - now;
  const rounds = Math.floor(left / ledger.drainMs);
  return rounds < 1 ? undefined : epochMs(Math.min(...due) - rounds * ledger.drainMs + 1);
};
