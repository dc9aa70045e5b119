// Who wants which size: a request in the spec, or a change that somebody made to the Auto Scaling
// group from outside. The first is carried out, the second written back and never pushed back.
import type { NodeGroupScaling } from '../../api/nodegroup.ts';
import type { SizeChange, Sizes } from '../../api/plan.ts';

export interface SizeFacts {
  readonly spec: NodeGroupScaling;
  readonly actual: Sizes;
  /** The Auto Scaling group as the status last told it; undefined: never looked at. */
  readonly last: Sizes | undefined;
  /** The spec's sizes as last taken note of. */
  readonly noted: NodeGroupScaling | undefined;
  /** The spec is as a write-back of ours left it. */
  readonly followed: boolean;
  /**
   * Somebody changed the spec after a write-back of ours of which the status was never told: it is
   * a request.
   */
  readonly asksAnew?: boolean;
}

export interface SizeDecision {
  /** The spec's sizes from now on; the same object when nothing is written back. */
  readonly scaling: NodeGroupScaling;
  /** How many instances there are to be in the end. */
  readonly target: number;
}

const fields = ['minSize', 'maxSize', 'desired'] as const;
type Field = (typeof fields)[number];

export const clamp = (value: number, min: number, max: number): number =>
  Math.max(min, Math.min(max, value));

export const isBetween = (value: number, a: number, b: number): boolean =>
  value >= Math.min(a, b) && value <= Math.max(a, b);

/** Whether the group's value differs from the spec's because somebody else set it. */
const isOutside = (
  field: Field,
  { spec, actual, last, noted, followed, asksAnew }: SizeFacts,
): boolean => {
  const asked = spec[field];
  if (asked === undefined || asked === actual[field] || last === undefined) return false;
  const moved = asksAnew === true || (noted !== undefined && asked !== noted[field]);
  if (moved && !followed) return false;
  // After a write-back whose status was never written, the spec itself is what was last seen.
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
   * What an update lowers it to, and leaves to Auto Scaling which instance goes: at once with the
   * maximum.
   */
  readonly lower?: number | undefined;
}

/**
 * What to set at once; undefined when nothing. Scale-in is not among it: those nodes are drained
 * first, and the maximum stays above them so that Auto Scaling does not choose for us.
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
