// Whether a pod may run on a node, and which of several nodes is best. Pure decisions over the
// cache; plugins in upstream's order with upstream's words (Kubernetes 1.32 scheduler/framework).
import {
  asPod,
  hasAll,
  nodeTermsMatch,
  type PodAffinityTerm,
  type PodView,
  selects,
  untolerated,
} from '../actors/index.ts';
import type { Demand, NodeInfo } from './cache.ts';

const unschedulableTaint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

/** A refusal in upstream's words; `stuck` when evicting pods there would not help. */
export interface Refusal {
  readonly reasons: readonly string[];
  readonly stuck: boolean;
}

const refuse = (reason: string): Refusal => ({ reasons: [reason], stuck: true });

/** What depends on the pod's template and the node alone, not on what runs there. */
export const staticRefusal = (pod: PodView, node: NodeInfo): Refusal | undefined => {
  const tolerations = pod.spec.tolerations ?? [];
  if (
    node.unschedulable &&
    untolerated([unschedulableTaint], tolerations, ['NoSchedule']) !== undefined
  ) {
    return refuse('node(s) were unschedulable');
  }
  const taint = untolerated(node.taints, tolerations, ['NoSchedule', 'NoExecute']);
  if (taint !== undefined) {
    return refuse(`node(s) had untolerated taint {${taint.key}: ${taint.value ?? ''}}`);
  }
  const terms =
    pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
      ?.nodeSelectorTerms;
  const matches =
    hasAll(pod.spec.nodeSelector, node.labels) &&
    (terms === undefined || nodeTermsMatch(terms, node));
  return matches ? undefined : refuse("node(s) didn't match Pod's node affinity/selector");
};

/** Room for the pod: every resource that is short is named. */
export const roomRefusal = (
  demand: Demand,
  ports: readonly string[],
  node: NodeInfo,
): Refusal | undefined => {
  if (ports.some((port) => node.hostPorts.has(port))) {
    return {
      reasons: ["node(s) didn't have free ports for the requested pod ports"],
      stuck: false,
    };
  }
  const reasons: string[] = [];
  if (node.usedPods + 1 > node.pods) reasons.push('Too many pods');
  if (demand.milliCpu > 0 && node.usedMilliCpu + demand.milliCpu > node.milliCpu) {
    reasons.push('Insufficient cpu');
  }
  if (demand.memory > 0 && node.usedMemory + demand.memory > node.memory) {
    reasons.push('Insufficient memory');
  }
  for (const [name, value] of Object.entries(demand.others)) {
    if (value > 0 && (node.usedOthers[name] ?? 0) + value > (node.others[name] ?? 0)) {
      reasons.push(`Insufficient ${name}`);
    }
  }
  return reasons.length === 0 ? undefined : { reasons, stuck: false };
};

/** Pods of other nodes that share `node`'s value of a topology key. */
export type DomainPods = (node: NodeInfo, topologyKey: string) => Iterable<PodView>;

const termHits = (term: PodAffinityTerm, owner: PodView, other: PodView): boolean => {
  const namespaces = term.namespaces ?? [owner.metadata.namespace ?? ''];
  return (
    namespaces.includes(other.metadata.namespace ?? '') &&
    selects(term.labelSelector, other.metadata.labels)
  );
};

/** Required anti-affinity, of the newcomer and of those already there. */
export const antiAffinityRefusal = (
  pod: PodView,
  node: NodeInfo,
  domainPods: DomainPods,
  others: boolean,
): Refusal | undefined => {
  const own = antiTerms(pod);
  for (const term of own) {
    for (const other of domainPods(node, term.topologyKey)) {
      if (termHits(term, pod, other)) {
        return { reasons: ["node(s) didn't match pod anti-affinity rules"], stuck: false };
      }
    }
  }
  if (!others) return undefined;
  // Upstream looks at every topology; here only those already on the node object (hostname).
  for (const other of domainPods(node, 'kubernetes.io/hostname')) {
    if (antiTerms(other).some((term) => termHits(term, other, pod))) {
      return {
        reasons: ["node(s) didn't satisfy existing pods anti-affinity rules"],
        stuck: false,
      };
    }
  }
  return undefined;
};

const antiTerms = (pod: PodView): readonly PodAffinityTerm[] =>
  pod.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];

/** Hard spread constraints, with counts per domain from `countIn`. */
export const spreadRefusal = (
  pod: PodView,
  node: NodeInfo,
  countIn: (
    constraint: NonNullable<PodView['spec']['topologySpreadConstraints']>[number],
  ) => ReadonlyMap<string, number>,
): Refusal | undefined => {
  for (const constraint of pod.spec.topologySpreadConstraints ?? []) {
    if (constraint.whenUnsatisfiable !== 'DoNotSchedule') continue;
    const domain = node.labels[constraint.topologyKey];
    if (domain === undefined) {
      return refuse(
        "node(s) didn't match pod topology spread constraints (missing required label)",
      );
    }
    const counts = countIn(constraint);
    const least = counts.size === 0 ? 0 : Math.min(...counts.values());
    if ((counts.get(domain) ?? 0) + 1 - least > constraint.maxSkew) {
      return { reasons: ["node(s) didn't match pod topology spread constraints"], stuck: false };
    }
  }
  return undefined;
};

/** `0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable. preemption: ...` */
export const unavailableMessage = (refusals: readonly Refusal[]): string => {
  const total = refusals.length;
  if (total === 0) return 'no nodes available to schedule pods';
  const stuck = refusals.filter((one) => one.stuck).length;
  const preemption = countedReasons([
    ...Array.from({ length: stuck }, () => 'Preemption is not helpful for scheduling'),
    ...Array.from({ length: total - stuck }, () => 'No preemption victims found for incoming pod'),
  ]);
  const reasons = countedReasons(refusals.flatMap((one) => one.reasons));
  return (
    `0/${total} nodes are available: ${reasons}. ` +
    `preemption: 0/${total} nodes are available: ${preemption}.`
  );
};

const countedReasons = (reasons: readonly string[]): string => {
  const counts = new Map<string, number>();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts]
    .map(([reason, count]) => `${count} ${reason}`)
    .sort((a, b) => (a < b ? -1 : 1))
    .join(', ');
};

export const podViews = function* (
  objects: Iterable<Parameters<typeof asPod>[0]>,
): Generator<PodView> {
  for (const object of objects) yield asPod(object);
};
