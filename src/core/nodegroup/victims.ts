// Nodes drained by a scale-in or delete: which exist, which are surplus, which are drained and may
// be terminated, which failed. Reads NodeDisruptions; writes nothing.
import { type EpochMs, parseTime } from '../../api/brand.ts';
import type { DisruptionCause, NodeDisruption } from '../../api/disruption.ts';
import { unreadyPodText } from '../drain/index.ts';

/** Prefix of the cause ids of scale-in and delete; the group's name and a time follow. */
export const scaleInId = (group: string, at: string): string => `scale-in/${group}/${at}`;

export const isOwnScaleIn = (cause: DisruptionCause, group: string): boolean =>
  cause.kind === 'ScaleIn' &&
  cause.cancelledAt === undefined &&
  cause.id.startsWith(`scale-in/${group}/`);

/**
 * Whether a cause belongs to the scale-in or update `id`: its first request, or a repeated one
 * after a withdrawal.
 */
export const isOfRequest = (causeId: string, id: string): boolean =>
  causeId === id || causeId.startsWith(`${id}/`);

/**
 * The next id for requesting a drain: a withdrawn cause is spent, and a repeated request needs
 * another id.
 */
export const nextCauseId = (disruption: NodeDisruption | undefined, id: string): string => {
  const asked = (disruption?.spec.causes ?? []).filter((cause) => isOfRequest(cause.id, id));
  // Not the number of causes, since a full record drops the oldest.
  const last = Math.max(...asked.map((cause) => Number(cause.id.slice(id.length + 1)) || 1));
  return asked.length === 0 ? id : `${id}/${last + 1}`;
};

/** Time after the drain's own deadline for its result to be recorded. */
const graceMs = 120_000;

export type VictimState =
  | { readonly kind: 'draining' }
  | { readonly kind: 'drained' }
  | { readonly kind: 'failed'; readonly message: string };

export interface VictimFacts {
  /** Id of the scale-in or update that requests the drain. */
  readonly id: string;
  /** The instance has a node. */
  readonly hasNode: boolean;
  readonly now: EpochMs;
}

/**
 * Until when a drained instance may still be kept: for its cooldown, or because a cause requests
 * it.
 */
const keptUntil = ({ status }: NodeDisruption, cause: DisruptionCause): number => {
  const { phase, drainedAt } = status ?? {};
  const emptyAt = phase === 'Completing' ? parseTime(drainedAt) : undefined;
  const cooled = (emptyAt ?? 0) + (cause.cooldownSeconds ?? 0) * 1000;
  return Math.max(cooled, parseTime(cause.terminationFreeAt) ?? 0);
};

/**
 * A drain for this request that has just finished, so its termination is under way. Later requests
 * of other actors that were withdrawn do not delay it.
 */
const isStillGoing = (
  { status }: NodeDisruption,
  { followUp }: DisruptionCause,
  now: EpochMs,
): boolean => {
  const { outcome, previous } = status ?? {};
  if (outcome !== 'Cancelled' || followUp === 'Release') return false;
  const wasDrained = previous?.outcome === 'Drained' || previous?.outcome === 'Forced';
  const endedAt = parseTime(previous?.endedAt);
  return wasDrained && endedAt !== undefined && now <= endedAt + graceMs;
};

/** State of the drain that `id` requested; undefined: not requested, or must be requested again. */
export const victimState = (
  disruption: NodeDisruption,
  { id, hasNode, now }: VictimFacts,
): VictimState | undefined => {
  const { spec, status } = disruption;
  const isOpen = (one: DisruptionCause): boolean => one.cancelledAt === undefined;
  const cause = spec.causes.findLast((one) => isOpen(one) && isOfRequest(one.id, id));
  if (cause === undefined) return undefined;
  const message = status?.message ?? 'the drain did not end in time';
  if (status?.phase === 'Ended' && status.handledCauses?.includes(cause.id) === true) {
    if (isStillGoing(disruption, cause, now)) return { kind: 'drained' };
    // Another actor had the node drained again and cancelled that, or the instance became a node
    // only afterwards: pods may run on it.
    const isStale = status.outcome === 'NothingToDrain' && hasNode;
    if (status.outcome === 'Cancelled' || isStale) return undefined;
    return status.outcome === 'Failed' ? { kind: 'failed', message } : { kind: 'drained' };
  }
  // Another cause on the node may have no deadline; the cause of this request has one.
  const until = Math.max(parseTime(cause.deadline) ?? now, keptUntil(disruption, cause));
  if (now > until + graceMs) return { kind: 'failed', message };
  return { kind: 'draining' };
};

const maxBlockers = 5;

/** What these budgets waited for, if known: one sentence per pod, by name. */
const unreadyText = (failed: readonly NodeDisruption[]): string => {
  const waiting = failed.flatMap(({ status }) => status?.waitingOn ?? []);
  const texts = waiting.flatMap((one) => {
    if (one.kind !== 'pdb' || one.unready === undefined) return [];
    return [`Budget ${one.budgets.join(', ')} waits for ${unreadyPodText(one.unready)}`];
  });
  const told = [...new Set(texts)].slice(0, maxBlockers);
  return told.length === 0 ? '' : `. ${told.join('. ')}`;
};

/** The numbers of each budget that allowed no eviction, in the API server's words. */
const budgetsText = (failed: readonly NodeDisruption[]): string => {
  const waiting = failed.flatMap(({ status }) => status?.waitingOn ?? []);
  const texts = waiting.flatMap((one) =>
    one.kind === 'pdb' && one.message !== ''
      ? [`Budget ${one.budgets.join(', ')}: ${one.message}`]
      : [],
  );
  const told = [...new Set(texts)].slice(0, maxBlockers);
  return told.length === 0 ? '' : `. ${told.join('. ')}`;
};

/** The pods and budgets that blocked the drain; empty if none is known. */
export const heldBy = (failed: readonly NodeDisruption[]): string => {
  const blockers = failed.flatMap(({ status }) =>
    (status?.waitingOn ?? []).flatMap((one) => {
      if (!('pod' in one)) return [];
      const budgets = 'budgets' in one ? ` (budget ${one.budgets.join(', ')})` : '';
      const owner = 'owner' in one && one.owner !== undefined ? ` of ${one.owner}` : '';
      const returns =
        one.kind === 'boomerang' ? ', which tolerates every taint and comes back' : '';
      return [`${one.pod}${owner}${budgets}${returns}`];
    }),
  );
  const names = [...new Set(blockers)].slice(0, maxBlockers).join('; ');
  return names === '' ? '' : `Held by ${names}${budgetsText(failed)}${unreadyText(failed)}`;
};

export const retriesSentence = (group: string): string =>
  `Reached max retries while trying to evict pods from nodes in node group ${group}.`;

/** EKS' sentence, then the pods and budgets that blocked the drain. */
export const evictionFailure = (
  group: string,
  failed: readonly NodeDisruption[],
): { readonly code: string; readonly message: string; readonly resourceIds: readonly string[] } => {
  const held = heldBy(failed);
  const why = held === '' ? (failed[0]?.status?.message ?? '') : held;
  return {
    code: 'PodEvictionFailure',
    message: `${retriesSentence(group)} ${why}`,
    resourceIds: failed.map(
      ({ status, spec, metadata }) => status?.node?.name ?? spec.nodeName ?? metadata.name,
    ),
  };
};
