// The races in which a termination hook may be completed although pods are left on the node.
import type { Exemption } from '../../oracle.ts';
import type { Book, DisruptionState, NodeState } from '../../state/book.ts';

export interface Completion {
  readonly book: Book;
  readonly node: NodeState;
  readonly disruption: DisruptionState | undefined;
}

export const completionExemptions: readonly Exemption<Completion>[] = [
  {
    name: 'decided-in-the-episode-before',
    race: 'the previous episode had decided it, by a controller that could not know of this one',
    applies: ({ book, disruption }) =>
      disruption !== undefined && book.episodeBefore(disruption)?.phases.has('Completing') === true,
  },
  {
    name: 'node-registered-after-the-decision',
    race: 'the instance had no node when it was decided, and one registered just before the call',
    applies: ({ book, node, disruption }) => {
      if (disruption?.outcome !== 'NothingToDrain') return false;
      const decidedAt = disruption.phaseAt.get('Completing') ?? book.now;
      return node.joinedAt > decidedAt && book.now - node.joinedAt <= book.lagMicros;
    },
  },
];
