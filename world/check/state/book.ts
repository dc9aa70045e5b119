// The oracles' model of a world, built from a trace in one pass and shared by all oracles. Objects
// are applied before the oracles see their entry; the author of a change is recorded after they saw
// the request. Judges nothing.
import { type Json, type JsonObject, objectOr } from '../../../src/api/json.ts';
import type { TraceEntry, TraceFacts } from '../../../src/api/trace.ts';
import { Cloud } from './cloud.ts';
import {
  beganAt,
  type DisruptionState,
  Disruptions,
  type EpisodeBefore,
  forcingDeadline,
} from './disruptions.ts';
import { Health } from './health.ts';
import { type NodeState, Nodes } from './nodes.ts';
import { isDrainable, type PodState, Pods } from './pods.ts';
import { keyOf, microsPerSecond, textOf, textsOf } from './read.ts';
import { healthyDelayOf } from './repair-policy.ts';
import { Repairs } from './repairs.ts';
import { Updates } from './updates.ts';

export type Request = Extract<TraceEntry, { kind: 'request' }>;
export type ObjectEntry = Extract<TraceEntry, { kind: 'object' }>;
export type Call = Extract<TraceEntry, { kind: 'call' }>;

/** The names that EKS uses (article 001). */
const defaultHooks = ['Launch-LC-Hook', 'Terminate-LC-Hook'];

/** Faults after which a controller may act on stale data, and for how long. */
const blinding = new Set([
  'F1-stale-watch',
  'F2-broken-watch',
  'F3-crash-after-write',
  'F4-answer-lost',
  'F5-api-error',
  'F5-watch-expired',
  // A paused leader sends its decided writes when it resumes; another leader may have done them.
  'F6-leader-paused',
]);
const blindMicros = 60 * microsPerSecond;
/** Usual delay of one watch delivery and one call; a controller may not know a younger fact. */
const usualLagMicros = 2 * microsPerSecond;

/** Longest time between two passes over a group with a repair, including a controller restart. */
const unnoticedMicros = 60 * microsPerSecond;

export class Book {
  readonly facts: TraceFacts;
  readonly pods = new Pods();
  readonly nodes = new Nodes();
  readonly disruptions = new Disruptions();
  readonly cloud = new Cloud();
  readonly updates = new Updates();
  readonly health = new Health();
  readonly repairs = new Repairs();
  readonly deployments = new Map<string, JsonObject>();
  /** The current object entry changed something that the controller reads. */
  matters = false;
  /** The current object entry shows another version than the previous one. */
  isNewVersion = false;
  /** `at` of the current entry. */
  now = 0;
  readonly #own: ReadonlySet<string>;
  readonly #managed: ReadonlySet<string>;
  readonly #hooks: ReadonlySet<string>;
  /**
   * By Auto Scaling group, the further hooks that the spec of its NodeGroup gives to the
   * controller, and when the spec ceased to name them: infinity while it does.
   */
  readonly #namedHooks = new Map<string, Map<string, number>>();
  readonly #versions = new Map<string, string>();
  readonly #liveDaemonSets = new Set<string>();
  #seesDaemonSets = false;
  #blindUntil = 0;
  #leaderStoodUntil = 0;

  constructor(facts: TraceFacts) {
    this.facts = facts;
    this.#own = new Set(facts.ownAgents);
    this.#managed = new Set(facts.managedGroups);
    this.#hooks = new Set(facts.ownHooks ?? defaultHooks);
  }

  isOurs(entry: { readonly userAgent: string }): boolean {
    return this.#own.has(entry.userAgent);
  }

  isManaged(group: string): boolean {
    return this.#managed.has(group);
  }

  /**
   * A hook that the controller must and may answer in an action that began at `startedAt`. It
   * answers an action that has begun although the spec ceases to name the hook.
   */
  isOwnHook(group: string, hook: string, startedAt: number): boolean {
    const namedUntil = this.#namedHooks.get(group)?.get(hook) ?? 0;
    return this.#managed.has(group) && (this.#hooks.has(hook) || startedAt < namedUntil);
  }

  /** A recent fault may have hidden facts from the controller. */
  get isBlind(): boolean {
    return this.now <= this.#blindUntil;
  }

  /** A leader that was paused may still send what it decided earlier. */
  get mayLeaderBeLate(): boolean {
    return this.now <= this.#leaderStoodUntil;
  }

  /** Minimum age of a fact before an action against it is a mistake; microseconds. */
  get lagMicros(): number {
    return this.isBlind ? blindMicros : usualLagMicros;
  }

  podOf(request: Request): PodState | undefined {
    return this.pods.byKey.get(keyOf(request.namespace, request.name));
  }

