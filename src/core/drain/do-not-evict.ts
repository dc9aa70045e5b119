// The annotations by which the owner of a pod asks not to evict it: Drover's, Karpenter's and
// cluster-autoscaler's. The only place that reads them; decides nothing.
import { type EpochMs, epochMs, parseTime } from '../../api/brand.ts';
import type { ObjectMeta } from '../../api/kube.ts';

export interface Protection {
  readonly annotation: string;
  readonly value: string;
  /** Seconds from the pod's start (Karpenter: well-known annotations); undefined: no end. */
  readonly seconds: number | undefined;
}

interface ProtectedPod {
  readonly metadata: Pick<ObjectMeta, 'annotations' | 'creationTimestamp'>;
  readonly status: { readonly startTime?: string };
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

export const protectionOf = ({
  metadata: { annotations },
}: Pick<ProtectedPod, 'metadata'>): Protection | undefined => {
  if (annotations === undefined) return undefined;
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

/** When the protection ends by itself; undefined: never. */
export const protectedUntil = (
  { metadata, status }: ProtectedPod,
  { seconds }: Protection,
): EpochMs | undefined => {
  const started = parseTime(status.startTime ?? metadata.creationTimestamp);
  if (seconds === undefined || started === undefined) return undefined;
  return epochMs(started + seconds * 1000);
};
