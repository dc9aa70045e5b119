// Facts about each disruption that only this process has observed: answers of servers, heartbeats,
// versions of its own writes. Kept per episode; losing them costs a repeated call, never a wrong
// one.

import type { EpochMs } from '../../api/brand.ts';
import { defined } from '../../api/defined.ts';
import type { Pod } from '../../api/kube.ts';
import { StopLog } from '../../core/drain/index.ts';
import { type HookMemory, hookKey, type Memory } from '../../core/termination/index.ts';

type Changeable<T> = { -readonly [K in keyof T]: T[K] };

export interface Recollection {
  readonly episode: number;
  readonly memory: Changeable<Omit<Memory, 'hooks'>> & { readonly hooks: Map<string, HookMemory> };
  /** Another process began the drain and may have evicted pods that are observed only later. */
  resumed?: boolean;
  /** When this process first saw the node cordoned and tainted. */
  markedAt?: EpochMs;
  /** How long its pods took to stop, from its watch. */
  readonly stops: StopLog;
  /** Increases with every record about a hook, so that results computed from them can be cached. */
  hooksVersion: number;
  /** Versions of our own writes that the informers have not shown yet. */
  disruptionVersion?: string;
  nodeVersion?: string;
  /** The node whose last patch failed or was not answered; it may have been applied. */
  unsureOf?: string;
}

export class Recollections {
  readonly #byName = new Map<string, Recollection>();

  /** The facts of this episode, without those of an earlier one. */
  of(name: string, episode: number): Recollection {
    const known = this.#byName.get(name);
    if (known?.episode === episode) return known;
    const fresh: Recollection = {
      episode,
      memory: { hooks: new Map() },
      stops: new StopLog(),
      hooksVersion: (known?.hooksVersion ?? 0) + 1,
      ...defined({
        disruptionVersion: known?.disruptionVersion,
        nodeVersion: known?.nodeVersion,
        unsureOf: known?.unsureOf,
      }),
    };
    this.#byName.set(name, fresh);
    return fresh;
  }
  /**
   * A list read from a quorum is valid for that moment only; a later change of the pods invalidates
   * it.
   */
  podsChanged(name: string): void {
    const known = this.#byName.get(name);
    if (known !== undefined) delete known.memory.listed;
  }
  podSeen(name: string, pod: Pod, seen: { readonly gone: boolean; readonly now: EpochMs }): void {
    this.#byName.get(name)?.stops.observe(pod, seen);
  }
  forget(name: string): void {
    this.#byName.delete(name);
  }
}

/** Records a call about a hook. */
export const noteHook = (
  recollection: Recollection,
  hook: { readonly autoScalingGroupName: string; readonly hookName: string },
  change: Partial<HookMemory>,
): void => {
  const { memory } = recollection;
  const key = hookKey({ ...hook, name: hook.hookName });
  recollection.hooksVersion++;
  memory.hooks.set(key, { failures: 0, ...memory.hooks.get(key), ...change });
};
