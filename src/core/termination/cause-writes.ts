// Causes on a NodeDisruption: when two are one, and what to write so that one is recorded. Used by
// all that record a cause (intake, lifecycle backstop, command line). Decides no drain.

import { parseTime } from '../../api/brand.ts';
import { isConfirmed, isInForce, isPending, isRefuted } from '../../api/confirmation.ts';
import { defined } from '../../api/defined.ts';
import type { DisruptionCause, NodeDisruption, NodeDisruptionSpec } from '../../api/disruption.ts';
import type { JsonObject } from '../../api/json.ts';

/** How long a drain may take where its group says nothing; EKS waits about this long. */
export const defaultDrainTimeoutSeconds = 15 * 60;

/** EC2 takes a spot instance this long after its notice. */
export const spotNoticeMs = 120_000;

/** EC2 Auto Scaling: a wait ends after 48 h or 100 heartbeat timeouts, whichever is first. */
const longestHookSeconds = 172_800;
const longestHookInHeartbeats = 100;

/** How long Auto Scaling lets a hook wait, whatever is done. */
export const hookWaitSeconds = (times: {
  readonly heartbeatTimeoutSeconds: number;
  readonly globalTimeoutSeconds: number;
}): number =>
  Math.min(
    longestHookSeconds,
    times.globalTimeoutSeconds,
    times.heartbeatTimeoutSeconds * longestHookInHeartbeats,
  );

/** Bounds the object: beyond it, causes that no longer count make room. */
export const maxCauses = 32;

/**
 * Id of a lifecycle hook's cause. Without a token (found by polling) one id stands for the action
 * that is open now; the message, when it still comes, puts its token in.
 */
export const hookCauseId = (hook: {
  readonly autoScalingGroupName: string;
  readonly name: string;
  readonly token?: string;
}): string => `hook/${hook.autoScalingGroupName}/${hook.name}/${hook.token ?? 'polled'}`;

/** Of an event found in EC2's list; AWS Health's messages name theirs by an ARN. */
const scheduledEventPrefix = 'maintenance/instance-event-';

/**
 * EC2's list and AWS Health's message share no name for one event of an instance: its start does.
 * What a message closed does not hide what EC2 lists.
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
 * An unconfirmed cause stands for all of its kind and hook, whatever the messages say: what is
 * asked of the cloud is the same. So a flood of forged messages costs one write for each instance.
 */
const isSameClaim = (known: DisruptionCause, incoming: DisruptionCause): boolean =>
  known.kind === incoming.kind &&
  known.kind !== 'Maintenance' &&
  known.cancelledAt === undefined &&
  !isConfirmed(known) &&
  isSameHook(known, incoming);

/** Same id; or the same hook, once with its token and once without; or the same scheduled event. */
const isSameCause = (known: DisruptionCause, incoming: DisruptionCause): boolean => {
  if (known.id === incoming.id || isSameEvent(known, incoming)) return true;
  if (isSameClaim(known, incoming)) return true;
  if (known.hook === undefined || incoming.hook === undefined) return false;
  const { hook: a } = known;
  const { hook: b } = incoming;
  return isSameHook(known, incoming) && (a.token === undefined || b.token === undefined);
};

/** AWS moves a start: who is in time for the sooner one is in time for the later one. */
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
  // A refuted notice does not replace one that may still be true.
  const deadline = parseTime(known.deadline);
  const isOver = deadline !== undefined && deadline < (parseTime(incoming.receivedAt) ?? 0);
  return !isRefuted(incoming) && (isRefuted(known) || isOver);
};

