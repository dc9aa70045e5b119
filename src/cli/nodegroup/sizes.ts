// The sizes that `drover scale nodegroup` requests. Sends nothing.
import type { JsonObject } from '../../api/json.ts';
import { CommandError, exitCodes } from '../context.ts';

export interface RequestedSizes {
  readonly desired?: number;
  readonly minSize?: number;
  readonly maxSize?: number;
}

const usage = (message: string): CommandError => new CommandError(exitCodes.usage, message);

/** The resulting sizes; refuses impossible ones with the names of the flags. */
export const sizesWanted = (
  asked: RequestedSizes,
  now: { readonly minSize: number; readonly maxSize: number; readonly desired: number },
): Required<RequestedSizes> => {
  const minSize = asked.minSize ?? now.minSize;
  const maxSize = asked.maxSize ?? now.maxSize;
  // A new bound moves a size that violates it; a requested size never moves.
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
 * Only the requested sizes, and the desired size where a bound moves it. Omitted fields belong to
 * autoscalers and are not set in passing.
 */
export const askedOnly = (
  asked: RequestedSizes,
  wanted: Required<RequestedSizes>,
  desired: number | undefined,
): JsonObject => ({
  ...(asked.minSize === undefined ? {} : { minSize: wanted.minSize }),
  ...(asked.maxSize === undefined ? {} : { maxSize: wanted.maxSize }),
  ...(asked.desired !== undefined || (desired !== undefined && desired !== wanted.desired)
    ? { desired: wanted.desired }
    : {}),
});
