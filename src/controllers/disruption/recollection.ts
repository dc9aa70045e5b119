// What this process has seen itself about each disruption: answers of servers, heartbeats, versions
// of its own writes. Kept per episode; losing it costs a repeated call, never a wrong one.

import type { EpochMs } from '../../api/brand.ts';
import { defined } from '../../api/defined.ts';
import type { Pod } from '../../api/kube.ts';
import { StopLog } from '../../core/drain/index.ts';
import { type HookMemory, hookKey, type Memory } from '../../core/termination/index.ts';

type Changeable<T> = { -readonly [K in keyof T]: T[K] };

export interface Recollection {
  readonly episode: number;
  readonly memory: Changeable<Omit<Memory, 'hooks'>> & { readonly hooks: Map<string, HookMemory> };
  /** Another process had begun to drain: it may have evicted what is only now seen. */
  resumed?: boolean;
  /** When this process first saw the node with its marks. */
  markedAt?: EpochMs;
  /** How its pods stopped, as its watch showed it. */
  readonly stops: StopLog;
  /** Grows with every note about a hook, so that what is computed from them can be kept. */
  hooksVersion: number;
  /** Versions of own writes that the informers have yet to show. */
  disruptionVersion?: string;
  nodeVersion?: string;
  /** The node whose patch failed, or was not answered: it may have landed all the same. */
  unsureOf?: string;
}

export class Recollections {
  readonly #byName = new Map<string, Recollection>();

  /** What is remembered of this episode; nothing of an earlier one. */
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
  /** A quorum list answers for the moment it was taken: pods that changed since make it void. */
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

/** Notes a call about a hook. */
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
