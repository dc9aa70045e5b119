// Which update of Drover's own strategies drains a node, and which nodes of its group are new.
// Judges nothing.
import type { Context } from '../../oracle.ts';
import type { DisruptionState, NodeState } from '../../state/book.ts';
import { isOfUpdate, type UpdateState } from '../../state/updates.ts';

const ownStrategies: ReadonlySet<string> = new Set(['SURGE', 'BLUE_GREEN']);

/** The update with such a strategy whose cause is the only open one of the node. */
export const updateOf = ({ book }: Context, one: DisruptionState): UpdateState | undefined => {
  const open = one.causes.filter(
    ({ id, isCancelled }) => !isCancelled && !one.handledBefore.has(id),
  );
  if (open.some(({ kind }) => kind !== 'Update')) return undefined;
  for (const update of book.updates.byName.values()) {
    const isAtWork = update.endedAt === undefined && !update.isEnding;
    if (!ownStrategies.has(update.strategy) || !isAtWork) continue;
    if (open.some((cause) => isOfUpdate(update, cause))) return update;
  }
  return undefined;
};

export const isRolling = ({ strategy, phase, endedAt }: UpdateState): boolean =>
  ownStrategies.has(strategy) && phase === 'Rolling' && endedAt === undefined;

export const isNew = ({ target }: UpdateState, node: NodeState): boolean =>
  target !== undefined &&
  node.image === target.imageId &&
  (target.templateVersion === '' || node.templateVersion === target.templateVersion);

/** An old node of the group that is being updated. */
export const isOld = (update: UpdateState, node: NodeState): boolean =>
  node.nodeGroup === update.nodeGroup && !isNew(update, node);
