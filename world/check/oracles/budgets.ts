// No eviction, by any client, leaves fewer healthy pods than a budget requires. The same holds for
// deletions by the controller before the journal says that it forces, since API servers do not
// check budgets on deletions. Healthy pods are counted from the pods; only the required number
// comes from the budget's status.
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
      // Ending a pod that is terminating, finished or not started disrupts nothing.
      const wasLeaving = pod.terminatingAt !== undefined && pod.terminatingAt < entry.at;
      if (wasLeaving || pod.endedBy !== undefined) return;
      if (pod.phase === 'Pending' || isFinished(pod)) return;
      for (const budget of book.pods.budgetsOf(pod)) {
        if (!pod.ready && budget.alwaysAllow) continue;
        saw();
        // An unready pod does not count as healthy; it may be evicted while the budget is met.
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
