// Changes of a group's size by others than the controller, until the controller has written them to
// the spec. Judges nothing.
import { type JsonObject, objectOr } from '../../../src/api/json.ts';
import { followedAnnotation } from '../../../src/api/nodegroup.ts';
import type { Call } from './book.ts';
import type { Scaling } from './cloud.ts';
import { isDecrement } from './group-sizes.ts';
import { numberOf, textOf } from './read.ts';

interface SizeChange {
  readonly at: number;
  readonly by: number;
  /**
   * Others terminated an instance while an update's surge kept the group above the desired size.
   */
  readonly isOfSurplus?: true;
}

/** A size that the controller wrote to the spec. */
export interface WriteBack {
  readonly desired: number;
  /** Others changed the size of the group earlier. */
  readonly isOfOthers: boolean;
  /** The spec's maximum had cut this part off an earlier size that others set. */
  readonly isRestOfCutOff: boolean;
  /** The trace shows sizes of the group. */
  readonly isSizeKnown: boolean;
}

export class ChangesOfOthers {
  readonly #sizes = new Map<string, number>();
  readonly #changes = new Map<string, readonly SizeChange[]>();
  readonly #specs = new Map<string, number | undefined>();
  readonly #cutOff = new Map<string, number | undefined>();
  readonly #surplus = new Map<string, { readonly surge: number; readonly retiring: number }>();

  scaled({ autoScalingGroupName: group, desired, at }: Scaling): void {
    const before = this.#sizes.get(group);
    this.#sizes.set(group, desired);
    if (before === undefined || before === desired) return;
    this.#changes.set(group, [...this.#of(group), { at, by: desired - before }]);
  }

  /** `group`: the group of the instance that the call terminates, if the call names one. */
  called(
    call: Call,
    { isOurs, group }: { readonly isOurs: boolean; readonly group: string },
  ): void {
    const { input, at, error, service } = call;
    if (service !== 'autoscaling' || error !== undefined) return;
    if (isDecrement(call)) {
      if (isOurs) this.#calledByUs(group, at);
      else this.#terminated(group, at);
    }
    const named = textOf(input.AutoScalingGroupName);
    if (named !== '' && isOurs) this.#calledByUs(named, at, numberOf(input.DesiredCapacity) ?? 0);
  }

  /**
   * The trace shows the effect of a call just before the call. Such a change is the controller's.
   */
  #calledByUs(group: string, at: number, desired?: number): void {
    const all = this.#of(group);
    const own = all.findLastIndex(
      (one) =>
        one.at === at &&
        (desired === undefined ? one.by === -1 : this.#sizes.get(group) === desired),
    );
    if (own < 0) return;
    this.#changes.set(group, all.toSpliced(own, 1));
    this.#cutOff.delete(group);
  }

  #terminated(group: string, at: number): void {
    const all = this.#of(group);
    const last = all.findLastIndex((one) => one.at === at && one.by === -1);
    const { surge = 0, retiring = 0 } = this.#surplus.get(group) ?? {};
    const size = this.#sizes.get(group) ?? 0;
    const requested = (this.#specs.get(group) ?? Number.POSITIVE_INFINITY) + retiring;
    if (last < 0 || surge === 0 || size < requested) return;
    this.#changes.set(group, all.with(last, { at, by: -1, isOfSurplus: true }));
  }

  /**
   * Number of instances by which others made the group smaller since then and that the spec does
   * not have yet.
   */
  smallerBy(group: string, since: number): number {
    const young = this.#of(group).filter(({ at }) => at >= since);
    return Math.max(0, -young.reduce((sum, { by }) => sum + by, 0));
  }

  /**
   * Undefined: this version of a NodeGroup writes no size back. A failed scale-in restores the
   * controller's own size, which is not a write-back.
   */
  writtenBack(
    { metadata, spec, status }: JsonObject,
    group: string,
    since: number,
  ): WriteBack | undefined {
    const { annotations, generation } = objectOr(metadata);
    const { desired: stated, maxSize } = objectOr(objectOr(spec).scaling);
    const desired = numberOf(stated);
    const before = this.#specs.get(group);
    this.#specs.set(group, desired);
    const surge = objectOr(objectOr(status).surge);
    const noted = { surge: numberOf(surge.desired) ?? 0, retiring: numberOf(surge.retiring) ?? 0 };
    this.#surplus.set(group, noted);
    const isFollowed = objectOr(annotations)[followedAnnotation] === String(generation);
    if (!isFollowed || before === undefined || desired === undefined) return undefined;
    if (before === desired || objectOr(status).failure !== undefined) return undefined;
    const size = this.#sizes.get(group);
    const isRestOfCutOff = size === desired && this.#cutOff.get(group) === desired;
    const isOfOthers = this.#of(group).some(
      ({ isOfSurplus }) => desired > before || isOfSurplus === undefined,
    );
    const isCut = size !== undefined && size > desired && numberOf(maxSize) === desired;
    this.#cutOff.set(group, isCut ? size : undefined);
    this.#forget(group, desired - before, since);
    return { desired, isOfOthers, isRestOfCutOff, isSizeKnown: size !== undefined };
  }

  #of(group: string): readonly SizeChange[] {
    return this.#changes.get(group) ?? [];
  }

  /** The write-back covers changes up to `by`; the controller may not have seen later changes. */
  #forget(group: string, by: number, since: number): void {
    const all = this.#of(group);
    let sum = 0;
    const last = all.findIndex((one) => {
      sum += one.by;
      return sum === by;
    });
    const rest = last < 0 ? [] : all.slice(last + 1).filter(({ at }) => at >= since);
    this.#changes.set(group, rest);
  }
}
