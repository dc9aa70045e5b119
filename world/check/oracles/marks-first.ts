// A drained node is excluded from load balancers and cordoned before the controller evicts or
// deletes its first pod. In the native form it also has the taint.
import { both, type Oracle } from '../oracle.ts';
import { type DisruptionState, endsPod, type NodeState, succeeded } from '../state/book.ts';
import type { MarkKind } from '../state/nodes.ts';

const wanted: Readonly<Record<'eks' | 'native', readonly MarkKind[]>> = {
  eks: ['label', 'cordon'],
  native: ['label', 'cordon', 'taint'],
};

export const marksFirst: Oracle = {
  name: 'marks-before-eviction',
  what: 'label and cordon stand on the node before the first pod is evicted from it',
  strategies: both,
  needs: ['request', 'object'],
  watch: ({ book, saw, report }) => {
    const begun = new Set<string>();
    /** Others removed the marks, or recreated the node, too recently for the controller to know. */
    const isExcused = ({ recreatedAt, foreignLossAt }: NodeState): boolean =>
      book.now - Math.max(foreignLossAt ?? 0, recreatedAt ?? 0) <= book.lagMicros;
    /** A leader that was paused has not seen that another leader removed the marks again. */
    const wasUndone = ({ phaseAt }: DisruptionState): boolean =>
      book.isBlind && book.now - (phaseAt.get('Undoing') ?? 0) <= book.lagMicros;
    return {
      request: (entry) => {
        if (!endsPod(entry) || !succeeded(entry) || !book.isOurs(entry)) return;
        const pod = book.podOf(entry);
        const node = pod && book.nodes.byName.get(pod.nodeName);
        if (pod === undefined || node === undefined || node.goneAt !== undefined) return;
        const disruption = book.disruptions.ofNode(node);
        const key = `${node.uid} ${disruption?.name ?? ''} ${disruption?.episode ?? 0}`;
        if (begun.has(key)) return;
        begun.add(key);
        saw();
        if (disruption !== undefined && wasUndone(disruption)) return;
        const missing = wanted[book.facts.compat].filter((kind) => !node.marks.has(kind));
        if (missing.length === 0 || isExcused(node)) return;
        report({
          subject: node.name,
          message: `${pod.key} was the first pod to go while the node had no ${missing.join(', ')}`,
        });
      },
    };
  },
};
