// The typed reasons why a pod is still there. Texts name the rule in the server's own words where
// it has some; rendering for people is core/explain.
import { type EpochMs, epochMs, formatTime } from '../../api/brand.ts';
import type { WaitingOn } from '../../api/disruption.ts';
import type { Pod, PodDisruptionBudget } from '../../api/kube.ts';
import { keyOfObject, offeredTokens, statusIsCurrent, zeroBudget } from './budgets.ts';
import { type Failure, type HeldBudget, retryAt } from './ledger.ts';
import { ownerName, terminationEnd, terminationStart } from './pods.ts';
import type { Route } from './route.ts';

/** A pod that is still there this long after its grace has ended is stuck. */
const stuckAfterMs = 60_000;

const ownerOf = (pod: Pod): { owner?: string } => {
  const owner = ownerName(pod);
  return owner === undefined ? {} : { owner };
};

const forcedAt = (at: EpochMs | undefined): { forceAt?: string } =>
  at === undefined ? {} : { forceAt: formatTime(at) };

/**
 * A budget takes a pod whose eviction was granted for gone, two minutes at most (`DeletionTimeout`
 * of Kubernetes' disruption controller): also one that was never deleted, since the connection was
 * cut.
 */
const grantedBefore = ({ status }: PodDisruptionBudget): string => {
  const granted = Object.entries(status.disruptedPods ?? {});
  if (granted.length === 0) return '';
  const told = granted.map(([pod, at]) => `${pod} (granted at ${at})`).join(', ');
  return `; for two minutes at most it counts as gone, with an eviction granted: ${told}`;
};

const budgetMessage = (budget: PodDisruptionBudget): string => {
  const { name } = budget.metadata;
  const { currentHealthy = 0, desiredHealthy = 0, disruptionsAllowed = 0 } = budget.status;
  if (!statusIsCurrent(budget)) return `The disruption budget ${name} is still being processed`;
  if (disruptionsAllowed > 0 || currentHealthy > desiredHealthy) {
    return `The disruption budget ${name} has given its evictions to other pods for now`;
  }
  const need = `needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
  return `The disruption budget ${name} ${need}${grantedBefore(budget)}`;
};

export const pdb = (
  pod: Pod,
  budget: PodDisruptionBudget,
  at: EpochMs | undefined,
  message = budgetMessage(budget),
): WaitingOn => {
  const zero = offeredTokens(budget) > 0 ? 'temporary' : zeroBudget(budget);
  return {
    kind: 'pdb',
    pod: keyOfObject(pod),
    budgets: [keyOfObject(budget)],
    ...ownerOf(pod),
    message,
    neverAllows: zero === 'never',
    ...(zero === 'scaleUp' ? { freedBy: 'scaleUp' as const } : {}),
    ...forcedAt(at),
  };
};

export const multiplePdbs = (
  pod: Pod,
  budgets: readonly PodDisruptionBudget[],
  at: EpochMs | undefined,
): WaitingOn => ({
  kind: 'multiplePdbs',
  pod: keyOfObject(pod),
  budgets: budgets.map(keyOfObject),
  ...ownerOf(pod),
  ...forcedAt(at),
});

export const budgetHeld = (pod: Pod, held: HeldBudget, at: EpochMs | undefined): WaitingOn => ({
  kind: 'budgetHeld',
  pod: keyOfObject(pod),
  budget: held.budget,
  until: formatTime(held.until),
  ...forcedAt(at),
});

export const tier = (pod: Pod, podsBefore: number, at: EpochMs | undefined): WaitingOn => ({
  kind: 'tier',
  pod: keyOfObject(pod),
  podsBefore,
  ...forcedAt(at),
});

export const replacement = (pod: Pod, at: EpochMs | undefined): WaitingOn => ({
  kind: 'replacement',
  pod: keyOfObject(pod),
  owner: ownerName(pod) ?? '',
  ...forcedAt(at),
});

/** A refusal by the budget is a budget's blocker; anything else is an error with its code. */
export const failed = (
  pod: Pod,
  failure: Failure,
  route: Route,
  at: EpochMs | undefined,
): WaitingOn => {
  const { code, message } = failure;
  if (code === 'DisruptionBudget' && route.kind === 'budget') {
    return pdb(pod, route.budget, at, message);
  }
  return {
    kind: 'evictionError',
    pod: keyOfObject(pod),
    code,
    message,
    since: formatTime(failure.firstAt),
    retryAt: formatTime(retryAt(failure)),
    ...forcedAt(at),
  };
};

/** Pods are immutable, and one that stops in time waits for the same at each look. */
const inGrace = new WeakMap<Pod, WaitingOn>();

/** A pod on its way out: within its grace, held by finalizers, or forgotten by its kubelet. */
export const termination = (pod: Pod, now: EpochMs): WaitingOn => {
  const end = terminationEnd(pod) ?? now;
  const late = now > epochMs(end + stuckAfterMs);
  const known = late ? undefined : inGrace.get(pod);
  if (known !== undefined) return known;
  const finalizers = pod.metadata.finalizers ?? [];
  const why = !late ? 'grace' : finalizers.length > 0 ? 'finalizers' : 'kubelet';
  const waiting: WaitingOn = {
    kind: 'termination',
    pod: keyOfObject(pod),
    since: formatTime(terminationStart(pod) ?? now),
    graceEndsAt: formatTime(end),
    why,
    ...(why === 'finalizers' ? { finalizers } : {}),
  };
  if (!late && terminationEnd(pod) !== undefined) inGrace.set(pod, waiting);
  return waiting;
};
