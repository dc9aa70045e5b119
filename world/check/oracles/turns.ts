// Rebalance recommendations, and maintenance that is days ahead, may wait: their drains start only
// while fewer than maxUnavailable nodes of the group are out of service. A recommendation that no
// interruption follows is withdrawn.
import { type JsonObject, objectOr } from '../../../src/api/json.ts';
import { both, type Context, type Oracle } from '../oracle.ts';
import { type DisruptionState, inForce } from '../state/disruptions.ts';
import { microsPerMinute, numberOf, objectsOf, textOf, timeOf } from '../state/read.ts';

/** Nearer maintenance may need more nodes at once than maxUnavailable. */
const farMicros = 24 * 60 * microsPerMinute;
/** A recommendation expires after 60 minutes; the controller has 5 more to withdraw it. */
const overMicros = 65 * microsPerMinute;

const groupOf = ({ object }: DisruptionState): string => textOf(objectOr(object.spec).nodeGroup);

/** Maximum number of nodes of the group that may be out of service at once. */
const allowedOf = (group: JsonObject): number => {
  const config = objectOr(objectOr(group.spec).updateConfig);
  const percent = numberOf(config.maxUnavailablePercentage);
  const nodes = numberOf(objectOr(group.status).instances) ?? 0;
  const asked =
    percent === undefined
      ? (numberOf(config.maxUnavailable) ?? 1)
      : Math.floor((nodes * percent) / 100);
  return Math.max(1, asked);
};

const mayWait = (context: Context, one: DisruptionState): boolean => {
  const { book } = context;
  const causes = inForce(one, { at: book.now, lagMicros: book.lagMicros });
  return (
    causes.length > 0 &&
    causes.every(({ kind, deadlineAt }) => {
      if (kind === 'RebalanceRecommendation') return true;
      const isFar = deadlineAt === undefined || deadlineAt - book.now > farMicros;
      return kind === 'Maintenance' && isFar;
    })
  );
};

/** Out of service, as far as the controller can know. Held nodes still serve. */
const isOut = ({ book }: Context, one: DisruptionState): boolean => {
  const isOpen = ['Marking', 'Draining', 'Completing'].includes(one.phase);
  const since = one.phaseAt.get('Marking') ?? one.openedAt;
  if (!isOpen || one.heldSince !== undefined) return false;
  if (book.isBlind && book.now - since <= book.lagMicros) return false;
  return !one.causes.every(({ kind, isCancelled }) => isCancelled || kind === 'ScaleIn');
};

/** The id of a recommendation that should have expired; refuted recommendations do not count. */
const leftOver = ({ object }: DisruptionState, now: number): string | undefined => {
  const left = objectsOf(objectOr(object.spec).causes).find((cause) => {
    const isRefuted = objectOr(cause.confirmation).state === 'Refuted';
    const since = timeOf(cause.receivedAt) ?? now;
    const stands = cause.cancelledAt === undefined && !isRefuted;
    return cause.kind === 'RebalanceRecommendation' && stands && now - since > overMicros;
  });
  return left && textOf(left.id);
};

export const turns: Oracle = {
  name: 'causes-that-may-wait-take-turns',
  what:
    'a rebalance recommendation, or maintenance days ahead, takes at most maxUnavailable ' +
    'nodes of a group, and a recommendation without an interruption is withdrawn',
  strategies: both,
  needs: ['object'],
  watch: (context) => {
    const { book, saw, report } = context;
    const groups = new Map<string, JsonObject>();
    const begins = (one: DisruptionState): void => {
      const group = groups.get(groupOf(one));
      if (group === undefined || !mayWait(context, one)) return;
      saw();
      const others = [...book.disruptions.living()].filter(
        (other) => other !== one && groupOf(other) === groupOf(one) && isOut(context, other),
      );
      const allowed = allowedOf(group);
      if (others.length < allowed) return;
      const message = `begun beside ${others.length} nodes out of service, of ${allowed} that may`;
      report({ subject: one.name, message });
    };
    return {
      object: (entry) => {
        const { resource, type, object } = entry;
        const name = textOf(objectOr(object.metadata).name);
        if (resource === 'nodegroups') {
          if (type === 'DELETED') groups.delete(name);
          else groups.set(name, object);
          return;
        }
        const one = book.disruptionIn(entry);
        const before = textOf(objectOr(objectOr(one?.previous).status).phase);
        if (one?.phase === 'Marking' && (before === '' || before === 'Pending')) begins(one);
      },
      end: () => {
        if (!book.facts.settled) return;
        for (const one of book.disruptions.living()) {
          const id = leftOver(one, book.facts.endedAt);
          if (id === undefined) continue;
          report({ subject: one.name, message: `${id} stands although nothing followed it` });
        }
      },
    };
  },
};
