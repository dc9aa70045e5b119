// Text and objects shared by several checks: how a drain that cannot end fails, and which owner a
// finding is about. Pure.
import type { Consequence } from '../finding.ts';
import { firstMoved, type MovedPod, type View } from '../view.ts';

/** `1 node`, `2 nodes`. */
export const plural = (count: number, what: string): string =>
  `${count} ${what}${count === 1 ? '' : 's'}`;

const minutesOf = (seconds: number): number => Math.round(seconds / 60);

/** Seconds from the start of a drain until its timeout policy acts. */
const endsAfterSeconds = ({ snapshot: { group } }: View): number => {
  const { drainTimeoutSeconds, force, policies } = group;
  const isLater = !force && policies?.onTimeout === 'Force';
  return drainTimeoutSeconds + (isLater ? policies.forceAfterMs / 1000 : 0);
};

/** What the update's policy does with a drain that times out. */
const endOfDrain = (view: View): string => {
  const { drainTimeoutSeconds, force, policies } = view.snapshot.group;
  const after = `after ${plural(minutesOf(drainTimeoutSeconds), 'minute')}`;
  const forced = (seconds: number): string =>
    `the pod is deleted after ${plural(minutesOf(seconds), 'minute')}, whatever its budget says`;
  if (force) return forced(endsAfterSeconds(view));
  switch (policies?.onTimeout) {
    case 'Force':
      return forced(endsAfterSeconds(view));
    case 'Skip':
      return (
        `${after} the node is uncordoned, tried once more after all others, then ` +
        'PodEvictionFailure'
      );
    case 'Quarantine':
      return (
        `${after} the node stays, cordoned, and the update ends in PodEvictionFailure when ` +
        'all others are done'
      );
    case 'Pause':
      return `${after} the node is uncordoned and the update pauses until an operator resumes it`;
    default:
      return `${after} PodEvictionFailure`;
  }
};

/** A drain that never completes: its first node, and the time at which it times out. */
export const stuckDrain = (view: View, pods: readonly MovedPod[], why: string): Consequence => {
  const first = firstMoved(view, pods);
  const end = endOfDrain(view);
  if (first === undefined) return { text: `${why}; ${end}` };
  const at = Math.round(first.minute + endsAfterSeconds(view) / 60);
  return { text: `${why}; ${end}`, node: first.pod.node, pod: first.pod.name, minute: at };
};

/** A consequence at the time when the pod's node is drained, not when the drain times out. */
export const whenDrained = (
  view: View,
  pods: readonly MovedPod[],
  text: string,
  afterMinutes = 0,
): Consequence => {
  const first = firstMoved(view, pods);
  if (first === undefined) return { text };
  const minute = Math.round(first.minute + afterMinutes);
  return { text, node: first.pod.node, pod: first.pod.name, minute };
};

/** `Kind/name` of the owner, or of the pod itself. */
export const ownerText = ({ owner, pod }: MovedPod): string =>
  owner === undefined ? `Pod/${pod.metadata.name}` : `${owner.kind}/${owner.name}`;

/** One entry per owner (a bare pod is its own), in the order of first appearance. */
export const byOwner = (pods: readonly MovedPod[]): readonly (readonly MovedPod[])[] => {
  const groups = new Map<string, MovedPod[]>();
  for (const one of pods) {
    const key = one.owner?.key ?? `Pod/${one.name}`;
    const known = groups.get(key);
    if (known === undefined) groups.set(key, [one]);
    else known.push(one);
  }
  return [...groups.values()];
};

/** The owner as a finding's object: `Kind` and `namespace/name`. */
export const ownerObject = (pods: readonly MovedPod[]): { kind: string; name: string } => {
  const [first] = pods;
  if (first?.owner === undefined) return { kind: 'Pod', name: first?.name ?? '' };
  return { kind: first.owner.kind, name: `${first.owner.namespace}/${first.owner.name}` };
};

export const namespaceOf = (name: string): string => name.slice(0, name.indexOf('/'));
export const shortName = (name: string): string => name.slice(name.indexOf('/') + 1);

/** `kubectl -n ns` for a namespace/name. */
export const kubectl = (name: string): string => `kubectl -n ${namespaceOf(name)}`;
