// The budgets of a run: how many evictions each allows at present, and which pods wait for it. Also
// counts its pods that are outstanding or on old nodes. Pure but for the state of one run.
import type { Compiled } from './compiled.ts';

const none = -1;

export class Tokens {
  readonly #allowed: Float64Array;
  readonly #free: Float64Array;
  readonly #queues: readonly number[][];
  readonly #heads: Int32Array;
  /** Per pod: asked to move and not evicted yet. */
  readonly #isWaiting: Uint8Array;
  /** Per budget: pods asked to move that are not gone yet. */
  readonly outstanding: Int32Array;
  /** Per budget: pods still on old nodes. */
  readonly left: Int32Array;

  constructor({ allowed, apps, appOf }: Compiled) {
    this.#allowed = allowed;
    this.#free = allowed.slice();
    this.#queues = Array.from(allowed, () => []);
    this.#heads = new Int32Array(allowed.length);
    this.#isWaiting = new Uint8Array(appOf.length);
    this.outstanding = new Int32Array(allowed.length);
    this.left = new Int32Array(allowed.length);
    for (const [app, pods] of apps.pods.entries()) {
      const budget = apps.budget[app] ?? none;
      if (budget !== none) this.left[budget] = (this.left[budget] ?? 0) + pods;
    }
  }

  ask(budget: number, pod: number): void {
    this.outstanding[budget] = (this.outstanding[budget] ?? 0) + 1;
    this.#queues[budget]?.push(pod);
    this.#isWaiting[pod] = 1;
  }

  isWaiting(pod: number): boolean {
    return this.#isWaiting[pod] === 1;
  }

  /** The pod was evicted, with or without a token. */
  evicted(pod: number): void {
    this.#isWaiting[pod] = 0;
  }

  /** Takes a token for the pod that has waited longest. Returns -1 without a token or pod. */
  grant(budget: number): number {
    const queue = this.#queues[budget] ?? [];
    while ((this.#free[budget] ?? 0) > 0) {
      const head = this.#heads[budget] ?? 0;
      const pod = queue[head];
      if (pod === undefined) return none;
      this.#heads[budget] = head + 1;
      if (!this.isWaiting(pod)) continue;
      this.#free[budget] = (this.#free[budget] ?? 0) - 1;
      return pod;
    }
    return none;
  }

  /** A replacement is Ready. */
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
