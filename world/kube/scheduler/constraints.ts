// Constraints on pods' relative placement: topology spread, affinity, anti-affinity. Prepared once
// per pod, evaluated per node. Upstream: podtopologyspread and interpodaffinity (Kubernetes 1.32).

import { selectorMatches } from '../../../src/api/selectors.ts';
import {
  hasAll,
  type Labels,
  nodeTermsMatch,
  type PodAffinityTerm,
  type PodView,
  type Selector,
  type SpreadConstraint,
  untolerated,
} from '../actors/index.ts';
import type { NodeInfo, SchedulerCache } from './cache.ts';
import type { Refusal } from './fit.ts';
import { type Counted, type NamespacesOf, picks, termNamespaces } from './pod-counts.ts';

/** Number of selected pods for each value of a topology key. */
interface Domains {
  readonly topologyKey: string;
  readonly counted: Pick<Counted, 'namespaces' | 'selector'>;
  readonly byValue: ReadonlyMap<string, number>;
}

interface SpreadDomains extends Domains {
  readonly constraint: SpreadConstraint;
  /** 1 when the constraint also selects the pod itself. */
  readonly self: number;
}

export interface ConstraintSources {
  readonly cache: SchedulerCache;
  /** Names of the namespaces that a selector matches. */
  readonly namespaces: NamespacesOf;
}

/** Pods assumed to be evicted, in a dry run of preemption. */
type Without = readonly PodView[];

const stuck = (reason: string): Refusal => ({ reasons: [reason], stuck: true });
const passing = (reason: string): Refusal => ({ reasons: [reason], stuck: false });

/** The selector extended by the pod's own values of the named labels. */
const withLabelKeys = (
  selector: Selector | undefined,
  keys: readonly string[] | undefined,
  labels: Labels = {},
): Selector | undefined => {
  if (selector === undefined || keys === undefined) return selector;
  const more = keys.flatMap((key) =>
    labels[key] === undefined ? [] : [{ key, operator: 'In', values: [labels[key]] }],
  );
  if (more.length === 0) return selector;
  return { ...selector, matchExpressions: [...(selector.matchExpressions ?? []), ...more] };
};

export class PodConstraints {
  readonly #pod: PodView;
  readonly #sources: ConstraintSources;
  readonly #spread: readonly SpreadDomains[];
  readonly #near: readonly Domains[];
  readonly #apart: readonly Domains[];
  /** Anti-affinity terms of existing pods that match this pod. */
  readonly #unwanted: readonly Domains[];

