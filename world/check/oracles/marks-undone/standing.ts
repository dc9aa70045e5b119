// Which marks of a node are ours, and which causes justify them. Judges nothing.
import type { DisruptionState, NodeState } from '../../state/book.ts';
import { markKinds } from '../../state/nodes.ts';

export const oursOn = (node: NodeState): readonly string[] =>
  markKinds.filter((kind) => node.marks.has(kind) && node.owners.get(kind) === 'us');

/**
 * Causes that justify marks after the end of their drain: handled or in force, and not withdrawn.
 */
export const standing = (
  { causes, handled }: DisruptionState,
  before = Number.POSITIVE_INFINITY,
): readonly string[] =>
  causes
    .filter(({ id, isCancelled }) => !isCancelled && (handled.get(id) ?? before) < before)
    .map(({ kind }) => kind);
