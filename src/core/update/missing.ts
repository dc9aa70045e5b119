// New nodes that were asked for and are none yet, with what is known of it at once: launches that EC2 refused, by zone,
// and instances that run and have not joined. Told while the update waits; it fails by them when their time is over. Pure.
import { parseTime } from '../../api/brand.ts';
import type { MissingNode } from '../../api/nodegroup-update.ts';
import { codeOfRefusal } from '../scaling/index.ts';
import { type Counted, type Herd, isJoined } from './nodes.ts';
import type { StatusChange, UpdateObservation } from './observation.ts';

/** A node needs a minute or more from its launch on: before that nothing is wrong. */
const usualMs = 120_000;
const maxMissing = 20;
const maxMessage = 500;

interface Activity {
  readonly description: string;
  readonly status: string;
  readonly message: string;
  readonly startedAt: string;
  readonly zone?: string;
}

/** Of each zone the launches that failed since one succeeded there: what EC2 says now, and since when. */
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

const notJoined = ({ unjoined = [], now }: UpdateObservation, { instance }: Counted) => {
  const { instanceId, zone, nodeName, isReady } = instance;
  const since = unjoined.find((one) => one.instanceId === instanceId)?.launchTime;
  const at = parseTime(since) ?? parseTime(instance.notReadySince);
  if (at === undefined || now - at < usualMs || isJoined(instance)) return [];
  const message =
    nodeName === undefined
      ? 'its instance runs and has not become a node'
      : isReady
        ? `its node ${nodeName} lacks labels of its group`
        : `its node ${nodeName} is not Ready`;
  const from = since ?? instance.notReadySince ?? '';
  return [{ instanceId, zone, code: 'NodeCreationFailure', message, since: from }];
};

const same = (a: MissingNode, b: MissingNode): boolean =>
  a.zone === b.zone && a.instanceId === b.instanceId && a.code === b.code;

/** Told where it has changed. */
export const missingChange = (observation: UpdateObservation, herd: Herd): StatusChange => {
  const { status, launches = [], actualDesired } = observation;
  const before = status.missing ?? [];
  const isOver = status.phase === 'Restoring';
  const isShort = herd.old.length + herd.fresh.length < actualDesired;
  const now = isOver
    ? []
    : [
        ...(isShort ? launches : []),
        ...herd.fresh.flatMap((one) => notJoined(observation, one)),
      ].slice(0, maxMissing);
  // Activities of long ago are not told any more: it has been so since it was told first.
  const told = now.map((one) => ({
    ...one,
    since: before.find((b) => same(b, one))?.since ?? one.since,
  }));
  if (JSON.stringify(before) === JSON.stringify(told)) return {};
  return { missing: told.length === 0 ? undefined : told };
};
