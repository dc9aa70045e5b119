// How long something takes: a median with what one in ten exceeds, in seconds, and how it is drawn.
// Pure: chance is an argument.
import type { HookKind } from '../../../api/update-hooks.ts';
import type { Chance } from './random.ts';

/** Half are below `p50`, nine of ten below `p90`; between them as a log-normal. */
export interface Spread {
  readonly p50: number;
  readonly p90: number;
  /** None takes longer, where that is known. */
  readonly most?: number;
  /** Where it comes from, for people. */
  readonly source: string;
}

export interface HookSpread extends Spread {
  /** It has never run: what one run of it takes, all take. */
  readonly isGuess?: true;
}

export type HookSpreads = { readonly [Kind in HookKind]?: HookSpread };

export interface StopSpread extends Spread {
  /** The pod's grace, or less where that is known. */
  readonly most: number;
  /** None takes less: what preStop sleeps. */
  readonly least?: number;
  /**
   * It was seen pod by pod, and is drawn so; what is told or guessed is drawn once per run, since
   * pods are alike.
   */
  readonly isSeen?: true;
  /** Of a guess: the share of runs in which the owner's pods take `most`. */
  readonly graceShare?: number;
}

/** Of a standard normal, nine of ten are below it. */
const z90 = 1.2816;

/**
 * What a standard normal is multiplied with in the exponent: the standard deviation of the
 * logarithm.
 */
export const spreadFactor = ({ p50, p90 }: Spread): number =>
  p50 <= 0 ? 0 : Math.log(Math.max(p90, p50) / p50) / z90;

export const draw = (spread: Spread, chance: Chance): number => {
  const { p50, most } = spread;
  if (p50 <= 0) return 0;
  const seconds = p50 * Math.exp(chance.normal() * spreadFactor(spread));
  return Math.min(seconds, most ?? seconds);
};
