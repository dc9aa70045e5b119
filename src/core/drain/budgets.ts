// Budgets by namespace, and which of them select a pod. Updated one budget at a time, so a pass is
// O(pods on draining nodes). Does not know which evictions are in flight.
import type { Pod, PodDisruptionBudget } from '../../api/kube.ts';
import { selectorMatches } from '../../api/selectors.ts';

/** `namespace/name` of a namespaced object. */
export const keyOfObject = (object: {
  readonly metadata: { readonly namespace?: string; readonly name: string };
}): string => `${object.metadata.namespace ?? ''}/${object.metadata.name}`;

/** The version of each budget; a refused eviction is retried once one of them changes. */
export const versionsOf = (
  budgets: readonly PodDisruptionBudget[],
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    budgets.map((budget) => [keyOfObject(budget), budget.metadata.resourceVersion]),
  );

export interface BudgetLookup {
  /** The budgets that select `pod`, by name. */
  of(pod: Pod): readonly PodDisruptionBudget[];
  get(key: string): PodDisruptionBudget | undefined;
}

interface Bucket {
  readonly budgets: Map<string, PodDisruptionBudget>;
  /** Increases when a selector is added, removed or changed; never with a budget's status. */
  selectors: number;
  /**
   * The index as of `selectors`: budgets by a label that their pods must have, and budgets without
   * one.
   */
  byLabel?: {
    readonly selectors: number;
    readonly named: ReadonlyMap<string, readonly string[]>;
    readonly others: readonly string[];
  };
}

const labelOf = (key: string, value: string): string => `${key}=${value}`;

/** Index by label, so that a pod is not compared with every budget of its namespace. */
const byLabelOf = ({ budgets, selectors }: Bucket): NonNullable<Bucket['byLabel']> => {
  const named = new Map<string, string[]>();
  const others: string[] = [];
  for (const [key, { spec }] of budgets) {
    const [first] = Object.entries(spec.selector?.matchLabels ?? {});
    if (first === undefined) {
      others.push(key);
      continue;
    }
    const label = labelOf(...first);
    const known = named.get(label);
    if (known === undefined) named.set(label, [key]);
    else known.push(key);
  }
  return { selectors, named, others };
};

const sameSelector = (a: PodDisruptionBudget, b: PodDisruptionBudget): boolean =>
  a.metadata.uid === b.metadata.uid &&
  JSON.stringify(a.spec.selector) === JSON.stringify(b.spec.selector);

export class BudgetIndex implements BudgetLookup {
  readonly #namespaces = new Map<string, Bucket>();
  /**
   * Labels of a cached pod never change: a match holds until a selector of the namespace changes.
   */
  readonly #matches = new WeakMap<Pod, { selectors: number; keys: readonly string[] }>();

  constructor(budgets: Iterable<PodDisruptionBudget> = []) {
    for (const budget of budgets) this.set(budget);
  }

  set(budget: PodDisruptionBudget): void {
    const bucket = this.#bucket(budget.metadata.namespace ?? '');
    const key = keyOfObject(budget);
    const known = bucket.budgets.get(key);
    if (known === undefined || !sameSelector(known, budget)) bucket.selectors++;
    bucket.budgets.set(key, budget);
  }

  delete(budget: PodDisruptionBudget): void {
    const bucket = this.#bucket(budget.metadata.namespace ?? '');
    if (bucket.budgets.delete(keyOfObject(budget))) bucket.selectors++;
  }

  get(key: string): PodDisruptionBudget | undefined {
    return this.#namespaces.get(key.slice(0, key.indexOf('/')))?.budgets.get(key);
  }

  of(pod: Pod): readonly PodDisruptionBudget[] {
    const bucket = this.#namespaces.get(pod.metadata.namespace ?? '');
    if (bucket === undefined || bucket.budgets.size === 0) return [];
    const keys = this.#keysOf(pod, bucket);
    return keys.length === 0 ? [] : keys.flatMap((key) => bucket.budgets.get(key) ?? []);
  }

  #keysOf(pod: Pod, bucket: Bucket): readonly string[] {
    const known = this.#matches.get(pod);
    if (known?.selectors === bucket.selectors) return known.keys;
    if (bucket.byLabel?.selectors !== bucket.selectors) bucket.byLabel = byLabelOf(bucket);
    const { named, others } = bucket.byLabel;
    const { labels = {} } = pod.metadata;
    const keys: string[] = [];
    const collect = (candidates: readonly string[]): void => {
      for (const key of candidates) {
        if (selectorMatches(bucket.budgets.get(key)?.spec.selector, labels)) keys.push(key);
      }
    };
    for (const name in labels) collect(named.get(labelOf(name, labels[name] ?? '')) ?? []);
    collect(others);
    if (keys.length > 1) keys.sort();
    this.#matches.set(pod, { selectors: bucket.selectors, keys });
    return keys;
  }

  #bucket(namespace: string): Bucket {
    const known = this.#namespaces.get(namespace);
    if (known !== undefined) return known;
    const fresh: Bucket = { budgets: new Map(), selectors: 0 };
    this.#namespaces.set(namespace, fresh);
    return fresh;
  }
}

/** Whether the status is for the current spec; until then the API server refuses evictions. */
export const statusIsCurrent = (budget: PodDisruptionBudget): boolean =>
  (budget.status.observedGeneration ?? 0) >= (budget.metadata.generation ?? 0);

/** Disruptions that the status allows, before our evictions in flight are subtracted. */
export const offeredTokens = (budget: PodDisruptionBudget): number =>
  statusIsCurrent(budget) ? Math.max(0, budget.status.disruptionsAllowed ?? 0) : 0;

/**
 * Whether a budget that allows no eviction can be freed. `never`: maxUnavailable 0 and minAvailable
 * 100% are recomputed with the scale and never open. `scaleUp`: an integer minAvailable opens only
 * when the workload scales up. `temporary`: a change in the pods' health frees it. Measured:
 * docs/designs/drain-order.md.
 */
export type ZeroBudget = 'never' | 'scaleUp' | 'temporary';

const isZero = (value: number | string | undefined): boolean => value === 0 || value === '0%';

export const zeroBudget = (budget: PodDisruptionBudget): ZeroBudget => {
  const { minAvailable, maxUnavailable } = budget.spec;
  if (isZero(maxUnavailable)) return 'never';
  if (minAvailable === '100%') return 'never';
  const expected = budget.status.expectedPods ?? 0;
  const healthy = budget.status.currentHealthy ?? 0;
  const disrupted = Object.keys(budget.status.disruptedPods ?? {}).length;
  if (expected === 0 || healthy < expected || disrupted > 0) return 'temporary';
  if (offeredTokens(budget) > 0 || !statusIsCurrent(budget)) return 'temporary';
  if (typeof minAvailable === 'number' && minAvailable >= expected) return 'scaleUp';
  // A percentage that rounds up to all pods (minAvailable 90% of 3), or down to none.
  return (budget.status.desiredHealthy ?? 0) >= expected ? 'scaleUp' : 'temporary';
};
