// Once settled, no drain is open unless it names a pod and the budgets that block it, or waits for
// its turn.
import type { Context } from '../../oracle.ts';
import type { DisruptionState } from '../../state/book.ts';
import { inForce, isHeld } from '../../state/disruptions.ts';
import { isBlockedAsTold } from './blocked.ts';

/** Only the owner of the cause can end this wait; the node stays cordoned and keeps its pods. */
const waitsForItsTurn = ({ book }: Context, one: DisruptionState): boolean =>
  one.phase === 'Draining' &&
  one.heldSince !== undefined &&
  isHeld(one, { at: book.now, lagMicros: book.lagMicros });

/**
 * A recommendation, or maintenance ahead, for a node that is not cordoned: maxUnavailable does not
 * allow it yet.
 */
const waitsForRoom = ({ book }: Context, one: DisruptionState): boolean =>
  one.phase === 'Pending' &&
  one.waitingOn.some(({ kind }) => kind === 'turn') &&
  inForce(one, { at: book.now, lagMicros: book.lagMicros }).every(
    ({ kind }) => kind === 'RebalanceRecommendation' || kind === 'Maintenance',
  );

export const checkDrains = (context: Context): void => {
  const { book, saw, report } = context;
  for (const one of book.disruptions.living()) {
    saw();
    const waits = [isBlockedAsTold, waitsForItsTurn, waitsForRoom];
    if (one.phase === 'Ended' || waits.some((isTrue) => isTrue(context, one))) continue;
    const kinds = [...new Set(one.waitingOn.map((waiting) => waiting.kind))].join(', ');
    report({
      subject: one.name,
      message: `still ${one.phase || 'Pending'}, waiting for ${kinds || 'nothing that it names'}`,
    });
  }
};
