// The arithmetic of a disruption budget's spec: how many pods may be unavailable when all are
// healthy. Rounds like the disruption controller: percentages always up (policy/v1). Pure.
import type { PodDisruptionBudget } from '../../../api/kube.ts';

const scaled = (value: number | string, of: number): number =>
  typeof value === 'number' ? value : Math.ceil((Number.parseFloat(value) / 100) * of);

/** Disruptions allowed while all `expected` pods are healthy. */
export const allowedWhenHealthy = ({ spec }: PodDisruptionBudget, expected: number): number => {
  if (spec.maxUnavailable !== undefined) {
    return Math.max(0, Math.min(expected, scaled(spec.maxUnavailable, expected)));
  }
  return Math.max(0, expected - scaled(spec.minAvailable ?? 1, expected));
};

export const ruleOf = ({ spec }: PodDisruptionBudget): string =>
  spec.maxUnavailable === undefined
    ? `minAvailable ${spec.minAvailable ?? 1}`
    : `maxUnavailable ${spec.maxUnavailable}`;
