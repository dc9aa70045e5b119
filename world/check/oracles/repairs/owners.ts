// Repairs respect the settings of the group and of its operators: audit mode, hold, an update in
// progress, a zonal shift, and the number of parallel repairs.
import { both, type Context, type Oracle } from '../../oracle.ts';
import { hasSaid } from '../../state/health.ts';
import { parallelLimitOf } from '../../state/repair-policy.ts';
import { isRunning } from '../../state/repairs.ts';
import {
  hasStatusCheck,
  membersOf,
  onAttempt,
  repairableOf,
  type Start,
  sizeOf,
  specsOf,
} from './start.ts';

/** A message if the other running repairs of the group already reach the limit. */
const tooMany = (context: Context, start: Start): string | undefined => {
  const { group, repair, at, lagMicros } = start;
  const { book } = context;
  const others = book.repairs.ofGroup(group.name).filter((one) => one !== repair && isRunning(one));
  const limits = specsOf(group, at, lagMicros).map((spec) => {
    // An instance without a node may count as unhealthy.
    const unhealthy = membersOf(context, group).filter((id) => {
      const health = book.health.byInstance.get(id);
      if (health === undefined || health.goneAt !== undefined) return true;
      if (book.repairs.ofInstance(id).some(hasStatusCheck)) return true;
      return repairableOf(health, spec, { at, lagMicros }).length > 0;
    }).length;
    return parallelLimitOf(spec, { size: sizeOf(context, group), unhealthy });
  });
  const limit = Math.max(...limits);
  if (others.length < limit) return undefined;
  return `begun beside ${others.length} repairs, of ${limit} that may run`;
};

const objectionOf = (context: Context, start: Start): string | undefined => {
  const { group, health, at, lagMicros } = start;
  const options = { at, lagMicros };
  if (hasSaid(group.mode, ['Audit', 'Off'], options)) return `repaired in mode ${group.mode.value}`;
  if (hasSaid(group.asked, ['hold'], options)) return 'repaired although its group is held';
  if (health !== undefined && health.goneAt === undefined) {
    if (hasSaid(health.asked, ['hold'], options)) return 'repaired although its node is held';
    if (hasSaid(health.preserved, ['now', 'when-failed'], options)) {
      return 'repaired although its node is preserved';
    }
  }
  // A running repair counts: updates and other repairs only prevent the first action of a repair.
  if (!start.isFirst) return undefined;
  if (group.updating && at - group.updatingAt > lagMicros) {
    return 'repaired although an update has the group';
  }
  if (group.shift.value !== '' && at - group.shift.at > lagMicros) {
    return 'repaired during a zonal shift';
  }
  return tooMany(context, start);
};

export const repairOwners: Oracle = {
  name: 'repairs-obey-their-owners',
  what:
    'no repair acts in an audited group or on a held node, or starts during an update or ' +
    'zonal shift or above the maximum',
  strategies: both,
  needs: ['object'],
  watch: (context) =>
    onAttempt(context, (start) => {
      context.saw();
      const message = objectionOf(context, start);
      if (message !== undefined) context.report({ subject: start.repair.name, message });
    }),
};
