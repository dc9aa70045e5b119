// The order of chance in which EKS takes nodes. What it is drawn from a plan knows too: so it can
// be told before the update begins, and again after a restart. Pure.
import type { Revision } from '../../../api/nodegroup-update.ts';
import { fnv1a } from '../../fnv.ts';

export interface Drawn {
  readonly groupName: string;
  readonly target: Pick<Revision, 'imageId' | 'launchTemplate'>;
}

/** Another for each group and each revision that it is brought to. */
const seedOf = ({ groupName, target: { imageId, launchTemplate } }: Drawn): string =>
  [groupName, imageId, launchTemplate?.version ?? ''].join('/');

/** In the order of their turns. */
export const inOrderOfChance = <T>(
  items: readonly T[],
  instanceIdOf: (item: T) => string,
  drawn: Drawn,
): readonly T[] => {
  const seed = seedOf(drawn);
  return items
    .map((item) => {
      const id = instanceIdOf(item);
      return { item, id, rank: fnv1a(`${id}/${seed}`) };
    })
    .toSorted((a, b) => a.rank - b.rank || a.id.localeCompare(b.id))
    .map(({ item }) => item);
};
