// Whether the budgets that a drain names as its blockers do cover its pod. Judges nothing.
import type { Context } from '../../oracle.ts';
import type { DisruptionState } from '../../state/book.ts';

/** The named blockers are true: the pod exists, and the named budgets cover it. */
export const isBlockedAsTold = ({ book }: Context, disruption: DisruptionState): boolean =>
  disruption.waitingOn.some(({ kind, pod, budgets }) => {
    if (kind !== 'pdb' && kind !== 'multiplePdbs') return false;
    const state = book.pods.byKey.get(pod);
    if (state === undefined || state.goneAt !== undefined || budgets.length === 0) return false;
    const covering = book.pods.budgetsOf(state).map((budget) => budget.key);
    return budgets.every((name) => covering.includes(name));
  });