/** What is known of the same cause from both; undefined when `incoming` adds nothing. */
const enrich = (known: DisruptionCause, incoming: DisruptionCause): DisruptionCause | undefined => {
  if (supersedes(known, incoming)) return incoming;
  if (!isConfirmed(incoming)) return undefined;
  if (known.kind === 'Maintenance' && known.id === incoming.id) return sooner(known, incoming);
  if (known.hook === undefined || incoming.hook?.token === undefined) return undefined;
  if (known.hook.token !== undefined) return undefined;
  // The earlier start and the earlier deadline stay: a wait never begins again.
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

/** A hook found by polling gets its message's token later: still the cause that was handled. */
export const wasHandled = (cause: DisruptionCause, handled: readonly string[]): boolean => {
  if (handled.includes(cause.id)) return true;
  if (cause.hook === undefined) return false;
  const { autoScalingGroupName, name } = cause.hook;
  return handled.includes(hookCauseId({ autoScalingGroupName, name }));
};

/** Withdrawn or refuted: it stands for nothing. */
const isOver = (cause: DisruptionCause): boolean =>
  cause.cancelledAt !== undefined || isRefuted(cause);

/** `causes` without the oldest one that is over, else handled, else not confirmed yet. */
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
 * `causes` with room for `cause`; undefined where there is none: all are in force, or as many of
 * its kind are unconfirmed and it is not one that may be true, or all those may be.
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
 * `spec` with `cause` in it; the same object when it was there already, or when there is no room:
 * a cause in force is never dropped for another. `handled` is what the status names as handled.
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
  /** Instance id, or the node's uid where there is no instance: the object's name. */
  readonly name: string;
  readonly instanceId?: string;
  readonly nodeName?: string;
  readonly nodeGroup?: string;
}

export type CauseWrite =
  /** `refused`: nothing is written since every cause there is in force, and there are too many. */
  | { readonly kind: 'recorded'; readonly refused?: true }
  | { readonly kind: 'create'; readonly object: JsonObject }
  /** A JSON merge patch that carries the resourceVersion it was made from. */
  | { readonly kind: 'patch'; readonly body: JsonObject };

/**
 * What governs comes first, as `kubectl get` shows the first cause; else in order of their coming.
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

/** The one write that records `cause`, given the object as it is now. */
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

/** Causes that an operator may withdraw: the operator's own, and recommendations. */
export const mayBeWithdrawn = ({ kind }: DisruptionCause): boolean =>
  kind === 'Manual' || kind === 'RebalanceRecommendation';

/** The one write that withdraws every cause that an operator may; `recorded` when none counts. */
export const withdrawWrite = (existing: NodeDisruption, cancelledAt: string): CauseWrite =>
  withdrawAll(existing, cancelledAt, mayBeWithdrawn);

/**
 * The one write that withdraws one cause, one that was dealt with included: its node is given back
 * once no other cause wants it. `recorded` when it is withdrawn already, or not there.
 */
export const withdrawCauseWrite = (
  existing: NodeDisruption,
  causeId: string,
  cancelledAt: string,
): CauseWrite => withdrawAll(existing, cancelledAt, ({ id }) => id === causeId);

/**
 * The one write that replaces causes by their id, as with the cloud's answer. `recorded` when none
 * is found, or all were withdrawn.
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

/**
 * The one write that withdraws every cause of an update that still counts; `recorded` when none
 * does.
 */
export const withdrawUpdatesWrite = (existing: NodeDisruption, cancelledAt: string): CauseWrite =>
  withdrawAll(existing, cancelledAt, ({ kind }) => kind === 'Update');

/** What begins to count with the end of a hold. All times are RFC 3339. */
export interface Lifted {
  readonly deadline: string;
  readonly onDeadline: 'force' | 'fail';
  readonly forceFrom?: string;
}

/**
 * The one write that ends a cause's hold, so that its node is drained. `recorded` when it holds no
 * more (what was written first stands), was withdrawn, or is not there.
 */
export const liftWrite = (existing: NodeDisruption, causeId: string, lifted: Lifted): CauseWrite =>
  changeWrite(
    existing,
    ({ id, hold, cancelledAt }) => id === causeId && hold === true && cancelledAt === undefined,
    (cause) => ({ ...cause, ...lifted, hold: false }),
  );

/**
 * The one write that lets a drained instance go, once its cooldown is over. `recorded` when it is
 * let go already, was withdrawn, or is not there.
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
