// Subscribers to one collection's changes. A subscriber to one node's pods receives only changes
// that touch that node, so a change costs the same with one such watch or a hundred. Delivers in
// the order of subscription; makes no other decision.
import type { Recorded } from './history.ts';
import { type Stored, specOf, textOf } from './objects.ts';

export type Subscriber = (change: Recorded) => void;

/** The node of a scheduled pod. */
export const nodeOf = (pod: Stored | undefined): string | undefined =>
  pod === undefined ? undefined : textOf(specOf(pod).nodeName) || undefined;

interface Subscription {
  readonly order: number;
  readonly subscriber: Subscriber;
}

type Subscriptions = Set<Subscription>;

export class Subscribers {
  readonly #toAll: Subscriptions = new Set();
  readonly #toNodes = new Map<string, Subscriptions>();
  #order = 0;

  /** `node`: only pods that are, or were, on that node. */
  add(subscriber: Subscriber, node?: string): () => void {
    const subscription = { order: this.#order++, subscriber };
    const at = node === undefined ? this.#toAll : (this.#toNodes.get(node) ?? new Set());
    at.add(subscription);
    if (node !== undefined) this.#toNodes.set(node, at);
    return () => {
      at.delete(subscription);
      if (node !== undefined && at.size === 0 && this.#toNodes.get(node) === at) {
        this.#toNodes.delete(node);
      }
    };
  }

  tell(change: Recorded): void {
    const left = this.#toNodes.size === 0 ? undefined : this.#at(nodeOf(change.previous));
    const now = this.#toNodes.size === 0 ? undefined : this.#at(nodeOf(change.object));
    const places = left === now ? [left] : [left, now];
    const some = places.flatMap((at) => (at === undefined ? [] : [...at]));
    if (some.length === 0) {
      for (const { subscriber } of this.#toAll) subscriber(change);
      return;
    }
    const all = [...this.#toAll, ...some].sort((a, b) => a.order - b.order);
    for (const one of all) {
      // An earlier subscriber may have ended this subscription.
      if (this.#toAll.has(one) || places.some((at) => at?.has(one))) one.subscriber(change);
    }
  }

  #at(node: string | undefined): Subscriptions | undefined {
    return node === undefined ? undefined : this.#toNodes.get(node);
  }
}
