// Number of placed pods that each selector matches, by node. Counted once when a selector is first
// used, then updated change by change, so that affinity and spreading never list all pods again.

import { selectorMatches } from '../../../src/api/selectors.ts';
import {
  isTerminating,
  type PodAffinityTerm,
  type PodView,
  type Selector,
} from '../actors/index.ts';

/** Undefined: every namespace. */
export type Namespaces = readonly string[] | undefined;

/** Names of the namespaces that a selector matches. */
export type NamespacesOf = (selector: Selector) => readonly string[];

/** The namespaces in which a term selects pods. */
export const termNamespaces = (
  term: PodAffinityTerm,
  pod: PodView,
  namespaces: NamespacesOf,
): Namespaces => {
  const { namespaceSelector } = term;
  const listed = term.namespaces ?? [];
  if (namespaceSelector === undefined) {
    return listed.length > 0 ? listed : [pod.metadata.namespace ?? ''];
  }
  const everything = Object.keys(namespaceSelector).length === 0;
  return everything
    ? undefined
    : [...new Set([...listed, ...namespaces(namespaceSelector)])].sort();
};

interface Count {
  /** Placed pods that the selector matches. */
  all: number;
  /** Those of them that are not terminating. */
  live: number;
}

export interface Counted {
  readonly namespaces: ReadonlySet<string> | undefined;
  readonly selector: Selector | undefined;
  readonly byNode: Map<string, Count>;
}

/** Maximum number of tracked selectors; beyond it all are dropped and counted again on demand. */
const followedLimit = 500;

export const picks = (
  of: {
    readonly namespaces: ReadonlySet<string> | undefined;
    readonly selector: Selector | undefined;
  },
  pod: PodView,
): boolean =>
  (of.namespaces === undefined || of.namespaces.has(pod.metadata.namespace ?? '')) &&
  selectorMatches(of.selector, pod.metadata.labels);

export class PodCounts {
  readonly #followed = new Map<string, Counted>();
  readonly #placed: () => Iterable<PodView>;

  /** `placed` iterates over all pods that have a node and are not finished. */
  constructor(placed: () => Iterable<PodView>) {
    this.#placed = placed;
  }

  of(namespaces: Namespaces, selector: Selector | undefined): Counted {
    const key = JSON.stringify([namespaces ?? '*', selector]);
    const known = this.#followed.get(key);
    if (known !== undefined) return known;
    if (this.#followed.size >= followedLimit) this.#followed.clear();
    const counted: Counted = {
      namespaces: namespaces === undefined ? undefined : new Set(namespaces),
      selector,
      byNode: new Map(),
    };
    for (const pod of this.#placed()) {
      if (picks(counted, pod)) bump(counted, pod.spec.nodeName ?? '', 1, !isTerminating(pod));
    }
    this.#followed.set(key, counted);
    return counted;
  }

  /** A pod is placed (1) or removed (-1). */
  change(pod: PodView, sign: 1 | -1, live: boolean): void {
    for (const counted of this.#followed.values()) {
      if (picks(counted, pod)) bump(counted, pod.spec.nodeName ?? '', sign, live);
    }
  }
}

const bump = (counted: Counted, node: string, sign: 1 | -1, live: boolean): void => {
  const count = counted.byNode.get(node) ?? { all: 0, live: 0 };
  count.all += sign;
  if (live) count.live += sign;
  if (count.all === 0) counted.byNode.delete(node);
  else counted.byNode.set(node, count);
};
