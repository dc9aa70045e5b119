// The pods that must be gone before their instance may be terminated, including pods that are
// stopping.
import type { Context } from '../../oracle.ts';
import type { DisruptionState, NodeState, PodState } from '../../state/book.ts';
import { microsPerSecond } from '../../state/read.ts';

/** A pod may be bound after the last check of the node and before the write that follows. */
const lookMicros = microsPerSecond;

/**
 * Minimum time since the deletion of a pod whose kubelet does not answer: 30 s, minus one second
 * because Kubernetes writes whole seconds.
 */
const unstoppableMicros = 29 * microsPerSecond;

/**
 * The journal names the pod's owner, or the bare pod itself, as returning to the node after every
 * eviction.
 */
const isBoomerang = (pod: PodState, owners: ReadonlySet<string>): boolean =>
  owners.has(pod.ownerUid === '' ? `pod/${pod.key}` : pod.ownerUid);

/** Whether the kubelet was silent at that time, as far as the controller could know. */
const wasSilent = (node: NodeState, at: number, lagMicros: number): boolean => {
  const { silentSince, heardAgainAt } = node;
  if (silentSince === undefined || silentSince > at) return false;
  return heardAgainAt === undefined || at - heardAgainAt <= lagMicros;
};

/** The instance keeps running after the drain, and so do its pods. */
const staysAfterwards = ({ causes }: DisruptionState): boolean =>
  causes.every(({ kind, followUp }) => kind === 'Manual' && followUp === 'Release');

interface Held {
  readonly pod: PodState;
  readonly node: NodeState;
  readonly disruption: DisruptionState | undefined;
  /** When the drain was decided to be complete. */
  readonly at: number;
}

/** Deleted long ago, and no kubelet stops it: only the end of the instance can. */
const isUnstoppable = (
  { book }: Pick<Context, 'book'>,
  { pod, node, disruption, at }: Held,
): boolean => {
  if (disruption === undefined || staysAfterwards(disruption)) return false;
  const { terminatingAt } = pod;
  const least = unstoppableMicros - (book.facts.clockSkew ?? 0);
  if (terminatingAt === undefined || at - terminatingAt < least) return false;
  return wasSilent(node, at, book.lagMicros);
};

/**
 * A pod bound after the journal recorded Completing does not count: a crash between that write and
 * the call does not undo the decision.
 */
export const holding = (
  { book }: Pick<Context, 'book'>,
  node: NodeState,
  disruption: DisruptionState | undefined,
): readonly PodState[] => {
  const found: PodState[] = [];
  const decidedAt = Math.min(book.now, disruption?.phaseAt.get('Completing') ?? book.now);
  for (const pod of book.pods.on(node.name)) {
    if (!book.isDrainable(pod) || decidedAt - pod.boundAt < lookMicros) continue;
    if (isBoomerang(pod, disruption?.boomerangOwners ?? new Set())) continue;
    if (isUnstoppable({ book }, { pod, node, disruption, at: decidedAt })) continue;
    found.push(pod);
  }
  return found;
};
