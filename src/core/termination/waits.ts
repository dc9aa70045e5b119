// How long a drain waits for pods before it evicts them, from the group's drain policy and the
// causes. A cause that leaves no time ends every wait for annotations and Jobs.
import { type EpochMs, epochMs, parseTime } from '../../api/brand.ts';
import { defined } from '../../api/defined.ts';
import type { CauseKind, NodeDisruptionStatus } from '../../api/disruption.ts';
import { type DrainPolicy, type DrainTier, defaultPodWaitSeconds } from '../../api/drain-policy.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import { criticalLast, type Waits } from '../drain/index.ts';
import type { Demand } from './causes.ts';
import type { Compat } from './observation.ts';

/** Whether the instance can run its pods until the drain ends; a node under repair cannot. */
const leavesTime: Readonly<Record<CauseKind, boolean>> = {
  ScaleIn: true,
  LifecycleHook: true,
  SpotInterruption: false,
  RebalanceRecommendation: true,
  Maintenance: true,
  StateChange: false,
  Update: true,
  Repair: false,
  Manual: true,
};

/** How long a drain waits for pods, in seconds, where its deadline leaves `drainSeconds`. */
export const podWaitsOf = (
  { doNotEvict, jobs }: DrainPolicy,
  drainSeconds: number,
): { readonly doNotEvictSeconds: number; readonly jobsSeconds: number } => {
  // The other half remains for budgets and for the pods themselves.
  const seconds = ({ waitSeconds = defaultPodWaitSeconds } = {}): number =>
    Math.max(0, Math.min(waitSeconds, drainSeconds / 2));
  return { doNotEvictSeconds: seconds(doNotEvict), jobsSeconds: seconds(jobs) };
};

const tiersOf = ({ tiers }: DrainPolicy, compat: Compat): readonly DrainTier[] => {
  // EKS evicts all pods together (article 001).
  if (tiers === undefined) return compat === 'eks' ? [] : criticalLast;
  return tiers.toSorted((a, b) => a.priority - b.priority);
};

export const waitsOf = (options: {
  readonly demand: Pick<Demand, 'causes' | 'deadline'>;
  readonly status: Pick<NodeDisruptionStatus, 'heldUntil' | 'startedAt'>;
  readonly group: NodeGroup | undefined;
  readonly compat: Compat;
}): Waits => {
  const { demand, status, group, compat } = options;
  const policy = group?.spec.drain ?? {};
  const startedAt = parseTime(status.heldUntil ?? status.startedAt) ?? epochMs(0);
  const drainMs = (demand.deadline ?? Number.POSITIVE_INFINITY) - startedAt;
  const { doNotEvictSeconds, jobsSeconds } = podWaitsOf(policy, drainMs / 1000);
  const hasTime = demand.causes.every(({ kind }) => leavesTime[kind]);
  const until = (seconds: number): EpochMs | undefined =>
    hasTime && seconds > 0 ? epochMs(startedAt + seconds * 1000) : undefined;
  return {
    startedAt,
    tiers: tiersOf(policy, compat),
    ...(Number.isFinite(drainMs) ? { tiersUntil: epochMs(startedAt + drainMs / 2) } : {}),
    ...defined({ doNotEvictUntil: until(doNotEvictSeconds), jobsUntil: until(jobsSeconds) }),
  };
};