  /**
   * Whether budgets apply to this removal of a pod. API servers never check budgets on a deletion.
   * Other clients may delete any pod; the controller only after the journal says that it forces.
   */
  isHeldToBudgets(request: Request, pod: PodState): boolean {
    if (isEviction(request)) return true;
    const state = this.disruptionOf(pod);
    const before = state && this.episodeBefore(state);
    const forces = state?.forcingSince === true || before?.forcingSince === true;
    return this.isOurs(request) && !forces;
  }

  /** The disruption that drains the node of the pod. */
  disruptionOf(pod: PodState): DisruptionState | undefined {
    const node = this.nodes.byName.get(pod.nodeName);
    if (node !== undefined) return this.disruptions.ofNode(node);
    return this.disruptions.ofNodeName(pod.nodeName);
  }

  /** The disruption that this entry shows in a new version. */
  disruptionIn({ resource, object, type }: ObjectEntry): DisruptionState | undefined {
    if (resource !== 'nodedisruptions' || type === 'DELETED' || !this.isNewVersion) {
      return undefined;
    }
    return this.disruptions.byName.get(textOf(objectOr(object.metadata).name));
  }

  /** A pod that a drain removes; includes orphans of a DaemonSet if the trace shows DaemonSets. */
  isDrainable(pod: PodState): boolean {
    if (pod.ownerKind !== 'DaemonSet' || !this.#seesDaemonSets) return isDrainable(pod);
    const isOrphan = !this.#liveDaemonSets.has(`${pod.namespace}/${pod.ownerName}`);
    return isOrphan && pod.goneAt === undefined && !pod.isMirror;
  }

  forcingDeadline(state: DisruptionState): number | undefined {
    return forcingDeadline(state, { at: this.now, lagMicros: this.lagMicros });
  }

  /** The previous episode, while a paused or blind controller may still carry it out. */
  episodeBefore(state: DisruptionState): EpisodeBefore | undefined {
    return this.isBlind && this.now - state.openedAt <= this.lagMicros ? state.before : undefined;
  }

  beganAt(state: DisruptionState): number | undefined {
    return beganAt(state, { at: this.now, lagMicros: this.lagMicros });
  }

  /** The instance that a hook call names, directly or by its token. */
  instanceOfCall(call: Call): string {
    // EC2's own calls name a list; Drover's name one.
    const [listed = ''] = textsOf(call.input.InstanceIds);
    const named = textOf(call.input.InstanceId) || listed;
    if (named !== '') return named;
    const token = textOf(call.input.LifecycleActionToken);
    if (token === '') return '';
    for (const one of this.disruptions.byName.values()) {
      if (one.causes.some((cause) => cause.hook?.token === token)) return one.instanceId;
    }
    return '';
  }

  /** Applies an entry before the oracles see it. */
  take(entry: TraceEntry): void {
    this.now = entry.at;
    switch (entry.kind) {
      case 'object':
        this.#takeObject(entry);
        break;
      case 'lifecycle':
        this.cloud.lifecycle(entry);
        break;
      case 'instance':
        this.cloud.instance(entry);
        break;
      case 'fault':
        if (entry.what !== 'off' && blinding.has(entry.fault)) {
          this.#blindUntil = entry.at + blindMicros;
        }
        if (entry.fault === 'F6-leader-paused') {
          this.#leaderStoodUntil = entry.at + blindMicros;
        }
        break;
      case 'scaling':
        this.cloud.scaling(entry);
        break;
      case 'call':
      case 'request':
        break;
    }
  }

  /** Attributes earlier changes to this entry's author, after the oracles saw the entry. */
  settle(entry: TraceEntry): void {
    if (entry.kind === 'call') {
      if (this.isOurs(entry)) this.cloud.ownCall(entry, this.instanceOfCall(entry));
      return;
    }
    if (entry.kind !== 'request' || !succeeded(entry)) return;
    if (entry.resource === 'nodes' && entry.name !== undefined) {
      const node = this.nodes.byName.get(entry.name);
      if (node !== undefined && (node.pending.length > 0 || this.isOurs(entry))) {
        const { lagMicros } = this;
        const isLate = this.#isLate(node);
        const isMeant = this.#isMeant(node);
        const isOurs = this.isOurs(entry);
        this.nodes.attribute(node, { isOurs, isLate, isMeant, at: entry.at, lagMicros });
      }
    } else if (endsPod(entry)) {
      const pod = this.podOf(entry);
      if (pod !== undefined)
        this.pods.ended(pod, this.isHeldToBudgets(entry, pod) ? 'eviction' : 'delete');
    }
  }

  /**
   * A mark in the form of EKS has no precondition. If it was decided before the drain was
   * withdrawn, it can arrive after the drain's end, or after the patch that undid it. It then looks
   * like an operator's mark. The native form records its owner.
   */
  #isLate(node: NodeState): boolean {
    const disruption = this.disruptions.ofNode(node);
    const isUndone = disruption?.phase === 'Undoing' && !node.marks.has('label');
    const endedAt = disruption?.phaseAt.get(isUndone ? 'Undoing' : 'Ended');
    if (this.facts.compat !== 'eks' || endedAt === undefined) return false;
    return this.isBlind && this.now - endedAt <= this.lagMicros;
  }

