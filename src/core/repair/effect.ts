// Whether the repairs of a group help. A repair does not help if it fails, or if its replacement
// becomes unhealthy within the hour. After two such in a row the group backs off, longer each time.
// Pure.
import { type EpochMs, epochMs, formatTime, parseTime } from '../../api/brand.ts';
import { endedRepairPhases, type NodeRepair, repairIneffective } from '../../api/node-repair.ts';
import type { HealthIssue, NodeGroup } from '../../api/nodegroup.ts';

const minuteMs = 60_000;
const relapseMs = 60 * minuteMs;
const inARow = 2;
const firstBackoffMs = 10 * minuteMs;
const longestBackoffMs = 240 * minuteMs;

const endOf = ({ status }: NodeRepair): EpochMs => parseTime(status?.endedAt) ?? epochMs(0);

const isEnded = ({ status }: NodeRepair): boolean =>
  endedRepairPhases.some((phase) => phase === status?.phase);

/**
 * The instance was replaced and later terminated as planned, which says nothing about the repair.
 */
const wasQuarantined = ({ status }: NodeRepair): boolean => status?.quarantinedUntil !== undefined;

/** A repair that an operator requested does not show whether automatic repairs help. */
const isRequested = ({ spec }: NodeRepair): boolean => spec.requested !== undefined;

/** The replacement became unhealthy soon after the repair. */
const relapsed = (repair: NodeRepair, all: readonly NodeRepair[]): boolean =>
  all.some((other) => {
    const { spec } = other;
    if (isRequested(other) || spec.instanceId !== repair.status?.replacement) return false;
    const since = parseTime(spec.unhealthySince) ?? epochMs(0);
    return since - endOf(repair) <= relapseMs;
  });

export interface Ineffective {
  /** Repairs in a row that did not help. */
  readonly count: number;
  /** Instances of these, newest first. */
  readonly instanceIds: readonly string[];
  readonly until: EpochMs;
  readonly message: string;
}

/** Undefined while the repairs of the group help. */
export const ineffectiveRepairs = (repairs: readonly NodeRepair[]): Ineffective | undefined => {
  const ended = repairs
    .filter((one) => !isRequested(one) && !wasQuarantined(one))
    .filter(({ status }) => status?.phase === 'Succeeded' || status?.phase === 'Failed')
    .toSorted((a, b) => endOf(b) - endOf(a));
  const helped = ended.findIndex(
    (one) => one.status?.phase === 'Succeeded' && !relapsed(one, repairs),
  );
  const useless = helped < 0 ? ended : ended.slice(0, helped);
  const [last] = useless;
  if (last === undefined || useless.length < inARow) return undefined;
  const backoffMs = firstBackoffMs * 2 ** (useless.length - inARow);
  const until = epochMs(endOf(last) + Math.min(longestBackoffMs, backoffMs));
  const message =
    `The last ${useless.length} repairs did not help (${last.spec.condition} ${last.spec.reason}): look at the image ` +
    `and the settings of the group. Repairs start again at ${formatTime(until)}.`;
  const instanceIds = useless.map(({ spec }) => spec.instanceId);
  return { count: useless.length, instanceIds, until, message };
};

/**
 * The health issue of a group whose repairs do not help. It stays while the next repair is delayed
 * for that reason, and while an unhealthy node remains.
 */
export const ineffectiveIssue = (
  repairs: readonly NodeRepair[],
  { status, spec }: Pick<NodeGroup, 'spec' | 'status'>,
  now: EpochMs,
): HealthIssue | undefined => {
  const useless = ineffectiveRepairs(repairs);
  const isIll = repairs.some((one) => !isEnded(one) && !wasQuarantined(one));
  if (useless === undefined || (now >= useless.until && !isIll)) return undefined;
  const image = status?.imageId ?? status?.releaseVersion ?? spec.releaseVersion;
  const message = `${useless.message}${image === undefined ? '' : ` The image is ${image}.`}`;
  return { code: repairIneffective, message, resourceIds: useless.instanceIds };
};
