// An instance that a repair has detached for inspection is terminated at its time limit, not
// earlier and not later.
import { both, type Context, type Oracle } from '../../oracle.ts';
import type { Call } from '../../state/book.ts';
import { microsPerMinute, textsOf } from '../../state/read.ts';
import { lagOf } from './start.ts';

/** The second drain, calls that AWS refuses, and a controller that was down. */
const patienceMicros = 60 * microsPerMinute;

/** Drover detaches an instance from its group only for a repair whose action is a quarantine. */
const detached = ({ book, saw, report }: Context, { input }: Call): void => {
  for (const subject of textsOf(input.InstanceIds)) {
    saw();
    const repairs = book.repairs.ofInstance(subject);
    if (repairs.some(({ attempts }) => attempts.at(-1)?.action === 'Quarantine')) continue;
    report({ subject, message: 'detached without a quarantine' });
  }
};

export const repairQuarantine: Oracle = {
  name: 'quarantined-instances-end-in-time',
  what:
    'Drover terminates an instance in quarantine at its time limit or with its group, not ' +
    'earlier and not later',
  strategies: both,
  needs: ['object', 'call'],
  watch: (context) => {
    const { book, saw, report } = context;
    const ended = new Set<string>();
    return {
      call: (call) => {
        if (!book.isOurs(call)) return;
        if (call.operation === 'DetachInstances') detached(context, call);
        if (call.operation !== 'TerminateInstances') return;
        for (const subject of textsOf(call.input.InstanceIds)) {
          if (call.error === undefined) ended.add(subject);
          saw();
          const repair = book.repairs
            .ofInstance(subject)
            .find(({ quarantinedUntil }) => quarantinedUntil !== undefined);
          const until = repair?.quarantinedUntil;
          if (repair === undefined || until === undefined) {
            report({ subject, message: 'terminated outside of its group without a quarantine' });
            continue;
          }
          const group = book.repairs.groups.get(repair.group);
          const endsEarly = group === undefined || group.isDeleting;
          if (endsEarly || book.now >= until - lagOf(context)) continue;
          report({ subject, message: 'terminated before the limit of its quarantine' });
        }
      },
      end: () => {
        if (!book.facts.settled) return;
        for (const {
          instanceId,
          quarantinedUntil,
          phase,
          goneAt,
        } of book.repairs.byName.values()) {
          if (quarantinedUntil === undefined || phase !== 'Quarantined') continue;
          saw();
          const health = book.health.byInstance.get(instanceId);
          const exists = health !== undefined && health.goneAt === undefined;
          if (goneAt !== undefined && exists && !ended.has(instanceId)) {
            report({ subject: instanceId, message: 'is left behind by its deleted group' });
          }
          if (goneAt !== undefined || book.now - quarantinedUntil <= patienceMicros) continue;
          report({ subject: instanceId, message: 'is kept beyond the limit of its quarantine' });
        }
      },
    };
  },
};
