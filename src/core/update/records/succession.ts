// The order in which the updates of a group run. Pure.
import type { NodeGroup } from '../../../api/nodegroup.ts';
import {
  type NodeGroupUpdate,
  turnAnnotation,
  updateStatusOf,
} from '../../../api/nodegroup-update.ts';

/** The fixed name of the update that rolls another one back. */
export const rollbackNameOf = ({ metadata }: NodeGroupUpdate): string =>
  `${metadata.name}-rollback`;

/** Sorts after every time and every name. */
const never = '~';

const ownTurn = ({ metadata, status }: NodeGroupUpdate): string => {
  const { startedAt = never, endedAt = never } = status ?? {};
  // Updates that never began are ordered by their end; the others by their begin.
  const end = startedAt === never ? endedAt : never;
  return [metadata.creationTimestamp, startedAt, end, metadata.name].join(' ');
};

/**
 * A sort key, compared as a string. A begun update keeps its own; one with `turnAnnotation` takes
 * the key from there.
 */
export const turnOf = (update: NodeGroupUpdate): string =>
  update.metadata.annotations?.[turnAnnotation] ?? ownTurn(update);

/**
 * The key of the update that rolls this one back: right after it, before all that waited for it.
 */
export const turnAfter = (update: NodeGroupUpdate): string => `${turnOf(update)} ${never}`;

/**
 * Sorts updates, oldest first. They run one at a time in order of creation, since creation times
 * all come from one clock, the API server's. Begin and end times come from the leader at the time,
 * whose clock may be minutes off. An automatic rollback follows the update it rolls back and
 * precedes those that waited for it; after them, it would undo them. Within one second, begun
 * updates come first; of those that never began, the one that ended first.
 */
export const inTurn = (a: NodeGroupUpdate, b: NodeGroupUpdate): number => {
  const [x, y] = [turnOf(a), turnOf(b)];
  if (x === y) return 0;
  return x < y ? -1 : 1;
};

/**
 * The updates of a group that have not ended, in the order in which they run. The one in the
 * group's status is in progress, even if its object was recreated after others.
 */
export const openInTurn = (
  updates: readonly NodeGroupUpdate[],
  { metadata, status }: Pick<NodeGroup, 'metadata' | 'status'>,
): readonly NodeGroupUpdate[] => {
  const open = updates
    .filter((one) => one.spec.nodeGroup === metadata.name && updateStatusOf(one) === 'InProgress')
    .toSorted(inTurn);
  const isUnderWay = (one: NodeGroupUpdate): boolean =>
    one.metadata.name === status?.updating?.name;
  return [...open.filter(isUnderWay), ...open.filter((one) => !isUnderWay(one))];
};
