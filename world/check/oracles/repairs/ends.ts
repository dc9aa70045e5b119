// After the faults end, every node that stays unhealthy is repaired unless a known reason prevents
// it, and no repair runs forever.
import { both, type Context, type Oracle } from '../../oracle.ts';
import type { HealthState } from '../../state/health.ts';
import { microsPerMinute } from '../../state/read.ts';
import { answerOf, unhealthyLimitOf } from '../../state/repair-policy.ts';
import { isRunning, type RepairGroup, type RepairState } from '../../state/repairs.ts';
import { breakerOf, sceneOf } from './breakers.ts';
import { membersOf, repairableOf, sizeOf } from './start.ts';

/** A pass of the controller, a cooldown, and the wait for a free repair slot. */
const patienceMicros = 12 * microsPerMinute;
/** The drain, then 10 minutes for a reboot and 20 for a replacement, all twice. */
const runningMicros = 120 * microsPerMinute;

/** After repairs that did not help, the next ones wait for hours. */
const isIneffective = ({ book }: Context, group: RepairGroup): boolean =>
  book.repairs.ofGroup(group.name).filter(({ phase, blockedBy, attempts }) => {
    const hasActed = attempts.length > 0 && (phase === 'Failed' || phase === 'Succeeded');
    return hasActed || blockedBy.includes('ineffective');
  }).length >= 2;

/** Another operation works on nodes of the group, or keeps them out of service. */
const isBusy = ({ book }: Context, group: RepairGroup): boolean => {
  const isOpen = [...book.disruptions.living()].some(
    ({ phase, instanceId }) =>
      phase !== 'Ended' && book.health.byInstance.get(instanceId)?.group === group.name,
  );
  const isOut = [...book.nodes.byName.values()].some(
    (node) =>
      node.nodeGroup === group.name &&
      node.goneAt === undefined &&
      (node.marks.size > 0 || !node.ready),
  );
  return isOpen || isOut;
};

/** Whether a breaker may be open, including conditions too recent to be certain. */
const mayBeHeld = (context: Context, group: RepairGroup, health: HealthState): boolean => {
  const { now } = context.book;
  const scene = sceneOf(context, { group, at: now, lagMicros: -patienceMicros });
  const there = scene.members.filter(({ goneAt }) => goneAt === undefined);
  // An instance without a Node counts as unhealthy too.
  const missing = membersOf(context, group).length - there.length;
  const conditions = there.filter(
    (one) => repairableOf(one, group.spec, { at: now, lagMicros: 0 }).length > 0,
  );
  const ill = missing + conditions.length;
  const isAboveLimit = ill > unhealthyLimitOf(group.spec, sizeOf(context, group));
  return isAboveLimit || breakerOf(scene, health) !== undefined;
};

/** Time at which a repair of the node became due; undefined: none is due. */
const dueSince = (context: Context, group: RepairGroup, health: HealthState) => {
  const { now } = context.book;
  const dues = repairableOf(health, group.spec, { at: now, lagMicros: 0 }).flatMap((spell) => {
    if (spell.endedAt !== undefined) return [];
    return spell.from + answerOf(group.spec, spell.condition, spell.reason).waitMicros;
  });
  return dues.length === 0 ? undefined : Math.min(...dues);
};

const leftIll = (context: Context, group: RepairGroup): void => {
  const { book, saw, report } = context;
  const changedAt = Math.max(group.specAt, group.asked.at, group.updatingAt);
  const isHeld = group.mode.value !== 'Enforce' || group.asked.value === 'hold' || group.updating;
  if (isHeld || isBusy(context, group) || isIneffective(context, group)) return;
  for (const id of membersOf(context, group)) {
    const health = book.health.byInstance.get(id);
    if (health === undefined || health.goneAt !== undefined) continue;
    if (health.asked.value === 'hold' || health.preserved.value !== '') continue;
    const since = dueSince(context, group, health);
    const isLate =
      since !== undefined &&
      book.now - Math.max(since, changedAt, health.asked.at) > patienceMicros;
    if (!isLate || mayBeHeld(context, group, health)) continue;
    saw();
    report({ subject: health.name, message: 'stays unhealthy, and nothing keeps its repair' });
  }
};

/** The owner's setting blocks the next action, for as long as it remains. */
const waitsForOwner = ({ blockedBy }: RepairState): boolean =>
  blockedBy.some((kind) => kind === 'hold' || kind === 'preserve');

export const repairEnds: Oracle = {
  name: 'unhealthy-nodes-are-repaired',
  what: 'in the end each node that stays unhealthy without a breaker is repaired, and no repair runs forever',
  strategies: both,
  needs: ['object'],
  watch: (context) => ({
    end: () => {
      const { book, saw, report } = context;
      if (!book.facts.settled) return;
      for (const group of book.repairs.groups.values()) leftIll(context, group);
      for (const repair of book.repairs.byName.values()) {
        if (repair.attempts.length === 0) continue;
        saw();
        const at = repair.attempts.at(-1)?.at ?? book.now;
        if (!isRunning(repair) || book.now - at <= runningMicros) continue;
        if (waitsForOwner(repair)) continue;
        report({ subject: repair.name, message: `is ${repair.phase} for two hours` });
      }
    },
  }),
};
