// The controller forces nothing before the earliest `forceFrom` of the forcing causes.
import type { Context, Watcher } from '../../oracle.ts';
import {
  endsPod,
  graceAsked,
  isEviction,
  type PodState,
  type Request,
  succeeded,
} from '../../state/book.ts';
import { inForce } from '../../state/disruptions.ts';
import { microsPerSecond } from '../../state/read.ts';

/** Deletions, and evictions with a shortened grace period. */
const forces = (entry: Request, pod: PodState): boolean =>
  !isEviction(entry) || (graceAsked(entry) ?? pod.graceSeconds) < pod.graceSeconds;

const checkForce = (context: Context, entry: Request): void => {
  const { book, saw, report } = context;
  const pod = book.podOf(entry);
  const one = pod && book.disruptionOf(pod);
  if (pod === undefined || one === undefined || !forces(entry, pod)) return;
  const forcing = inForce(one, { at: book.now, lagMicros: book.lagMicros }).filter(
    (cause) => cause.isForcing,
  );
  if (forcing.length === 0) return;
  saw();
  const from = Math.min(...forcing.map(({ forceFromAt = 0 }) => forceFromAt));
  const early = from - book.now - (book.facts.clockSkew ?? 0);
  // Times in the journal have milliseconds.
  if (early <= 1000) return;
  const seconds = Math.ceil(early / microsPerSecond);
  report({ subject: pod.key, message: `forced ${seconds} s before anything may be` });
};

export const watchForce = (context: Context): Watcher => ({
  request: (entry) => {
    const isEnd = context.book.isOurs(entry) && succeeded(entry) && endsPod(entry);
    if (isEnd) checkForce(context, entry);
  },
});
