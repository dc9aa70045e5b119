// The sizes of node groups as the oracles read them: the size in a NodeGroup's status, the bounds
// of its Auto Scaling group, and the last size that a call set. Judges nothing.
import { type JsonObject, objectOr } from '../../../src/api/json.ts';
import type { Call, ObjectEntry } from './book.ts';
import { numberOf, textOf } from './read.ts';

/** Lifecycle states of an instance that is being terminated or detached, or no longer exists. */
export const leaving = /^(?:Terminat|Detach|$)/;

export interface Bounds {
  readonly min: number;
  readonly max: number;
}

export interface ReportedGroup extends Bounds {
  readonly autoScalingGroup: string;
  readonly nodeGroup: string;
  readonly desired: number;
  /** The size in the spec that the controller has noted in `status.requested`. */
  readonly requested: number | undefined;
  /** It has the annotation `drover.dev/force`. */
  readonly isForced: boolean;
}

export const autoScalingGroupOf = ({ spec, status }: JsonObject): string =>
  textOf(objectOr(status).autoScalingGroupName ?? objectOr(spec).autoScalingGroupName);

/** Undefined: another kind of object, or a NodeGroup that reports no bounds yet. */
export const reportedGroup = ({
  type,
  resource,
  object,
}: Pick<ObjectEntry, 'type' | 'resource' | 'object'>): ReportedGroup | undefined => {
  if (resource !== 'nodegroups' || type === 'DELETED') return undefined;
  const { minSize, maxSize, desired, requested } = objectOr(object.status);
  const [min, max] = [numberOf(minSize), numberOf(maxSize)];
  if (min === undefined || max === undefined) return undefined;
  const { name, annotations } = objectOr(object.metadata);
  return {
    autoScalingGroup: autoScalingGroupOf(object),
    nodeGroup: textOf(name),
    min,
    max,
    desired: numberOf(desired) ?? 0,
    requested: numberOf(objectOr(requested).desired),
    isForced: objectOr(annotations)['drover.dev/force'] === 'true',
  };
};

/** A successful call that terminates an instance and decrements the desired size. */
export const isDecrement = ({ operation, input, error }: Call): boolean =>
  operation === 'TerminateInstanceInAutoScalingGroup' &&
  error === undefined &&
  input.ShouldDecrementDesiredCapacity === true;

/** A successful call that sets the size or the bounds of a group. */
export interface SizeCall extends Partial<Bounds> {
  readonly group: string;
  readonly desired: number | undefined;
}

/** Undefined: the call names no Auto Scaling group, or it failed. */
export const sizeCallOf = ({ service, input, error }: Call): SizeCall | undefined => {
  const group = textOf(input.AutoScalingGroupName);
  if (service !== 'autoscaling' || error !== undefined || group === '') return undefined;
  const [min, max] = [numberOf(input.MinSize), numberOf(input.MaxSize)];
  return {
    group,
    desired: numberOf(input.DesiredCapacity),
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
  };
};

/** Bounds of every group, from the latest report or call. */
export class KnownBounds {
  readonly #bounds = new Map<string, Bounds>();

  reported({ autoScalingGroup, min, max }: ReportedGroup): void {
    this.#bounds.set(autoScalingGroup, { min, max });
  }

  /** The bounds of the group after the call; undefined if they are not known. */
  called(call: SizeCall): Bounds | undefined {
    const known = this.#bounds.get(call.group);
    const [min, max] = [call.min ?? known?.min, call.max ?? known?.max];
    if (min === undefined || max === undefined) return undefined;
    this.#bounds.set(call.group, { min, max });
    return { min, max };
  }
}

/** The size that a call last set for each group, as far as the trace shows it. */
export class LastSet {
  readonly #sizes = new Map<string, number>();

  get(group: string): number | undefined {
    return this.#sizes.get(group);
  }

  decremented(group: string): void {
    const before = this.#sizes.get(group);
    if (before !== undefined) this.#sizes.set(group, before - 1);
  }

  /** New bounds without a size clamp the size to them. */
  called({ group, desired }: SizeCall, { min, max }: Bounds): void {
    const before = this.#sizes.get(group);
    if (desired !== undefined) this.#sizes.set(group, desired);
    else if (before !== undefined) this.#sizes.set(group, Math.max(min, Math.min(max, before)));
  }
}

/**
 * Sizes that a spec recently requested. The smallest counts, since the controller may have seen any
 * of them.
 */
export class RequestedSizes {
  readonly #requests = new Map<string, { readonly at: number; readonly desired: number }[]>();

  take({ metadata, spec }: JsonObject, group: string, at: number): void {
    const { minSize, desired } = objectOr(objectOr(spec).scaling);
    const isDeleted = objectOr(metadata).deletionTimestamp !== undefined;
    const size = isDeleted ? 0 : (numberOf(desired) ?? numberOf(minSize) ?? 0);
    const all = this.#requests.get(group) ?? [];
    if (all.at(-1)?.desired !== size) this.#requests.set(group, [...all, { at, desired: size }]);
  }

  /** Undefined for a group that the trace has not shown. */
  least(group: string, since: number): number | undefined {
    const all = this.#requests.get(group);
    if (all === undefined) return undefined;
    const young = all.filter((_, i) => (all[i + 1]?.at ?? Number.POSITIVE_INFINITY) >= since);
    return Math.min(...young.map(({ desired }) => desired));
  }
}
