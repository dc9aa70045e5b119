// Evaluates the pods of a Job: which count as failed, which indexes are complete, what the failure
// policy decides, how long to back off. Pure; upstream: pkg/controller/job (Kubernetes 1.32).

import { microsPerSecond } from '../../kernel/index.ts';
import {
  conditionOf,
  type FailureRule,
  isTerminating,
  type JobView,
  microsOf,
  type PodView,
} from '../actors/index.ts';

export const trackingFinalizer = 'batch.kubernetes.io/job-tracking';
export const indexAnnotation = 'batch.kubernetes.io/job-completion-index';

/** DefaultJobPodFailureBackOff and MaxJobPodFailureBackOff. */
const firstBackoffSeconds = 10;
const maxBackoffSeconds = 600;

export const isTracked = (pod: PodView): boolean =>
  pod.metadata.finalizers?.includes(trackingFinalizer) === true;

export const isIndexed = (job: JobView): boolean => job.spec.completionMode === 'Indexed';

/** With replacement policy Failed, a terminating pod counts as failed only once it has ended. */
const replacesOnlyFailed = (job: JobView): boolean =>
  (job.spec.podReplacementPolicy ??
    (job.spec.podFailurePolicy === undefined ? 'TerminatingOrFailed' : 'Failed')) === 'Failed';

export const hasFailed = (job: JobView, pod: PodView): boolean =>
  pod.status?.phase === 'Failed' ||
  (!replacesOnlyFailed(job) && isTerminating(pod) && pod.status?.phase !== 'Succeeded');

/** Pods that occupy a slot: not ended and, unless the Job waits for them, not terminating. */
export const takesPlace = (job: JobView, pod: PodView): boolean =>
  pod.status?.phase !== 'Succeeded' &&
  pod.status?.phase !== 'Failed' &&
  (replacesOnlyFailed(job) || !isTerminating(pod));

export const indexOf = (pod: PodView): number | undefined => {
  const text = pod.metadata.annotations?.[indexAnnotation];
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
};

/** '1,3-5' -> 1, 3, 4, 5. */
export const parseIndexes = (text: string | undefined): Set<number> => {
  const indexes = new Set<number>();
  for (const part of (text ?? '').split(',')) {
    const [from, to = from] = part.split('-').map(Number);
    if (part === '' || from === undefined || to === undefined) continue;
    for (let index = from; index <= to; index++) indexes.add(index);
  }
  return indexes;
};

export const formatIndexes = (indexes: ReadonlySet<number>): string => {
  const runs: { from: number; to: number }[] = [];
  for (const index of [...indexes].sort((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last !== undefined && last.to === index - 1) last.to = index;
    else runs.push({ from: index, to: index });
  }
  // Upstream writes a run of two as `0,1`.
  return runs
    .map(({ from, to }) => {
      if (from === to) return String(from);
      return to === from + 1 ? `${from},${to}` : `${from}-${to}`;
    })
    .join(',');
};

export type FailureVerdict =
  | { readonly kind: 'count' }
  | { readonly kind: 'ignore' }
  | { readonly kind: 'fail-job'; readonly message: string };

const exitCodeHit = (
  rule: NonNullable<FailureRule['onExitCodes']>,
  pod: PodView,
): { readonly name: string; readonly code: number } | undefined => {
  for (const { name, state } of pod.status?.containerStatuses ?? []) {
    const code = state?.terminated?.exitCode;
    if (code === undefined || code === 0) continue;
    if (rule.containerName !== undefined && rule.containerName !== name) continue;
    if (rule.values.includes(code) === (rule.operator === 'In')) return { name, code };
  }
  return undefined;
};

/** The first rule of the pod failure policy that matches a failed pod decides. */
export const failureVerdict = (job: JobView, pod: PodView): FailureVerdict => {
  const where = `${pod.metadata.namespace ?? ''}/${pod.metadata.name}`;
  for (const [at, rule] of (job.spec.podFailurePolicy?.rules ?? []).entries()) {
    const exit = rule.onExitCodes && exitCodeHit(rule.onExitCodes, pod);
    const condition = rule.onPodConditions?.find(
      (one) => conditionOf(pod.status?.conditions, one.type)?.status === (one.status ?? 'True'),
    );
    if (exit === undefined && condition === undefined) continue;
    if (rule.action === 'Ignore') return { kind: 'ignore' };
    if (rule.action !== 'FailJob') return { kind: 'count' };
    const what =
      exit === undefined
        ? `Pod ${where} has condition ${condition?.type ?? ''}`
        : `Container ${exit.name} for pod ${where} failed with exit code ${exit.code}`;
    return { kind: 'fail-job', message: `${what} matching FailJob rule at index ${at}` };
  }
  return { kind: 'count' };
};

const endedAt = (pod: PodView): number => {
  const times = (pod.status?.containerStatuses ?? []).map((one) =>
    microsOf(one.state?.terminated?.finishedAt),
  );
  const known = times.filter((time) => time !== undefined);
  if (known.length > 0) return Math.max(...known);
  return microsOf(pod.metadata.deletionTimestamp ?? pod.metadata.creationTimestamp) ?? 0;
};

/**
 * Remaining backoff: 10 s after a failure, doubled by each further failure since the last success,
 * at most 10 minutes. Derived from the ended pods, so that a restart loses nothing.
 */
export const backoffMicros = (job: JobView, pods: readonly PodView[], now: number): number => {
  const lastSuccess = pods
    .filter((pod) => pod.status?.phase === 'Succeeded')
    .reduce((latest, pod) => Math.max(latest, endedAt(pod)), 0);
  const failures = pods.filter(
    (pod) =>
      pod.status?.phase === 'Failed' &&
      endedAt(pod) >= lastSuccess &&
      failureVerdict(job, pod).kind === 'count',
  );
  if (failures.length === 0) return 0;
  const seconds = Math.min(firstBackoffSeconds * 2 ** (failures.length - 1), maxBackoffSeconds);
  const last = failures.reduce((latest, pod) => Math.max(latest, endedAt(pod)), 0);
  return Math.max(0, last + seconds * microsPerSecond - now);
};

/** With restartPolicy OnFailure, restarts count against the backoff limit instead of pods. */
export const restartsOf = (pods: readonly PodView[]): number =>
  pods.reduce(
    (sum, pod) =>
      sum + (pod.status?.containerStatuses ?? []).reduce((most, one) => most + one.restartCount, 0),
    0,
  );
