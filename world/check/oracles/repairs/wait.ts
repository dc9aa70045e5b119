// The wait before a repair counts from the start of the episode. A flapping condition, a restart or
// a second finding does not move that start.
import type { JsonObject } from '../../../../src/api/json.ts';
import { both, type Context, type Oracle } from '../../oracle.ts';
import { findingsOf, type HealthState, type Spell, saysOrSaid } from '../../state/health.ts';
import { microsPerMinute, microsPerSecond } from '../../state/read.ts';
import { answerOf, startupTimeoutOf } from '../../state/repair-policy.ts';
import type { RepairState } from '../../state/repairs.ts';
import { lagOf, onStart, repairableOf, type Start, specsOf, statusCheckOfEc2 } from './start.ts';

/** A kubelet may register its node again within this time. */
const deletedWaitMicros = microsPerMinute;

/** When the wait of a finding ends; Infinity: the rules have no action for it. */
const dueOf = (spec: JsonObject, spell: Spell, { at, lagMicros }: Start): number => {
  const isNew = at - spell.reasonAt <= lagMicros;
  const reasons = isNew ? [spell.reason, spell.reasonBefore] : [spell.reason];
  const ends = reasons.map((reason) => {
    const { waitMicros, actions } = answerOf(spec, spell.condition, reason);
    return actions.length > 0 ? spell.since + waitMicros : Number.POSITIVE_INFINITY;
  });
  return Math.min(...ends);
};

const earliestOf = (start: Start, health: HealthState): number => {
  const { group, at, lagMicros } = start;
  if (health.goneAt !== undefined) return health.goneAt + deletedWaitMicros;
  const ends = specsOf(group, at, lagMicros).flatMap((spec) =>
    findingsOf(health, { at, lagMicros, startupMicros: startupTimeoutOf(spec) }).map((spell) =>
      dueOf(spec, spell, start),
    ),
  );
  return Math.min(...ends);
};

const exemptions = [statusCheckOfEc2];

const early = (context: Context, start: Start): void => {
  const { health, repair, at, lagMicros } = start;
  // A node that was just recreated under its name: the episode belongs to its instance.
  if (health === undefined || at - health.joinedAt <= lagMicros) return;
  context.saw();
  if (saysOrSaid(health.asked, ['now'], start)) return;
  const due = earliestOf(start, health);
  const slack = microsPerSecond + (context.book.facts.clockSkew ?? 0);
  if (!Number.isFinite(due) || at >= due - slack) return;
  if (context.isExempt(exemptions, repair)) return;
  const message = `repaired ${Math.round((due - at) / microsPerSecond)} s before its wait is over`;
  context.report({ subject: repair.name, message });
};

/** The journal's start of the episode must not be later than the conditions report. */
const startMoved = (context: Context, repair: RepairState): string | undefined => {
  const { book } = context;
  for (const [condition, since] of repair.findings) {
    const before = repair.findingsBefore.get(condition);
    if (before !== undefined && since > before) return `the start of ${condition} moved`;
  }
  const health = book.health.byInstance.get(repair.instanceId);
  const group = book.repairs.groups.get(repair.group);
  const isNew = repair.openedAt === book.now && !repair.isRequested;
  if (!isNew || health === undefined || group === undefined) return undefined;
  const lagMicros = lagOf(context);
  const isSettled = book.now - health.joinedAt > lagMicros && book.now - group.specAt > lagMicros;
  if (!isSettled || health.goneAt !== undefined) return undefined;
  const found = repairableOf(health, group.spec, { at: book.now, lagMicros: 0 });
  const first = Math.min(...found.map(({ from }) => from));
  const isLate = (repair.unhealthySince ?? book.now) > first + lagMicros;
  return isLate ? 'its episode began before the start that it names' : undefined;
};

export const repairWait: Oracle = {
  name: 'repairs-keep-their-wait',
  what:
    'no node is repaired before its wait has passed, counted from the start of the ' +
    'episode, which never moves',
  strategies: both,
  needs: ['object'],
  exemptions,
  watch: (context) => [
    onStart(context, (start) => early(context, start)),
    {
      object: ({ resource, type, object }) => {
        if (resource !== 'noderepairs' || type === 'DELETED') return;
        const { name } = object.metadata as { readonly name: string };
        const repair = context.book.repairs.byName.get(name);
        const moved = repair && startMoved(context, repair);
        if (moved !== undefined) context.report({ subject: name, message: moved });
      },
    },
  ],
};
