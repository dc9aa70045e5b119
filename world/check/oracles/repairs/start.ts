// Shared by the oracles of node repair: the moment at which a repair is decided, and the members of
// its group as the trace shows them. Judges nothing.
import type { JsonObject } from '../../../../src/api/json.ts';
import type { Context, Exemption, Watcher } from '../../oracle.ts';
import { findingsOf, type HealthState, type Spell } from '../../state/health.ts';
import { microsPerSecond } from '../../state/read.ts';
import { answerOf, startupTimeoutOf } from '../../state/repair-policy.ts';
import type { Attempt, RepairGroup, RepairState } from '../../state/repairs.ts';

/** An attempt that a NodeRepair has just recorded. */
export interface Start {
  readonly repair: RepairState;
  readonly attempt: Attempt;
  /** The first action of its episode. Later ones follow a reboot that did not help. */
  readonly isFirst: boolean;
  readonly group: RepairGroup;
  /** Undefined: the instance never had a node. */
  readonly health: HealthState | undefined;
  readonly at: number;
  /** The controller need not know facts younger than this. */
  readonly lagMicros: number;
}

/** Findings of EC2 that no condition of the node reports. */
const statusChecks = ['InstanceStatus', 'SystemStatus'] as const;

export const hasStatusCheck = ({ findings }: RepairState): boolean =>
  statusChecks.some((condition) => findings.has(condition));

export const statusCheckOfEc2: Exemption<RepairState> = {
  name: 'status-check-of-ec2',
  race: 'EC2 reports the finding, and the trace has no status checks',
  applies: hasStatusCheck,
};

/** The journal rounds times to seconds. */
export const roundingMicros = microsPerSecond;

export const lagOf = ({ book }: Context): number =>
  book.lagMicros + (book.facts.clockSkew ?? 0) + roundingMicros;

/** Calls `judge` for each action of each episode that no operator requested. */
export const onAttempt = (context: Context, judge: (start: Start) => void): Watcher => ({
  object: ({ resource }) => {
    const { book } = context;
    if (resource !== 'noderepairs' || !book.isNewVersion) return;
    for (const repair of book.repairs.byName.values()) {
      if (repair.isRequested) continue;
      const group = book.repairs.groups.get(repair.group);
      if (group === undefined) continue;
      const health = book.health.byInstance.get(repair.instanceId);
      const lagMicros = lagOf(context);
      for (const attempt of repair.newAttempts) {
        if (attempt.at !== book.now) continue;
        const isFirst = attempt === repair.attempts[0];
        judge({ repair, attempt, isFirst, group, health, at: book.now, lagMicros });
      }
    }
  },
});

/** Calls `judge` for the first action of each episode that no operator requested. */
export const onStart = (context: Context, judge: (start: Start) => void): Watcher =>
  onAttempt(context, (start) => {
    if (start.isFirst) judge(start);
  });

/** The group's settings, and those that were replaced within the lag. */
export const specsOf = (
  group: RepairGroup,
  at: number,
  lagMicros: number,
): readonly JsonObject[] =>
  at - group.specAt <= lagMicros ? [group.spec, group.specBefore] : [group.spec];

/**
 * Findings for which a rule of the group has an action, by their current reason or one that was
 * replaced within the lag.
 */
export const repairableOf = (
  health: HealthState,
  spec: JsonObject,
  options: { readonly at: number; readonly lagMicros: number },
): readonly Spell[] =>
  findingsOf(health, { ...options, startupMicros: startupTimeoutOf(spec) }).filter(
    ({ condition, reason, reasonBefore, reasonAt }) => {
      const isNew = options.at - reasonAt <= options.lagMicros;
      const reasons = isNew ? [reason, reasonBefore] : [reason];
      return reasons.some((one) => answerOf(spec, condition, one).actions.length > 0);
    },
  );

/** Ids of the group's instances that are InService. */
export const membersOf = ({ book }: Context, group: RepairGroup): readonly string[] =>
  [...book.cloud.instances.values()]
    .filter((one) => one.group === group.scalingGroup && one.state === 'InService')
    .map(({ instanceId }) => instanceId);

export const sizeOf = (context: Context, group: RepairGroup): number =>
  Math.max(
    membersOf(context, group).length,
    context.book.cloud.groups.get(group.scalingGroup)?.desired ?? 0,
  );
