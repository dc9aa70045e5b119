// A duration as a median and a 90th percentile, in seconds, and how it is drawn. Pure: the random
// source is an argument.
import type { HookKind } from '../../../api/update-hooks.ts';
import type { Chance } from './random.ts';

/** Log-normal: half of the values are below `p50`, nine in ten below `p90`. */
export interface Spread {
  readonly p50: number;
  readonly p90: number;
  /** Upper bound, if known. */
  readonly most?: number;
  /** The source of the numbers, for display. */
  readonly source: string;
}

export interface HookSpread extends Spread {
  /** The hook has never run: all nodes of a run share one duration. */
  readonly isGuess?: true;
}

export type HookSpreads = { readonly [Kind in HookKind]?: HookSpread };

export interface StopSpread extends Spread {
  /** The pod's grace period, or less if known. */
  readonly most: number;
  /** Lower bound: the sleep of preStop. */
  readonly least?: number;
  /**
   * Measured and drawn per pod. Known or guessed times are drawn once per run, since an owner's
   * pods are alike.
   */
  readonly isSeen?: true;
  /** Guesses only: share of runs in which the owner's pods take `most`. */
  readonly graceShare?: number;
}

/** 90th percentile of a standard normal. */
const z90 = 1.2816;

/** The factor of a standard normal in the exponent: the standard deviation of the logarithm. */
export const spreadFactor = ({ p50, p90 }: Spread): number =>
  p50 <= 0 ? 0 : Math.log(Math.max(p90, p50) / p50) / z90;

export const draw = (spread: Spread, chance: Chance): number => {
  const { p50, most } = spread;
  if (p50 <= 0) return 0;
  const seconds = p50 * Math.exp(chance.normal() * spreadFactor(spread));
  return Math.min(seconds, most ?? seconds);
};
