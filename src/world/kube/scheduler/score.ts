// Which of several nodes that would do is best. Pure; plugins and weights of upstream's default
// profile (Kubernetes 1.32), each over the feasible nodes at hand and scaled to 0..100.
import { nodeTermsMatch, type PodView, selects, tolerates } from '../actors/index.ts';
import type { Demand, NodeInfo, Spread } from './cache.ts';

/** Weights of upstream's default profile; LeastAllocated and BalancedAllocation count once. */
const weights = { spread: 2, nodeAffinity: 2, podAffinity: 2, taints: 3 } as const;

export interface ScoreFacts {
  readonly pod: PodView;
  readonly demand: Demand;
  readonly counts: Spread | undefined;
  readonly podsOn: (node: NodeInfo) => Iterable<PodView>;
}

/** A score per node, in the order of `nodes`; more is better. */
export const scoresOf = (nodes: readonly NodeInfo[], facts: ScoreFacts): readonly number[] => {
  const { pod, demand, counts } = facts;
  const parts: [number, readonly number[]][] = [
    [1, nodes.map((node) => room(demand, node))],
    [weights.spread / 2, falling(nodes, (node) => counts?.byNode.get(node.name) ?? 0)],
    [weights.spread / 2, falling(nodes, (node) => counts?.byZone.get(node.zone) ?? 0)],
  ];
  const preferred =
    pod.spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution;
  if (preferred !== undefined) {
    parts.push([weights.nodeAffinity, rising(nodes, (node) => affinityOf(preferred, node))]);
  }
  const apart = pod.spec.affinity?.podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution;
  if (apart !== undefined) {
    parts.push([weights.podAffinity, falling(nodes, (node) => crowdOf(apart, node, facts))]);
  }
  if (nodes.some(hasSoftTaint)) {
    parts.push([weights.taints, falling(nodes, (node) => softTaints(pod, node))]);
  }
  return nodes.map((_node, i) =>
    Math.round(parts.reduce((sum, [weight, scores]) => sum + weight * (scores[i] ?? 0), 0)),
  );
};

type Of = (node: NodeInfo) => number;

/** 100 for none, 0 for the most. */
const falling = (nodes: readonly NodeInfo[], of: Of): readonly number[] => {
  const most = nodes.reduce((max, node) => Math.max(max, of(node)), 0);
  return nodes.map((node) => (most === 0 ? 100 : 100 * (1 - of(node) / most)));
};

const rising = (nodes: readonly NodeInfo[], of: Of): readonly number[] =>
  falling(nodes, of).map((score, _i, all) => (all.every((one) => one === 100) ? 0 : 100 - score));

/** LeastAllocated and BalancedAllocation together: 0 to 200. */
const room = (demand: Demand, node: NodeInfo): number => {
  const cpu = share(node.scoredMilliCpu + demand.scoredMilliCpu, node.milliCpu);
  const memory = share(node.scoredMemory + demand.scoredMemory, node.memory);
  const least = ((1 - cpu + (1 - memory)) / 2) * 100;
  const balanced = (1 - Math.abs(cpu - memory) / 2) * 100;
  return least + balanced;
};

const share = (used: number, all: number): number => (all <= 0 ? 1 : Math.min(1, used / all));

type NodeAffinity = NonNullable<NonNullable<PodView['spec']['affinity']>['nodeAffinity']>;
type PreferredNodes = NonNullable<NodeAffinity['preferredDuringSchedulingIgnoredDuringExecution']>;

const affinityOf = (preferred: PreferredNodes, node: NodeInfo): number =>
  preferred.reduce(
    (sum, { weight, preference }) => sum + (nodeTermsMatch([preference], node) ? weight : 0),
    0,
  );

type AntiAffinity = NonNullable<NonNullable<PodView['spec']['affinity']>['podAntiAffinity']>;
type PreferredApart = NonNullable<AntiAffinity['preferredDuringSchedulingIgnoredDuringExecution']>;

/** Only the topology of host names is looked at; wider ones are left to the spreading score. */
const crowdOf = (apart: PreferredApart, node: NodeInfo, facts: ScoreFacts): number => {
  let crowd = 0;
  for (const { weight, podAffinityTerm: term } of apart) {
    if (term.topologyKey !== 'kubernetes.io/hostname') continue;
    const namespaces = term.namespaces ?? [facts.pod.metadata.namespace ?? ''];
    for (const other of facts.podsOn(node)) {
      if (!namespaces.includes(other.metadata.namespace ?? '')) continue;
      if (selects(term.labelSelector, other.metadata.labels)) crowd += weight;
    }
  }
  return crowd;
};

const hasSoftTaint = (node: NodeInfo): boolean =>
  node.taints.some((taint) => taint.effect === 'PreferNoSchedule');

const softTaints = (pod: PodView, node: NodeInfo): number =>
  node.taints.filter(
    (taint) =>
      taint.effect === 'PreferNoSchedule' &&
      !(pod.spec.tolerations ?? []).some((one) => tolerates(one, taint)),
  ).length;
