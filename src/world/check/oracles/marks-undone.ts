// Oracle 9: marks of ours, and only ours, are undone. Who set a mark is read from the requests, not
// from what the journal claims to own; a mark set again by somebody else may stay or go.

import { objectOr } from '../../../api/json.ts';
import { both, type Context, type Oracle } from '../oracle.ts';
import { type NodeState, type Request, succeeded } from '../state/book.ts';
import { markKinds } from '../state/nodes.ts';
import { textOf } from '../state/read.ts';

const oursOn = (node: NodeState): readonly string[] =>
  markKinds.filter((kind) => node.marks.has(kind) && node.owners.get(kind) === 'us');

const checkChange = ({ book, saw, report }: Context, entry: Request): void => {
  const node = book.nodes.byName.get(entry.name ?? '');
  if (node === undefined || node.pending.length === 0) return;
  saw();
  const isDisrupted = book.disruptions.ofNode(node) !== undefined;
  for (const { kind, from, to } of node.pending) {
    const owner = node.owners.get(kind);
    if (from !== undefined && owner === 'other') {
      const how = to === undefined ? 'taken away' : `overwritten with ${to}`;
      report({ subject: node.name, message: `a ${kind} that is not ours was ${how}` });
    } else if (to !== undefined && !isDisrupted) {
      report({ subject: node.name, message: `was given a ${kind} without any NodeDisruption` });
    }
  }
};

export const marksUndone: Oracle = {
  name: 'marks-undone',
  what: 'a cancelled drain leaves no mark of ours and takes no mark of others',
  strategies: both,
  needs: ['request', 'object'],
  watch: (context) => {
    const { book, saw, report } = context;
    return {
      request: (entry) => {
        if (entry.resource !== 'nodes' || !succeeded(entry) || !book.isOurs(entry)) return;
        checkChange(context, entry);
      },
      object: ({ type, resource, object }) => {
        if (resource !== 'nodedisruptions' || type === 'DELETED') return;
        const disruption = book.disruptions.byName.get(textOf(objectOr(object.metadata).name));
        if (disruption?.phase !== 'Ended' || disruption.outcome !== 'Cancelled') return;
        const before = objectOr(objectOr(disruption.previous).status);
        if (before.phase === 'Ended' && before.episode === disruption.episode) return;
        saw();
        const byInstance = book.nodes.ofInstance(disruption.instanceId);
        const node = byInstance ?? book.nodes.byName.get(disruption.nodeName);
        if (node === undefined || node.goneAt !== undefined) return;
        const left = oursOn(node);
        if (left.length === 0) return;
        report({
          subject: node.name,
          message: `its drain was cancelled, and our ${left.join(', ')} stayed`,
        });
      },
    };
  },
};
