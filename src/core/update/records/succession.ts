// In which order the updates of a group have their turn. Pure.
import type { NodeGroup } from '../../../api/nodegroup.ts';
import {
  type NodeGroupUpdate,
  turnAnnotation,
  updateStatusOf,
} from '../../../api/nodegroup-update.ts';

/** The update that takes another one back has a name of its own, once and for all. */
export const rollbackNameOf = ({ metadata }: NodeGroupUpdate): string =>
  `${metadata.name}-rollback`;

/** After every time and every name. */
const never = '~';

const ownTurn = ({ metadata, status }: NodeGroupUpdate): string => {
  const { startedAt = never, endedAt = never } = status ?? {};
  // Of those that never began what ended first; of others the begin tells.
  const end = startedAt === never ? endedAt : never;
  return [metadata.creationTimestamp, startedAt, end, metadata.name].join(' ');
};

/**
 * Compared by its characters. Once an update has begun it stays; one that has another's turn
 * (`turnAnnotation`) tells that.
 */
export const turnOf = (update: NodeGroupUpdate): string =>
  update.metadata.annotations?.[turnAnnotation] ?? ownTurn(update);

/** For the update that takes this one back: right after it, before all that waited for it. */
export const turnAfter = (update: NodeGroupUpdate): string => `${turnOf(update)} ${never}`;

/**
 * Oldest first, for a sort. They are carried out one at a time in the order in which they were
 * created, and all of those times are of one clock, the API server's; begins and ends are told by
 * whoever led then, whose clock may be another's minutes away. A rollback that follows by itself
 * belongs to the update that it takes back, and goes before those that waited for that: after them,
 * it would undo them. Within a second: what has begun before what has not, and of those that never
 * began what ended first.
 */
export const inTurn = (a: NodeGroupUpdate, b: NodeGroupUpdate): number => {
  const [x, y] = [turnOf(a), turnOf(b)];
  if (x === y) return 0;
  return x < y ? -1 : 1;
};

/**
 * Those of a group that are not over, in the order in which they go. The one that the group's
 * status tells of is under way, also where its object was made once more after others had been
 * created.
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
