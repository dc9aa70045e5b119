// When the nodes that a run drains are empty: counts their pods that are not evicted yet, and the
// events of pods that stop. Pure but for the state of one run.

export class Emptying {
  /** Each pod that stops needs an event, since the gate looks at the budgets after each. */
  readonly #isEachSeen: boolean;
  /** Per pod: the node it is evicted from. */
  readonly #homes: Int32Array;
  readonly #unevicted: number[] = [];
  readonly #events: number[] = [];
  readonly #lastStop: number[] = [];

  constructor(pods: number, { isEachSeen }: { readonly isEachSeen: boolean }) {
    this.#isEachSeen = isEachSeen;
    this.#homes = new Int32Array(pods).fill(-1);
  }

  /** The pod's node; -1 before its drain. */
  homeOf(pod: number): number {
    return this.#homes[pod] ?? -1;
  }

  begin(node: number, pods: readonly number[]): void {
    for (const pod of pods) this.#homes[pod] = node;
    this.#unevicted[node] = pods.length;
    this.#events[node] = 0;
    this.#lastStop[node] = 0;
  }

  /** The node has no pods, or its drain has not begun. */
  isEmpty(node: number): boolean {
    return (this.#unevicted[node] ?? 0) === 0 && (this.#events[node] ?? 0) === 0;
  }

  /**
   * `count` pods were evicted; the last of them stops at `at`. Returns whether that needs an event:
   * a pod that stops before another pod of its node does not empty the node.
   */
  evicted(node: number, count: number, at: number): boolean {
    this.#unevicted[node] = (this.#unevicted[node] ?? 0) - count;
    if (!this.#isEachSeen && at < (this.#lastStop[node] ?? 0)) return false;
    this.#lastStop[node] = at;
    this.#events[node] = (this.#events[node] ?? 0) + 1;
    return true;
  }

  /** An event of `evicted` has happened; returns whether the node is empty. */
  stopped(node: number): boolean {
    this.#events[node] = (this.#events[node] ?? 0) - 1;
    return this.isEmpty(node);
  }
}
