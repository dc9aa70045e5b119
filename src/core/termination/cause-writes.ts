// Causes on a NodeDisruption: decides when two are the same, and what to write so that one is
// recorded. Used by everything that records a cause (intake, lifecycle backstop, command line).
// Decides no drain.

import { parseTime } from '../../api/brand.ts';
import { isConfirmed, isInForce, isPending, isRefuted } from '../../api/confirmation.ts';
import { defined } from '../../api/defined.ts';
import type { DisruptionCause, NodeDisruption, NodeDisruptionSpec } from '../../api/disruption.ts';
import type { JsonObject } from '../../api/json.ts';

/** Drain timeout where the group sets none; EKS waits about this long. */
export const defaultDrainTimeoutSeconds = 15 * 60;

/** EC2 terminates a spot instance this long after its notice. */
export const spotNoticeMs = 120_000;

/** EC2 Auto Scaling: a wait ends after 48 h or 100 heartbeat timeouts, whichever is first. */
const longestHookSeconds = 172_800;
const longestHookInHeartbeats = 100;

/** Seconds until Auto Scaling ends a hook's wait, regardless of heartbeats. */
export const hookWaitSeconds = (times: {
  readonly heartbeatTimeoutSeconds: number;
  readonly globalTimeoutSeconds: number;
}): number =>
  Math.min(
    longestHookSeconds,
    times.globalTimeoutSeconds,
    times.heartbeatTimeoutSeconds * longestHookInHeartbeats,
  );

/** Maximum number of causes on an object; above it, causes that are over are dropped. */
export const maxCauses = 32;

/**
 * Id of a lifecycle hook's cause. Without a token (found by polling) one id stands for the open
 * action. A message that arrives later adds its token.
 */
export const hookCauseId = (hook: {
  readonly autoScalingGroupName: string;
  readonly name: string;
  readonly token?: string;
}): string => `hook/${hook.autoScalingGroupName}/${hook.name}/${hook.token ?? 'polled'}`;

/** Prefix for an event from EC2's list; AWS Health's messages identify theirs by an ARN. */
const scheduledEventPrefix = 'maintenance/instance-event-';

/**
 * EC2's list and AWS Health's message share no identifier for an event of an instance; they share
 * its start. An event closed by a message does not hide one that EC2 lists.
 */
const isSameEvent = (known: DisruptionCause, incoming: DisruptionCause): boolean =>
  known.kind === 'Maintenance' &&
  incoming.kind === 'Maintenance' &&
  known.deadline !== undefined &&
  known.deadline === incoming.deadline &&
  known.id.startsWith(scheduledEventPrefix) !== incoming.id.startsWith(scheduledEventPrefix) &&
  (known.cancelledAt === undefined || !isConfirmed(incoming));

const isSameHook = (a: DisruptionCause, b: DisruptionCause): boolean =>
  a.hook?.autoScalingGroupName === b.hook?.autoScalingGroupName && a.hook?.name === b.hook?.name;

/**
 * An unconfirmed cause stands for all of its kind and hook, because the same question is asked of
 * the cloud for each. A flood of forged messages therefore costs one write per instance.
 */
const isSameClaim = (known: DisruptionCause, incoming: DisruptionCause): boolean =>
  known.kind === incoming.kind &&
  known.kind !== 'Maintenance' &&
  known.cancelledAt === undefined &&
  !isConfirmed(known) &&
  isSameHook(known, incoming);

/** Same id, the same hook with and without its token, or the same scheduled event. */
const isSameCause = (known: DisruptionCause, incoming: DisruptionCause): boolean => {
  if (known.id === incoming.id || isSameEvent(known, incoming)) return true;
  if (isSameClaim(known, incoming)) return true;
  if (known.hook === undefined || incoming.hook === undefined) return false;
  const { hook: a } = known;
  const { hook: b } = incoming;
  return isSameHook(known, incoming) && (a.token === undefined || b.token === undefined);
};

