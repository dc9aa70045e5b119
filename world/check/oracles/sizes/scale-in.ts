// Scale-in: when the controller terminates an instance and decrements the size, the group keeps at
// least the size in the spec.
import type { Context, Watcher } from '../../oracle.ts';
import type { Call, ObjectEntry } from '../../state/book.ts';
import { ChangesOfOthers } from '../../state/changes-of-others.ts';
import { isDecrement, leaving, RequestedSizes, reportedGroup } from '../../state/group-sizes.ts';
import { microsPerMinute, textOf } from '../../state/read.ts';
import { type ScaleIn, scaleInExemptions } from './scale-in-exemptions.ts';

/** During an update the controller reads the group every few seconds. */
const unseenMicros = microsPerMinute;

/**
 * An update replaces other instances at the same time, so the group's desired size is the measure
 * for its scale-in.
 */
const isOfUpdate = ({ book }: Context, instanceId: string): boolean =>
  (book.disruptions.ofInstance(instanceId)?.causes ?? []).some(
    ({ kind, followUp }) => kind === 'Update' && followUp === 'Terminate',
  );

class ScaleIns {
  readonly #context: Context;
  readonly changes = new ChangesOfOthers();
  readonly #requests = new RequestedSizes();
  readonly #noted = new Map<string, number>();
  readonly #leftAt = new Map<string, number>();
  readonly #taken = new Set<string>();

  constructor(context: Context) {
    this.#context = context;
  }

  group(entry: ObjectEntry): void {
    const { book } = this.#context;
    const group = reportedGroup(entry);
    if (group === undefined) return;
    const { autoScalingGroup, requested } = group;
    if (requested !== undefined) this.#noted.set(autoScalingGroup, requested);
    this.#requests.take(entry.object, autoScalingGroup, entry.at);
    this.changes.writtenBack(entry.object, autoScalingGroup, entry.at - book.lagMicros);
  }

  left(instanceId: string, state: string, at: number): void {
    if (leaving.test(state) && !this.#leftAt.has(instanceId)) this.#leftAt.set(instanceId, at);
  }

  taken(call: Call, group: string): void {
    const { book, saw, report, isExempt } = this.#context;
    const instanceId = textOf(call.input.InstanceId);
    const isRepeated = this.#taken.has(instanceId);
    this.#taken.add(instanceId);
    const requested = this.#requests.least(group, book.now - book.lagMicros);
    if (requested === undefined) return;
    const { left, young } = this.#members(group, instanceId);
    saw();
    if (left >= requested) return;
    const one: ScaleIn = {
      isRepeated,
      requested,
      noted: this.#noted.get(group),
      members: left + young,
      isOfUpdate: isOfUpdate(this.#context, instanceId),
      desired: book.cloud.groups.get(group)?.desired ?? 0,
      takenByOthers: this.changes.smallerBy(group, book.now - unseenMicros),
    };
    if (isExempt(scaleInExemptions, one)) return;
    const message = `a scale-in left ${one.members} instances where ${requested} were asked for`;
    report({ subject: group, message });
  }

  /** Members except this one: those left, and those that other clients have just terminated. */
  #members(group: string, taken: string): { readonly left: number; readonly young: number } {
    const { book } = this.#context;
    let [left, young] = [0, 0];
    for (const { instanceId, state, group: of } of book.cloud.instances.values()) {
      if (of !== group || instanceId === taken) continue;
      const isYoung = book.now - (this.#leftAt.get(instanceId) ?? 0) <= book.lagMicros;
      if (!leaving.test(state)) left++;
      else if (isYoung && !this.#taken.has(instanceId)) young++;
    }
    return { left, young };
  }
}

export const watchScaleIn = (context: Context): Watcher => {
  const { book } = context;
  const scaleIns = new ScaleIns(context);
  return {
    object: (entry) => {
      if (book.isNewVersion) scaleIns.group(entry);
    },
    lifecycle: ({ instanceId, state, at }) => scaleIns.left(instanceId, state, at),
    scaling: (entry) => scaleIns.changes.scaled(entry),
    call: (entry) => {
      const named = textOf(entry.input.InstanceId);
      const group = book.cloud.instances.get(named)?.group ?? '';
      const isOurs = book.isOurs(entry);
      scaleIns.changes.called(entry, { isOurs, group });
      if (isOurs && isDecrement(entry)) scaleIns.taken(entry, group);
    },
  };
};
