// Oracle 7, the part of what nobody forced: of an update by EKS' strategies without force no
// protected pod is deleted on a node that leaves by our own choice. A notice (a hook of somebody
// else's termination, spot, an event) may force; a size that we make smaller, so that Auto Scaling
// ends an instance with pods on it, is none.
import { objectOr } from '../../../../src/api/json.ts';
import type { Context, Watcher } from '../../oracle.ts';
import { AskedSizes } from '../../state/asked-sizes.ts';
import { type Call, endsPod, isEviction, type Request, succeeded } from '../../state/book.ts';
import { inForce } from '../../state/disruptions.ts';
import { isFinished } from '../../state/pods.ts';
import { numberOf, textOf } from '../../state/read.ts';
import { isOfUpdate } from '../../state/updates.ts';

const leaving = /^(?:Terminat|Detach|$)/;
const own = /^(?:SURGE|BLUE_GREEN)$/;

/** Instances that left since we asked for fewer, without anybody's force. */
class Chosen {
  readonly #context: Context;
  readonly #ids = new Set<string>();
  /** So many are still to be chosen, by group. */
  readonly #due = new Map<string, number>();
  /**
   * What somebody else last asked for: who goes for that was not our choice, whatever we ask for
   * next.
   */
  readonly #theirs = new Map<string, number>();
  readonly #forced = new Map<string, boolean>();
  readonly #named = new Set<string>();
  readonly #nodeGroups = new Map<string, string>();
  readonly sizes = new AskedSizes();

  constructor(context: Context) {
    this.#context = context;
  }

  has(instanceId: string): boolean {
    return this.#ids.has(instanceId);
  }

  group(group: string, nodeGroup: string, isForced: boolean): void {
    this.#forced.set(group, isForced);
    this.#nodeGroups.set(group, nodeGroup);
  }

  called({ operation, input, error }: Call): void {
    if (error !== undefined) return;
    // Somebody says which one goes.
    if (/^Terminate/.test(operation)) this.#named.add(textOf(input.InstanceId));
    const [group, desired] = [textOf(input.AutoScalingGroupName), numberOf(input.DesiredCapacity)];
    if (desired === undefined || this.#forced.get(group) !== false) return;
    const { book } = this.#context;
    // With force EKS' strategies leave the choice to Auto Scaling, whose hook deletes after its
    // time.
    if (book.updates.openOf(this.#nodeGroups.get(group) ?? '')?.isForced === true) return;
    // Nothing fences what a leader that stood still sends then.
    if (book.mayLeaderBeLate && this.sizes.isNoted(group, desired)) {
      this.#theirs.set(group, desired);
      return;
    }
    let members = 0;
    for (const { group: of, state } of book.cloud.instances.values()) {
      if (of === group && !leaving.test(state)) members++;
    }
    if (desired >= members) this.#theirs.delete(group);
    const ours = Math.min(members, this.#theirs.get(group) ?? members) - desired;
    this.#due.set(group, Math.max(0, ours));
  }

  left(instanceId: string): void {
    const group = this.#context.book.cloud.instances.get(instanceId)?.group ?? '';
    const due = this.#due.get(group) ?? 0;
    if (due === 0 || this.#named.has(instanceId) || this.#ids.has(instanceId)) return;
    this.#due.set(group, due - 1);
    this.#ids.add(instanceId);
  }

  /** Somebody else's size. */
  asked({ error, input }: Call): void {
    const [group, desired] = [textOf(input.AutoScalingGroupName), numberOf(input.DesiredCapacity)];
    this.#due.delete(group);
    if (error === undefined && desired !== undefined) this.#theirs.set(group, desired);
  }
}

/**
 * Why a deletion on this node was nobody's notice; undefined: it was one, or was asked for with
 * force.
 */
const wrongWith = ({ book }: Context, chosen: Chosen, entry: Request): string | undefined => {
  const pod = book.podOf(entry);
  const disruption = pod && book.disruptionOf(pod);
  if (disruption === undefined) return undefined;
  if (chosen.has(disruption.instanceId)) return 'which Auto Scaling chose for a size of ours';
  const forcing = inForce(disruption, { at: book.now, lagMicros: book.lagMicros }).filter(
    ({ isForcing }) => isForcing,
  );
  const unforced = forcing.flatMap((cause) => {
    const update = [...book.updates.byName.values()].find((one) => isOfUpdate(one, cause));
    return update === undefined || update.isForced || own.test(update.strategy) ? [] : update.name;
  });
  if (forcing.length === 0 || unforced.length < forcing.length) return undefined;
  return `which update ${unforced[0]} empties without force`;
};

export const watchUnforced = (context: Context): Watcher => {
  const { book, saw, report } = context;
  const chosen = new Chosen(context);
  return {
    object: ({ resource, object, type }) => {
      if (resource !== 'nodegroups' || type === 'DELETED') return;
      const { annotations, deletionTimestamp, name } = objectOr(object.metadata);
      const told = objectOr(object.status).autoScalingGroupName;
      const group = textOf(told ?? objectOr(object.spec).autoScalingGroupName);
      const isForced = objectOr(annotations)['drover.dev/force'] === 'true';
      chosen.sizes.take(group, book.now, object);
      chosen.group(group, textOf(name), isForced || deletionTimestamp !== undefined);
    },
    call: (entry) => {
      if (entry.service !== 'autoscaling') return;
      if (book.isOurs(entry) || /^Terminate/.test(entry.operation)) chosen.called(entry);
      else chosen.asked(entry);
    },
    lifecycle: ({ instanceId, state }) => {
      if (leaving.test(state)) chosen.left(instanceId);
    },
    request: (entry) => {
      if (!book.isOurs(entry) || !succeeded(entry)) return;
      const pod = book.podOf(entry);
      if (pod === undefined || !endsPod(entry) || isEviction(entry)) return;
      if (pod.phase === 'Pending' || isFinished(pod)) return;
      const [budget] = book.pods.budgetsOf(pod);
      if (budget === undefined) return;
      saw();
      const wrong = wrongWith(context, chosen, entry);
      if (wrong === undefined) return;
      const message =
        `deleted on node ${pod.nodeName}, ${wrong}, although ` + `budget ${budget.key} covers it`;
      report({ subject: pod.key, message });
    },
  };
};
