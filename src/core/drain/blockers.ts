// The typed reasons why a pod still exists. Texts quote the rule in the API server's words where it
// has some; core/explain renders them for users.
import { type EpochMs, epochMs, formatTime } from '../../api/brand.ts';
import { defined } from '../../api/defined.ts';
import type { WaitingOn } from '../../api/disruption.ts';
import type { Pod, PodDisruptionBudget } from '../../api/kube.ts';
import { keyOfObject, offeredTokens, statusIsCurrent, zeroBudget } from './budgets.ts';
import { type Failure, type HeldBudget, retryAt } from './ledger.ts';
import { ownerName, terminationEnd, terminationStart } from './pods.ts';
import type { Route } from './route.ts';
import { denialOf } from './self-moving.ts';

/** A pod that exists this long after the end of its grace is stuck. */
const stuckAfterMs = 60_000;

const ownerOf = (pod: Pod): { owner?: string } => {
  const owner = ownerName(pod);
  return owner === undefined ? {} : { owner };
};

const forcedAt = (at: EpochMs | undefined): { forceAt?: string } =>
  at === undefined ? {} : { forceAt: formatTime(at) };

/**
 * A budget counts a pod with a granted eviction as gone for at most two minutes (`DeletionTimeout`
 * of the Kubernetes disruption controller). That includes a pod that was never deleted because the
 * connection was cut.
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

/** The application has received the eviction request and is expected to move the pod. */
export const selfMoving = (
  pod: Pod,
  budgets: readonly PodDisruptionBudget[],
  failure: Failure,
  { againAt, at }: { readonly againAt: EpochMs; readonly at: EpochMs | undefined },
): WaitingOn => {
  const { webhook, message = failure.message } = denialOf(failure) ?? {};
  return {
    kind: 'selfMoving',
    pod: keyOfObject(pod),
    budgets: budgets.map(keyOfObject),
    ...ownerOf(pod),
    ...defined({ webhook }),
    message,
    requests: failure.attempts,
    since: formatTime(failure.firstAt),
    requestAgainAt: formatTime(againAt),
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

export const replacement = (pod: Pod, at: EpochMs | undefined): WaitingOn => ({
  kind: 'replacement',
  pod: keyOfObject(pod),
  owner: ownerName(pod) ?? '',
  ...forcedAt(at),
});

/** A budget's refusal becomes a budget blocker; anything else becomes an error with its code. */
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

/** Cached pods never change, so a pod within its grace period has the same blocker at each look. */
const inGrace = new WeakMap<Pod, WaitingOn>();

/** A terminating pod: within its grace, held by finalizers, or abandoned by its kubelet. */
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
