// Drains, instances, node groups, updates and Deployments reach an end, judged in a file each.
import { both, type Oracle } from '../../oracle.ts';
import { microsPerMinute } from '../../state/read.ts';
import { checkDeadlines } from './deadlines.ts';
import { checkDeployment } from './deployments.ts';
import { checkDrains } from './drains.ts';
import { GroupEnds } from './group-ends.ts';
import { checkInstances } from './instances.ts';
import { UpdateEnds } from './update-ends.ts';

/** Interval between two checks of deadlines. */
const everyMicros = microsPerMinute;

export const liveness: Oracle = {
  name: 'everything-ends',
  what:
    'drains end by their deadlines, and once settled nothing is open or unhealthy without a ' +
    'named reason',
  strategies: both,
  needs: ['object', 'lifecycle'],
  watch: (context) => {
    const { book } = context;
    const told = new Set<string>();
    const groups = new GroupEnds();
    const updates = new UpdateEnds(context);
    let next = 0;
    const tick = (): void => {
      if (book.now < next) return;
      next = book.now + everyMicros;
      checkDeadlines(context, told);
      updates.tick();
    };
    return {
      object: (entry) => {
        groups.take(entry);
        updates.take(entry);
        const one = book.disruptionIn(entry);
        if (one !== undefined) updates.disruption(one);
        tick();
      },
      lifecycle: (entry) => updates.moved(entry),
      end: () => {
        checkDeadlines(context, told);
        if (!book.facts.settled) return;
        checkDrains(context);
        checkInstances(context);
        groups.check(context);
        updates.check();
        for (const deployment of book.deployments.values()) checkDeployment(context, deployment);
      },
    };
  },
};
