// Metrics of updates, from the journal of the node group controller. Decides nothing.
import { type JournalCounters, numberOf, textOf } from '../journal-metrics.ts';

export const updateCounters: JournalCounters = {
  'nodegroup:update': ({ status, strategy, seconds }, metrics) => {
    if (status === 'InProgress') return;
    const labels = { strategy: textOf(strategy), outcome: textOf(status) };
    metrics.add('drover_updates_total', labels);
    const took = numberOf(seconds);
    if (took !== undefined) metrics.observe('drover_update_duration_seconds', labels, took);
  },
};
