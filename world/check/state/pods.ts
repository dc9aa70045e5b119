// Pods and budgets as the oracles see them: where each pod is bound, whether it is healthy, how it
// ended. Counted from the pods in the trace, never from the pod counts in a budget's status.
import { type JsonObject, objectOr } from '../../../src/api/json.ts';
import {
  conditionStatus,
  keyOf,
  type LabelMatch,
  microsPerSecond,
  numberOf,
  objectsOf,
  selectorMatch,
  textOf,
} from './read.ts';

/** One pod, from its first object until after its end. Only `Pods` writes these fields. */
export interface PodState {
  readonly key: string;
  readonly namespace: string;
  readonly uid: string;
  readonly ownerKind: string;
  readonly ownerName: string;
  readonly ownerUid: string;
  readonly isMirror: boolean;
  readonly isOnHostNetwork: boolean;
  readonly graceSeconds: number;
  readonly addedAt: number;
  labels: JsonObject;
  /** `labels` by reference: versions of an object share their unchanged parts. */
  rawLabels: unknown;
  phase: string;
  ready: boolean;
  nodeName: string;
  boundAt: number;
  terminatingAt: number | undefined;
  finishedAt: number | undefined;
  goneAt: number | undefined;
  /** When it last became unhealthy. */
  lostAt: number | undefined;
  /** How its termination began, once known: an eviction checked against budgets, or a deletion. */
  endedBy: 'eviction' | 'delete' | undefined;
}

export interface BudgetState {
  readonly key: string;
  readonly uid: string;
  selector: unknown;
  matches: LabelMatch;
  desiredHealthy: number;
  alwaysAllow: boolean;
  allowed: number;
  /** Start of the current period in which `allowed` is 0. */
  closedSince: number | undefined;
  readonly members: Set<PodState>;
}

/**
 * The disruption controller sees a failed or deleted pod after a delay (39 ms when measured). An
 * eviction accepted within this delay is not a violation.
 */
const budgetLagMicros = 2 * microsPerSecond;

export const isHealthy = (pod: PodState): boolean =>
  pod.ready && pod.terminatingAt === undefined && pod.goneAt === undefined;

export const isFinished = (pod: PodState): boolean =>
  pod.phase === 'Succeeded' || pod.phase === 'Failed';

/** A pod that a drain must move: not finished, not a DaemonSet's and not a mirror pod. */
export const isDrainable = (pod: PodState): boolean =>
  pod.goneAt === undefined && pod.ownerKind !== 'DaemonSet' && !pod.isMirror && !isFinished(pod);

const newPod = (object: JsonObject, key: string, at: number): PodState => {
  const metadata = objectOr(object.metadata);
  const owners = objectsOf(metadata.ownerReferences);
  const owner = owners.find((one) => one.controller === true) ?? owners[0];
  const mirror = objectOr(metadata.annotations)['kubernetes.io/config.mirror'] !== undefined;
  return {
    key,
    namespace: textOf(metadata.namespace),
    uid: textOf(metadata.uid),
    ownerKind: textOf(owner?.kind),
    ownerName: textOf(owner?.name),
    ownerUid: textOf(owner?.uid),
    isMirror: mirror || owner?.kind === 'Node',
    isOnHostNetwork: objectOr(object.spec).hostNetwork === true,
    graceSeconds: numberOf(objectOr(object.spec).terminationGracePeriodSeconds) ?? 30,
    addedAt: at,
    labels: {},
    rawLabels: undefined,
    phase: '',
    ready: false,
    nodeName: '',
    boundAt: at,
    terminatingAt: undefined,
    finishedAt: undefined,
    goneAt: undefined,
    lostAt: undefined,
    endedBy: undefined,
  };
};

export class Pods {
  /** By namespace/name; the last pod of a name remains after its deletion. */
  readonly byKey = new Map<string, PodState>();
  readonly #byUid = new Map<string, PodState>();
  readonly #byNode = new Map<string, Set<PodState>>();
  readonly budgets = new Map<string, BudgetState>();

  on(nodeName: string): Iterable<PodState> {
    return this.#byNode.get(nodeName) ?? [];
  }

  /** Returns true if something changed that affects a drain. */
  applyPod(type: string, object: JsonObject, at: number): boolean {
    const uid = textOf(objectOr(object.metadata).uid);
    const known = this.#byUid.get(uid);
    if (type === 'DELETED') {
      if (known !== undefined) this.#gone(known, at);
      return true;
    }
    if (known !== undefined) return this.#update(known, object, at);
    this.#update(this.#add(object, at), object, at);
    return true;
  }

  /** Records how a request ended a pod; called after the objects that it changed. */
  ended(pod: PodState, by: 'eviction' | 'delete'): void {
    pod.endedBy ??= by;
  }

