// An update in progress advances or ends within the limits of its waits, unless it is paused; after
// settling, none is open. Part of everything-ends.
import { objectOr } from '../../../../src/api/json.ts';
import type { Context } from '../../oracle.ts';
import type { Book, ObjectEntry } from '../../state/book.ts';
import type { DisruptionState } from '../../state/disruptions.ts';
import { microsPerMinute, microsPerSecond, numberOf, textOf } from '../../state/read.ts';
import { isOfUpdate, type UpdateState } from '../../state/updates.ts';

/** Drain timeout of EKS, used if the group states none. */
const usualDrainSeconds = 900;
/** Limits for new nodes to join and for forced pods to stop. */
const joinMicros = 15 * microsPerMinute;
const graceMicros = 11 * microsPerMinute;
/** Time for restarts, refusals and steps that take one pass each. */
const slackMicros = 20 * microsPerMinute;
const leaving = /^Terminating/;

interface Group {
  readonly autoScalingGroup: string;
  readonly drainMicros: number;
}

/**
 * An instance in a foreign hook, or in the hook of a failed drain, which stays open: the update
 * waits.
 */
const hasLeaver = ({ cloud }: Book, autoScalingGroup: string): boolean => {
  for (const { group, state } of cloud.instances.values()) {
    if (group === autoScalingGroup && leaving.test(state)) return true;
  }
  return false;
};

export class UpdateEnds {
  readonly #context: Context;
  readonly #groups = new Map<string, Group>();
  /** By Auto Scaling group: when one of its instances last changed state. */
  readonly #movedAt = new Map<string, number>();
  readonly #told = new Set<string>();
  /** Ended drains of updates, each counted once: `update instance follow-up`. */
  readonly #drained = new Set<string>();

  constructor(context: Context) {
    this.#context = context;
  }

  take({ type, resource, object }: ObjectEntry): void {
    if (resource !== 'nodegroups' || type === 'DELETED') return;
    const { autoScalingGroupName } = objectOr(object.status);
    const spec = objectOr(object.spec);
    const seconds = numberOf(objectOr(spec.drain).timeoutSeconds) ?? usualDrainSeconds;
    const name = textOf(objectOr(object.metadata).name);
    const known = this.#groups.get(name)?.drainMicros ?? 0;
    this.#groups.set(name, {
      autoScalingGroup: textOf(autoScalingGroupName ?? spec.autoScalingGroupName),
      // Drains in progress keep their timeout.
      drainMicros: Math.max(known, seconds * microsPerSecond),
    });
  }

  moved({ instanceId, at }: { readonly instanceId: string; readonly at: number }): void {
    const { group } = this.#context.book.cloud.instances.get(instanceId) ?? {};
    if (group !== undefined) this.#movedAt.set(group, at);
  }

  /** The end of a drain advances the update, even if the drain failed: the next node follows. */
  disruption({ instanceId, phase, causes }: DisruptionState): void {
    if (phase !== 'Ended') return;
    const { book } = this.#context;
    for (const update of book.updates.byName.values()) {
      if (update.endedAt !== undefined) continue;
      const cause = causes.findLast((one) => isOfUpdate(update, one) && !one.isHolding);
      const key = `${update.name} ${instanceId} ${cause?.followUp}`;
      if (cause === undefined || this.#drained.has(key)) continue;
      this.#drained.add(key);
      update.movedAt = book.now;
    }
  }

  tick(): void {
    const { book, saw, report } = this.#context;
    for (const update of book.updates.byName.values()) {
      if (update.beganAt === undefined || update.endedAt !== undefined || update.isPaused) continue;
      const minutes = this.#stoodStill(update);
      if (minutes === undefined || this.#told.has(update.name)) continue;
      this.#told.add(update.name);
      saw();
      report({ subject: update.name, message: `in ${update.phase} for ${minutes} min` });
    }
  }

  check(): void {
    const { book, saw, report } = this.#context;
    for (const update of book.updates.byName.values()) {
      saw();
      if (update.endedAt !== undefined) continue;
      report({ subject: update.name, message: `still ${update.phase || 'not begun'}` });
    }
  }

  /** Minutes without progress if above the limit; else undefined. */
  #stoodStill(update: UpdateState): number | undefined {
    const { book } = this.#context;
    const group = this.#groups.get(update.nodeGroup);
    if (group === undefined || hasLeaver(book, group.autoScalingGroup)) return undefined;
    const { movedAt, heldUntil } = update;
    const since = Math.max(movedAt, heldUntil, this.#movedAt.get(group.autoScalingGroup) ?? 0);
    const bound = group.drainMicros + joinMicros + graceMicros + slackMicros;
    if (book.now - since <= bound) return undefined;
    return Math.floor((book.now - since) / microsPerMinute);
  }
}
