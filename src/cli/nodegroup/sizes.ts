// The sizes that `drover scale nodegroup` asks for. Sends nothing.
import type { JsonObject } from '../../api/json.ts';
import { CommandError, exitCodes } from '../context.ts';

export interface AskedSizes {
  readonly desired?: number;
  readonly minSize?: number;
  readonly maxSize?: number;
}

const usage = (message: string): CommandError => new CommandError(exitCodes.usage, message);

/** What the group is to have; refuses what cannot be, in the flags' words. */
export const sizesWanted = (
  asked: AskedSizes,
  now: { readonly minSize: number; readonly maxSize: number; readonly desired: number },
): Required<AskedSizes> => {
  const minSize = asked.minSize ?? now.minSize;
  const maxSize = asked.maxSize ?? now.maxSize;
  // A new bound that the size does not keep moves the size; a size that was asked for never moves.
  const desired = asked.desired ?? Math.max(minSize, Math.min(maxSize, now.desired));
  if (minSize > maxSize) {
    throw usage(`minimum size ${minSize} is greater than maximum size ${maxSize}`);
  }
  if (desired < minSize) {
    throw usage(
      `${desired} nodes are fewer than the minimum size ${minSize}; lower --nodes-min too`,
    );
  }
  if (desired > maxSize) {
    throw usage(
      `${desired} nodes are more than the maximum size ${maxSize}; raise --nodes-max too`,
    );
  }
  return { minSize, maxSize, desired };
};

/**
 * Only what was asked for, and the size where a bound moves it: a field that is left out belongs to
 * autoscalers, and is not taken from them in passing.
 */
export const askedOnly = (
  asked: AskedSizes,
  wanted: Required<AskedSizes>,
  desired: number | undefined,
): JsonObject => ({
  ...(asked.minSize === undefined ? {} : { minSize: wanted.minSize }),
  ...(asked.maxSize === undefined ? {} : { maxSize: wanted.maxSize }),
  ...(asked.desired !== undefined || (desired !== undefined && desired !== wanted.desired)
    ? { desired: wanted.desired }
    : {}),
});
