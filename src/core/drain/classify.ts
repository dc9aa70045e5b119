// Which pods of a node a drain must see gone, and which stay, each with the reason. Decides nothing
// about when: see allocate.ts. Rules P0 to P2 of docs/designs/termination.md.

import { type EpochMs, parseTime } from '../../api/brand.ts';
import { defined } from '../../api/defined.ts';
import type { Boomerang } from '../../api/disruption.ts';
import type { Pod, Toleration } from '../../api/kube.ts';
import { controllerOf, isFinished, unstoppableFrom } from './pods.ts';

export type SkipReason = 'mirror' | 'finished' | 'daemonSet' | 'boomerang' | 'unstoppable';
/** What the owner should know: nothing brings the pod back, or its emptyDir is lost. */
export type PodWarning = 'unmanaged' | 'emptyDir' | 'orphanOfDaemonSet';

export interface DrainablePod {
  readonly pod: Pod;
  readonly warnings: readonly PodWarning[];
  /** Its owner put it here after the marks: it is evicted once this is recorded in the status. */
  readonly cameBackFor?: string;
}

export interface Classified {
  readonly evict: readonly DrainablePod[];
  readonly skip: readonly { readonly pod: Pod; readonly reason: SkipReason }[];
}

export interface ClassifyOptions {
  /** When the node's marks were seen; a pod created later came back on purpose. */
  readonly markedAt?: EpochMs | undefined;
  /** Whether the DaemonSet with this uid is gone; unknown counts as there. */
  readonly daemonSetIsGone?: (uid: string) => boolean;
  /** Recorded in the status: pods that came back and are evicted once. */
  readonly boomerangs?: readonly Boomerang[];
  /** Now, where no kubelet confirms that a pod has stopped and the instance is to end. */
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

/** Created after the marks, and nothing in them could have kept it away. */
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
 * Sources of pods that come back, and pods of each, that are recorded and so evicted. Bare pods
 * with generated names are a new source each time: beyond this they stay, as the second of an owner
 * does.
 */
export const maxBoomerangs = 20;
const maxPodsOfBoomerang = 8;

/** Who counts as the same source of pods that come back: the owner, or the bare pod's name. */
const boomerangOwner = (pod: Pod): string =>
  controllerOf(pod)?.uid ?? `pod/${pod.metadata.namespace ?? ''}/${pod.metadata.name}`;

type Verdict =
  | { readonly skip: SkipReason }
  | { readonly orphan: boolean; readonly cameBackFor?: string };

/** It was told to stop, and only the end of its instance stops it. */
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

/** Owners whose pods came back and are not recorded yet, with the pods they put here so far. */
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
