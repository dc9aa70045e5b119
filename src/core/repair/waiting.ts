// An open repair before its action: it waits, is blocked, is cancelled, or starts. Starting only
// records the intent; the cause on the NodeDisruption follows from it (running.ts). Pure.
import { type EpochMs, epochMs, formatTime, parseTime } from '../../api/brand.ts';
import type { NodeDisruption } from '../../api/disruption.ts';
import {
  type NodeRepair,
  type NodeRepairStatus,
  preserveAnnotation,
  type RepairAction,
  type RepairBlocker,
  type RepairRequest,
  repairAnnotation,
} from '../../api/node-repair.ts';
import { deletedWaitMs } from '../health/index.ts';
import { causesInForce } from '../termination/index.ts';
import {
  cooldownBlocker,
  groupBreaker,
  ledgerBlocker,
  maxParallelOf,
  missingBreaker,
  partitionBreaker,
  shiftBlocker,
  signalBreaker,
  stormKinds,
  zoneBreaker,
} from './breakers.ts';
import { ineffectiveRepairs } from './effect.ts';
import { askedOf, causeIdOf, type Due, dueOf, mergedFindings, recoversAt } from './episode.ts';
import type { RepairMember, RepairObservation } from './observation.ts';
import { repairModeOf, repairTimesOf } from './policy.ts';
import { type Decided, feasible, whyNotQuarantined } from './quarantine.ts';

/** What repairs handled earlier in this pass have already used: nodes, places and replacements. */
export interface Taken extends Decided {
  /** Number of running repairs. */
  readonly running: number;
  /** No repair of the group starts before this time, epoch milliseconds. */
  readonly cooldownUntil: number;
  /** Instances that this pass counts as replacements. */
  readonly replacements: readonly string[];
}

export interface Next {
  readonly status: NodeRepairStatus;
  readonly wakeAt: readonly (EpochMs | undefined)[];
}

const isEnded = ({ status }: NodeDisruption): boolean => status?.phase === 'Ended';

/** Causes on the disruption that belong to others and already handle the node. */
export const othersCauses = (disruption: NodeDisruption | undefined): readonly string[] => {
  if (disruption === undefined) return [];
  const causes = causesInForce(disruption).filter(({ kind }) => kind !== 'Repair');
  return isEnded(disruption) ? [] : causes.map(({ kind }) => kind);
};

/**
 * Holds that operators set with annotations on the node and the group; no request overrides them.
 */
export const holdBlocker = (
  { group }: RepairObservation,
  member: RepairMember,
): readonly RepairBlocker[] => {
  const held = [
    ...(group.metadata.annotations?.[repairAnnotation] === 'hold' ? ['the node group'] : []),
    ...(askedOf(member) === 'hold' ? ['the node'] : []),
  ];
  const preserve = member.node?.metadata.annotations?.[preserveAnnotation];
  return [
    ...held.map(
      (what): RepairBlocker => ({
        kind: 'hold',
        message: `annotation ${repairAnnotation}=hold on ${what}`,
      }),
    ),
    ...(preserve === 'now' || preserve === 'when-failed'
      ? [
          {
            kind: 'preserve' as const,
            message: `annotation ${preserveAnnotation}=${preserve} keeps the instance`,
          },
        ]
      : []),
  ];
};

/** Breakers that start a cooldown when they close. */
export const stormBlockers = (
  observation: RepairObservation,
  member: RepairMember,
): readonly RepairBlocker[] => {
  const signals = member.health.findings.flatMap(
    (finding) => signalBreaker(observation, finding) ?? [],
  );
  const found = [
    partitionBreaker(observation),
    zoneBreaker(observation, member.availabilityZone),
    missingBreaker(observation) ?? signals[0],
    groupBreaker(observation),
  ];
  return found.flatMap((one) => one ?? []);
};

