// The scheduler's view of nodes: free capacity, labels, taints and the number of pods per owner.
// Updated change by change; lists all pods only at the start.
import {
  amount,
  controllerOf,
  isFinished,
  isTerminating,
  type Labels,
  milliCpu,
  type NodeView,
  type PodView,
  type Selector,
  type TaintView,
} from '../actors/index.ts';
import { type NamespacesOf, PodCounts, termNamespaces } from './pod-counts.ts';

export interface Demand {
  readonly milliCpu: number;
  readonly memory: number;
  /** As upstream scores it: a pod without requests counts as 100m and 200Mi. */
  readonly scoredMilliCpu: number;
  readonly scoredMemory: number;
  readonly others: Readonly<Record<string, number>>;
}

export interface NodeInfo {
  readonly name: string;
  /** Index into per-node lists; reused by another node after this one is deleted. */
  readonly slot: number;
  /**
   * A value unique among all nodes that changes with labels, taints or the cordon: static answers
   * are cached per version.
   */
  version: number;
  labels: Labels;
  taints: readonly TaintView[];
  /** PreferNoSchedule taints. */
  softTaints: readonly TaintView[];
  unschedulable: boolean;
  zone: string;
  milliCpu: number;
  memory: number;
  pods: number;
  others: Readonly<Record<string, number>>;
  usedMilliCpu: number;
  usedMemory: number;
  scoredMilliCpu: number;
  scoredMemory: number;
  usedPods: number;
  usedOthers: Record<string, number>;
  hostPorts: Map<string, number>;
  exists: boolean;
}

const defaultMilliCpu = 100;
const defaultMemory = 200 * 2 ** 20;
const plain: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage']);

const requestsOf = (pod: PodView): Labels[] =>
  pod.spec.containers.map((container) => container.resources?.requests ?? {});

/** The sum of container requests, at least the largest init container's, plus overhead. */
export const demandOf = (pod: PodView): Demand => {
  const all = requestsOf(pod);
  const cpu = (requests: Labels): number => milliCpu(requests.cpu);
  const memory = (requests: Labels): number => amount(requests.memory);
  const init = (pod.spec.initContainers ?? []).map((one) => one.resources?.requests ?? {});
  const total = (of: (requests: Labels) => number): number =>
    Math.max(
      all.reduce((sum, one) => sum + of(one), 0),
      ...init.map(of),
    ) + of(pod.spec.overhead ?? {});
  const others: Record<string, number> = {};
  for (const requests of all) {
    for (const [name, value] of Object.entries(requests)) {
      if (!plain.has(name)) others[name] = (others[name] ?? 0) + amount(value);
    }
  }
  return {
    milliCpu: total(cpu),
    memory: total(memory),
    scoredMilliCpu: all.reduce((sum, one) => sum + (cpu(one) || defaultMilliCpu), 0),
    scoredMemory: all.reduce((sum, one) => sum + (memory(one) || defaultMemory), 0),
    others,
  };
};

/** Stands for all addresses of the node. */
const anyAddress = '0.0.0.0';

/** Host ports of the pod, as `TCP/80/ADDRESS`. */
export const hostPortsOf = (pod: PodView): string[] =>
  pod.spec.containers.flatMap((container) =>
    (container.ports ?? [])
      .filter((port) => port.hostPort !== undefined && port.hostPort > 0)
      .map((port) => `${port.protocol ?? 'TCP'}/${port.hostPort}/${port.hostIP || anyAddress}`),
  );

/** A port on all addresses conflicts with the same port on any address. */
export const portsMeet = (a: string, b: string): boolean => {
  if (a === b) return true;
  const [of, other] = [a, b].map((port) => port.slice(0, port.lastIndexOf('/')));
  return of === other && [a, b].some((port) => port.endsWith(`/${anyAddress}`));
};

/** Whether a pod on the node uses the port. */
export const isPortTaken = ({ hostPorts }: NodeInfo, port: string): boolean => {
  if (hostPorts.size === 0) return false;
  if (hostPorts.has(port)) return true;
  for (const taken of hostPorts.keys()) if (portsMeet(taken, port)) return true;
  return false;
};

/** Pods that default spreading keeps apart: those of one controller. */
export const spreadGroupOf = (pod: PodView): string | undefined => controllerOf(pod)?.uid;

