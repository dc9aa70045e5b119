// In which order the updates of a group have their turn. Pure.
import type { NodeGroup } from '../../api/nodegroup.ts';
import {
  type NodeGroupUpdate,
  turnAnnotation,
  updateStatusOf,
} from '../../api/nodegroup-update.ts';

/** The update that takes another one back has a name of its own, once and for all. */
export const rollbackNameOf = ({ metadata }: NodeGroupUpdate): string =>
  `${metadata.name}-rollback`;

const orderOf = (a: string | undefined, b: string | undefined): number => {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  return a.localeCompare(b);
};

/** The moment of its creation whose turn a rollback still has; undefined for all others. */
const followedTurn = ({ metadata, spec }: NodeGroupUpdate): string | undefined =>
  spec.action === 'Rollback' ? metadata.annotations?.[turnAnnotation] : undefined;

/** RFC 3339, of the API server's clock. */
export const turnOf = (update: NodeGroupUpdate): string =>
  followedTurn(update) ?? update.metadata.creationTimestamp;

const takesBack = (a: NodeGroupUpdate, b: NodeGroupUpdate): boolean =>
  a.metadata.name === rollbackNameOf(b);

/**
 * Oldest first, for a sort. They are carried out one at a time in the order in which they were created, and all of those times
 * are of one clock, the API server's; begins and ends are told by whoever led then, whose clock may be another's minutes
 * away. A rollback that follows by itself belongs to the update that it takes back, and goes before those that waited for that:
 * after them, it would undo them. Within a second: what has begun before what has not, and of
 * those that never began what ended first.
 */
export const inTurn = (a: NodeGroupUpdate, b: NodeGroupUpdate): number =>
  turnOf(a).localeCompare(turnOf(b)) ||
  Number(takesBack(a, b)) - Number(takesBack(b, a)) ||
  orderOf(a.status?.startedAt, b.status?.startedAt) ||
  orderOf(followedTurn(a), followedTurn(b)) ||
  orderOf(a.status?.endedAt, b.status?.endedAt) ||
  a.metadata.name.localeCompare(b.metadata.name);

/**
 * Those of a group that are not over, in the order in which they go. The one that the group's status tells of is under way, also
 * where its object was made once more after others had been created.
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
