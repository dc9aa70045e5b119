// Metrics of notifications, from the journal of their controller. Decides nothing.
import type { JsonObject } from '../../api/json.ts';
import type { Metrics } from '../../ports/index.ts';
import type { JournalCounters } from '../journal-metrics.ts';

const counted =
  (result: string) =>
  (_facts: JsonObject, metrics: Metrics): void =>
    metrics.add('drover_notifications_total', { result });

export const notifyCounters: JournalCounters = {
  'notification:sent': counted('sent'),
  'notification:refused': counted('refused'),
  'notification:retried': counted('retried'),
  'notification:dropped': counted('dropped'),
  'notification:given-up': counted('given-up'),
  'notification:misconfigured': counted('misconfigured'),
};
