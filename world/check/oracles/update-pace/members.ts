// Which members of a group are out of service for an update, and which serve, when the update
// starts one more node. Judges nothing.
import type { Context } from '../../oracle.ts';
import type { InstanceState } from '../../state/cloud.ts';
import type { CauseState, DisruptionState } from '../../state/disruptions.ts';
import { microsPerMinute } from '../../state/read.ts';
import { isOfUpdate, type UpdateState } from '../../state/updates.ts';

const leaving = /^(?:Terminat|Detach|$)/;
export const isLeavingState = (state: string): boolean => leaving.test(state);

/**
 * An update stops waiting for a drain that a foreign cause keeps open this long past the update's
 * own deadline.
 */
const givesUpMicros = 2 * microsPerMinute;

/** Blue/green: the node is drained and does not count as capacity; as many new nodes serve. */
const isKept = ({ phase, causes, handledBefore }: DisruptionState): boolean =>
  (phase === 'Ended' &&
    causes.every(({ followUp, isCancelled }) => isCancelled || followUp === 'Release')) ||
  causes.some(
    ({ id, kind, followUp }) =>
      kind === 'Update' && followUp === 'Release' && handledBefore.has(id),
  );

/** Blue/green: the update drained the node, whatever other causes the node had or gets later. */
const isEmptied = ({ phase, causes, handledBefore }: DisruptionState): boolean =>
  causes.some(
    ({ id, kind, followUp, isCancelled }) =>
      kind === 'Update' &&
      followUp === 'Release' &&
      !isCancelled &&
      (phase === 'Ended' || handledBefore.has(id)),
  );

/**
 * Whether the update drains the node and has neither cancelled nor given up. `now`: by the fastest
 * clock of a possible leader.
 */
const isLetGo = (update: UpdateState, one: DisruptionState, now: number): boolean => {
  const hasTime = ({ deadlineAt, isForcing }: CauseState): boolean =>
    one.phase !== 'Draining' || isForcing || now <= (deadlineAt ?? now) + givesUpMicros;
  const isAsked = one.causes.some(
    (cause) =>
      isOfUpdate(update, cause) && !cause.isHolding && !cause.isCancelled && hasTime(cause),
  );
  return isAsked && one.outcome !== 'Failed' && !isKept(one) && !isEmptied(one);
};

/** Terminated without decrement: Auto Scaling launches a replacement. */
const isReplaced = (update: UpdateState, one: DisruptionState): boolean =>
  one.causes.some(
    (cause) => isOfUpdate(update, cause) && !cause.isCancelled && cause.followUp === 'Replace',
  );

/** Ready, or unready so recently that the controller may not know it. */
const serves = ({ book }: Context, instanceId: string): boolean => {
  const node = book.nodes.ofInstance(instanceId);
  if (node === undefined) return false;
  return node.ready || book.now - (node.unreadySince ?? 0) <= book.lagMicros;
};

/** The group without the node that an update starts. */
export interface Standing {
  /** Members that neither the update nor another actor takes out of service. */
  readonly stay: readonly InstanceState[];
  /** Number of other nodes that are out of service for the update or on their way out. */
  readonly gone: number;
  readonly serving: number;
  /** Number of replacements that Auto Scaling launches. */
  readonly launches: number;
}

export const standingOf = (
  context: Context,
  taken: { readonly update: UpdateState; readonly one: DisruptionState },
  group: {
    readonly members: readonly InstanceState[];
    /** By instance: when it began to leave. */
    readonly leftAt: ReadonlyMap<string, number>;
  },
): Standing => {
  const { book } = context;
  const { update, one } = taken;
  const stay: InstanceState[] = [];
  let [gone, serving, launches] = [0, 0, isReplaced(update, one) ? 1 : 0];
  for (const member of group.members) {
    const { instanceId, state } = member;
    if (instanceId === one.instanceId) continue;
    const other = book.disruptions.ofInstance(instanceId);
    if (isLeavingState(state)) {
      if (other !== undefined && isEmptied(other)) continue;
      const isYoung = book.now - (group.leftAt.get(instanceId) ?? 0) <= book.lagMicros;
      if (isYoung) serving++;
      else if (state !== 'Terminated' && state !== '') gone++;
    } else if (
      other !== undefined &&
      isLetGo(update, other, book.now + (book.facts.clockSkew ?? 0))
    ) {
      gone++;
      if (isReplaced(update, other)) launches++;
    } else {
      stay.push(member);
      if (serves(context, instanceId)) serving++;
    }
  }
  return { stay, gone, serving, launches };
};
