// Measures how long the pods of a draining node take to stop, from the watch: deleted, then gone.
// Keeps numbers per owner. They are lost with the process, which costs plans only a measurement.
import type { EpochMs } from '../../api/brand.ts';
import type { Pod } from '../../api/kube.ts';
import { type StopTimes, stopTimesOfNode } from '../../api/stop-times.ts';
import { controllerOf, graceOf, isFinished, isTerminating, terminationStart } from './pods.ts';

/**
 * A kubelet kills at the end of the grace; a pod that ended later than this waited for something
 * else.
 */
const killedWithinMs = 30_000;

interface Stopping {
  readonly owner: string;
  readonly since: EpochMs;
  readonly graceMs: number;
}

/**
 * The owner, for pods that run the same on another node: no DaemonSet or static pods, no bare pods.
 */
const ownerOf = (pod: Pod): string | undefined => {
  const owner = controllerOf(pod);
  if (owner === undefined || owner.kind === 'DaemonSet' || owner.kind === 'Node') return undefined;
  return `${owner.kind}/${pod.metadata.namespace ?? ''}/${owner.name}`;
};

/** Undefined where the deletion does not show how the pod stops by itself. */
const stoppingOf = (pod: Pod): Stopping | undefined => {
  const [owner, since, graceMs] = [ownerOf(pod), terminationStart(pod), graceOf(pod)];
  const askedMs = (pod.metadata.deletionGracePeriodSeconds ?? 0) * 1000;
  if (owner === undefined || since === undefined || isFinished(pod)) return undefined;
  return askedMs < graceMs ? undefined : { owner, since, graceMs };
};

const slowest = ({ seconds }: StopTimes): number => Math.max(...seconds);

/** One entry per owner: the owners with the slowest pods, and the last pods of each. */
export const mergedStops = (
  times: readonly StopTimes[],
  { owners, pods }: { readonly owners: number; readonly pods: number },
): readonly StopTimes[] => {
  const byOwner = Map.groupBy(times, ({ owner }) => owner);
  return [...byOwner]
    .map(([owner, all]) => ({ owner, seconds: all.flatMap(({ seconds }) => seconds).slice(-pods) }))
    .toSorted((a, b) => slowest(b) - slowest(a) || (a.owner < b.owner ? -1 : 1))
    .slice(0, owners);
};

export class StopLog {
  /** By uid; undefined: its stop is not measured. */
  readonly #stopping = new Map<string, Stopping | undefined>();
  readonly #seconds = new Map<string, number[]>();

  observe(pod: Pod, { gone, now }: { readonly gone: boolean; readonly now: EpochMs }): void {
    const { uid, deletionGracePeriodSeconds: asked = 0 } = pod.metadata;
    if (gone) {
      this.#gone(this.#stopping.get(uid), now);
      this.#stopping.delete(uid);
    } else if (isTerminating(pod)) {
      if (!this.#stopping.has(uid)) this.#stopping.set(uid, stoppingOf(pod));
      // A deletion with a shorter grace period was forced, so its stop time is not measured. The
      // kubelet's own final deletion has grace 0.
      else if (asked > 0 && asked * 1000 < graceOf(pod)) this.#stopping.set(uid, undefined);
    }
  }

  #gone(stopping: Stopping | undefined, now: EpochMs): void {
    if (stopping === undefined || now - stopping.since > stopping.graceMs + killedWithinMs) return;
    const seconds = Math.max(0, Math.round((now - stopping.since) / 1000));
    const known = this.#seconds.get(stopping.owner);
    if (known === undefined) this.#seconds.set(stopping.owner, [seconds]);
    else known.push(seconds);
  }

  times(): readonly StopTimes[] {
    const all = [...this.#seconds].map(([owner, seconds]) => ({ owner, seconds }));
    return mergedStops(all, stopTimesOfNode);
  }
}