const blockersOf = (
  observation: RepairObservation,
  member: RepairMember,
  taken: Taken,
): readonly RepairBlocker[] => {
  const { group, now, repairs, disruptions } = observation;
  const others = othersCauses(disruptions.get(member.instanceId));
  const { updating } = group.status ?? {};
  const useless = ineffectiveRepairs(repairs);
  const most = maxParallelOf(observation);
  const storm = stormBlockers(observation, member);
  const ledger = ledgerBlocker(observation, member);
  const shift = shiftBlocker(observation);
  return [
    ...holdBlocker(observation, member),
    ...(others.length === 0
      ? []
      : [{ kind: 'draining' as const, message: `being drained for ${others.join(', ')}` }]),
    ...(updating === undefined
      ? []
      : [{ kind: 'update' as const, message: `update ${updating.name} has the group` }]),
    ...(shift === undefined ? [] : [shift]),
    ...storm,
    ...(storm.length === 0 && now < taken.cooldownUntil
      ? [cooldownBlocker(taken.cooldownUntil)]
      : []),
    ...(useless !== undefined && now < useless.until
      ? [
          {
            kind: 'ineffective' as const,
            message: useless.message,
            until: formatTime(useless.until),
          },
        ]
      : []),
    ...(taken.running >= most
      ? [
          {
            kind: 'parallel' as const,
            message: `${taken.running} repairs run, and ${most} may at once`,
          },
        ]
      : []),
    ...(ledger === undefined ? [] : [ledger]),
  ];
};

const over = (
  repair: NodeRepair,
  { now }: RepairObservation,
  message: string,
): NodeRepairStatus => {
  const { blockedBy: _blocked, action: _action, eligibleAt: _at, ...rest } = repair.status ?? {};
  return { ...rest, phase: 'Cancelled', message, endedAt: formatTime(now) };
};

/** When the group may start repairs again after a breaker that blocked this repair has closed. */
export const cooldownOf = (
  repair: NodeRepair,
  observation: RepairObservation,
  member: RepairMember | undefined,
): EpochMs | undefined => {
  const { now, group } = observation;
  const wasHeld = repair.status?.blockedBy?.some(({ kind }) => stormKinds.has(kind)) ?? false;
  const isHeld = member !== undefined && stormBlockers(observation, member).length > 0;
  return wasHeld && !isHeld ? epochMs(now + repairTimesOf(group).cooldownMs) : undefined;
};

const withCooldown = (status: NodeRepairStatus, until: EpochMs | undefined): NodeRepairStatus =>
  until === undefined ? status : { ...status, cooldownUntil: formatTime(until) };

const started = (
  repair: NodeRepair,
  member: RepairMember,
  actions: readonly RepairAction[],
  observation: RepairObservation,
  taken: Taken,
): NodeRepairStatus => {
  const { now } = observation;
  const { attempts = [], blockedBy: _blocked, ...rest } = repair.status ?? { phase: 'Waiting' };
  const ruled = actions[attempts.length] ?? actions.at(-1) ?? 'Replace';
  const { action, why } = feasible(ruled, observation, member, taken);
  const bootId = member.node?.status.nodeInfo?.bootID;
  const startedAt = formatTime(now);
  const attempt = {
    action,
    causeId: causeIdOf(repair, attempts.length + 1, startedAt),
    startedAt,
    ...(bootId === undefined ? {} : { bootId }),
  };
  const message = why === undefined ? `${action} decided` : `${action} decided: ${why}`;
  return { ...rest, phase: 'Repairing', message, action, attempts: [...attempts, attempt] };
};

const whileHealthy = (
  repair: NodeRepair,
  member: RepairMember,
  observation: RepairObservation,
): Next => {
  const { group, now } = observation;
  const at = recoversAt(group, member);
  if (at !== undefined && now >= at) {
    const message = `healthy again since ${formatTime(member.health.since ?? now)}`;
    return { status: over(repair, observation, message), wakeAt: [] };
  }
  const { blockedBy: _blocked, ...rest } = repair.status ?? {};
  const message =
    at === undefined ? 'starting' : `healthy; the episode is over at ${formatTime(at)}`;
  const findings = mergedFindings(repair.status?.findings ?? [], member);
  return { status: { ...rest, findings, phase: 'Waiting', message }, wakeAt: [at] };
};

/**
 * A manual repair: without wait or finding, and without the blockers that the operator overrides.
 */