/** AWS may move a start; a drain in time for the sooner start is in time for the later one. */
const sooner = (known: DisruptionCause, incoming: DisruptionCause): DisruptionCause | undefined => {
  const { deadline, reason } = incoming;
  const [before, after] = [parseTime(known.deadline), parseTime(deadline)];
  if (deadline === undefined || after === undefined) return undefined;
  if (known.cancelledAt !== undefined || (before !== undefined && before <= after))
    return undefined;
  return { ...known, deadline, ...defined({ reason }) };
};

/** Whether `incoming` replaces `known`, which the cloud has not confirmed. */
const supersedes = (known: DisruptionCause, incoming: DisruptionCause): boolean => {
  if (known.cancelledAt !== undefined || isConfirmed(known)) return false;
  if (isConfirmed(incoming)) return true;
  // A refuted notice does not replace a notice that may still be true.
  const deadline = parseTime(known.deadline);
  const isOver = deadline !== undefined && deadline < (parseTime(incoming.receivedAt) ?? 0);
  return !isRefuted(incoming) && (isRefuted(known) || isOver);
};

/** Merges what both say of the same cause; undefined when `incoming` adds nothing. */
const enrich = (known: DisruptionCause, incoming: DisruptionCause): DisruptionCause | undefined => {
  if (supersedes(known, incoming)) return incoming;
  if (!isConfirmed(incoming)) return undefined;
  if (known.kind === 'Maintenance' && known.id === incoming.id) return sooner(known, incoming);
  if (known.hook === undefined || incoming.hook?.token === undefined) return undefined;
  if (known.hook.token !== undefined) return undefined;
  // Keeps the earlier start and the earlier deadline: a wait never starts over.
  const [startedAt = ''] = [known.hook.startedAt, incoming.hook.startedAt].sort();
  const deadlines = [known.deadline, incoming.deadline].filter((each) => each !== undefined).sort();
  const [deadline] = deadlines;
  return {
    ...known,
    id: incoming.id,
    hook: { ...incoming.hook, startedAt },
    ...defined({ deadline }),
  };
};

/** Whether the cause was handled, including a hook found by polling whose token arrived later. */
export const wasHandled = (cause: DisruptionCause, handled: readonly string[]): boolean => {
  if (handled.includes(cause.id)) return true;
  if (cause.hook === undefined) return false;
  const { autoScalingGroupName, name } = cause.hook;
  return handled.includes(hookCauseId({ autoScalingGroupName, name }));
};

/** Withdrawn or refuted: the cause has no effect. */
const isOver = (cause: DisruptionCause): boolean =>
  cause.cancelledAt !== undefined || isRefuted(cause);

/**
 * `causes` without one: the oldest that is over, else the oldest handled, else the oldest pending.
 */
const withoutOne = (
  causes: readonly DisruptionCause[],
  handled: readonly string[],
): readonly DisruptionCause[] | undefined => {
  const ranks = [isOver, (each: DisruptionCause) => wasHandled(each, handled), isPending];
  for (const isSpare of ranks) {
    const doomed = causes.findIndex(isSpare);
    if (doomed >= 0) return causes.toSpliced(doomed, 1);
  }
  return undefined;
};

/** Maximum number of unconfirmed causes of one kind on one disruption. */
const maxUnconfirmed = 8;

/**
 * `causes` with room for `cause`. Undefined if there is none: every cause is in force, or too many
 * of this kind are unconfirmed. A refuted one of these makes room, except for a refuted `cause`.
 */
const makeRoom = (
  causes: readonly DisruptionCause[],
  cause: DisruptionCause,
  handled: readonly string[],
): readonly DisruptionCause[] | undefined => {
  if (isOneTooMany(causes, cause)) {
    const forged = causes.findIndex((each) => each.kind === cause.kind && isRefuted(each));
    return forged < 0 || isRefuted(cause) ? undefined : causes.toSpliced(forged, 1);
  }
  return causes.length < maxCauses ? causes : withoutOne(causes, handled);
};

