// No mark of ours stays on a node whose drain was cancelled or whose causes were all withdrawn.
import { objectOr } from '../../../../src/api/json.ts';
import type { Context, Watcher } from '../../oracle.ts';
import type { DisruptionState } from '../../state/book.ts';
import { microsPerMinute, textOf } from '../../state/read.ts';
import { oursOn, standing } from './standing.ts';

/** Without faults, a withdrawal is carried out within this time. */
const undoneWithinMicros = microsPerMinute;

/**
 * Reports marks that remain although every cause was withdrawn long ago, whatever the journal says.
 */
const checkWithdrawn = ({ book, saw, report }: Context): void => {
  for (const node of book.nodes.byName.values()) {
    if (node.goneAt !== undefined) continue;
    const disruption = book.disruptions.ofNode(node);
    if (disruption === undefined || disruption.causes.length === 0) continue;
    const since = disruption.causes.map(({ cancelledSeenAt }) => cancelledSeenAt ?? book.now);
    if (book.now - Math.max(...since) < undoneWithinMicros) continue;
    saw();
    const left = oursOn(node);
    if (left.length === 0) continue;
    const message = `every cause was withdrawn, and our ${left.join(', ')} stayed`;
    report({ subject: node.name, message });
  }
};

/** Called when the journal records that a drain was cancelled. */
const checkCancelled = ({ book, saw, report }: Context, disruption: DisruptionState): void => {
  saw();
  if (standing(disruption).length > 0) return;
  const byInstance = book.nodes.ofInstance(disruption.instanceId);
  const node = byInstance ?? book.nodes.byName.get(disruption.nodeName);
  if (node === undefined || node.goneAt !== undefined) return;
  const left = oursOn(node);
  if (left.length === 0) return;
  const message = `its drain was cancelled, and our ${left.join(', ')} stayed`;
  report({ subject: node.name, message });
};

export const watchLeft = (context: Context): Watcher => {
  const { book } = context;
  return {
    object: ({ type, resource, object }) => {
      if (resource !== 'nodedisruptions' || type === 'DELETED') return;
      const disruption = book.disruptions.byName.get(textOf(objectOr(object.metadata).name));
      if (disruption?.phase !== 'Ended' || disruption.outcome !== 'Cancelled') return;
      const before = objectOr(objectOr(disruption.previous).status);
      if (before.phase === 'Ended' && before.episode === disruption.episode) return;
      checkCancelled(context, disruption);
    },
    end: () => {
      if (book.facts.settled) checkWithdrawn(context);
    },
  };
};
