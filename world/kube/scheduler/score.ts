// Which of several feasible nodes is best. Pure; plugins and weights of upstream's default profile
// (Kubernetes 1.32), each over the given feasible nodes and scaled to 0..100.
import { nodeTermsMatch, type PodView, type TaintView, tolerates } from '../actors/index.ts';
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

/** Running total per node, in the order of the nodes; every plugin adds to it. */
type Totals = number[];
type Of = (node: NodeInfo) => number;

/**
 * A score per node, in the order of `nodes`; higher is better. Evaluates hundreds of nodes per pod,
 * therefore plain loops.
 */
export const scoresOf = (nodes: readonly NodeInfo[], facts: ScoreFacts): readonly number[] => {
  const { pod, demand } = facts;
  const totals: Totals = [];
  for (const node of nodes) totals.push(room(demand, node));
  addSpread(totals, nodes, facts);
  const preferred =
    pod.spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution;
  if (preferred !== undefined) {
    addRising(
      totals,
      weights.nodeAffinity,
      valuesOf(nodes, (node) => affinityOf(preferred, node)),
    );
  }
  addLiking(totals, nodes, facts);
  if (nodes.some(({ softTaints }) => softTaints.length > 0)) {
    const tolerations = pod.spec.tolerations ?? [];
    const intolerable: Of = ({ softTaints }) => softTaintsFor(tolerations, softTaints);
    addFalling(totals, weights.taints, valuesOf(nodes, intolerable));
  }
  for (let i = 0; i < totals.length; i++) totals[i] = Math.round(totals[i] ?? 0);
  return totals;
};

const valuesOf = (nodes: readonly NodeInfo[], of: Of): readonly number[] => {
  const values: number[] = [];
  for (const node of nodes) values.push(of(node));
  return values;
};

const add = (totals: Totals, i: number, more: number): void => {
  totals[i] = (totals[i] ?? 0) + more;
};

const mostOf = (values: readonly number[]): number => {
  let most = 0;
  for (const value of values) if (value > most) most = value;
  return most;
};

/** 100 for the lowest count, 0 for the highest. */
const addFalling = (totals: Totals, weight: number, values: readonly number[]): void => {
  const most = mostOf(values);
  for (let i = 0; i < values.length; i++) {
    add(totals, i, weight * (most === 0 ? 100 : 100 * (1 - (values[i] ?? 0) / most)));
  }
};

/** 0 for the lowest count, 100 for the highest. */
const addRising = (totals: Totals, weight: number, values: readonly number[]): void => {
  const most = mostOf(values);
  if (most === 0) return;
  for (let i = 0; i < values.length; i++) {
    add(totals, i, weight * (100 - 100 * (1 - (values[i] ?? 0) / most)));
  }
};

/** The pod's preferred affinity and anti-affinity to other pods. */
const addLiking = (
  totals: Totals,
  nodes: readonly NodeInfo[],
  { pod, constraints: constraintsOf }: ScoreFacts,
): void => {
  const { podAffinity, podAntiAffinity } = pod.spec.affinity ?? {};
  const near = podAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const apart = podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  if (near.length + apart.length === 0) return;
  const constraints = constraintsOf();
  const crowds = [
    ...near.map((one) => ({ ...constraints.domains(one.podAffinityTerm), by: one.weight })),
    ...apart.map((one) => ({ ...constraints.domains(one.podAffinityTerm), by: -one.weight })),
  ];
  const liking: Of = (node) =>
    crowds.reduce(
      (sum, { topologyKey, byValue, by }) =>
        sum + by * (byValue.get(node.labels[topologyKey] ?? '') ?? 0),
      0,
    );
  for (const [i, score] of between(valuesOf(nodes, liking)).entries()) {
    add(totals, i, weights.podAffinity * score);
  }
};

/** Scaled so that the lowest is 0 and the highest 100. */
const between = (scores: readonly number[]): readonly number[] => {
  const least = Math.min(...scores);
  const most = Math.max(...scores);
  return scores.map((one) => (most === least ? 0 : (100 * (one - least)) / (most - least)));
};

/** The pod's own soft constraints, or upstream's default by node and zone. */
const addSpread = (
  totals: Totals,
  nodes: readonly NodeInfo[],
  { pod, counts, constraints }: ScoreFacts,
): void => {
  if ((pod.spec.topologySpreadConstraints ?? []).length === 0) {
    const onNode: Of = (node) => counts?.byNode.get(node.name) ?? 0;
    const inZone: Of = (node) => counts?.byZone.get(node.zone) ?? 0;
    addFalling(totals, weights.spread / 2, valuesOf(nodes, onNode));
    addFalling(totals, weights.spread / 2, valuesOf(nodes, inZone));
    return;
  }
  const soft = constraints().spread('ScheduleAnyway');
  if (soft.length === 0) return;
  const crowd = (node: NodeInfo): number => {
    let sum = 0;
    for (const { topologyKey, byValue, constraint } of soft) {
      const value = node.labels[topologyKey];
      // Upstream gives the score 0 to a node without the label.
      if (value === undefined) return Number.POSITIVE_INFINITY;
      const weight = Math.log(byValue.size + 2);
      sum += (byValue.get(value) ?? 0) * weight + constraint.maxSkew - 1;
    }
    return sum;
  };
  const crowds = nodes.map(crowd);
  const known = crowds.filter(Number.isFinite);
  const [least, most] = [Math.min(...known), Math.max(...known)];
  for (const [i, one] of crowds.entries()) {
    if (!Number.isFinite(one)) continue;
    add(totals, i, weights.spread * (most === 0 ? 100 : (100 * (most + least - one)) / most));
  }
};

/** LeastAllocated and BalancedAllocation together: 0 to 200. */
const room = (demand: Demand, node: NodeInfo): number => {
  const cpu = share(node.scoredMilliCpu + demand.scoredMilliCpu, node.milliCpu);
  const memory = share(node.scoredMemory + demand.scoredMemory, node.memory);
  const least = ((1 - cpu + (1 - memory)) / 2) * 100;
  const balanced = (1 - Math.abs(cpu - memory) / 2) * 100;
  return least + balanced;
};

const share = (used: number, all: number): number => (all <= 0 ? 1 : Math.min(1, used / all));

type Toleration = Parameters<typeof tolerates>[0];
type NodeAffinity = NonNullable<NonNullable<PodView['spec']['affinity']>['nodeAffinity']>;
type PreferredNodes = NonNullable<NodeAffinity['preferredDuringSchedulingIgnoredDuringExecution']>;

const affinityOf = (preferred: PreferredNodes, node: NodeInfo): number =>
  preferred.reduce(
    (sum, { weight, preference }) => sum + (nodeTermsMatch([preference], node) ? weight : 0),
    0,
  );

const softTaintsFor = (
  tolerations: readonly Toleration[],
  softTaints: readonly TaintView[],
): number => {
  let count = 0;
  for (const taint of softTaints) {
    if (!tolerations.some((one) => tolerates(one, taint))) count++;
  }
  return count;
};
