// Load balancers: whether a marked node may lose its first pod, and whether its instance may end,
// by what the target groups of its cluster report about it. Both waits are bounded and end where a
// deadline is near.
import { type EpochMs, epochMs, formatTime, parseTime } from '../../api/brand.ts';
import type { TargetState } from '../../api/cloud.ts';
import type { NodeDisruption, WaitingOn } from '../../api/disruption.ts';
import { defaultLoadBalancerWaits } from '../../api/drain-policy.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import { causesInForce } from './causes.ts';
import type { Compat } from './observation.ts';
import { takesInstance } from './pods-left.ts';

/** The targets of an instance as last read; absent if they were never read. */
export type Targets = readonly TargetState[] | 'unknown';

/** After a spot notice two minutes are left for everything. */
const spotBeforeMs = 5_000;
/** If the cloud does not answer, nothing waits longer than this. */
const unknownForMs = 15_000;
const maxNamed = 20;

/** States in which a load balancer sends no new connections (API reference, TargetHealth). */
const receivesNothing: ReadonlySet<string> = new Set(['draining', 'unused', 'unavailable']);
/** The deregistration delay is over, or the target was never in use. */
const isGone: ReadonlySet<string> = new Set(['unused']);

type Deregistration = Extract<WaitingOn, { kind: 'deregistration' }>;

const waiting = (
  targets: Targets | undefined,
  { node, stage }: Pick<Deregistration, 'node' | 'stage'>,
  times: { readonly from: EpochMs; readonly until: EpochMs; readonly now: EpochMs },
): { readonly waiting: WaitingOn; readonly until: EpochMs } | undefined => {
  const { from, now } = times;
  const unknown = targets === 'unknown';
  const until = unknown ? epochMs(Math.min(times.until, from + unknownForMs)) : times.until;
  if (targets === undefined || now >= until) return undefined;
  if (unknown) {
    const what = `target groups of ${node}`;
    return { waiting: { kind: 'api', what, message: 'not asked yet' }, until };
  }
  const done = stage === 'evictions' ? receivesNothing : isGone;
  const left = targets.filter(({ state }) => !done.has(state)).map(({ group }) => group);
  if (left.length === 0) return undefined;
  const targetGroups = [...new Set(left)].toSorted().slice(0, maxNamed);
  const blocker = { kind: 'deregistration', node, stage, targetGroups, until: formatTime(until) };
  return { waiting: blocker as Deregistration, until };
};

/** Seconds of both waits. EKS waits for neither, so in eks mode both are 0 by default. */
export const deregistrationWaits = (
  group: NodeGroup | undefined,
  compat: Compat,
): { readonly beforeSeconds: number; readonly afterSeconds: number } => {
  const usual = compat === 'eks' ? { beforeSeconds: 0, afterSeconds: 0 } : defaultLoadBalancerWaits;
  return { ...usual, ...group?.spec.drain?.loadBalancers };
};

/** Whether the load balancers have to be asked about this instance. */
export const needsTargets = (
  disruption: NodeDisruption,
  group: NodeGroup | undefined,
  compat: Compat,
): boolean => {
  const { phase } = disruption.status ?? {};
  if (phase !== 'Marking' && phase !== 'Draining') return false;
  if (group === undefined || disruption.spec.instanceId === undefined) return false;
  const { beforeSeconds, afterSeconds } = deregistrationWaits(group, compat);
  return beforeSeconds > 0 || (afterSeconds > 0 && takesInstance(disruption));
};

/** What the first eviction waits for; undefined: pods may be evicted. */
export const beforeEvictions = (options: {
  readonly disruption: NodeDisruption;
  readonly group: NodeGroup | undefined;
  readonly compat: Compat;
  readonly targets: Targets | undefined;
  readonly now: EpochMs;
}): ReturnType<typeof waiting> => {
  const { disruption, group, compat, targets, now } = options;
  const { status } = disruption;
  const { beforeSeconds } = deregistrationWaits(group, compat);
  const from = parseTime(status?.heldUntil ?? status?.markedAt);
  if (beforeSeconds === 0 || from === undefined || status?.phase !== 'Draining') return undefined;
  // The other half remains for budgets and for the pods themselves.
  const half = ((parseTime(status.deadline) ?? Number.POSITIVE_INFINITY) - from) / 2;
  const isSpot = causesInForce(disruption).some(({ kind }) => kind === 'SpotInterruption');
  const most = isSpot ? spotBeforeMs : Number.POSITIVE_INFINITY;
  const until = epochMs(from + Math.max(0, Math.min(beforeSeconds * 1000, half, most)));
  const node = status.node?.name ?? '';
  return waiting(targets, { node, stage: 'evictions' }, { from, until, now });
};

/** The blockers of the instance's termination once the last pod is gone; undefined: none. */
export const beforeTheEnd = (
  node: string,
  targets: Targets | undefined,
  times: { readonly from: EpochMs; readonly until: EpochMs; readonly now: EpochMs },
): ReturnType<typeof waiting> => waiting(targets, { node, stage: 'end' }, times);