interface Placed {
  readonly node: string;
  readonly demand: Demand;
  readonly group: string | undefined;
  readonly antiTerms: readonly string[];
  readonly ports: readonly string[];
  readonly priority: number;
  /** The version of the pod that was counted; a change of labels is counted again. */
  readonly pod: PodView;
  readonly live: boolean;
}

/** A required anti-affinity term of placed pods, and their domains. */
export interface AntiTerm {
  readonly topologyKey: string;
  readonly namespaces: ReadonlySet<string> | undefined;
  readonly selector: Selector | undefined;
  readonly byNode: Map<string, number>;
}

/** Pods of one spread group by node and by zone. */
export interface Spread {
  readonly byNode: Map<string, number>;
  readonly byZone: Map<string, number>;
}

const bump = (counts: Map<string, number>, key: string, by: number): void => {
  const next = (counts.get(key) ?? 0) + by;
  if (next === 0) counts.delete(key);
  else counts.set(key, next);
};

export class SchedulerCache {
  readonly nodes = new Map<string, NodeInfo>();
  /** Existing nodes in order of creation, for rotation. */
  list: NodeInfo[] = [];
  /** Distinct terms by their text: empty on most clusters. */
  readonly antiTerms = new Map<string, AntiTerm>();
  readonly counts: PodCounts;
  readonly #priorities = new Map<number, number>();
  readonly #namespaces: NamespacesOf;
  readonly #placed = new Map<string, Placed>();
  readonly #spreads = new Map<string, Spread>();
  readonly #freeSlots: number[] = [];
  #slots = 0;
  #versions = 0;

  constructor(sources: {
    readonly placed: () => Iterable<PodView>;
    readonly namespaces: NamespacesOf;
  }) {
    this.counts = new PodCounts(sources.placed);
    this.#namespaces = sources.namespaces;
  }

