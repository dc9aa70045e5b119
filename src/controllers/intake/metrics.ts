// Metrics of notices, from the journals of intake and confirmation. Decides nothing.
import type { JsonObject } from '../../api/json.ts';
import type { Metrics } from '../../ports/index.ts';
import { type JournalCounters, numberOf, textOf } from '../journal-metrics.ts';

const counted =
  (verdict: string) =>
  ({ kind, lagSeconds }: JsonObject, metrics: Metrics): void => {
    metrics.add('drover_notices_total', { kind: textOf(kind), verdict });
    const lag = numberOf(lagSeconds);
    if (lag !== undefined) metrics.observe('drover_notice_lag_seconds', {}, lag);
  };

export const noticeCounters: JournalCounters = {
  'notice:recorded': counted('confirmed'),
  'notice:confirmed': counted('confirmed'),
  'notice:unconfirmed': counted('unconfirmed'),
  'notice:refuted': counted('refuted'),
  'notice:reason-lost': counted('reason-lost'),
  'notice:withdrawn': counted('withdrawn'),
  'notice:dropped': counted('dropped'),
  'notice:kept': counted('kept'),
};