const isOneTooMany = (causes: readonly DisruptionCause[], cause: DisruptionCause): boolean =>
  !isConfirmed(cause) &&
  causes.filter((one) => one.kind === cause.kind && !isConfirmed(one)).length >= maxUnconfirmed;

/**
 * `spec` with `cause` added. Returns the same object when the cause is already recorded or there is
 * no room: a cause in force is never dropped for another. `handled`: ids the status lists as
 * handled.
 */
export const mergeCause = (
  spec: NodeDisruptionSpec,
  cause: DisruptionCause,
  handled: readonly string[] = [],
): NodeDisruptionSpec => {
  const index = spec.causes.findIndex((known) => isSameCause(known, cause));
  const known = spec.causes[index];
  if (known === undefined) {
    const causes = makeRoom(spec.causes, cause, handled);
    return causes === undefined ? spec : { ...spec, causes: [...causes, cause] };
  }
  const better = enrich(known, cause);
  return better === undefined ? spec : { ...spec, causes: spec.causes.with(index, better) };
};

export interface DisruptionSubject {
  /** The object's name: the instance id, or the node's uid if no instance exists. */
  readonly name: string;
  readonly instanceId?: string;
  readonly nodeName?: string;
  readonly nodeGroup?: string;
}

export type CauseWrite =
  /** `refused`: nothing is written, because the limit of causes is reached and all are in force. */
  | { readonly kind: 'recorded'; readonly refused?: true }
  | { readonly kind: 'create'; readonly object: JsonObject }
  /** A JSON merge patch with the resourceVersion it was computed from. */
  | { readonly kind: 'patch'; readonly body: JsonObject };

/**
 * Causes in force come first, because `kubectl get` shows the first one; the rest keep their order.
 */
const rankOf = (cause: DisruptionCause): number => {
  if (isInForce(cause)) return 0;
  return isPending(cause) ? 1 : 2;
};

const asJson = (causes: readonly DisruptionCause[]): readonly JsonObject[] =>
  causes
    .toSorted((a, b) => rankOf(a) - rankOf(b))
    .map(({ hook, ...rest }) => ({
      ...rest,
      ...(hook === undefined ? {} : { hook: { ...hook } }),
    }));

/** The single write that records `cause` on the object's current state. */
export const causeWrite = (
  existing: NodeDisruption | undefined,
  subject: DisruptionSubject,
  cause: DisruptionCause,
): CauseWrite => {
  const { name, instanceId, nodeName, nodeGroup } = subject;
  if (existing === undefined) {
    return {
      kind: 'create',
      object: {
        apiVersion: 'drover.dev/v1alpha1',
        kind: 'NodeDisruption',
        metadata: { name },
        spec: {
          ...defined({ instanceId, nodeName, nodeGroup }),
          causes: asJson([cause]),
        },
      },
    };
  }
  const merged = mergeCause(existing.spec, cause, existing.status?.handledCauses);
  const addName = nodeName !== undefined && existing.spec.nodeName === undefined;
  if (merged === existing.spec && !addName) {
    const { causes } = existing.spec;
    const there = causes.some((known) => isSameCause(known, cause)) || isOneTooMany(causes, cause);
    return there ? { kind: 'recorded' } : { kind: 'recorded', refused: true };
  }
  return {
    kind: 'patch',
    body: {
      metadata: { resourceVersion: existing.metadata.resourceVersion },
      spec: { causes: asJson(merged.causes), ...(addName ? { nodeName } : {}) },
    },
  };
};

