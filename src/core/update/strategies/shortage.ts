// Zones in which EC2 cannot launch a node, according to the scaling activities. An update by
// Drover's own strategy drains their nodes last, after a wait, or not at all. Auto Scaling itself
// tries other types and zones. Pure.
import { type EpochMs, epochMs, parseTime } from '../../../api/brand.ts';
import type { HealthIssue } from '../../../api/nodegroup.ts';
import type { NodeGroupUpdateStatus, UpdateShortage } from '../../../api/nodegroup-update.ts';
import { codeOfRefusal } from '../../nodegroup/index.ts';
import { isSetAside, setAsideErrors } from '../ending/timeouts.ts';
import { stay } from '../ending/waiting.ts';
import { explainUpdateWaiting, passingWords } from '../explain-waiting.ts';
import type { UpdateDecision, UpdateObservation } from '../observation.ts';
import { enter, fail } from '../records/journal.ts';
import {
  type Counted,
  type GroupNodes,
  inFlightOf,
  isHealthyNew,
  phaseSince,
} from '../records/nodes.ts';

/** EC2 messages of launches that may succeed in another zone, with another type or later. */
const noRoom =
  /InsufficientInstanceCapacity|InsufficientFreeAddresses|not enough free addresses|InstanceLimitExceeded|VcpuLimitExceeded|MaxSpotInstanceCount/i;
const otherwise = 'AsgInstanceLaunchFailures';
const codes = new Set([otherwise, 'InsufficientFreeAddresses', 'InstanceLimitExceeded']);

interface Activity {
  readonly description: string;
  readonly status: string;
  readonly message: string;
  readonly startedAt: string;
  readonly zone?: string;
}

const maxMessage = 500;

/** Zones whose latest launch failed for lack of capacity. `activities`: newest first. */
export const shortagesOf = (activities: readonly Activity[]): readonly UpdateShortage[] => {
  const last = new Map<string, Activity>();
  for (const activity of activities) {
    const { zone, description } = activity;
    if (zone === undefined || last.has(zone) || !/^(?:Launching|Failed)/.test(description))
      continue;
    last.set(zone, activity);
  }
  return [...last]
    .filter(([, { status, message }]) => status === 'Failed' && noRoom.test(message))
    .map(([zone, { message, startedAt }]) => ({
      zone,
      code: codeOfRefusal(message, otherwise),
      message: message.slice(0, maxMessage),
      at: startedAt,
    }))
    .toSorted((a, b) => a.zone.localeCompare(b.zone));
};

/** Shortages of this observation, or else those in the status. */
const known = ({ shortages, status }: UpdateObservation): readonly UpdateShortage[] =>
  shortages ?? status.shortages ?? [];

export const shortageOf = (
  observation: UpdateObservation,
  { instance }: Counted,
): UpdateShortage | undefined => known(observation).find(({ zone }) => zone === instance.zone);

const openFrom = ({ policies, now }: UpdateObservation, { at }: UpdateShortage): EpochMs =>
  epochMs((parseTime(at) ?? now) + (policies?.shortageWaitMs ?? 0));

/**
 * The last launch in the node's zone failed for lack of capacity, and either the wait after it is
 * not over or the policy skips such nodes.
 */
export const isHeldByShortage = (observation: UpdateObservation, one: Counted): boolean => {
  const shortage = shortageOf(observation, one);
  if (shortage === undefined) return false;
  const { policies, now } = observation;
  return policies?.onShortage === 'Fail' || now < openFrom(observation, shortage);
};

/** The status change, if the shortages changed. */
export const shortageChange = ({
  shortages,
  status,
}: UpdateObservation): { readonly shortages?: readonly UpdateShortage[] } => {
  if (shortages === undefined) return {};
  const before = status.shortages ?? [];
  return JSON.stringify(before) === JSON.stringify(shortages) ? {} : { shortages };
};

const errorOf = (
  { groupName }: UpdateObservation,
  nodes: readonly Counted[],
  shortages: readonly UpdateShortage[],
): HealthIssue => {
  const where = shortages.map(({ zone, message }) => `${zone}: ${message}`).join('; ');
  const isOfAddresses = shortages.every(({ code }) => code === 'InsufficientFreeAddresses');
  return {
    code: isOfAddresses ? 'InsufficientFreeAddresses' : 'NodeCreationFailure',
    message:
      `Nodes of node group ${groupName} were left as they are, since no new ones can be ` +
      `started in their zones. ${where}`,
    resourceIds: nodes.map(({ instance }) => instance.nodeName ?? instance.instanceId),
  };
};

/**
 * With Fail: ends the update when only nodes of zones without capacity are left and their wait is
 * over. Nodes set aside do not delay the end.
 */
export const endsForShortage = (
  observation: UpdateObservation,
  groupNodes: GroupNodes,
): UpdateDecision | undefined => {
  const { policies, now } = observation;
  const { old, leavingOld } = groupNodes;
  const isIdle = leavingOld.length === 0 && inFlightOf(groupNodes).length === 0;
  if (policies?.onShortage !== 'Fail' || old.length === 0 || !isIdle) return undefined;
  const left = old.filter((one) => !isSetAside(observation, one));
  const short = left.flatMap((one) => shortageOf(observation, one) ?? []);
  const zones = known(observation).filter(({ zone }) => short.some((one) => one.zone === zone));
  if (left.length === 0 || short.length < left.length) return undefined;
  const until = epochMs(Math.max(...zones.map((one) => openFrom(observation, one))));
  if (now < until) return stay(observation, { wakeAt: until });
  const { errors, failedNodes } = setAsideErrors(observation, groupNodes);
  const issues = [errorOf(observation, left, zones), ...errors];
  return stay(observation, { change: { ...fail(observation, issues), failedNodes } });
};

/** Clears shortages from the status of an update that ended Successful. */
export const shortagePast = (
  { shortages, message }: Pick<NodeGroupUpdateStatus, 'shortages' | 'message'>,
  status: NodeGroupUpdateStatus['status'],
): Pick<NodeGroupUpdateStatus, 'shortages' | 'message'> => {
  if (status !== 'Successful') return {};
  return {
    ...(shortages === undefined ? {} : { shortages: [] }),
    ...(message?.startsWith(passingWords.room) === true ? { message: '' } : {}),
  };
};

/**
 * With Minimal: if no zone has capacity for the first new nodes, old nodes are drained first.
 * Undefined: there is capacity, or the wait is not over.
 */
export const withoutSurge = (
  observation: UpdateObservation,
  { old, fresh }: GroupNodes,
): UpdateDecision | undefined => {
  const { policies, issues, desired, now } = observation;
  const issue = issues.find(({ code }) => codes.has(code));
  if (policies?.onShortage !== 'Minimal' || issue === undefined) return undefined;
  const from = epochMs(phaseSince(observation) + policies.shortageWaitMs);
  if (now < from || !fresh.every(isHealthyNew)) return undefined;
  const there = old.length + fresh.length;
  const surge = Math.max(0, there - desired);
  const waiting = { kind: 'room', code: issue.code, message: issue.message } as const;
  const message = explainUpdateWaiting(waiting);
  return {
    change: { ...enter(observation, 'Rolling'), surge, message: message.slice(0, 2_000) },
    surge: { desired: surge, maxSize: surge },
    steps: [{ kind: 'Lower', desired: desired + surge }],
    waitingOn: [waiting],
  };
};
