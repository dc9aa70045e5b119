// Index of a namespace's selectors: finds those that could match given labels without testing all
// of them. Files each selector under one `key=value` that it requires. Never decides that one
// matches.
import type { Labels, Selector } from './types.ts';

interface Filed {
  readonly namespace: string;
  /** Undefined when the selector requires no specific value: it is a candidate for every object. */
  readonly pairs: readonly string[] | undefined;
}

export class SelectorIndex {
  readonly #filed = new Map<string, Filed>();
  /** `namespace key=value` -> names of selectors. */
  readonly #byPair = new Map<string, Set<string>>();
  readonly #general = new Map<string, Set<string>>();

  /** Files or refiles `name` (the key of a budget or Service). */
  set(name: string, namespace: string, selector: Selector): void {
    this.remove(name);
    const pairs = this.#choose(namespace, selector);
    this.#filed.set(name, { namespace, pairs });
    if (pairs === undefined) add(this.#general, namespace, name);
    else for (const pair of pairs) add(this.#byPair, pair, name);
  }

  remove(name: string): void {
    const filed = this.#filed.get(name);
    if (filed === undefined) return;
    this.#filed.delete(name);
    if (filed.pairs === undefined) drop(this.#general, filed.namespace, name);
    else for (const pair of filed.pairs) drop(this.#byPair, pair, name);
  }

  /** Selectors that may match any of these label sets, each returned once. */
  candidates(namespace: string, ...labelSets: readonly (Labels | undefined)[]): Set<string> {
    const found = new Set(this.#general.get(namespace));
    for (const labels of labelSets) {
      for (const key in labels) {
        for (const name of this.#byPair.get(pairOf(namespace, key, labels[key] ?? '')) ?? []) {
          found.add(name);
        }
      }
    }
    return found;
  }

  /** The requirement under which the fewest other selectors are filed. */
  #choose(namespace: string, selector: Selector): readonly string[] | undefined {
    const choices = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => [
      pairOf(namespace, key, value),
    ]);
    for (const { key, operator, values } of selector.matchExpressions ?? []) {
      if (operator === 'In') choices.push((values ?? []).map((one) => pairOf(namespace, key, one)));
    }
    const crowd = (pairs: readonly string[]): number =>
      pairs.reduce((sum, pair) => sum + (this.#byPair.get(pair)?.size ?? 0), 0);
    return choices.sort((a, b) => crowd(a) - crowd(b))[0];
  }
}

const pairOf = (namespace: string, key: string, value: string): string =>
  `${namespace} ${key}=${value}`;

const add = (index: Map<string, Set<string>>, key: string, name: string): void => {
  const names = index.get(key);
  if (names === undefined) index.set(key, new Set([name]));
  else names.add(name);
};

const drop = (index: Map<string, Set<string>>, key: string, name: string): void => {
  const names = index.get(key);
  names?.delete(name);
  if (names?.size === 0) index.delete(key);
};
