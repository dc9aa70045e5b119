// Decides the repairs of one group: which episodes open, wait, are blocked, start, are verified or
// end. A repair acts through a Repair cause on a NodeDisruption; nothing is drained or terminated
// here. Pure.
import { type EpochMs, epochMs, formatTime, parseTime } from '../../api/brand.ts';
import { jsonEqual } from '../../api/json.ts';
import {
  endedRepairPhases,
  keptRepairs,
  type NodeRepair,
  type NodeRepairStatus,
} from '../../api/node-repair.ts';
import { bundleDueAt, endedRequests } from './bundle.ts';
import { mergedFindings, repairable, repairName } from './episode.ts';
import type {
  RepairMember,
  RepairObservation,
  RepairOutlook,
  RepairPlan,
  RepairStep,
} from './observation.ts';
import { repairModeOf } from './policy.ts';
import { isQuarantine, nextQuarantined } from './quarantine.ts';
import { isReleased, nextReleased } from './released.ts';
import { nextRepairing, nextVerifying } from './running.ts';
import { cooldownOf, nextWaiting, othersCauses, type Taken } from './waiting.ts';

/** Intervals between looks at a group with an open repair, and at one without. */
const lookAgainMs = 30_000;
const restMs = 60_000;

export const isOpenRepair = ({ status }: NodeRepair): boolean =>
  status === undefined || !endedRepairPhases.includes(status.phase);

/** The repair has decided its action, or is verifying the effect. */
export const isRunning = ({ status }: NodeRepair): boolean =>
  status?.phase === 'Repairing' || status?.phase === 'Verifying';

const byAge = (a: NodeRepair, b: NodeRepair): number =>
  a.spec.unhealthySince.localeCompare(b.spec.unhealthySince) ||
  (a.metadata.name < b.metadata.name ? -1 : 1);

/** A group that is being created or deleted has no repairs. */
const isLive = ({ group }: RepairObservation): boolean =>
  group.status?.createdAt !== undefined && group.metadata.deletionTimestamp === undefined;

const isRepairing = (observation: RepairObservation): boolean =>
  repairModeOf(observation.group) !== 'Off' && isLive(observation);

/** The episode for a member that became unhealthy; undefined: none is to be opened. */
const opened = (
  { group, repairs, disruptions, now }: RepairObservation,
  member: RepairMember,
): Extract<RepairStep, { kind: 'OpenRepair' }> | undefined => {
  if (member.health.state !== 'Unhealthy') return undefined;
  const [first] = repairable(group, member.health);
  if (first === undefined) return undefined;
  const { instanceId, availabilityZone, node } = member;
  if (repairs.some((one) => isOpenRepair(one) && one.spec.instanceId === instanceId))
    return undefined;
  // Another cause already drains the node; no repair is opened in addition.
  if (othersCauses(disruptions.get(instanceId)).length > 0) return undefined;
  const name = repairName(instanceId, repairs);
  const { condition, reason, since } = first;
  return {
    kind: 'OpenRepair',
    name,
    spec: {
      nodeGroup: group.metadata.name,
      instanceId,
      ...(node === undefined ? {} : { node: { name: node.metadata.name, uid: node.metadata.uid } }),
      availabilityZone,
      unhealthySince: formatTime(epochMs(Math.min(since, now))),
      condition,
      reason: reason.slice(0, 128),
    },
  };
};

/**
 * Cancels a repair that its group has switched off. Running repairs continue, since their instance
 * may be terminated already.
 */
const switchedOff = (repair: NodeRepair, { now }: RepairObservation): NodeRepairStatus => {
  const { blockedBy: _blocked, action: _action, ...rest } = repair.status ?? {};
  const message = 'node repair was switched off';
  return { ...rest, phase: 'Cancelled', message, endedAt: formatTime(now) };
};

const write = (repair: NodeRepair, status: NodeRepairStatus): readonly RepairStep[] => {
  if (jsonEqual(repair.status, status)) return [];
  const { name, resourceVersion } = repair.metadata;
  return [{ kind: 'WriteRepair', name, resourceVersion, status }];
};

/** Ended repairs that exceed the number of repairs to keep. */
const forgotten = ({ repairs }: RepairObservation): readonly RepairStep[] =>
  repairs
    .filter((repair) => !isOpenRepair(repair))
    .toSorted((a, b) => (b.status?.endedAt ?? '').localeCompare(a.status?.endedAt ?? ''))
    .slice(keptRepairs)
    .map(({ metadata: { name, uid } }) => ({ kind: 'DeleteRepair', name, uid }));

const takenAtFirst = (observation: RepairObservation): Taken => {
  const { repairs, members } = observation;
  const open = repairs.filter(isOpenRepair);
  const closing = open.map((repair) => {
    const member = members.find(({ instanceId }) => instanceId === repair.spec.instanceId);
    return cooldownOf(repair, observation, member) ?? 0;
  });
  const noted = repairs.map(({ status }) => parseTime(status?.cooldownUntil) ?? 0);
  return {
    running: open.filter(isRunning).length,
    cooldownUntil: Math.max(0, ...closing, ...noted),
    replacements: [],
    quarantines: 0,
  };
};