  /**
   * The journal says that the controller sets the marks of this node, and the controller may have
   * died while doing so. The form of EKS does not record whether the controller or an operator set
   * a mark.
   */
  #isMeant(node: NodeState): boolean {
    const disruption = this.disruptions.ofNode(node);
    const since = disruption?.phaseAt.get('Marking');
    if (this.facts.compat !== 'eks' || disruption?.phase !== 'Marking') return false;
    return since !== undefined && this.isBlind && this.now - since <= this.lagMicros;
  }

  #takeObject({ type, resource, object, at }: ObjectEntry): void {
    const metadata = objectOr(object.metadata);
    // Objects of handwritten traces may have no uid.
    const id = textOf(metadata.uid) || `${resource} ${textOf(metadata.name)}`;
    const version = textOf(metadata.resourceVersion);
    if (type === 'DELETED') this.#versions.delete(id);
    else if (version !== '' && this.#versions.get(id) === version) {
      this.matters = false;
      this.isNewVersion = false;
      return;
    } else this.#versions.set(id, version);
    this.matters = true;
    this.isNewVersion = true;
    switch (resource) {
      case 'pods':
        this.matters = this.pods.applyPod(type, object, at);
        break;
      case 'nodes':
        this.matters = this.nodes.apply(type, object, at);
        this.#takeHealth(type, object, at);
        break;
      case 'nodegroups':
        this.repairs.applyGroup(type, object, at);
        this.#takeHooks(type, object, at);
        break;
      case 'noderepairs':
        this.repairs.apply(type, object, at);
        break;
      case 'poddisruptionbudgets':
        this.matters = this.pods.applyBudget(type, object, at);
        break;
      case 'nodedisruptions':
        this.disruptions.apply(type, object, at);
        break;
      case 'nodegroupupdates':
        this.updates.apply(type, object, at);
        break;
      case 'daemonsets':
        this.#takeDaemonSet(type, keyOf(textOf(metadata.namespace), textOf(metadata.name)));
        break;
      case 'deployments':
        if (type === 'DELETED') this.deployments.delete(id);
        else this.deployments.set(id, object);
        break;
      case 'leases':
      case 'events':
        this.matters = false;
        break;
    }
  }

  #takeHooks(type: string, { metadata, spec, status }: JsonObject, at: number): void {
    const { name, uid } = objectOr(metadata);
    const { autoScalingGroupName: given, drain } = objectOr(spec);
    const group = given ?? objectOr(status).autoScalingGroupName ?? `eks-${name}-${uid}`;
    const hooks = type === 'DELETED' ? [] : textsOf(objectOr(drain).lifecycleHooks);
    const named = this.#namedHooks.get(textOf(group)) ?? new Map<string, number>();
    this.#namedHooks.set(textOf(group), named);
    for (const [hook, until] of named) named.set(hook, Math.min(until, at));
    for (const hook of hooks) named.set(hook, Number.POSITIVE_INFINITY);
  }

  /** A recovery shorter than the controller's reaction time does not end an episode. */
  #takeHealth(type: string, object: JsonObject, at: number): void {
    const labels = objectOr(objectOr(object.metadata).labels);
    const group = this.repairs.groups.get(textOf(labels['eks.amazonaws.com/nodegroup']));
    const delayMicros = healthyDelayOf(group?.spec ?? {}) + unnoticedMicros + this.lagMicros;
    this.health.apply(type, object, at, delayMicros);
  }

  #takeDaemonSet(type: string, key: string): void {
    this.#seesDaemonSets = true;
    if (type === 'DELETED') this.#liveDaemonSets.delete(key);
    else this.#liveDaemonSets.add(key);
  }
}

export const succeeded = (request: Request): boolean =>
  request.code >= 200 && request.code < 300 && !request.dryRun;

export const isEviction = (request: Request): boolean =>
  request.resource === 'pods' && request.subresource === 'eviction' && request.verb === 'create';

const isDeletion = (request: Request): boolean =>
  request.resource === 'pods' && request.subresource === undefined && request.verb === 'delete';

/** A request that removes one pod. */
export const endsPod = (request: Request): boolean => isEviction(request) || isDeletion(request);

/** gracePeriodSeconds of an eviction or a delete; undefined: the pod's own applies. */
export const graceAsked = (request: Request): number | undefined => {
  const body: Json | undefined = request.body;
  const options = isEviction(request) ? objectOr(body).deleteOptions : body;
  const { gracePeriodSeconds } = objectOr(options);
  return typeof gracePeriodSeconds === 'number' ? gracePeriodSeconds : undefined;
};

export type { DisruptionState, NodeState, PodState };
