// The controller sends a successful eviction only once. It does not repeat it without a fault, not
// even as a dry run.
import { objectOr } from '../../../src/api/json.ts';
import { both, type Oracle } from '../oracle.ts';
import { isEviction, type Request } from '../state/book.ts';
import { microsPerSecond, textOf } from '../state/read.ts';

/**
 * Minimum time before a retry: the controller retries an evicted pod that still runs after 30 s,
 * and after a lost answer after 5 s.
 */
const againMicros = 5 * microsPerSecond;
/**
 * For this long after a fault, a restart or a gap in a watch, a controller may verify that the pod
 * is still the one it knows.
 */
const doubtMicros = 60 * microsPerSecond;

const uidOf = ({ body }: Request): string =>
  textOf(objectOr(objectOr(objectOr(body).deleteOptions).preconditions).uid);

export const evictedOnce: Oracle = {
  name: 'evictions-sent-once',
  what: 'an eviction that succeeded is not sent again within 5 s unless a fault explains it',
  strategies: both,
  needs: ['request'],
  watch: ({ book, saw, report }) => {
    const sentAt = new Map<string, number>();
    let faultAt = Number.NEGATIVE_INFINITY;
    return {
      fault: ({ at }) => {
        faultAt = at;
      },
      request: (entry) => {
        const isDone = entry.code >= 200 && entry.code < 300;
        if (!isDone || !isEviction(entry) || !book.isOurs(entry)) return;
        saw();
        const uid = uidOf(entry);
        if (uid === '') return;
        const before = sentAt.get(uid);
        sentAt.set(uid, entry.at);
        const isExplained = book.isBlind || entry.at - faultAt < doubtMicros;
        if (before === undefined || entry.at - before >= againMicros || isExplained) return;
        const ms = Math.round((entry.at - before) / 1000);
        const subject = `${entry.namespace ?? ''}/${entry.name ?? ''}`;
        report({ subject, message: `evicted twice, ${ms} ms apart` });
      },
    };
  },
};