  /** Whether a pod with lower priority runs; otherwise preemption cannot help. */
  hasBelow(priority: number): boolean {
    for (const one of this.#priorities.keys()) if (one < priority) return true;
    return false;
  }

  spread(group: string | undefined): Spread | undefined {
    return group === undefined ? undefined : this.#spreads.get(group);
  }

  setNode(node: NodeView): void {
    const known = this.nodes.get(node.metadata.name);
    const info = known ?? this.#emptyNode(node.metadata.name);
    const labels = node.metadata.labels ?? {};
    const taints = node.spec?.taints ?? [];
    const unschedulable = node.spec?.unschedulable === true;
    if (
      !info.exists ||
      info.labels !== labels ||
      info.taints !== taints ||
      info.unschedulable !== unschedulable
    ) {
      info.version = ++this.#versions;
    }
    const zone = labels['topology.kubernetes.io/zone'] ?? '';
    if (zone !== info.zone) this.#moveZone(info.name, info.zone, zone);
    const allocatable = node.status?.allocatable ?? {};
    info.labels = labels;
    info.taints = taints;
    info.softTaints = taints.filter(({ effect }) => effect === 'PreferNoSchedule');
    info.unschedulable = unschedulable;
    info.zone = zone;
    info.milliCpu = milliCpu(allocatable.cpu);
    info.memory = amount(allocatable.memory);
    info.pods = amount(allocatable.pods);
    info.others = Object.fromEntries(
      Object.entries(allocatable)
        .filter(([name]) => !plain.has(name) && name !== 'pods')
        .map(([name, value]) => [name, amount(value)]),
    );
    if (!info.exists) this.list.push(info);
    info.exists = true;
    if (known === undefined) this.nodes.set(info.name, info);
  }

  removeNode(name: string): void {
    const info = this.nodes.get(name);
    if (info === undefined) return;
    info.exists = false;
    this.list = this.list.filter((one) => one !== info);
    // Pods may outlive their Node object; the entry is removed with the last of them.
    if (info.usedPods === 0) this.#forget(info);
  }

  /** A bound, unfinished pod uses capacity; any other releases it. */
  setPod(pod: PodView): void {
    const uid = pod.metadata.uid;
    const node = pod.spec.nodeName;
    if (node === undefined || node === '' || isFinished(pod)) {
      this.removePod(uid);
      return;
    }
    const known = this.#placed.get(uid);
    const live = !isTerminating(pod);
    if (known !== undefined) {
      if (known.live === live && known.pod.metadata.labels === pod.metadata.labels) return;
      this.counts.change(known.pod, -1, known.live);
      this.counts.change(pod, 1, live);
      // A terminating pod keeps its capacity but does not count for spreading.
      if (known.group !== undefined && !live) this.#leaveGroup(known);
      this.#placed.set(uid, { ...known, pod, live, group: live ? known.group : undefined });
      return;
    }
    const placed: Placed = {
      node,
      demand: demandOf(pod),
      group: live ? spreadGroupOf(pod) : undefined,
      antiTerms: this.#antiTermsOf(pod),
      ports: hostPortsOf(pod),
      priority: pod.spec.priority ?? 0,
      pod,
      live,
    };
    this.#placed.set(uid, placed);
    this.#apply(placed, 1);
  }

  /** Records the pod's required anti-affinity; returns the keys of its terms. */
  #antiTermsOf(pod: PodView): readonly string[] {
    const terms =
      pod.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    return terms.map((term) => {
      const namespaces = termNamespaces(term, pod, this.#namespaces);
      const { topologyKey, labelSelector: selector } = term;
      const key = JSON.stringify([topologyKey, namespaces ?? '*', selector]);
      if (!this.antiTerms.has(key)) {
        const set = namespaces === undefined ? undefined : new Set(namespaces);
        this.antiTerms.set(key, { topologyKey, namespaces: set, selector, byNode: new Map() });
      }
      return key;
    });
  }

  /** True when the pod used capacity. */
  removePod(uid: string): boolean {
    const placed = this.#placed.get(uid);
    if (placed === undefined) return false;
    this.#placed.delete(uid);
    this.#apply(placed, -1);
    return true;
  }

  #apply(placed: Placed, sign: 1 | -1): void {
    const info = this.nodes.get(placed.node) ?? this.#emptyNode(placed.node);
    this.nodes.set(placed.node, info);
    info.usedMilliCpu += sign * placed.demand.milliCpu;
    info.usedMemory += sign * placed.demand.memory;
    info.scoredMilliCpu += sign * placed.demand.scoredMilliCpu;
    info.scoredMemory += sign * placed.demand.scoredMemory;
    info.usedPods += sign;
    for (const [name, value] of Object.entries(placed.demand.others)) {
      info.usedOthers[name] = (info.usedOthers[name] ?? 0) + sign * value;
    }
    for (const port of placed.ports) bump(info.hostPorts, port, sign);
    for (const key of placed.antiTerms) {
      const term = this.antiTerms.get(key);
      if (term === undefined) continue;
      bump(term.byNode, info.name, sign);
      if (term.byNode.size === 0) this.antiTerms.delete(key);
    }
    const peers = (this.#priorities.get(placed.priority) ?? 0) + sign;
    if (peers === 0) this.#priorities.delete(placed.priority);
    else this.#priorities.set(placed.priority, peers);
    this.counts.change(placed.pod, sign, placed.live);
    if (placed.group !== undefined) this.#count(placed.group, info, sign);
    if (!info.exists && info.usedPods === 0) this.#forget(info);
  }

  #emptyNode(name: string): NodeInfo {
    return emptyNode(name, this.#freeSlots.pop() ?? this.#slots++);
  }

  #forget(info: NodeInfo): void {
    if (this.nodes.delete(info.name)) this.#freeSlots.push(info.slot);
  }

  #leaveGroup(placed: Placed): void {
    const info = this.nodes.get(placed.node);
    if (placed.group !== undefined && info !== undefined) this.#count(placed.group, info, -1);
  }

  #count(group: string, info: NodeInfo, sign: 1 | -1): void {
    const spread = this.#spreads.get(group) ?? { byNode: new Map(), byZone: new Map() };
    this.#spreads.set(group, spread);
    bump(spread.byNode, info.name, sign);
    bump(spread.byZone, info.zone, sign);
    if (spread.byNode.size === 0) this.#spreads.delete(group);
  }

  #moveZone(name: string, from: string, to: string): void {
    for (const spread of this.#spreads.values()) {
      const count = spread.byNode.get(name);
      if (count === undefined) continue;
      bump(spread.byZone, from, -count);
      bump(spread.byZone, to, count);
    }
  }
}

const emptyNode = (name: string, slot: number): NodeInfo => ({
  name,
  slot,
  version: 0,
  labels: {},
  taints: [],
  softTaints: [],
  unschedulable: false,
  zone: '',
  milliCpu: 0,
  memory: 0,
  pods: 0,
  others: {},
  usedMilliCpu: 0,
  usedMemory: 0,
  scoredMilliCpu: 0,
  scoredMemory: 0,
  usedPods: 0,
  usedOthers: {},
  hostPorts: new Map(),
  exists: false,
});
