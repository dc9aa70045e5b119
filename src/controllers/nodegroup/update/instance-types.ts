// The instance types among which EC2 Auto Scaling may choose while Drover's own strategy updates a
// group. They are the group's types in their order, without those that cannot fit the pods of old
// nodes. Decides nothing.

import type { ScalingGroup } from '../../../api/cloud.ts';
import type { JsonObject } from '../../../api/json.ts';
import { resourceTypes } from '../../../api/kube.ts';
import type { NodeGroup } from '../../../api/nodegroup.ts';
import type { NodeGroupUpdateStatus, SkippedType } from '../../../api/nodegroup-update.ts';
import type { FullPod } from '../../../api/workloads.ts';
import { isMixedGroup } from '../../../core/nodegroup/index.ts';
import { podsAsk, skippedTypes, type UpdateInstance } from '../../../core/update/index.ts';
import type { NodeGroupDeps } from '../deps.ts';

type Overrides = readonly JsonObject[];

const plain = (types: readonly string[]): Overrides =>
  types.map((InstanceType) => ({ InstanceType }));

const same = (a: Overrides | undefined, b: Overrides): boolean =>
  JSON.stringify(a) === JSON.stringify(b);

/**
 * Types that Drover may restrict; those of an adopted group with weights or requirements belong to
 * its owner.
 */
const typesOf = (group: NodeGroup, { overrides = [] }: ScalingGroup): readonly string[] => {
  const { instanceTypes } = group.spec;
  if (!isMixedGroup(group) || instanceTypes.length < 2) return [];
  const isOurs = overrides.every(
    ({ InstanceType, ...more }) =>
      instanceTypes.includes(String(InstanceType)) && Object.keys(more).length === 0,
  );
  return isOurs && overrides.length > 0 ? instanceTypes : [];
};

/** The instance-type facts in an update's observation. */
export const instanceTypeFacts = (
  group: NodeGroup,
  scaling: ScalingGroup,
  { skippedTypes: skipped = [] }: NodeGroupUpdateStatus,
) => {
  const types = typesOf(group, scaling);
  if (types.length === 0) return {};
  // Narrowed only if Drover's own skipped types are missing from the overrides.
  return { types, isNarrowed: skipped.length > 0 && widened(group, scaling) !== undefined };
};

/** Maximum number of nodes read before an update begins. */
const maxNodes = 40;

/** Read once, before the first launch. Throws KubeError. */
export const findSkippedTypes = async (
  { kube }: Pick<NodeGroupDeps, 'kube'>,
  { group, scaling }: { readonly group: NodeGroup; readonly scaling: ScalingGroup },
  old: readonly UpdateInstance[],
  signal: AbortSignal,
): Promise<readonly SkippedType[]> => {
  const types = typesOf(group, scaling);
  if (types.length === 0) return [];
  const loads = [];
  for (const node of old.flatMap(({ nodeName }) => nodeName ?? []).slice(0, maxNodes)) {
    const fieldSelector = `spec.nodeName=${node}`;
    const { items } = await kube.list<FullPod>(resourceTypes.pods, { fieldSelector, signal });
    loads.push({ node, asks: podsAsk(items) });
  }
  return skippedTypes(types, loads);
};

/** The overrides during the update; undefined: no change. */
export const narrowed = (
  group: NodeGroup,
  scaling: ScalingGroup,
  { skippedTypes: skipped = [] }: NodeGroupUpdateStatus,
): Overrides | undefined => {
  if (skipped.length === 0) return undefined;
  const left = new Set(skipped.map(({ type }) => type));
  const wanted = plain(typesOf(group, scaling).filter((type) => !left.has(type)));
  return wanted.length === 0 || same(scaling.overrides, wanted) ? undefined : wanted;
};

/** The overrides with all types again; undefined: no change. */
export const widened = (group: NodeGroup, scaling: ScalingGroup): Overrides | undefined => {
  const wanted = plain(typesOf(group, scaling));
  return wanted.length === 0 || same(scaling.overrides, wanted) ? undefined : wanted;
};
