// A repair begins with a finding on its own node. It ends without action if the node recovers
// before its instance is touched.
import { both, type Context, type Oracle } from '../../oracle.ts';
import { type DisruptionState, inForce } from '../../state/disruptions.ts';
import { microsPerSecond } from '../../state/read.ts';
import { healthyDelayOf } from '../../state/repair-policy.ts';
import { lagOf, onStart, repairableOf, type Start, specsOf, statusCheckOfEc2 } from './start.ts';

const exemptions = [statusCheckOfEc2];

/** Time for a pass of the controller and its withdrawal of the cause. */
const noticedMicros = 60 * microsPerSecond;

const isIll = ({ health, group, at, lagMicros }: Start): boolean => {
  if (health === undefined || health.goneAt !== undefined) return true;
  if (at - health.joinedAt <= lagMicros) return true;
  return specsOf(group, at, lagMicros).some(
    (spec) => repairableOf(health, spec, { at, lagMicros }).length > 0,
  );
};

/** A drain that only repairs request, and that completes although the node has recovered. */
const recovered = (context: Context, one: DisruptionState): string | undefined => {
  const { book } = context;
  if (one.phase !== 'Completing' || one.phaseAt.get('Completing') !== book.now) return undefined;
  const causes = inForce(one, { at: book.now, lagMicros: book.lagMicros });
  if (causes.length === 0 || !causes.every(({ kind }) => kind === 'Repair')) return undefined;
  if (book.repairs.ofInstance(one.instanceId).some(({ isRequested }) => isRequested)) {
    return undefined;
  }
  const health = book.health.byInstance.get(one.instanceId);
  const group = health && book.repairs.groups.get(health.group);
  if (health?.goodSince === undefined || health.goneAt !== undefined || group === undefined) {
    return undefined;
  }
  context.saw();
  const patienceMicros = healthyDelayOf(group.spec) + noticedMicros + lagOf(context);
  const wellMicros = book.now - health.goodSince;
  if (wellMicros <= patienceMicros || book.now - group.specAt < wellMicros) return undefined;
  const repairs = book.repairs.ofInstance(one.instanceId);
  if (repairs.some((repair) => context.isExempt(exemptions, repair))) return undefined;
  return `repaired although it has been healthy for ${Math.round(wellMicros / microsPerSecond)} s`;
};

export const repairOfUnhealthy: Oracle = {
  name: 'healthy-nodes-are-not-repaired',
  what: 'a repair begins with a finding of its node that a rule covers, and acts on no recovered node',
  strategies: both,
  needs: ['object'],
  exemptions,
  watch: (context) => [
    onStart(context, (start) => {
      context.saw();
      if (isIll(start) || context.isExempt(exemptions, start.repair)) return;
      const message = 'repaired although none of its conditions asks for it';
      context.report({ subject: start.repair.name, message });
    }),
    {
      object: (entry) => {
        const one = context.book.disruptionIn(entry);
        const message = one && recovered(context, one);
        if (one !== undefined && message !== undefined) {
          context.report({ subject: one.name, message });
        }
      },
    },
  ],
};
