// Oracle 1, first half: no eviction, by anybody, leaves fewer healthy pods than a budget asks for;
// nor does a deletion of ours, which no server holds to budgets, before the journal says that it
// forces. Healthy pods are recounted from the pods themselves; only the wanted number is the
// budget's own.
import { both, type Oracle } from '../oracle.ts';
import { endsPod, isEviction, succeeded } from '../state/book.ts';
import { isFinished } from '../state/pods.ts';

export const budgets: Oracle = {
  name: 'evictions-within-budgets',
  what:
    'an eviction, or a deletion without force, leaves the healthy pods that every budget asks ' +
    'for',
  strategies: both,
  needs: ['request', 'object'],
  watch: ({ book, saw, report }) => ({
    request: (entry) => {
      if (!endsPod(entry) || !succeeded(entry)) return;
      const pod = book.podOf(entry);
      if (pod === undefined) return;
      if (!book.isHeldToBudgets(entry, pod)) return;
      // A pod that was on its way out before, is finished or never ran disrupts nothing by going.
      const wasLeaving = pod.terminatingAt !== undefined && pod.terminatingAt < entry.at;
      if (wasLeaving || pod.endedBy !== undefined) return;
      if (pod.phase === 'Pending' || isFinished(pod)) return;
      for (const budget of book.pods.budgetsOf(pod)) {
        if (!pod.ready && budget.alwaysAllow) continue;
        saw();
        // Going, an unready pod takes no healthy one away; it may go while the budget is met.
        const left = pod.ready
          ? book.pods.healthy(budget, entry.at, pod)
          : book.pods.healthyAsSeen(budget, entry.at);
        if (left >= budget.desiredHealthy) continue;
        report({
          subject: pod.key,
          message:
            `${isEviction(entry) ? 'evicted' : 'deleted'} although budget ${budget.key} ` +
            `needs ${budget.desiredHealthy} healthy pods ` +
            `and only ${left} were left`,
        });
      }
    },
  }),
};