/** Changes the causes that `concerns` picks; `recorded` when there are none. */
const changeWrite = (
  existing: NodeDisruption,
  concerns: (cause: DisruptionCause) => boolean,
  change: (cause: DisruptionCause) => DisruptionCause,
): CauseWrite => {
  const { causes } = existing.spec;
  if (!causes.some(concerns)) return { kind: 'recorded' };
  const changed = causes.map((cause) => (concerns(cause) ? change(cause) : cause));
  return {
    kind: 'patch',
    body: {
      metadata: { resourceVersion: existing.metadata.resourceVersion },
      spec: { causes: asJson(changed) },
    },
  };
};

const withdrawAll = (
  existing: NodeDisruption,
  cancelledAt: string,
  concerns: (cause: DisruptionCause) => boolean,
): CauseWrite =>
  changeWrite(
    existing,
    (cause) => cause.cancelledAt === undefined && concerns(cause),
    (cause) => ({ ...cause, cancelledAt }),
  );

/** Causes that an operator may withdraw: manual ones and rebalance recommendations. */
export const mayBeWithdrawn = ({ kind }: DisruptionCause): boolean =>
  kind === 'Manual' || kind === 'RebalanceRecommendation';

/**
 * The single write that withdraws every cause that an operator may withdraw; `recorded` when there
 * are none.
 */
export const withdrawWrite = (existing: NodeDisruption, cancelledAt: string): CauseWrite =>
  withdrawAll(existing, cancelledAt, mayBeWithdrawn);

/** The single write that withdraws every cause of an ended record, so that its marks are undone. */
export const withdrawAllWrite = (existing: NodeDisruption, cancelledAt: string): CauseWrite =>
  withdrawAll(existing, cancelledAt, () => true);

/**
 * The single write that withdraws one cause, even a handled one: its node is uncordoned once no
 * other cause needs it drained. `recorded` when the cause is already withdrawn or does not exist.
 */
export const withdrawCauseWrite = (
  existing: NodeDisruption,
  causeId: string,
  cancelledAt: string,
): CauseWrite => withdrawAll(existing, cancelledAt, ({ id }) => id === causeId);

/**
 * The single write that replaces causes by id, for example with the cloud's answer. `recorded` when
 * none is found, or all are withdrawn.
 */
export const replaceCausesWrite = (
  existing: NodeDisruption,
  changed: readonly DisruptionCause[],
): CauseWrite => {
  const byId = new Map(changed.map((cause) => [cause.id, cause]));
  return changeWrite(
    existing,
    ({ id, cancelledAt }) => byId.has(id) && cancelledAt === undefined,
    (cause) => byId.get(cause.id) ?? cause,
  );
};

/** The single write that withdraws every update cause in effect; `recorded` when there are none. */
export const withdrawUpdatesWrite = (existing: NodeDisruption, cancelledAt: string): CauseWrite =>
  withdrawAll(existing, cancelledAt, ({ kind }) => kind === 'Update');

/** Values that take effect when a hold ends. Times are RFC 3339. */
export interface Lifted {
  readonly deadline: string;
  readonly onDeadline: 'force' | 'fail';
  readonly forceFrom?: string;
}

/**
 * The single write that ends a cause's hold, so that its node is drained. `recorded` when the hold
 * has already ended (the first write stands), or the cause is withdrawn or does not exist.
 */
export const liftWrite = (existing: NodeDisruption, causeId: string, lifted: Lifted): CauseWrite =>
  changeWrite(
    existing,
    ({ id, hold, cancelledAt }) => id === causeId && hold === true && cancelledAt === undefined,
    (cause) => ({ ...cause, ...lifted, hold: false }),
  );

/**
 * The single write that allows a drained instance to be terminated after its cooldown. `recorded`
 * when that is already allowed, or the cause is withdrawn or does not exist.
 */
export const freeTerminationWrite = (
  existing: NodeDisruption,
  causeId: string,
  terminationFreeAt: string,
): CauseWrite =>
  changeWrite(
    existing,
    ({ id, holdTermination, cancelledAt }) =>
      id === causeId && holdTermination === true && cancelledAt === undefined,
    (cause) => ({ ...cause, holdTermination: false, terminationFreeAt }),
  );
