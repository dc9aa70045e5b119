// An update by EKS' strategies without force deletes no protected pod on a node that the controller
// chose to remove. A notice may force (a hook of a termination by others, spot, an event). A
// smaller size that the controller sets is not a notice, even if Auto Scaling then terminates an
// instance with pods.
import { objectOr } from '../../../../src/api/json.ts';
import type { Context, Watcher } from '../../oracle.ts';
import { RequestedSizes } from '../../state/asked-sizes.ts';
import { type Call, endsPod, isEviction, type Request, succeeded } from '../../state/book.ts';
import { inForce } from '../../state/disruptions.ts';
import { isFinished } from '../../state/pods.ts';
import { numberOf, textOf } from '../../state/read.ts';
import { isOfUpdate } from '../../state/updates.ts';

const leaving = /^(?:Terminat|Detach|$)/;
const own = /^(?:SURGE|BLUE_GREEN)$/;

/** Instances that Auto Scaling chose because the controller lowered the size without force. */
class Chosen {
  readonly #context: Context;
  readonly #ids = new Set<string>();
  /** Number of instances that Auto Scaling still has to choose, by group. */
  readonly #due = new Map<string, number>();
  /**
   * Size that others last set, by group. Instances chosen for that size are not the controller's
   * choice, whatever it sets later.
   */
  readonly #theirs = new Map<string, number>();
  readonly #forced = new Map<string, boolean>();
  readonly #named = new Set<string>();
  readonly #nodeGroups = new Map<string, string>();
  readonly sizes = new RequestedSizes();

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
    // The call names the instance.
    if (/^Terminate/.test(operation)) this.#named.add(textOf(input.InstanceId));
    const [group, desired] = [textOf(input.AutoScalingGroupName), numberOf(input.DesiredCapacity)];
    if (desired === undefined || this.#forced.get(group) !== false) return;
    const { book } = this.#context;
    // With force, EKS' strategies leave the choice to Auto Scaling; the termination hook then
    // deletes pods after its timeout.
    if (book.updates.openOf(this.#nodeGroups.get(group) ?? '')?.isForced === true) return;
    // Nothing fences the late calls of a leader that was paused.
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

  /** Others set a size. */
  asked({ error, input }: Call): void {
    const [group, desired] = [textOf(input.AutoScalingGroupName), numberOf(input.DesiredCapacity)];
    this.#due.delete(group);
    if (error === undefined && desired !== undefined) this.#theirs.set(group, desired);
  }
}

/** Why no notice justifies this deletion; undefined: a notice or force does. */
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
