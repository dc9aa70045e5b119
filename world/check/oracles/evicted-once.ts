// Economy of evictions: a pod's eviction is sent once. What was answered with success is not sent
// again while nothing is wrong, not as a dry run either: a process that looks twice doubts what it
// has seen itself.
import { objectOr } from '../../../src/api/json.ts';
import { both, type Oracle } from '../oracle.ts';
import { isEviction, type Request } from '../state/book.ts';
import { microsPerSecond, textOf } from '../state/read.ts';

/**
 * A pod that was evicted and still looks alive is tried again after half a minute, or 5 s after a
 * lost answer.
 */
const againMicros = 5 * microsPerSecond;
/**
 * So long after a fault, a restart or a gap in a watch, a process asks first whether the pod is
 * still the one it knows.
 */
const doubtMicros = 60 * microsPerSecond;

const uidOf = ({ body }: Request): string =>
  textOf(objectOr(objectOr(objectOr(body).deleteOptions).preconditions).uid);

export const evictedOnce: Oracle = {
  name: 'evictions-sent-once',
  what: 'an eviction that succeeded is not sent again within 5 s while no fault explains it',
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
