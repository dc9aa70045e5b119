// A quantile of a short list of numbers, by rank. Pure.

/** The value below which `share` (0 to 1) of `values` lie; 0 for an empty list. */
export const quantileOf = (values: readonly number[], share: number): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
};
