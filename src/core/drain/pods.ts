// Reads one pod for a drain: its owner, whether it is ready, finished or terminating, its grace.
// Decides nothing.
import { type DurationMs, durationMs, type EpochMs, epochMs, parseTime } from '../../api/brand.ts';
import type { OwnerReference, Pod } from '../../api/kube.ts';
import type { PodRef } from '../../api/plan.ts';

/** Kubernetes' default for terminationGracePeriodSeconds. */
const defaultGraceSeconds = 30;

export const controllerOf = (pod: Pick<Pod, 'metadata'>): OwnerReference | undefined =>
  pod.metadata.ownerReferences?.find((owner) => owner.controller === true);

export const podRef = (pod: Pod): PodRef => ({
  namespace: pod.metadata.namespace ?? 'default',
  name: pod.metadata.name,
  uid: pod.metadata.uid,
});

/** `Kind/name` of the owner, for display. */
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

/** When its deletion was requested. */
export const terminationStart = (pod: Pod): EpochMs | undefined => {
  const end = terminationEnd(pod);
  if (end === undefined) return undefined;
  const grace = pod.metadata.deletionGracePeriodSeconds ?? 0;
  return epochMs(end - grace * 1000);
};

/**
 * When a drain stops waiting for a terminating pod of an unreachable kubelet: 30 s after its
 * deletion. No kubelet enforces its grace. Cluster API waits 1 s
 * (`SkipWaitForDeleteTimeoutSeconds`).
 */
export const unstoppableFrom = (pod: Pod): EpochMs | undefined => {
  const start = terminationStart(pod);
  return start === undefined ? undefined : epochMs(start + 30_000);
};

/** Priority of system-cluster-critical; system-node-critical is 1000 above. */
export const criticalPriority = 2_000_000_000;

/**
 * Admission resolves the priority class to a number; where that is missing, only the class name is
 * known.
 */
export const priorityOf = ({ spec }: Pod): number =>
  spec.priority ?? (spec.priorityClassName?.startsWith('system-') ? criticalPriority : 0);

export const isOfJob = (pod: Pick<Pod, 'metadata'>): boolean => {
  const owner = controllerOf(pod);
  return owner?.kind === 'Job' && owner.apiVersion.startsWith('batch/');
};
