// The order of chance in which EKS takes nodes, the same for the same seed: so it can be told again. Pure.
import { fnv1a } from '../fnv.ts';

export const shuffled = <T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  seed: string,
): readonly T[] =>
  items
    .map((item) => ({ item, key: keyOf(item), rank: fnv1a(`${keyOf(item)}/${seed}`) }))
    .toSorted((a, b) => a.rank - b.rank || a.key.localeCompare(b.key))
    .map(({ item }) => item);
