// Which node a pod gets, which victims would make room, or why none fits. Costs are bounded: nodes
// are sampled as upstream, static answers are cached per template. Decides only; binds nothing.

import { selectorMatches } from '../../../src/api/selectors.ts';
import type { Random } from '../../../src/ports/index.ts';
import type { WorldKube } from '../../contracts.ts';
import {
  asBudget,
  asPod,
  type ClaimView,
  metaOf,
  type PodView,
  resources,
  type Selector,
} from '../actors/index.ts';
import {
  type Demand,
  demandOf,
  hostPortsOf,
  type NodeInfo,
  portsMeet,
  SchedulerCache,
  spreadGroupOf,
} from './cache.ts';
import { PodConstraints } from './constraints.ts';
import {
  addTaken,
  noVictimsMessage,
  podViews,
  type Refusal,
  roomRefusal,
  staticRefusal,
  unavailableMessage,
} from './fit.ts';
import { Nominations } from './nominations.ts';
import { findVictims, priorityOf } from './preemption.ts';
import { nodesToScore } from './sample.ts';
import { scoresOf } from './score.ts';
import { type VolumeAsk, volumeAsk, volumeRefusal } from './volumes.ts';

/** Number of templates whose static answers are cached; more distinct ones are rare. */
const cachedTemplates = 500;

/** By the node's slot: the version of the node that was evaluated, and the answer. */
interface StaticAnswers {
  readonly versions: number[];
  readonly refusals: (Refusal | undefined)[];
}

export type Choice =
  | {
      readonly kind: 'node';
      readonly node: string;
      /** Their volumes are provisioned on that node first; the pod is bound when they exist. */
      readonly claims: readonly ClaimView[];
    }
  | {
      readonly kind: 'preempt';
      readonly node: string;
      readonly victims: readonly PodView[];
      readonly message: string;
    }
  | { readonly kind: 'none'; readonly message: string };

/** A pod's requirements, computed once. */
interface Ask {
  readonly pod: PodView;
  readonly demand: Demand;
  readonly ports: readonly string[];
  /** The pod may constrain, or be constrained by, the placement of other pods. */
  readonly isConstrained: boolean;
  readonly constraints: () => PodConstraints;
  readonly answers: StaticAnswers | undefined;
  readonly volumes: VolumeAsk;
}

export class Chooser {
  readonly cache: SchedulerCache;
  readonly nominations = new Nominations();
  readonly #kube: WorldKube;
  readonly #random: Random;
  readonly #answers = new Map<string, StaticAnswers>();
  #start = 0;

  constructor(options: { readonly kube: WorldKube; readonly random: Random }) {
    const { kube } = options;
    this.#kube = kube;
    this.#random = options.random;
    this.cache = new SchedulerCache({
      placed: () => placedPods(kube),
      namespaces: (selector) => this.#namespaces(selector),
    });
  }

  choose(pod: PodView): Choice {
    const ask = this.#ask(pod);
    if (ask.volumes.refusal !== undefined) return this.#refusedEverywhere(ask.volumes.refusal);
    const claims = ask.volumes.delayed;
    const nodes = this.#candidates(pod);
    const refusals: Refusal[] = [];
    const helpful: NodeInfo[] = [];
    const feasible: NodeInfo[] = [];
    const begin = nodes.length === 0 ? 0 : this.#start % nodes.length;
    const enough = nodesToScore(nodes.length);
    let looked = 0;
    for (; looked < nodes.length && feasible.length < enough; looked++) {
      const node = nodes[(begin + looked) % nodes.length];
      if (node === undefined) continue;
      const refusal = this.#refusal(ask, node);
      if (refusal === undefined) feasible.push(node);
      else refusals.push(refusal);
      if (refusal?.stuck === false) helpful.push(node);
    }
    this.#start = begin + looked;
    // A nominated pod takes the room that preemption made for it, once it is free.
    const nominated = this.nominations.nodeOf(pod.metadata.uid);
    const own = nominated && feasible.find((node) => node.name === nominated);
    if (own) return { kind: 'node', node: own.name, claims };
    if (isSome(feasible)) {
      return { kind: 'node', node: this.#best(ask, feasible).name, claims };
    }
    return this.#preempt(ask, helpful, this.#all(refusals, nodes));
  }

  #ask(pod: PodView): Ask {
    let constraints: PodConstraints | undefined;
    return {
      pod,
      demand: demandOf(pod),
      ports: hostPortsOf(pod),
      isConstrained: this.#isConstrained(pod),
      constraints: () => {
        constraints ??= new PodConstraints(pod, {
          cache: this.cache,
          namespaces: (selector) => this.#namespaces(selector),
        });
        return constraints;
      },
      answers: this.#staticAnswers(pod),
      volumes: volumeAsk(this.#kube, pod),
    };
  }

  #namespaces(selector: Selector): readonly string[] {
    const names: string[] = [];
    for (const object of this.#kube.readAll(resources.namespaces)) {
      if (selectorMatches(selector, metaOf(object).labels)) names.push(object.metadata.name);
    }
    return names;
  }

