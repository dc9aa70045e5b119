// Which of several nodes that would do is best. Pure; plugins and weights of upstream's default
// profile (Kubernetes 1.32), each over the feasible nodes at hand and scaled to 0..100.
import { nodeTermsMatch, type PodView, tolerates } from '../actors/index.ts';
import type { Demand, NodeInfo, Spread } from './cache.ts';
import type { PodConstraints } from './constraints.ts';

/** Weights of upstream's default profile; LeastAllocated and BalancedAllocation count once. */
const weights = { spread: 2, nodeAffinity: 2, podAffinity: 2, taints: 3 } as const;

export interface ScoreFacts {
  readonly pod: PodView;
  readonly demand: Demand;
  readonly counts: Spread | undefined;
  readonly constraints: () => PodConstraints;
}

/** A score per node, in the order of `nodes`; more is better. */
export const scoresOf = (nodes: readonly NodeInfo[], facts: ScoreFacts): readonly number[] => {
  const { pod, demand, counts } = facts;
  const parts: [number, readonly number[]][] = [
    [1, nodes.map((node) => room(demand, node))],
    ...spreadParts(nodes, pod, counts, facts.constraints),
  ];
  const preferred =
    pod.spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution;
  if (preferred !== undefined) {
    parts.push([weights.nodeAffinity, rising(nodes, (node) => affinityOf(preferred, node))]);
  }
  const { podAffinity, podAntiAffinity } = pod.spec.affinity ?? {};
  const near = podAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const apart = podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  if (near.length + apart.length > 0) {
    const constraints = facts.constraints();
    const crowds = [
      ...near.map((one) => ({ ...constraints.domains(one.podAffinityTerm), by: one.weight })),
      ...apart.map((one) => ({ ...constraints.domains(one.podAffinityTerm), by: -one.weight })),
    ];
    const liking = (node: NodeInfo): number =>
      crowds.reduce(
        (sum, { topologyKey, byValue, by }) =>
          sum + by * (byValue.get(node.labels[topologyKey] ?? '') ?? 0),
        0,
      );
    parts.push([weights.podAffinity, between(nodes.map(liking))]);
  }
  if (nodes.some(hasSoftTaint)) {
    parts.push([weights.taints, falling(nodes, (node) => softTaints(pod, node))]);
  }
  return nodes.map((_node, i) =>
    Math.round(parts.reduce((sum, [weight, scores]) => sum + weight * (scores[i] ?? 0), 0)),
  );
};

/** Scaled so that the least is 0 and the most 100. */
const between = (scores: readonly number[]): readonly number[] => {
  const least = Math.min(...scores);
  const most = Math.max(...scores);
  return scores.map((one) => (most === least ? 0 : (100 * (one - least)) / (most - least)));
};

/** The pod's own soft constraints or, when it has none, upstream's default: by node and zone. */
const spreadParts = (
  nodes: readonly NodeInfo[],
  pod: PodView,
  counts: Spread | undefined,
  constraints: ScoreFacts['constraints'],
): [number, readonly number[]][] => {
  if ((pod.spec.topologySpreadConstraints ?? []).length === 0) {
    return [
      [weights.spread / 2, falling(nodes, (node) => counts?.byNode.get(node.name) ?? 0)],
      [weights.spread / 2, falling(nodes, (node) => counts?.byZone.get(node.zone) ?? 0)],
    ];
  }
  const soft = constraints().spread('ScheduleAnyway');
  if (soft.length === 0) return [];
  const crowd = (node: NodeInfo): number => {
    let sum = 0;
    for (const { topologyKey, byValue, constraint } of soft) {
      const value = node.labels[topologyKey];
      // Upstream gives a node without the label nothing.
      if (value === undefined) return Number.POSITIVE_INFINITY;
      const weight = Math.log(byValue.size + 2);
      sum += (byValue.get(value) ?? 0) * weight + constraint.maxSkew - 1;
    }
    return sum;
  };
  const crowds = nodes.map(crowd);
  const known = crowds.filter(Number.isFinite);
  const [least, most] = [Math.min(...known), Math.max(...known)];
  const scores = crowds.map((one) => {
    if (!Number.isFinite(one)) return 0;
    return most === 0 ? 100 : (100 * (most + least - one)) / most;
  });
  return [[weights.spread, scores]];
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

const hasSoftTaint = (node: NodeInfo): boolean =>
  node.taints.some((taint) => taint.effect === 'PreferNoSchedule');

const softTaints = (pod: PodView, node: NodeInfo): number =>
  node.taints.filter(
    (taint) =>
      taint.effect === 'PreferNoSchedule' &&
      !(pod.spec.tolerations ?? []).some((one) => tolerates(one, taint)),
  ).length;
