// Pods that their owner asked not to evict. karpenter.sh/do-not-disrupt may be a duration from the
// pod's start (Karpenter: well-known annotations); one that ends before its node is drained is a
// warning.
import { protectedUntil, protectionOf } from '../../../drain/index.ts';
import type { Check, Found } from '../finding.ts';
import type { MovedPod, View } from '../view.ts';
import { byOwner, kubectl, ownerObject, plural, whenDrained } from './parts.ts';

type Protection = NonNullable<ReturnType<typeof protectionOf>>;

/** Minutes from now until the protection ends; undefined: never. */
const minutesLeft = (view: View, { pod }: MovedPod, protection: Protection) => {
  const until = protectedUntil(pod, protection);
  return until === undefined ? undefined : (until - view.snapshot.now) / 60_000;
};

const judge = (view: View, pods: readonly MovedPod[]): readonly Found[] => {
  const [first] = pods;
  const protection = first === undefined ? undefined : protectionOf(first.pod);
  if (first === undefined || protection === undefined) return [];
  const left = minutesLeft(view, first, protection);
  if (left !== undefined && left <= 0) return [];
  const asked = 'its owner asked not to move it, and it is evicted';
  const wait = first.waitSeconds / 60;
  const after = wait === 0 ? '' : ` after a wait of ${plural(Math.round(wait), 'minute')}`;
  const consequence = whenDrained(view, pods, `${asked}${after}`, wait);
  const isOver = left !== undefined && left <= (consequence.minute ?? 0);
  return [
    {
      severity: isOver ? 'warning' : 'blocker',
      object: ownerObject(pods),
      evidence: {
        annotation: `${protection.annotation}=${protection.value}`,
        pods: pods.length,
        ...(left === undefined ? {} : { minutesLeft: Math.ceil(left) }),
      },
      consequence,
      remedy:
        left === undefined
          ? `${kubectl(first.name)} annotate pod ${first.pod.metadata.name} ` +
            `${protection.annotation}-`
          : `begin in ${plural(Math.ceil(left), 'minute')}, when the annotation no longer holds`,
    },
  ];
};

export const doNotEvict: Check = {
  name: 'do-not-evict',
  title: 'A pod has an annotation against eviction',
  needs: ['nodes', 'pods'],
  run: (view) =>
    byOwner(view.moved.filter(({ pod }) => protectionOf(pod) !== undefined)).flatMap((pods) =>
      judge(view, pods),
    ),
};