  constructor(pod: PodView, sources: ConstraintSources) {
    this.#pod = pod;
    this.#sources = sources;
    const { affinity } = pod.spec;
    this.#spread = this.spread('DoNotSchedule');
    const near = affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    const apart = affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    this.#near = near.map((term) => this.domains(term));
    this.#apart = apart.map((term) => this.domains(term));
    this.#unwanted = [...sources.cache.antiTerms.values()]
      .filter((term) => picks(term, pod))
      .map((term) => this.#gather(term.topologyKey, term, (name) => term.byNode.get(name) ?? 0));
  }

  /** No constraints: no node needs to be checked. */
  get none(): boolean {
    const all = [this.#spread, this.#near, this.#apart, this.#unwanted];
    return all.every((list) => list.length === 0);
  }

  /** Why the pod cannot run on this node; `without`: its pods assumed to be evicted. */
  refusal(node: NodeInfo, without: Without = []): Refusal | undefined {
    return this.#spreadRefusal(node, without) ?? this.#affinityRefusal(node, without);
  }

  domains(term: PodAffinityTerm): Domains {
    const { cache, namespaces } = this.#sources;
    const selector = withLabelKeys(
      term.labelSelector,
      term.matchLabelKeys,
      this.#pod.metadata.labels,
    );
    const counted = cache.counts.of(termNamespaces(term, this.#pod, namespaces), selector);
    return this.#gather(term.topologyKey, counted, (name) => counted.byNode.get(name)?.all ?? 0);
  }

  /** Constraints of one kind with the counts per domain. */
  spread(kind: 'DoNotSchedule' | 'ScheduleAnyway'): readonly SpreadDomains[] {
    const { labels, namespace = '' } = this.#pod.metadata;
    const constraints = (this.#pod.spec.topologySpreadConstraints ?? []).filter(
      (one) => one.whenUnsatisfiable === kind,
    );
    return constraints.map((constraint) => {
      const { topologyKey, matchLabelKeys } = constraint;
      const selector = withLabelKeys(constraint.labelSelector, matchLabelKeys, labels);
      const counted = this.#sources.cache.counts.of([namespace], selector);
      const byValue = new Map<string, number>();
      for (const node of this.#sources.cache.list) {
        const value = node.labels[topologyKey];
        if (value === undefined || !this.#eligible(node, constraint)) continue;
        const count = counted.byNode.get(node.name)?.live ?? 0;
        byValue.set(value, (byValue.get(value) ?? 0) + count);
      }
      const self = selectorMatches(selector, labels) ? 1 : 0;
      return { topologyKey, counted, byValue, constraint, self };
    });
  }

  /** Whether a node's pods and domain count for a constraint. */
  #eligible(node: NodeInfo, constraint: SpreadConstraint): boolean {
    const { nodeSelector, affinity, tolerations = [] } = this.#pod.spec;
    if ((constraint.nodeAffinityPolicy ?? 'Honor') === 'Honor') {
      const terms =
        affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
      if (!hasAll(nodeSelector, node.labels)) return false;
      if (terms !== undefined && !nodeTermsMatch(terms, node)) return false;
    }
    if ((constraint.nodeTaintsPolicy ?? 'Ignore') === 'Ignore') return true;
    return untolerated(node.taints, tolerations, ['NoSchedule', 'NoExecute']) === undefined;
  }

  #gather(
    topologyKey: string,
    counted: Domains['counted'] & { readonly byNode: ReadonlyMap<string, unknown> },
    countOn: (node: string) => number,
  ): Domains {
    const byValue = new Map<string, number>();
    for (const name of counted.byNode.keys()) {
      const value = this.#sources.cache.nodes.get(name)?.labels[topologyKey];
      if (value !== undefined) byValue.set(value, (byValue.get(value) ?? 0) + countOn(name));
    }
    return { topologyKey, counted, byValue };
  }

  #spreadRefusal(node: NodeInfo, without: Without): Refusal | undefined {
    for (const { constraint, topologyKey, counted, byValue, self } of this.#spread) {
      const value = node.labels[topologyKey];
      if (value === undefined) {
        return stuck(
          "node(s) didn't match pod topology spread constraints (missing required label)",
        );
      }
      const gone = without.filter((one) => picks(counted, one)).length;
      const here = (byValue.get(value) ?? 0) - gone;
      let least = here;
      for (const [other, count] of byValue) if (other !== value) least = Math.min(least, count);
      if (byValue.size < (constraint.minDomains ?? 1)) least = 0;
      if (here + self - least > constraint.maxSkew) {
        return passing("node(s) didn't match pod topology spread constraints");
      }
    }
    return undefined;
  }

  #affinityRefusal(node: NodeInfo, without: Without): Refusal | undefined {
    if (!this.#isNear(node)) return stuck("node(s) didn't match pod affinity rules");
    const holds = ({ topologyKey, byValue, counted }: Domains): boolean => {
      const value = node.labels[topologyKey];
      if (value === undefined) return false;
      const gone = without.filter((one) => picks(counted, one)).length;
      return (byValue.get(value) ?? 0) > gone;
    };
    if (this.#apart.some(holds)) return passing("node(s) didn't match pod anti-affinity rules");
    const unwanted = this.#unwanted.some(({ topologyKey, byValue }) => {
      const value = node.labels[topologyKey];
      // The pod with the term may be in `without`, so a dry run skips these terms. If the term
      // still holds after the eviction, the pod waits.
      return value !== undefined && (byValue.get(value) ?? 0) > 0 && without.length === 0;
    });
    return unwanted
      ? passing("node(s) didn't satisfy existing pods anti-affinity rules")
      : undefined;
  }

  #isNear(node: NodeInfo): boolean {
    if (this.#near.length === 0) return true;
    if (this.#near.some(({ topologyKey }) => node.labels[topologyKey] === undefined)) return false;
    const all = this.#near.every(
      ({ topologyKey, byValue }) => (byValue.get(node.labels[topologyKey] ?? '') ?? 0) > 0,
    );
    if (all) return true;
    // The first pod of a group with affinity to itself may run anywhere.
    const nobody = this.#near.every(({ byValue }) => byValue.size === 0);
    return nobody && this.#near.every(({ counted }) => picks(counted, this.#pod));
  }
}