interface Pass {
  readonly steps: RepairStep[];
  readonly outlook: RepairOutlook[];
  readonly wakeAt: (EpochMs | undefined)[];
}

const outlookOf = ({ metadata: { name }, spec }: NodeRepair, status: NodeRepairStatus) => ({
  name,
  spec,
  status,
});

/** A running repair without its last hold, which every pass determines again. */
const withoutHold = (repair: NodeRepair): NodeRepair => {
  if (repair.status?.blockedBy === undefined) return repair;
  const { blockedBy: _blocked, ...status } = repair.status;
  return { ...repair, status };
};

const withQuarantine = (taken: Taken, repair: NodeRepair, status: NodeRepairStatus): Taken =>
  isQuarantine({ status }) && !isQuarantine(repair)
    ? { ...taken, quarantines: taken.quarantines + 1 }
    : taken;

const look = (
  repair: NodeRepair,
  observation: RepairObservation,
  taken: Taken,
  pass: Pass,
): Taken => {
  const isQuarantined = repair.status?.phase === 'Quarantined';
  if (isReleased(observation.group) && (isRunning(repair) || isQuarantined)) {
    const next = nextReleased(repair, observation);
    pass.steps.push(...write(repair, next.status), ...next.steps);
    pass.outlook.push(outlookOf(repair, next.status));
    return taken;
  }
  if (isRunning(repair)) {
    const free = withoutHold(repair);
    const next =
      repair.status?.phase === 'Verifying'
        ? nextVerifying(free, observation, taken)
        : nextRepairing(free, observation, taken);
    pass.steps.push(...write(repair, next.status), ...next.steps);
    pass.outlook.push(outlookOf(repair, next.status));
    pass.wakeAt.push(bundleDueAt(next.status));
    const { replacement } = next.status;
    const after = withQuarantine(taken, repair, next.status);
    if (replacement === undefined) return after;
    return { ...after, replacements: [...after.replacements, replacement] };
  }
  if (isQuarantined) {
    const next = nextQuarantined(repair, observation);
    pass.steps.push(...write(repair, next.status), ...next.steps);
    pass.outlook.push(outlookOf(repair, next.status));
    pass.wakeAt.push(parseTime(next.status.quarantinedUntil));
    return taken;
  }
  const isRequested = repair.spec.requested !== undefined;
  const isOff = isRequested ? !isLive(observation) : !isRepairing(observation);
  const next = isOff
    ? { status: switchedOff(repair, observation), wakeAt: [] }
    : nextWaiting(repair, observation, taken);
  pass.steps.push(...write(repair, next.status));
  pass.outlook.push(outlookOf(repair, next.status));
  pass.wakeAt.push(...next.wakeAt);
  const after = withQuarantine(taken, repair, next.status);
  return next.status.phase === 'Repairing' ? { ...after, running: after.running + 1 } : after;
};

/** The episode that would be opened, for `--dry-run` and `explain`. */
const asOpened = (
  { name, spec }: Extract<RepairStep, { kind: 'OpenRepair' }>,
  member: RepairMember,
  now: EpochMs,
): NodeRepair => ({
  apiVersion: 'drover.dev/v1alpha1',
  kind: 'NodeRepair',
  metadata: { name, uid: '', resourceVersion: '', creationTimestamp: formatTime(now) },
  spec,
  status: { phase: 'Waiting', findings: mergedFindings([], member) },
});

export const decideRepairs = (observation: RepairObservation): RepairPlan => {
  const { group, repairs, members, now } = observation;
  const pass: Pass = { steps: [], outlook: [], wakeAt: [] };
  let taken = takenAtFirst(observation);
  for (const repair of repairs.filter(isOpenRepair).toSorted(byAge)) {
    taken = look(repair, observation, taken, pass);
  }
  if (isRepairing(observation)) {
    for (const member of members) {
      const step = opened(observation, member);
      if (step === undefined) continue;
      pass.steps.push(step);
      const next = nextWaiting(asOpened(step, member, now), observation, taken);
      pass.outlook.push({ name: step.name, spec: step.spec, status: next.status });
    }
  }
  pass.steps.push(...endedRequests(observation, pass.outlook), ...forgotten(observation));
  const patienceMs = pass.outlook.length > 0 ? lookAgainMs : restMs;
  const times = pass.wakeAt.flatMap((at) => (at !== undefined && at > now ? [at] : []));
  return {
    subject: group.metadata.name,
    steps: pass.steps,
    outlook: pass.outlook,
    nextCheckAt: epochMs(Math.min(now + patienceMs, ...times)),
  };
};
