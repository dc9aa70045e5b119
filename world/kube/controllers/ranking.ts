// Which surplus pods of a ReplicaSet are deleted first. Pure; upstream: ActivePodsWithRanks in
// pkg/controller/controller_utils.go (Kubernetes 1.32).
import { conditionOf, isReady, microsOf, type PodView } from '../actors/index.ts';

const phaseRank: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };

const deletionCost = (pod: PodView): number => {
  const text = pod.metadata.annotations?.['controller.kubernetes.io/pod-deletion-cost'];
  const cost = text === undefined ? 0 : Number(text);
  return Number.isInteger(cost) ? cost : 0;
};

const restarts = (pod: PodView): number =>
  (pod.status?.containerStatuses ?? []).reduce(
    (most, container) => Math.max(most, container.restartCount),
    0,
  );

const readySince = (pod: PodView): number =>
  microsOf(conditionOf(pod.status?.conditions, 'Ready')?.lastTransitionTime) ?? 0;

/** Upstream compares ages on a logarithmic scale, so that the uid decides between similar ages. */
const ageBucket = (sinceMicros: number, latestMicros: number): number => {
  const seconds = Math.floor((latestMicros - sinceMicros) / 1_000_000);
  return seconds <= 0 ? 0 : Math.floor(Math.log2(seconds)) + 1;
};

/**
 * `pods` in the order of deletion: unassigned, pending, unready, low deletion cost, many on the
 * same node, recently ready, often restarted, new. `crowd`: number of related pods on the pod's
 * node.
 */
export const deletionOrder = (
  pods: readonly PodView[],
  crowd: (pod: PodView) => number,
): readonly PodView[] => {
  const latest = pods.reduce((most, pod) => Math.max(most, readySince(pod), bornAt(pod)), 0);
  const ranked = pods.map((pod) => ({
    pod,
    keys: [
      pod.spec.nodeName === undefined || pod.spec.nodeName === '' ? 0 : 1,
      phaseRank[pod.status?.phase ?? 'Pending'] ?? 1,
      isReady(pod) ? 1 : 0,
      deletionCost(pod),
      -crowd(pod),
      isReady(pod) ? ageBucket(readySince(pod), latest) : 0,
      -restarts(pod),
      ageBucket(bornAt(pod), latest),
    ],
  }));
  ranked.sort((a, b) => {
    for (let i = 0; i < a.keys.length; i++) {
      const difference = (a.keys[i] ?? 0) - (b.keys[i] ?? 0);
      if (difference !== 0) return difference;
    }
    return a.pod.metadata.uid < b.pod.metadata.uid ? -1 : 1;
  });
  return ranked.map((one) => one.pod);
};

const bornAt = (pod: PodView): number => microsOf(pod.metadata.creationTimestamp) ?? 0;
