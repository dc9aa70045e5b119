// How many nodes an update may have out of service at once, and how many more it makes first.
// Rules: EKS API reference, NodegroupUpdateConfig; EKS user guide, "managed node update behavior".
// Pure.
import type { UpdateConfig } from '../../../api/nodegroup.ts';

/** EKS never takes more nodes at once, whatever the percentage gives. */
const mostAtOnce = 100;

/** EKS does not say how it rounds; down, and at least one, never takes more than was asked for. */
export const maxUnavailableOf = (config: UpdateConfig | undefined, nodes: number): number => {
  const { maxUnavailable, maxUnavailablePercentage } = config ?? {};
  const wanted =
    maxUnavailablePercentage === undefined
      ? (maxUnavailable ?? 1)
      : Math.floor((nodes * maxUnavailablePercentage) / 100);
  return Math.max(1, Math.min(mostAtOnce, wanted));
};

/** Twice as many as there are zones, or as many as may be unavailable, whichever is more. */
export const eksSurge = (zones: number, maxUnavailable: number): number =>
  Math.max(2 * zones, maxUnavailable);

/**
 * One for each zone that has old nodes, or as many as may be unavailable; never more than are old.
 */
export const ownSurge = (old: number, zones: number, maxUnavailable: number): number =>
  Math.min(old, Math.max(zones, maxUnavailable));
