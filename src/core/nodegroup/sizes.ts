// Decides which sizes apply: a request in the spec, or a change to the Auto Scaling group from
// outside. Drover carries out the first and writes the second back to the spec; it never reverts
// it.
import type { NodeGroupScaling } from '../../api/nodegroup.ts';
import type { SizeChange, Sizes } from '../../api/plan.ts';

export interface SizeFacts {
  readonly spec: NodeGroupScaling;
  readonly actual: Sizes;
  /** The Auto Scaling group as last recorded in the status; undefined: never observed. */
  readonly last: Sizes | undefined;
  /** The spec's sizes as last recorded in the status. */
  readonly noted: NodeGroupScaling | undefined;
  /** The spec is unchanged since Drover's own write-back. */
  readonly followed: boolean;
  /**
   * A user changed the spec after a write-back that the status has not recorded yet, so it is a new
   * request.
   */
  readonly asksAnew?: boolean;
}

export interface SizeDecision {
  /** The spec's sizes after this pass; the same object if nothing is written back. */
  readonly scaling: NodeGroupScaling;
  /** The number of instances to reach. */
  readonly target: number;
}

const fields = ['minSize', 'maxSize', 'desired'] as const;
type Field = (typeof fields)[number];

export const clamp = (value: number, min: number, max: number): number =>
  Math.max(min, Math.min(max, value));

export const isBetween = (value: number, a: number, b: number): boolean =>
  value >= Math.min(a, b) && value <= Math.max(a, b);

/** Whether the group's value differs from the spec because of a change from outside. */
const isOutside = (
  field: Field,
  { spec, actual, last, noted, followed, asksAnew }: SizeFacts,
): boolean => {
  const asked = spec[field];
  if (asked === undefined || asked === actual[field] || last === undefined) return false;
  const moved = asksAnew === true || (noted !== undefined && asked !== noted[field]);
  if (moved && !followed) return false;
  // After a write-back that the status has not recorded, the spec is the last observed value.
  const before = moved ? asked : last[field];
  return !isBetween(actual[field], before, asked);
};

const followedScaling = (facts: SizeFacts): NodeGroupScaling => {
  const { spec, actual } = facts;
  const value = (field: Field): number | undefined =>
    isOutside(field, facts) ? actual[field] : spec[field];
  const minSize = value('minSize') ?? spec.minSize;
  const maxSize = Math.max(minSize, value('maxSize') ?? spec.maxSize);
  const desired = value('desired');
  return {
    minSize,
    maxSize,
    ...(desired === undefined ? {} : { desired: clamp(desired, minSize, maxSize) }),
  };
};

export const decideSizes = (facts: SizeFacts): SizeDecision => {
  const follows = fields.some((field) => isOutside(field, facts));
  const scaling = follows ? followedScaling(facts) : facts.spec;
  const { minSize, maxSize, desired } = scaling;
  return { scaling, target: desired ?? clamp(facts.actual.desired, minSize, maxSize) };
};

export interface WantedSizes {
  readonly minSize: number;
  readonly maxSize: number;
  readonly target: number;
  /**
   * An update lowers the desired size to this, together with the maximum, and Auto Scaling chooses
   * the instance.
   */
  readonly lower?: number | undefined;
}

/**
 * The sizes to set at once; undefined: none. Excludes scale-in: those nodes are drained first, and
 * the maximum stays above them so that Auto Scaling does not choose instances.
 */
export const sizeChange = (wanted: WantedSizes, actual: Sizes): SizeChange | undefined => {
  const desired = wanted.lower ?? Math.max(actual.desired, wanted.target);
  const maxSize = Math.max(wanted.maxSize, desired);
  const minSize = Math.min(wanted.minSize, desired);
  const change: SizeChange = {
    ...(minSize === actual.minSize ? {} : { minSize }),
    ...(maxSize === actual.maxSize ? {} : { maxSize }),
    ...(desired === actual.desired ? {} : { desiredCapacity: desired }),
  };
  return Object.keys(change).length === 0 ? undefined : change;
};
