// Whether a pod may run on a node. Pure decisions over the cache; plugins in upstream's order and
// with upstream's messages (Kubernetes 1.32 scheduler/framework).
import { asPod, hasAll, nodeTermsMatch, type PodView, untolerated } from '../actors/index.ts';
import { type Demand, isPortTaken, type NodeInfo } from './cache.ts';

const unschedulableTaint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

/** A refusal in upstream's words; `stuck` when evicting pods there would not help. */
export interface Refusal {
  readonly reasons: readonly string[];
  readonly stuck: boolean;
}

const refuse = (reason: string): Refusal => ({ reasons: [reason], stuck: true });

/** Depends only on the pod's template and the node, not on the pods that run there. */
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

/** Capacity in addition to the cache: reserved for nominated pods, or negative for victims. */
export interface Taken {
  readonly pods: number;
  readonly milliCpu: number;
  readonly memory: number;
  readonly others: Readonly<Record<string, number>>;
}

export const nothingTaken: Taken = { pods: 0, milliCpu: 0, memory: 0, others: {} };

export const addTaken = (to: Taken, demand: Demand, sign: 1 | -1): Taken => {
  const others: Record<string, number> = { ...to.others };
  for (const [name, value] of Object.entries(demand.others)) {
    others[name] = (others[name] ?? 0) + sign * value;
  }
  return {
    pods: to.pods + sign,
    milliCpu: to.milliCpu + sign * demand.milliCpu,
    memory: to.memory + sign * demand.memory,
    others,
  };
};

/** Called for each evaluated node, so it allocates nothing. */
const hasRoom = (demand: Demand, node: NodeInfo, taken: Taken): boolean => {
  const cpu = node.usedMilliCpu + taken.milliCpu + demand.milliCpu;
  const memory = node.usedMemory + taken.memory + demand.memory;
  if (node.usedPods + 1 + taken.pods > node.pods) return false;
  if (demand.milliCpu > 0 && cpu > node.milliCpu) return false;
  if (demand.memory > 0 && memory > node.memory) return false;
  for (const name in demand.others) {
    const wanted = demand.others[name] ?? 0;
    const used = (node.usedOthers[name] ?? 0) + (taken.others[name] ?? 0);
    if (wanted > 0 && used + wanted > (node.others[name] ?? 0)) return false;
  }
  return true;
};

/** Whether the pod fits: names every insufficient resource. */
export const roomRefusal = (
  demand: Demand,
  ports: readonly string[],
  node: NodeInfo,
  taken: Taken = nothingTaken,
): Refusal | undefined => {
  if (ports.length === 0 && hasRoom(demand, node, taken)) return undefined;
  if (ports.some((port) => isPortTaken(node, port))) {
    return {
      reasons: ["node(s) didn't have free ports for the requested pod ports"],
      stuck: false,
    };
  }
  const reasons: string[] = [];
  // More than an empty node has: no eviction would help.
  let never = false;
  const need = (name: string, wanted: number, used: number, has: number): void => {
    if (wanted <= 0 || used + wanted <= has) return;
    reasons.push(`Insufficient ${name}`);
    if (wanted > has) never = true;
  };
  if (node.usedPods + 1 + taken.pods > node.pods) reasons.push('Too many pods');
  need('cpu', demand.milliCpu, node.usedMilliCpu + taken.milliCpu, node.milliCpu);
  need('memory', demand.memory, node.usedMemory + taken.memory, node.memory);
  for (const [name, value] of Object.entries(demand.others)) {
    const more = taken.others[name] ?? 0;
    need(name, value, (node.usedOthers[name] ?? 0) + more, node.others[name] ?? 0);
  }
  return reasons.length === 0 ? undefined : { reasons, stuck: never };
};

/** `0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable.` */
export const unavailableMessage = (refusals: readonly Refusal[]): string => {
  const total = refusals.length;
  if (total === 0) return 'no nodes available to schedule pods';
  const reasons = countedReasons(refusals.flatMap((one) => one.reasons));
  return `0/${total} nodes are available: ${reasons}.`;
};

/** Upstream's message when no preemption would help. */
export const noVictimsMessage = (refusals: readonly Refusal[]): string => {
  const total = refusals.length;
  const stuck = refusals.filter((one) => one.stuck).length;
  const preemption = countedReasons([
    ...Array.from({ length: stuck }, () => 'Preemption is not helpful for scheduling'),
    ...Array.from({ length: total - stuck }, () => 'No preemption victims found for incoming pod'),
  ]);
  return `0/${total} nodes are available: ${preemption}.`;
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
