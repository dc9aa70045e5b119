// What a drain asks of one pod: who owns it, is it ready, finished, terminating, how long is its
// grace. Pure reading; nothing here decides.
import { type DurationMs, durationMs, type EpochMs, epochMs, parseTime } from '../../api/brand.ts';
import type { OwnerReference, Pod } from '../../api/kube.ts';
import type { PodRef } from '../../api/plan.ts';

/** Kubernetes' default for terminationGracePeriodSeconds. */
const defaultGraceSeconds = 30;

export const controllerOf = (pod: Pod): OwnerReference | undefined =>
  pod.metadata.ownerReferences?.find((owner) => owner.controller === true);

export const podRef = (pod: Pod): PodRef => ({
  namespace: pod.metadata.namespace ?? 'default',
  name: pod.metadata.name,
  uid: pod.metadata.uid,
});

/** `Kind/name` of the owner, for people. */
export const ownerName = (pod: Pod): string | undefined => {
  const owner = controllerOf(pod);
  return owner === undefined ? undefined : `${owner.kind}/${owner.name}`;
};

export const isTerminating = (pod: Pod): boolean => pod.metadata.deletionTimestamp !== undefined;

export const isFinished = (pod: Pod): boolean =>
  pod.status.phase === 'Succeeded' || pod.status.phase === 'Failed';

export const graceOf = (pod: Pod): DurationMs =>
  durationMs((pod.spec.terminationGracePeriodSeconds ?? defaultGraceSeconds) * 1000);

/** When a terminating pod must be gone: deletionTimestamp already includes the grace. */
export const terminationEnd = (pod: Pod): EpochMs | undefined =>
  parseTime(pod.metadata.deletionTimestamp);

/** When it was told to stop. */
export const terminationStart = (pod: Pod): EpochMs | undefined => {
  const end = terminationEnd(pod);
  if (end === undefined) return undefined;
  const grace = pod.metadata.deletionGracePeriodSeconds ?? 0;
  return epochMs(end - grace * 1000);
};

/**
 * From when on a terminating pod of an unreachable kubelet is waited for no longer: 30 s after it
 * was told to stop. Whatever its grace is, no kubelet counts it. Cluster API waits 1 s
 * (`SkipWaitForDeleteTimeoutSeconds`).
 */
export const unstoppableFrom = (pod: Pod): EpochMs | undefined => {
  const start = terminationStart(pod);
  return start === undefined ? undefined : epochMs(start + 30_000);
};

/** Critical to the cluster or its nodes: the two built-in priority classes. */
export const isSystemCritical = (pod: Pod): boolean =>
  pod.spec.priorityClassName?.startsWith('system-') ?? false;