const nextRequested = (
  repair: NodeRepair,
  request: RepairRequest,
  member: RepairMember,
  observation: RepairObservation,
  taken: Taken,
): Next => {
  const { action, at, overrule = [] } = request;
  // If the instance cannot be quarantined, nothing is done: the operator asked to keep it.
  const why = action === 'Quarantine' ? whyNotQuarantined(observation, member, taken) : undefined;
  if (why !== undefined) {
    const message = `not quarantined: ${why}; Replace would terminate the instance`;
    return { status: over(repair, observation, message), wakeAt: [] };
  }
  const findings = mergedFindings(repair.status?.findings ?? [], member);
  const { blockedBy: _blocked, message: _message, ...before } = repair.status ?? {};
  const known = { ...before, findings, action, eligibleAt: at };
  const blockedBy = blockersOf(observation, member, taken).filter(
    ({ kind }) => !overrule.some((one) => one === kind),
  );
  const [first] = blockedBy;
  if (first !== undefined) {
    const message = first.message.slice(0, 500);
    const wakeAt = blockedBy.map(({ until }) => parseTime(until));
    return { status: { ...known, phase: 'Blocked', message, blockedBy }, wakeAt };
  }
  const seen = { ...repair, status: { ...known, phase: 'Waiting' as const } };
  return { status: started(seen, member, [action], observation, taken), wakeAt: [] };
};

/**
 * When an operator made it eligible: the time of the first pass after that, kept in later passes.
 */
const askedAt = ({ status }: NodeRepair, due: Due, now: EpochMs): EpochMs => {
  const known = parseTime(status?.eligibleAt);
  const first = known !== undefined && known <= now ? known : now;
  return epochMs(Math.min(first, due.at));
};

/**
 * A process that has just started sees an instance without a Node, but not whether it had one. It
 * gives the kubelet the same time to register again as after a deletion.
 */
const dueAt = ({ metadata }: NodeRepair, { at, finding }: Due): EpochMs => {
  if (finding.reason !== 'NeverJoined') return at;
  const openedAt = parseTime(metadata.creationTimestamp) ?? at;
  return epochMs(Math.max(at, openedAt + deletedWaitMs));
};

/** The next status of a repair that has not acted. */
export const nextWaiting = (
  repair: NodeRepair,
  observation: RepairObservation,
  taken: Taken,
): Next => {
  const { group, members, now } = observation;
  const member = members.find(({ instanceId }) => instanceId === repair.spec.instanceId);
  const cooldown = cooldownOf(repair, observation, member);
  const end = (next: Next): Next => ({ ...next, status: withCooldown(next.status, cooldown) });
  if (member === undefined) {
    return end({ status: over(repair, observation, 'the instance left the group'), wakeAt: [] });
  }
  const { requested } = repair.spec;
  if (requested !== undefined) {
    return end(nextRequested(repair, requested, member, observation, taken));
  }
  if (member.health.state !== 'Unhealthy') return end(whileHealthy(repair, member, observation));
  const findings = mergedFindings(repair.status?.findings ?? [], member);
  const due = dueOf(group, member, findings);
  if (due === undefined) {
    return end({ status: over(repair, observation, 'no rule repairs this'), wakeAt: [] });
  }
  const at = askedOf(member) === 'now' ? askedAt(repair, due, now) : dueAt(repair, due);
  const [action = 'Replace'] = due.actions;
  const { blockedBy: _blocked, message: _message, ...before } = repair.status ?? {};
  const known = { ...before, findings, action, eligibleAt: formatTime(at) };
  const seen = { ...repair, status: { ...known, phase: 'Waiting' as const } };
  if (now < at) {
    const message = `${due.finding.condition} ${due.finding.reason}; eligible at ${formatTime(at)}`;
    return end({ status: { ...known, phase: 'Waiting', message }, wakeAt: [at] });
  }
  const blockedBy = blockersOf(observation, member, taken);
  const [first] = blockedBy;
  if (first !== undefined) {
    const wakeAt = blockedBy.map(({ until }) => parseTime(until));
    const message = first.message.slice(0, 500);
    return end({ status: { ...known, phase: 'Blocked', message, blockedBy }, wakeAt });
  }
  if (repairModeOf(group) === 'Audit') {
    const message = `audit: ${action} would start`;
    return end({ status: { ...known, phase: 'WouldRepair', message }, wakeAt: [] });
  }
  return end({ status: started(seen, member, due.actions, observation, taken), wakeAt: [] });
};
