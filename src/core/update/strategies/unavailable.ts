// How many nodes an update may make unavailable at once, and the size of its surge. Rules: EKS API
// reference, NodegroupUpdateConfig; EKS user guide, "managed node update behavior". Pure.
import type { UpdateConfig } from '../../../api/nodegroup.ts';

/** EKS' maximum for any percentage. */
const mostAtOnce = 100;

/**
 * EKS does not document its rounding. Rounding down, with a minimum of one, never exceeds the
 * request.
 */
export const maxUnavailableOf = (config: UpdateConfig | undefined, nodes: number): number => {
  const { maxUnavailable, maxUnavailablePercentage } = config ?? {};
  const wanted =
    maxUnavailablePercentage === undefined
      ? (maxUnavailable ?? 1)
      : Math.floor((nodes * maxUnavailablePercentage) / 100);
  return Math.max(1, Math.min(mostAtOnce, wanted));
};

/** EKS' surge: twice the number of zones or maxUnavailable, whichever is larger. */
export const eksSurge = (zones: number, maxUnavailable: number): number =>
  Math.max(2 * zones, maxUnavailable);

/**
 * Drover's surge: one node for each zone with old nodes or maxUnavailable, whichever is larger; at
 * most the number of old nodes.
 */
export const ownSurge = (old: number, zones: number, maxUnavailable: number): number =>
  Math.min(old, Math.max(zones, maxUnavailable));
