// Pods that their owner asked not to evict. karpenter.sh/do-not-disrupt may be a duration from the
// pod's start (Karpenter: well-known annotations); one that ends before its node is drained is a
// warning.
import { parseTime } from '../../../../api/brand.ts';
import type { FullPod } from '../../../../api/workloads.ts';
import type { Check, Found } from '../finding.ts';
import type { MovedPod, View } from '../view.ts';
import { byOwner, kubectl, ownerObject, plural, whenDrained } from './parts.ts';

interface Protection {
  readonly annotation: string;
  readonly value: string;
  /** Seconds from the pod's start; undefined: no end. */
  readonly seconds: number | undefined;
}

const units: Readonly<Record<string, number>> = { h: 3600, m: 60, s: 1, ms: 0.001 };

/** A duration in Go's format, like 1h30m; undefined if it is not one. */
const durationSeconds = (text: string): number | undefined => {
  if (!/^(\d+(\.\d+)?(h|ms|m|s))+$/.test(text)) return undefined;
  return [...text.matchAll(/(\d+(?:\.\d+)?)(h|ms|m|s)/g)].reduce(
    (all, [, number, unit]) => all + Number(number) * (units[unit ?? ''] ?? 0),
    0,
  );
};

const karpenter = 'karpenter.sh/do-not-disrupt';
const autoscaler = 'cluster-autoscaler.kubernetes.io/safe-to-evict';
const ours = 'drover.dev/do-not-evict';

const protectionOf = ({ metadata }: FullPod): Protection | undefined => {
  const { annotations = {} } = metadata;
  for (const annotation of [ours, karpenter]) {
    const value = annotations[annotation];
    if (value === 'true') return { annotation, value, seconds: undefined };
    const seconds = value === undefined ? undefined : durationSeconds(value);
    if (value !== undefined && seconds !== undefined) return { annotation, value, seconds };
  }
  return annotations[autoscaler] === 'false'
    ? { annotation: autoscaler, value: 'false', seconds: undefined }
    : undefined;
};

/** Minutes from now until the protection ends; undefined: never. */
const minutesLeft = (view: View, { pod }: MovedPod, { seconds }: Protection) => {
  if (seconds === undefined) return undefined;
  const started = parseTime(pod.status.startTime ?? pod.metadata.creationTimestamp);
  return ((started ?? view.snapshot.now) - view.snapshot.now) / 60_000 + seconds / 60;
};

const judge = (view: View, pods: readonly MovedPod[]): readonly Found[] => {
  const [first] = pods;
  const protection = first === undefined ? undefined : protectionOf(first.pod);
  if (first === undefined || protection === undefined) return [];
  const left = minutesLeft(view, first, protection);
  if (left !== undefined && left <= 0) return [];
  const consequence = whenDrained(view, pods, 'its owner asked not to move it, and it is evicted');
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
  title: 'The owner of a pod asked not to move it',
  needs: ['nodes', 'pods'],
  run: (view) =>
    byOwner(view.moved.filter(({ pod }) => protectionOf(pod) !== undefined)).flatMap((pods) =>
      judge(view, pods),
    ),
};
