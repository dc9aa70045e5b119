// Requested new nodes that have not joined, and why: launches that EC2 refused, by zone, and
// running instances without a Ready node. Reported while the update waits; if it times out, they
// become its errors. Pure.
import { parseTime } from '../../../api/brand.ts';
import type { MissingNode } from '../../../api/nodegroup-update.ts';
import { codeOfRefusal, usualJoinMs } from '../../nodegroup/index.ts';
import { explainUpdateWaiting } from '../explain-waiting.ts';
import type { StatusChange, UpdateInstance, UpdateObservation } from '../observation.ts';
import { type Counted, type GroupNodes, isHealthyNew, isJoined } from '../records/nodes.ts';

const maxMissing = 20;
const maxMessage = 500;

interface Activity {
  readonly description: string;
  readonly status: string;
  readonly message: string;
  readonly startedAt: string;
  readonly zone?: string;
}

/**
 * For each zone, the launches that failed since the last successful one: EC2's latest error, and
 * since when launches fail.
 */
export const failedLaunches = (activities: readonly Activity[]): readonly MissingNode[] => {
  const perZone = new Map<string, MissingNode>();
  const good = new Set<string>();
  for (const { description, status, message, startedAt, zone = '' } of activities) {
    if (!description.startsWith('Launching ') || good.has(zone)) continue;
    if (status !== 'Failed' && status !== 'Cancelled') {
      good.add(zone);
      continue;
    }
    const known = perZone.get(zone);
    const code = codeOfRefusal(message, 'AsgInstanceLaunchFailures');
    const place = zone === '' ? {} : { zone };
    const newest = { ...place, code, message: message.slice(0, maxMessage) };
    perZone.set(zone, { ...(known ?? newest), since: startedAt });
  }
  return [...perZone.values()].toSorted((a, b) => (a.zone ?? '').localeCompare(b.zone ?? ''));
};

/**
 * The reason: the node's condition, or the console output and other findings of an instance that is
 * not a node.
 */
const whyNotJoined = (
  { nodeName, isReady, notReadyWhy }: UpdateInstance,
  why: string | undefined,
): string => {
  if (nodeName === undefined) {
    const known = why === undefined ? '' : `: ${why}`;
    return `its instance runs and has not become a node${known}`;
  }
  if (isReady) return `its node ${nodeName} lacks labels of its group`;
  const says = notReadyWhy === undefined ? '' : ` (${notReadyWhy})`;
  return `its node ${nodeName} is not Ready${says}`;
};

const notJoined = (
  { unjoined = [], now }: UpdateObservation,
  { instance }: Counted,
): readonly MissingNode[] => {
  const { instanceId, zone } = instance;
  const found = unjoined.find((one) => one.instanceId === instanceId);
  const since = found?.launchTime;
  const at = parseTime(since) ?? parseTime(instance.notReadySince);
  if (at === undefined || now - at < usualJoinMs || isJoined(instance)) return [];
  const message = whyNotJoined(instance, found?.why).slice(0, maxMessage);
  const from = since ?? instance.notReadySince ?? '';
  return [{ instanceId, zone, code: 'NodeCreationFailure', message, since: from }];
};

/**
 * A failed launch matters while an instance is missing. If another zone launched it instead, none
 * is missing; but in ScalingUp the update still waits for the first new node of the zone.
 */
const launchesThatMatter = (
  { status, launches = [], actualDesired }: UpdateObservation,
  { old, fresh }: GroupNodes,
): readonly MissingNode[] => {
  if (old.length + fresh.length < actualDesired) return launches;
  if (status.phase !== 'ScalingUp') return [];
  const served = new Set(fresh.filter(isHealthyNew).map(({ instance }) => instance.zone));
  const wants = new Set(old.map(({ instance }) => instance.zone));
  return launches.filter(({ zone = '' }) => wants.has(zone) && !served.has(zone));
};

/** All requested new nodes that have not joined, with what is known of each. */
export const missingNow = (
  observation: UpdateObservation,
  groupNodes: GroupNodes,
): readonly MissingNode[] =>
  [
    ...launchesThatMatter(observation, groupNodes),
    ...groupNodes.fresh.flatMap((one) => notJoined(observation, one)),
  ].slice(0, maxMissing);

const same = (a: MissingNode, b: MissingNode): boolean =>
  a.zone === b.zone && a.instanceId === b.instanceId && a.code === b.code;

/** One missing node as text: its zone with EC2's error, or the instance's reason. */
export const missingText = (node: MissingNode): string =>
  explainUpdateWaiting({ kind: 'newNode', node });

/** The status change, if the list changed. */
export const missingChange = (
  observation: UpdateObservation,
  groupNodes: GroupNodes,
): StatusChange => {
  const { status } = observation;
  const before = status.missing ?? [];
  const now = status.phase === 'Restoring' ? [] : missingNow(observation, groupNodes);
  // Auto Scaling drops old activities from its list, so the first recorded time is kept.
  const told = now.map((one) => ({
    ...one,
    since: before.find((b) => same(b, one))?.since ?? one.since,
  }));
  if (JSON.stringify(before) === JSON.stringify(told)) return {};
  return { missing: told.length === 0 ? undefined : told };
};
