// Metrics of repairs, from the journal of the repair controller. Decides nothing.
import { type JournalCounters, textOf } from '../journal-metrics.ts';

export const repairCounters: JournalCounters = {
  'repair:phase': ({ to }, metrics) => metrics.add('drover_repairs_total', { phase: textOf(to) }),
};
