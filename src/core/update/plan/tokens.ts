// The evictions of a run: how many each budget allows at present, and which pods wait for it. Also
// counts the evictions of each pod, and the pods of each budget that are outstanding or on old
// nodes. Pure but for the state of one run.
import type { Compiled } from './compiled.ts';

const none = -1;

export class Tokens {
  readonly #allowed: Float64Array;
  readonly #free: Float64Array;
  /** The queue of each budget, as a list of pods in the order of their requests. */
  readonly #first: Int32Array;
  readonly #last: Int32Array;
  readonly #after: Int32Array;
  /** Per pod: its eviction was requested and not allowed yet. */
  readonly #isWaiting: Uint8Array;
  /** Per pod: whether it is in its queue, where a pod stays that was evicted before its turn. */
  readonly #isQueued: Uint8Array;
  /** Per pod. */
  readonly #evictions: Uint16Array;
  #evictionsOfOnePod = 0;
  /** Per budget: pods whose eviction was requested and that are not gone yet. */
  readonly outstanding: Int32Array;
  /** Per budget: pods still on old nodes. */
  readonly left: Int32Array;

  constructor({ allowed, apps, appOf }: Compiled) {
    this.#allowed = allowed;
    this.#free = allowed.slice();
    this.#first = new Int32Array(allowed.length).fill(none);
    this.#last = new Int32Array(allowed.length).fill(none);
    this.#after = new Int32Array(appOf.length);
    this.#isWaiting = new Uint8Array(appOf.length);
    this.#isQueued = new Uint8Array(appOf.length);
    this.#evictions = new Uint16Array(appOf.length);
    this.outstanding = new Int32Array(allowed.length);
    this.left = new Int32Array(allowed.length);
    for (const [app, pods] of apps.pods.entries()) {
      const budget = apps.budget[app] ?? none;
      if (budget !== none) this.left[budget] = (this.left[budget] ?? 0) + pods;
    }
  }

  ask(budget: number, pod: number): void {
    this.outstanding[budget] = (this.outstanding[budget] ?? 0) + 1;
    this.#isWaiting[pod] = 1;
    if (this.#isQueued[pod] === 1) return;
    this.#isQueued[pod] = 1;
    this.#after[pod] = none;
    const last = this.#last[budget] ?? none;
    if (last === none) this.#first[budget] = pod;
    else this.#after[last] = pod;
    this.#last[budget] = pod;
  }

  isWaiting(pod: number): boolean {
    return this.#isWaiting[pod] === 1;
  }

  /** The pod was evicted, whether its budget allowed it or not. */
  evicted(pod: number): void {
    this.#isWaiting[pod] = 0;
    const evictions = (this.#evictions[pod] ?? 0) + 1;
    this.#evictions[pod] = evictions;
    if (evictions > this.#evictionsOfOnePod) this.#evictionsOfOnePod = evictions;
  }

  /** Most evictions of one pod and its replacements. */
  get evictionsOfOnePod(): number {
    return this.#evictionsOfOnePod;
  }

  /**
   * Grants an eviction to the pod that has waited longest. Returns -1 if the budget allows none or
   * no pod waits.
   */
  grant(budget: number): number {
    const free = this.#free[budget] ?? 0;
    if (free <= 0) return none;
    let pod = this.#first[budget] ?? none;
    while (pod !== none && !this.isWaiting(pod)) pod = this.#pop(budget, pod);
    if (pod === none) return none;
    this.#pop(budget, pod);
    this.#free[budget] = free - 1;
    return pod;
  }

  /** Removes `first` from its queue; returns the pod behind it. */
  #pop(budget: number, first: number): number {
    const next = this.#after[first] ?? none;
    this.#isQueued[first] = 0;
    this.#first[budget] = next;
    if (next === none) this.#last[budget] = none;
    return next;
  }

  /** A replacement is Ready, so the budget allows one more eviction. */
  replaced(budget: number): void {
    const most = this.#allowed[budget] ?? 1;
    this.#free[budget] = Math.min(most, (this.#free[budget] ?? 0) + 1);
  }

  /** A pod is gone from its node; returns how many other pods of the budget are outstanding. */
  stopped(budget: number, { isOld }: { readonly isOld: boolean }): number {
    const others = Math.max(0, (this.outstanding[budget] ?? 0) - 1);
    this.outstanding[budget] = others;
    if (isOld) this.left[budget] = (this.left[budget] ?? 0) - 1;
    return others;
  }
}
