// A drain ends soon after its forcing deadline, whatever the budgets say.
import type { Context } from '../../oracle.ts';
import { microsPerMinute } from '../../state/read.ts';

/** Time that a drain may continue after its forcing deadline, for a few restarts and refusals. */
const overdueMicros = 5 * microsPerMinute;

/**
 * A forcing deadline ends a drain, whatever the budgets say. Before Draining, a watch without the
 * marks may delay it: no pod has been touched yet, and the hook is extended.
 */
export const checkDeadlines = (context: Context, told: Set<string>): void => {
  const { book, saw, report } = context;
  for (const one of book.disruptions.living()) {
    if (one.phase !== 'Draining') continue;
    const deadlineAt = book.forcingDeadline(one);
    if (deadlineAt === undefined || book.now - deadlineAt < overdueMicros) continue;
    saw();
    const key = `${one.name} ${one.episode}`;
    if (told.has(key)) continue;
    told.add(key);
    const message = `still Draining 5 min after its forcing deadline`;
    report({ subject: one.name, message });
  }
};
