// Records when the drains of a run began and when their nodes were gone. Decides nothing.
import type { DrainResult, ModelInput } from './model.ts';

export class DrainLog {
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  readonly #nodes: number[] = [];

  began(node: number, at: number): void {
    this.#nodes.push(node);
    this.#starts[node] = at;
  }

  ended(node: number, at: number): void {
    this.#ends[node] = at;
  }

  startOf(node: number): number {
    return this.#starts[node] ?? 0;
  }

  /** When the last node was gone; at least `least`. */
  lastEnd(least: number): number {
    return this.#nodes.reduce((most, node) => Math.max(most, this.#ends[node] ?? 0), least);
  }

  /** Drains of the old nodes, which have the lowest indexes, in the order in which they began. */
  ofOld(nodes: ModelInput['nodes']): readonly DrainResult[] {
    return this.#nodes
      .filter((node) => node < nodes.length)
      .map((node) => ({
        node: nodes[node]?.name ?? '',
        startSeconds: this.startOf(node),
        endSeconds: this.#ends[node] ?? 0,
      }));
  }
}