  #refusal(ask: Ask, node: NodeInfo): Refusal | undefined {
    const { pod, demand, ports } = ask;
    const first =
      this.#staticRefusal(ask, node) ??
      roomRefusal(demand, ports, node, this.nominations.keptFrom(pod, node.name));
    if (first !== undefined) return first;
    const volumes = volumeRefusal(this.#kube, ask.volumes, node);
    if (volumes !== undefined || !ask.isConstrained) return volumes;
    return ask.constraints().refusal(node);
  }

  /** A reason that holds for every node. */
  #refusedEverywhere(reason: string): Choice {
    const nodes = this.cache.list.map(() => ({ reasons: [reason], stuck: true }));
    const message =
      `0/${nodes.length} nodes are available: ${reason}. ` +
      `preemption: ${noVictimsMessage(nodes)}`;
    return { kind: 'none', message };
  }

  #isConstrained({ spec }: PodView): boolean {
    return (
      this.cache.antiTerms.size > 0 ||
      spec.topologySpreadConstraints !== undefined ||
      spec.affinity?.podAffinity !== undefined ||
      spec.affinity?.podAntiAffinity !== undefined
    );
  }

  /** Ties are broken at random, as upstream. */
  #best(ask: Ask, feasible: readonly [NodeInfo, ...NodeInfo[]]): NodeInfo {
    const scores = scoresOf(feasible, {
      pod: ask.pod,
      demand: ask.demand,
      counts: this.cache.spread(spreadGroupOf(ask.pod)),
      constraints: ask.constraints,
    });
    let most = -1;
    for (const score of scores) if (score > most) most = score;
    const best = feasible.filter((_node, i) => scores[i] === most);
    return best[this.#random.below(best.length)] ?? feasible[0];
  }

  #preempt(ask: Ask, helpful: readonly NodeInfo[], refusals: readonly Refusal[]): Choice {
    const { pod } = ask;
    const message = unavailableMessage(refusals);
    if (refusals.length === 0) return { kind: 'none', message };
    const none = (why: string): Choice => ({
      kind: 'none',
      message: `${message} preemption: ${why}`,
    });
    if (pod.spec.preemptionPolicy === 'Never') {
      return none('not eligible due to preemptionPolicy=Never.');
    }
    if (!this.cache.hasBelow(priorityOf(pod))) return none(noVictimsMessage(refusals));
    if (this.#victimsLeaving(pod)) {
      return none('not eligible due to terminating pod on the nominated node.');
    }
    const found = findVictims({
      pod,
      nodes: helpful,
      podsOn: (node) => this.#podsOn(node),
      fits: (node, without) => this.#fitsWithout(ask, node, without),
      budgets: (namespace) => this.#budgets(namespace),
    });
    if (found === undefined) return none(noVictimsMessage(refusals));
    return { kind: 'preempt', node: found.node.name, victims: found.victims, message };
  }

  /** Victims are still terminating: no further pod is preempted. */
  #victimsLeaving(pod: PodView): boolean {
    const nominated = this.nominations.nodeOf(pod.metadata.uid);
    if (nominated === undefined) return false;
    for (const object of this.#kube.podsOnNode(nominated)) {
      const other = asPod(object);
      const leaving = other.metadata.deletionTimestamp !== undefined;
      if (leaving && priorityOf(other) < priorityOf(pod)) return true;
    }
    return false;
  }

  #fitsWithout(ask: Ask, node: NodeInfo, without: readonly PodView[]): boolean {
    if (this.#staticRefusal(ask, node) !== undefined) return false;
    if (volumeRefusal(this.#kube, ask.volumes, node)?.stuck === true) return false;
    let taken = this.nominations.keptFrom(ask.pod, node.name);
    for (const pod of without) taken = addTaken(taken, demandOf(pod), -1);
    if (this.#isPortHeld(ask, node, without)) return false;
    if (roomRefusal(ask.demand, [], node, taken) !== undefined) return false;
    return !ask.isConstrained || ask.constraints().refusal(node, without) === undefined;
  }

  /** A pod that stays on the node uses a host port that the pod requests. */
  #isPortHeld({ ports }: Ask, node: NodeInfo, without: readonly PodView[]): boolean {
    if (ports.length === 0) return false;
    const gone = new Set(without.map((pod) => pod.metadata.uid));
    for (const pod of this.#podsOn(node)) {
      if (gone.has(pod.metadata.uid)) continue;
      const held = hostPortsOf(pod);
      if (ports.some((port) => held.some((taken) => portsMeet(taken, port)))) return true;
    }
    return false;
  }

  *#podsOn(node: NodeInfo): Generator<PodView> {
    for (const pod of podViews(this.#kube.podsOnNode(node.name))) {
      if (pod.status?.phase !== 'Succeeded' && pod.status?.phase !== 'Failed') yield pod;
    }
  }

  *#budgets(namespace: string) {
    for (const object of this.#kube.readAll(resources.poddisruptionbudgets, namespace)) {
      yield asBudget(object);
    }
  }

  /** A daemon pod targets one node: no other node is evaluated. */
  #candidates(pod: PodView): readonly NodeInfo[] {
    const pinned = pinnedNode(pod);
    if (pinned === undefined) return this.cache.list;
    const node = this.cache.nodes.get(pinned);
    return node?.exists === true ? [node] : [];
  }

  /** For a pinned pod, the nodes that were not evaluated refuse it too. */
  #all(refusals: readonly Refusal[], looked: readonly NodeInfo[]): readonly Refusal[] {
    const rest = this.cache.list.length - looked.length;
    const other: Refusal = {
      reasons: ["node(s) didn't match Pod's node affinity/selector"],
      stuck: true,
    };
    return rest <= 0 ? refusals : [...refusals, ...Array.from({ length: rest }, () => other)];
  }

  #staticAnswers(pod: PodView): StaticAnswers | undefined {
    // Pinned pods evaluate one node: nothing to cache.
    if (pinnedNode(pod) !== undefined) return undefined;
    const { nodeSelector, affinity, tolerations } = pod.spec;
    const key = JSON.stringify([nodeSelector, affinity?.nodeAffinity, tolerations]);
    let answers = this.#answers.get(key);
    if (answers === undefined) {
      if (this.#answers.size >= cachedTemplates) this.#answers.clear();
      answers = { versions: [], refusals: [] };
      this.#answers.set(key, answers);
    }
    return answers;
  }

  #staticRefusal({ pod, answers }: Ask, node: NodeInfo): Refusal | undefined {
    if (answers === undefined) return staticRefusal(pod, node);
    const { slot, version } = node;
    if (answers.versions[slot] === version) return answers.refusals[slot];
    const refusal = staticRefusal(pod, node);
    answers.versions[slot] = version;
    answers.refusals[slot] = refusal;
    return refusal;
  }
}

function* placedPods(kube: WorldKube): Generator<PodView> {
  for (const pod of podViews(kube.readAll(resources.pods))) {
    const finished = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
    if (pod.spec.nodeName && !finished) yield pod;
  }
}

const pinnedNode = (pod: PodView): string | undefined => {
  const terms =
    pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
      ?.nodeSelectorTerms;
  if (terms?.length !== 1) return undefined;
  const field = terms[0]?.matchFields?.[0];
  return field?.key === 'metadata.name' && field.operator === 'In' && field.values?.length === 1
    ? field.values[0]
    : undefined;
};

const isSome = <T>(list: readonly T[]): list is readonly [T, ...T[]] => list.length > 0;
