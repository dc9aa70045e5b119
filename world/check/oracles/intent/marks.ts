// The marks on a node change only while its drain is in the phase Marking or Undoing.
import type { Context } from '../../oracle.ts';
import type { NodeState } from '../../state/book.ts';
import { reached } from './phases.ts';

export const checkNode = (context: Context, node: NodeState): void => {
  const { book, saw, report } = context;
  if (node.pending.length === 0) return;
  saw();
  const disruption = book.disruptions.ofNode(node);
  if (disruption === undefined) {
    report({ subject: node.name, message: 'marks were changed without a NodeDisruption' });
    return;
  }
  const sets = node.pending.some((change) => change.to !== undefined);
  const wanted = sets ? 'Marking' : 'Undoing';
  if (reached(disruption, [wanted]) || book.episodeBefore(disruption)?.phases.has(wanted)) return;
  report({
    subject: node.name,
    message: `marks were ${sets ? 'set' : 'taken away'} before ${disruption.name} was ${wanted}`,
  });
};
