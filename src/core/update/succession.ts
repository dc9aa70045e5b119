// In which order the updates of a group had their turn. Pure.
import type { NodeGroupUpdate } from '../../api/nodegroup-update.ts';

const orderOf = (a: string | undefined, b: string | undefined): number => {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  return a.localeCompare(b);
};

/**
 * Oldest first, for a sort. They are carried out one at a time in the order in which they were created, and all of those times
 * are of one clock, the API server's; begins and ends are told by whoever led then, whose clock may be another's minutes
 * away. Within a second: what has begun before what has not.
 */
export const inTurn = (a: NodeGroupUpdate, b: NodeGroupUpdate): number =>
  a.metadata.creationTimestamp.localeCompare(b.metadata.creationTimestamp) ||
  orderOf(a.status?.startedAt, b.status?.startedAt) ||
  a.metadata.name.localeCompare(b.metadata.name);