  applyBudget(type: string, object: JsonObject, at: number): boolean {
    const metadata = objectOr(object.metadata);
    const key = keyOf(textOf(metadata.namespace), textOf(metadata.name));
    if (type === 'DELETED') return this.budgets.delete(key);
    const known = this.budgets.get(key);
    const isSame = known !== undefined && known.uid === textOf(metadata.uid);
    const spec = objectOr(object.spec);
    const status = objectOr(object.status);
    const budget: BudgetState = isSame
      ? known
      : {
          key,
          uid: textOf(metadata.uid),
          selector: undefined,
          matches: () => false,
          desiredHealthy: 0,
          alwaysAllow: false,
          allowed: -1,
          closedSince: undefined,
          members: new Set(),
        };
    this.budgets.set(key, budget);
    budget.alwaysAllow = spec.unhealthyPodEvictionPolicy === 'AlwaysAllow';
    budget.desiredHealthy = numberOf(status.desiredHealthy) ?? 0;
    const before = budget.allowed;
    budget.allowed = numberOf(status.disruptionsAllowed) ?? 0;
    if (budget.allowed !== 0) budget.closedSince = undefined;
    else budget.closedSince ??= at;
    if (spec.selector !== budget.selector || !isSame) this.#reselect(budget, spec.selector);
    return !isSame || before !== budget.allowed;
  }

  /** Budgets that cover the pod. */
  budgetsOf(pod: PodState): readonly BudgetState[] {
    const found: BudgetState[] = [];
    for (const budget of this.budgets.values()) if (budget.members.has(pod)) found.push(budget);
    return found;
  }

  /** Healthy pods of a budget at `at`, including pods whose loss the budget could not know yet. */
  healthy(budget: BudgetState, at: number, but: PodState | undefined): number {
    let count = 0;
    for (const pod of budget.members) {
      if (pod === but) continue;
      if (isHealthy(pod)) count++;
      else if (pod.lostAt !== undefined && pod.endedBy !== 'eviction') {
        if (at - pod.lostAt <= budgetLagMicros) count++;
        else if (pod.goneAt !== undefined) budget.members.delete(pod);
      } else if (pod.goneAt !== undefined) budget.members.delete(pod);
    }
    return count;
  }

  /** Healthy pods as the disruption controller may still count them at `at`. */
  healthyAsSeen(budget: BudgetState, at: number): number {
    let count = 0;
    for (const pod of budget.members) {
      const justLost = pod.lostAt !== undefined && at - pod.lostAt <= budgetLagMicros;
      if (isHealthy(pod) || justLost) count++;
    }
    return count;
  }

  #add(object: JsonObject, at: number): PodState {
    const { namespace, name, labels } = objectOr(object.metadata);
    const key = keyOf(textOf(namespace), textOf(name));
    const namesake = this.byKey.get(key);
    if (namesake !== undefined && namesake.goneAt === undefined) this.#gone(namesake, at);
    const pod = newPod(object, key, at);
    this.byKey.set(key, pod);
    this.#byUid.set(pod.uid, pod);
    this.#relabel(pod, labels);
    return pod;
  }

  #update(pod: PodState, object: JsonObject, at: number): boolean {
    const metadata = objectOr(object.metadata);
    const status = objectOr(object.status);
    const wasHealthy = isHealthy(pod);
    let changed = false;
    if (metadata.labels !== pod.rawLabels) this.#relabel(pod, metadata.labels);
    if (metadata.deletionTimestamp !== undefined && pod.terminatingAt === undefined) {
      pod.terminatingAt = at;
      changed = true;
    }
    const phase = textOf(status.phase);
    if (phase !== pod.phase) {
      pod.phase = phase;
      if (isFinished(pod)) pod.finishedAt = at;
      changed = true;
    }
    const ready = conditionStatus(status, 'Ready') === 'True';
    if (ready !== pod.ready) {
      pod.ready = ready;
      changed = true;
    }
    const nodeName = textOf(objectOr(object.spec).nodeName);
    if (nodeName !== pod.nodeName) {
      this.#bind(pod, nodeName, at);
      changed = true;
    }
    this.#noteHealth(pod, wasHealthy, at);
    return changed;
  }

  #noteHealth(pod: PodState, wasHealthy: boolean, at: number): void {
    if (isHealthy(pod)) pod.lostAt = undefined;
    else if (wasHealthy) pod.lostAt = at;
  }

  #bind(pod: PodState, nodeName: string, at: number): void {
    this.#byNode.get(pod.nodeName)?.delete(pod);
    pod.nodeName = nodeName;
    pod.boundAt = at;
    if (nodeName === '') return;
    const bound = this.#byNode.get(nodeName);
    if (bound === undefined) this.#byNode.set(nodeName, new Set([pod]));
    else bound.add(pod);
  }

  #gone(pod: PodState, at: number): void {
    const wasHealthy = isHealthy(pod);
    pod.goneAt = at;
    this.#byUid.delete(pod.uid);
    this.#noteHealth(pod, wasHealthy, at);
    this.#byNode.get(pod.nodeName)?.delete(pod);
  }

  #relabel(pod: PodState, labels: unknown): void {
    pod.rawLabels = labels;
    pod.labels = objectOr(labels);
    for (const budget of this.budgets.values()) {
      const isMember = this.#covers(budget, pod);
      if (isMember) budget.members.add(pod);
      else budget.members.delete(pod);
    }
  }

  #reselect(budget: BudgetState, selector: unknown): void {
    budget.selector = selector;
    budget.matches = selectorMatch(selector);
    budget.members.clear();
    for (const pod of this.byKey.values()) {
      if (pod.goneAt === undefined && this.#covers(budget, pod)) budget.members.add(pod);
    }
  }

  #covers(budget: BudgetState, pod: PodState): boolean {
    return budget.key.startsWith(`${pod.namespace}/`) && budget.matches(pod.labels);
  }
}
