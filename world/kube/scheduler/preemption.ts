// Which pods to evict so that a pod of higher priority fits: dry runs per node, as few budget
// violations as possible, then the least important victims. Pure; upstream: framework/preemption
// and defaultpreemption (Kubernetes 1.32). It never deletes.

import { selectorMatches } from '../../../src/api/selectors.ts';
import { type BudgetView, microsOf, type PodView } from '../actors/index.ts';
import type { NodeInfo } from './cache.ts';

/** Upstream's default: a tenth of the nodes, but at least this many, are tried. */
const leastCandidates = 100;

export const priorityOf = (pod: PodView): number => pod.spec.priority ?? 0;

interface Candidate {
  readonly node: NodeInfo;
  /** Most important first. */
  readonly victims: readonly PodView[];
  readonly violations: number;
}

export interface PreemptionFacts {
  readonly pod: PodView;
  /** Nodes where evicting pods could help, in the order of trial. */
  readonly nodes: readonly NodeInfo[];
  readonly podsOn: (node: NodeInfo) => Iterable<PodView>;
  /** Whether the pod would fit without these pods. */
  readonly fits: (node: NodeInfo, without: readonly PodView[]) => boolean;
  readonly budgets: (namespace: string) => Iterable<BudgetView>;
}

const startedAt = (pod: PodView): number =>
  microsOf(pod.status?.startTime ?? pod.metadata.creationTimestamp) ?? 0;

const byImportance = (a: PodView, b: PodView): number =>
  priorityOf(b) - priorityOf(a) || startedAt(a) - startedAt(b);

/** Splits pods by whether their budgets allow evicting them one after the other. */
const byBudget = (
  pods: readonly PodView[],
  budgets: PreemptionFacts['budgets'],
): { readonly violating: readonly PodView[]; readonly free: readonly PodView[] } => {
  const left = new Map<string, number>();
  const violating: PodView[] = [];
  const free: PodView[] = [];
  for (const pod of pods) {
    let violated = false;
    for (const budget of budgets(pod.metadata.namespace ?? '')) {
      if (!selectorMatches(budget.spec.selector, pod.metadata.labels)) continue;
      if (budget.status?.disruptedPods?.[pod.metadata.name] !== undefined) continue;
      const { uid } = budget.metadata;
      const allowed = (left.get(uid) ?? budget.status?.disruptionsAllowed ?? 0) - 1;
      left.set(uid, allowed);
      if (allowed < 0) violated = true;
    }
    (violated ? violating : free).push(pod);
  }
  return { violating, free };
};

/**
 * The fewest victims on one node: removes all lower-priority pods, then restores those that fit.
 */
const victimsOn = (node: NodeInfo, facts: PreemptionFacts): Candidate | undefined => {
  const priority = priorityOf(facts.pod);
  const lesser = [...facts.podsOn(node)].filter((pod) => priorityOf(pod) < priority);
  if (lesser.length === 0 || !facts.fits(node, lesser)) return undefined;
  const sorted = lesser.sort(byImportance);
  const { violating, free } = byBudget(sorted, facts.budgets);
  let gone: readonly PodView[] = sorted;
  let violations = 0;
  const reprieve = (pod: PodView): boolean => {
    const fewer = gone.filter((one) => one !== pod);
    if (!facts.fits(node, fewer)) return false;
    gone = fewer;
    return true;
  };
  for (const pod of violating) if (!reprieve(pod)) violations++;
  for (const pod of free) reprieve(pod);
  return { node, victims: gone, violations };
};

/** Upstream's order of preference between nodes. */
const keysOf = ({ victims, violations }: Candidate): readonly number[] => {
  const [first] = victims;
  const highest = first === undefined ? Number.NEGATIVE_INFINITY : priorityOf(first);
  const top = victims.filter((pod) => priorityOf(pod) === highest);
  return [
    violations,
    highest,
    victims.reduce((sum, pod) => sum + priorityOf(pod) + 2 ** 31, 0),
    victims.length,
    // Pods that started last lose the least.
    -Math.min(...top.map(startedAt)),
  ];
};

const better = (a: Candidate, b: Candidate): boolean => {
  const [left, right] = [keysOf(a), keysOf(b)];
  for (const [i, key] of left.entries()) {
    const other = right[i] ?? 0;
    if (key !== other) return key < other;
  }
  return false;
};

/** Undefined: no eviction would help. */
export const findVictims = (facts: PreemptionFacts): Candidate | undefined => {
  const limit = Math.max(leastCandidates, Math.floor(facts.nodes.length / 10));
  let best: Candidate | undefined;
  let found = 0;
  for (const node of facts.nodes) {
    const candidate = victimsOn(node, facts);
    if (candidate === undefined) continue;
    if (best === undefined || better(candidate, best)) best = candidate;
    found++;
    if (found >= limit) break;
  }
  return best;
};
