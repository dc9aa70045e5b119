// The random order in which EKS' strategies replace nodes. It is seeded from facts that a plan
// knows, so it is known before the update begins and survives a restart. Pure.
import type { Revision } from '../../../api/nodegroup-update.ts';
import { fnv1a } from '../../fnv.ts';

export interface Drawn {
  readonly groupName: string;
  readonly target: Pick<Revision, 'imageId' | 'launchTemplate'>;
}

/** The seed differs for each group and each target revision. */
const seedOf = ({ groupName, target: { imageId, launchTemplate } }: Drawn): string =>
  [groupName, imageId, launchTemplate?.version ?? ''].join('/');

/** The items in the order in which they are replaced. */
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
