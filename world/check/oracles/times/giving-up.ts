// A drain that may not force fails at its deadline and names the pods and budgets that blocked it.
import type { Context, Watcher } from '../../oracle.ts';
import type { DisruptionState, PodState } from '../../state/book.ts';
import { type CauseState, inForce } from '../../state/disruptions.ts';
import { isHealthy } from '../../state/pods.ts';
import { microsPerMinute } from '../../state/read.ts';

/** Time that such a drain may continue after its deadline, for a few restarts and refusals. */
const overdueMicros = 5 * microsPerMinute;
const everyMicros = microsPerMinute;
/** A budget that blocked its pod for this long before the end must be named. */
const keptMicros = 5 * microsPerMinute;
/** The journal names the first 20 and counts the rest. */
const maxNamed = 20;

/** The deadline of the last cause; undefined if a cause forces, holds or has a hook. */
const givesUpAt = ({ book }: Context, one: DisruptionState): number | undefined => {
  const causes = inForce(one, { at: book.now, lagMicros: book.lagMicros });
  if (causes.length === 0) return undefined;
  const isOpen = (cause: CauseState): boolean =>
    cause.isForcing || cause.isHolding || cause.hook !== undefined;
  if (causes.some(isOpen)) return undefined;
  const last = Math.max(...causes.map(({ deadlineAt = Number.POSITIVE_INFINITY }) => deadlineAt));
  return Number.isFinite(last) ? last : undefined;
};

const checkOverdue = (context: Context, told: Set<string>): void => {
  const { book, saw, report } = context;
  for (const one of book.disruptions.living()) {
    if (one.phase !== 'Draining') continue;
    const at = givesUpAt(context, one);
    if (at === undefined || book.now - at < overdueMicros) continue;
    saw();
    const key = `${one.name} ${one.episode}`;
    if (told.has(key)) continue;
    told.add(key);
    report({ subject: one.name, message: 'still Draining 5 min after it had to give up' });
  }
};

/** Budgets that have blocked this pod; empty: something else did. */
const keepersOf = ({ book }: Context, pod: PodState): readonly string[] => {
  if (!book.isDrainable(pod) || !isHealthy(pod)) return [];
  if (book.now - pod.boundAt < keptMicros) return [];
  const covering = book.pods.budgetsOf(pod);
  const closed = covering.filter(
    ({ closedSince = book.now }) => book.now - closedSince >= keptMicros,
  );
  return closed.length === covering.length ? closed.map(({ key }) => key) : [];
};

/** The write that fails the drain names what blocked the pods. */
const checkNames = (context: Context, one: DisruptionState): void => {
  const { book, saw, report } = context;
  const { waitingOn, waitingOnTotal } = one;
  const since = one.heldUntil ?? one.phaseAt.get('Draining');
  if (since === undefined || book.now - since < keptMicros) return;
  if (waitingOnTotal > waitingOn.length && waitingOn.length >= maxNamed) return;
  for (const pod of book.pods.on(one.nodeName)) {
    const budgets = keepersOf(context, pod);
    if (budgets.length === 0) continue;
    saw();
    const isNamed = waitingOn.some(
      (waiting) => waiting.pod === pod.key && budgets.some((key) => waiting.budgets.includes(key)),
    );
    if (isNamed) continue;
    const message = `given up, and ${pod.key} under ${budgets.join(', ')} is not named`;
    report({ subject: one.name, message });
  }
};

export const watchGivingUp = (context: Context): Watcher => {
  const { book, saw } = context;
  const told = new Set<string>();
  let next = 0;
  return {
    object: (entry) => {
      const one = book.disruptionIn(entry);
      const isNew = one?.phase === 'Completing' && one.phaseAt.get('Completing') === book.now;
      if (one?.outcome === 'Failed' && isNew) {
        saw();
        checkNames(context, one);
      }
      if (book.now < next) return;
      next = book.now + everyMicros;
      checkOverdue(context, told);
    },
    end: () => checkOverdue(context, told),
  };
};
