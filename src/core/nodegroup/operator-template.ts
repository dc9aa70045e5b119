// Versions of a launch template that the operator of an adopted group created. Decides the version
// of the group's nodes, and whether an update can use the requested one directly. Pure.
import type { ScalingGroup } from '../../api/cloud.ts';
import { isObject } from '../../api/json.ts';

type Launches = Pick<ScalingGroup, 'launchTemplate' | 'instances'>;

const isNumber = (version: string | undefined): version is string => /^\d+$/.test(version ?? '');

const versionsOf = ({ instances }: Launches): readonly string[] =>
  instances.map((one) => one.launchTemplateVersion).filter(isNumber);

/**
 * The version that an update restores. A group with `$Latest` or `$Default` launches a new version
 * as soon as it exists, so the version of most instances is taken.
 */
export const versionBefore = (group: Launches): string => {
  const named = group.launchTemplate?.version ?? '';
  const counts = Map.groupBy(versionsOf(group), (version) => version);
  if (isNumber(named) || counts.size === 0) return named;
  const [first = named] = [...counts]
    .toSorted(([a, x], [b, y]) => y.length - x.length || Number(a) - Number(b))
    .map(([version]) => version);
  return first;
};

/** Whether the version's number identifies new instances: no version of the group is higher. */
export const isHighest = (version: string, group: Launches): boolean => {
  const { version: named } = group.launchTemplate ?? {};
  const others = [...versionsOf(group), ...(isNumber(named) ? [named] : [])];
  return others.every((one) => Number(one) <= Number(version));
};

/**
 * Why an update cannot replace the instances of a group's mixed instances policy. Its template does
 * not change what the template of an override launches, and updates count instances while Auto
 * Scaling counts units.
 */
export const overridesComplaint = ({
  name,
  overrides = [],
}: Pick<ScalingGroup, 'name' | 'overrides'>): string | undefined => {
  if (overrides.some((one) => isObject(one.LaunchTemplateSpecification))) {
    return (
      `Auto Scaling group ${name} has overrides with launch templates of their own, which an ` +
      'update does not change. Use one launch template for all overrides, or make another ' +
      'node group.'
    );
  }
  if (overrides.some(({ WeightedCapacity }) => Number(WeightedCapacity ?? 1) !== 1)) {
    return (
      `Auto Scaling group ${name} has instance types with weights: an update counts ` +
      'instances, and Auto Scaling counts units. Remove the weights, or start an instance ' +
      'refresh in its place.'
    );
  }
  return undefined;
};
