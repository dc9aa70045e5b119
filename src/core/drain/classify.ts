// Which pods of a node a drain has to remove and which stay, each with the reason. Decides nothing
// about when: see allocate.ts. docs/designs/drain-order.md.

import { type EpochMs, parseTime } from '../../api/brand.ts';
import { defined } from '../../api/defined.ts';
import type { Boomerang } from '../../api/disruption.ts';
import type { Pod, Toleration } from '../../api/kube.ts';
import { controllerOf, isFinished, unstoppableFrom } from './pods.ts';

export type SkipReason = 'mirror' | 'finished' | 'daemonSet' | 'boomerang' | 'unstoppable';
/** Warnings for the owner: nothing recreates the pod, or its emptyDir is lost. */
export type PodWarning = 'unmanaged' | 'emptyDir' | 'orphanOfDaemonSet';

export interface DrainablePod {
  readonly pod: Pod;
  readonly warnings: readonly PodWarning[];
  /**
   * The owner that placed this pod here again after the marks. The pod is evicted once the status
   * records the owner.
   */
  readonly cameBackFor?: string;
}

export interface Classified {
  readonly evict: readonly DrainablePod[];
  readonly skip: readonly { readonly pod: Pod; readonly reason: SkipReason }[];
}

export interface ClassifyOptions {
  /** When the node's marks were observed; a pod created later came back despite them. */
  readonly markedAt?: EpochMs | undefined;
  /** Whether the DaemonSet with this uid is deleted; an unknown one counts as existing. */
  readonly daemonSetIsGone?: (uid: string) => boolean;
  /** Owners recorded in the status whose returned pods are evicted once. */
  readonly boomerangs?: readonly Boomerang[];
  /**
   * The current time, set only if no kubelet can confirm that a pod has stopped and the instance
   * will be terminated.
   */
  readonly unreachableAt?: EpochMs;
}

/** The kubelet's mark on the API copy of a static pod. */
const mirrorAnnotation = 'kubernetes.io/config.mirror';
const unschedulableTaint = 'node.kubernetes.io/unschedulable';
const isMirror = (pod: Pod): boolean =>
  pod.metadata.annotations?.[mirrorAnnotation] !== undefined || controllerOf(pod)?.kind === 'Node';

const isDaemonSetPod = (pod: Pod): boolean => {
  const owner = controllerOf(pod);
  return owner?.kind === 'DaemonSet' && owner.apiVersion.startsWith('apps/');
};

const toleratesUnschedulable = (toleration: Toleration): boolean => {
  if (toleration.effect !== undefined && toleration.effect !== '') {
    if (toleration.effect !== 'NoSchedule') return false;
  }
  const exists = toleration.operator === 'Exists';
  if (toleration.key === undefined || toleration.key === '') return exists;
  if (toleration.key !== unschedulableTaint) return false;
  return exists || (toleration.value ?? '') === '';
};

/** The pod was created after the marks and tolerates the cordon, so no mark kept it away. */
const cameBack = (pod: Pod, markedAt: EpochMs | undefined): boolean => {
  if (markedAt === undefined) return false;
  const createdAt = parseTime(pod.metadata.creationTimestamp);
  if (createdAt === undefined || createdAt < markedAt) return false;
  return pod.spec.tolerations?.some(toleratesUnschedulable) ?? false;
};

const warningsOf = (pod: Pod, orphan: boolean): readonly PodWarning[] => [
  ...(controllerOf(pod) === undefined ? (['unmanaged'] as const) : []),
  ...(orphan ? (['orphanOfDaemonSet'] as const) : []),
  ...(pod.spec.volumes?.some((volume) => volume.emptyDir !== undefined)
    ? (['emptyDir'] as const)
    : []),
];

/**
 * Limits on the owners of returned pods that the status records, and on the pods recorded for each.
 * A recorded pod is evicted once. All other returned pods stay, since their owner would place them
 * here again.
 */
export const maxBoomerangs = 20;
const maxPodsOfBoomerang = 8;

/** The source of returned pods: their owner, or the name of a bare pod. */
const boomerangOwner = (pod: Pod): string =>
  controllerOf(pod)?.uid ?? `pod/${pod.metadata.namespace ?? ''}/${pod.metadata.name}`;

type Verdict =
  | { readonly skip: SkipReason }
  | { readonly orphan: boolean; readonly cameBackFor?: string };

/** The pod is terminating, and only the end of its instance stops it. */
const isUnstoppable = (pod: Pod, { unreachableAt }: ClassifyOptions): boolean => {
  const from = unstoppableFrom(pod);
  return from !== undefined && unreachableAt !== undefined && from <= unreachableAt;
};

const judge = (pod: Pod, options: ClassifyOptions): Verdict => {
  if (isMirror(pod)) return { skip: 'mirror' };
  if (isFinished(pod)) return { skip: 'finished' };
  if (isUnstoppable(pod, options)) return { skip: 'unstoppable' };
  const daemonSetPod = isDaemonSetPod(pod);
  if (daemonSetPod) {
    const gone = options.daemonSetIsGone?.(controllerOf(pod)?.uid ?? '') ?? false;
    if (!gone) return { skip: 'daemonSet' };
  }
  if (!cameBack(pod, options.markedAt)) return { orphan: daemonSetPod };
  const owner = boomerangOwner(pod);
  const { boomerangs = [] } = options;
  const recorded = boomerangs.find((known) => known.owner === owner);
  const stays =
    recorded === undefined
      ? boomerangs.length >= maxBoomerangs
      : !recorded.podUids.includes(pod.metadata.uid);
  return stays ? { skip: 'boomerang' } : { orphan: daemonSetPod, cameBackFor: owner };
};

/** Why a drain without recorded marks leaves the pod on its node; undefined: it evicts the pod. */
export const skipReasonOf = (pod: Pod): SkipReason | undefined => {
  const verdict = judge(pod, {});
  return 'skip' in verdict ? verdict.skip : undefined;
};

export const classifyPods = (pods: Iterable<Pod>, options: ClassifyOptions = {}): Classified => {
  const evict: DrainablePod[] = [];
  const skip: { pod: Pod; reason: SkipReason }[] = [];
  for (const pod of pods) {
    const verdict = judge(pod, options);
    if ('skip' in verdict) skip.push({ pod, reason: verdict.skip });
    else {
      const { cameBackFor } = verdict;
      evict.push({
        pod,
        warnings: warningsOf(pod, verdict.orphan),
        ...defined({ cameBackFor }),
      });
    }
  }
  return { evict, skip };
};

/** Owners of returned pods that are not recorded yet, with their pods on this node so far. */
export const newBoomerangs = (
  classified: Classified,
  recorded: readonly Boomerang[],
): readonly Boomerang[] => {
  const fresh = new Map<string, string[]>();
  for (const { pod, cameBackFor } of classified.evict) {
    if (cameBackFor === undefined) continue;
    if (recorded.some(({ owner }) => owner === cameBackFor)) continue;
    const podUids = fresh.get(cameBackFor) ?? [];
    fresh.set(cameBackFor, [...podUids, pod.metadata.uid]);
  }
  return [...fresh]
    .slice(0, Math.max(0, maxBoomerangs - recorded.length))
    .map(([owner, podUids]) => ({ owner, podUids: podUids.slice(0, maxPodsOfBoomerang) }));
};
