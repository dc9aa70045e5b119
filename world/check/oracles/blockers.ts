// The journal of a drain names each pod that budgets have blocked for 15 minutes, together with
// those budgets.
import { both, type Context, type Oracle } from '../oracle.ts';
import type { DisruptionState, PodState } from '../state/book.ts';
import { isHealthy } from '../state/pods.ts';
import { microsPerMinute } from '../state/read.ts';

/** One drain timeout. */
const namedWithinMicros = 15 * microsPerMinute;
/** Interval between two checks of open drains, in trace time. */
const everyMicros = microsPerMinute;
/** The journal names the first 20 and counts the rest. */
const maxNamed = 20;
/**
 * These entries say that it is not the pod's turn yet; the entries of pods before it name the
 * budgets.
 */
const notYet = new Set(['tier', 'doNotEvict', 'job', 'replacement', 'boomerang']);

/** Budgets that blocked this pod for a whole drain timeout; empty: an eviction was possible. */
const keepers = ({ book }: Context, pod: PodState, drainingSince: number): readonly string[] => {
  if (!book.isDrainable(pod) || !isHealthy(pod)) return [];
  const since = Math.max(drainingSince, pod.boundAt);
  if (book.now - since < namedWithinMicros) return [];
  const covering = book.pods.budgetsOf(pod);
  // The API server refuses an eviction if two budgets cover the pod, whatever they allow.
  if (covering.length > 1) return covering.map((budget) => budget.key);
  return covering
    .filter(({ closedSince }) => closedSince !== undefined)
    .filter(({ closedSince = book.now }) => book.now - closedSince >= namedWithinMicros)
    .map((budget) => budget.key);
};

const isNamed = (one: DisruptionState, pod: PodState, budgets: readonly string[]): boolean => {
  if (one.waitingOnTotal > one.waitingOn.length && one.waitingOn.length >= maxNamed) return true;
  return one.waitingOn.some(
    (waiting) =>
      waiting.pod === pod.key &&
      (notYet.has(waiting.kind) || budgets.every((name) => waiting.budgets.includes(name))),
  );
};

const look = (context: Context, told: Set<string>): void => {
  const { book, saw, report } = context;
  for (const one of book.disruptions.living()) {
    const drainingAt = one.phaseAt.get('Draining');
    if (one.phase !== 'Draining' || drainingAt === undefined) continue;
    if (one.heldSince !== undefined) continue;
    // A forcing drain is not blocked by budgets.
    if (one.forcingSince) continue;
    const since = Math.max(drainingAt, one.heldUntil ?? 0);
    if (book.now - since < namedWithinMicros) continue;
    for (const pod of book.pods.on(one.nodeName)) {
      const budgets = keepers(context, pod, since);
      if (budgets.length === 0) continue;
      saw();
      const key = `${one.name} ${one.episode} ${pod.uid}`;
      if (isNamed(one, pod, budgets) || told.has(key)) continue;
      told.add(key);
      report({
        subject: one.name,
        message: `${pod.key} has been kept by ${budgets.join(', ')} for 15 min and is not named`,
      });
    }
  }
};

export const blockers: Oracle = {
  name: 'blockers-are-named',
  what: 'a pod that a budget has blocked for 15 minutes is named with that budget',
  strategies: both,
  needs: ['object'],
  watch: (context) => {
    const told = new Set<string>();
    let next = 0;
    const tick = (): void => {
      if (context.book.now < next) return;
      next = context.book.now + everyMicros;
      look(context, told);
    };
    return { object: tick, request: tick, end: () => look(context, told) };
  },
};
