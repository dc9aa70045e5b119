// NodeDisruptions as the oracles read them: the causes in the spec, the journal in the status, and
// the time of each. Computes from the causes alone when pods may be forced. A deadline in the
// status counts only if the cause names none.
import { instanceIdOfProviderId } from '../../../src/api/brand.ts';
import type { DisruptionPhase } from '../../../src/api/disruption.ts';
import { type JsonObject, objectOr } from '../../../src/api/json.ts';
import { microsPerSecond, numberOf, objectsOf, textOf, textsOf, timeOf } from './read.ts';

export interface HookCause {
  readonly group: string;
  readonly name: string;
  readonly token: string;
  /** Latest end of the hook: min(global timeout, 100 heartbeats, 48 h) after its start. */
  readonly endsAt: number | undefined;
}

export interface CauseState {
  readonly id: string;
  readonly kind: string;
  readonly receivedAt: number | undefined;
  readonly deadlineAt: number | undefined;
  readonly isForcing: boolean;
  readonly followUp: string;
  readonly hook: HookCause | undefined;
  /** The node is marked and keeps its pods. */
  readonly isHolding: boolean;
  /** The drained instance is kept until its owner releases it. */
  readonly isKeeping: boolean;
  readonly forceFromAt: number | undefined;
  /** Start and end of the maintenance window, from the message. */
  readonly windowStartsAt: number | undefined;
  readonly windowEndsAt: number | undefined;
  /** Time between the end of the drain and the controller's termination. */
  readonly cooldownMicros: number;
  /** When the trace first showed it. */
  readonly seenAt: number;
  /** Withdrawn, or refuted by the controller's check. */
  readonly isCancelled: boolean;
  /** The cause needs no confirmation by the cloud, or the journal records the confirmation. */
  readonly isConfirmed: boolean;
  /** When the trace first showed it as cancelled. */
  readonly cancelledSeenAt: number | undefined;
}

export interface Waiting {
  readonly kind: string;
  readonly pod: string;
  readonly budgets: readonly string[];
}

/** The journal at the end of the previous episode. */
export interface EpisodeBefore {
  readonly phases: ReadonlySet<string>;
  readonly forcingSince: boolean;
  /** The deadline at which the drain was to force. */
  readonly deadlineAt: number | undefined;
}

/** Only `Disruptions` writes these fields. */
export interface DisruptionState {
  readonly name: string;
  instanceId: string;
  nodeName: string;
  goneAt: number | undefined;
  causes: readonly CauseState[];
  episode: number;
  phase: DisruptionPhase | '';
  /** When each phase of this episode was first committed. */
  phaseAt: Map<string, number>;
  /** Time at which this episode opened, and the causes that earlier episodes handled. */
  openedAt: number;
  handledBefore: ReadonlySet<string>;
  before: EpisodeBefore | undefined;
  outcome: string;
  statusDeadlineAt: number | undefined;
  statusForces: boolean;
  forcingSince: boolean;
  /** Handled causes, with the time at which the trace first showed each as handled. */
  handled: ReadonlyMap<string, number>;
  boomerangOwners: ReadonlySet<string>;
  waitingOn: readonly Waiting[];
  /** Time since which the journal says that the node waits for its turn. */
  heldSince: number | undefined;
  /** When the journal last stopped recording a hold. */
  heldUntil: number | undefined;
  waitingOnTotal: number;
  /** Latest and previous version of the object, for comparisons. */
  object: JsonObject;
  previous: JsonObject | undefined;
}

/** Causes that arrive in a message; they count once the cloud confirms them. */
export const noticeKinds: ReadonlySet<string> = new Set([
  'LifecycleHook',
  'SpotInterruption',
  'RebalanceRecommendation',
  'Maintenance',
  'StateChange',
]);

/** Limits of Auto Scaling on a hook (lifecycle hooks, considerations). */
const maxHookSeconds = 172_800;
const maxHeartbeats = 100;
const hookOf = (value: JsonObject): HookCause => {
  const heartbeat = numberOf(value.heartbeatTimeoutSeconds) ?? Number.POSITIVE_INFINITY;
  const global = numberOf(value.globalTimeoutSeconds) ?? Number.POSITIVE_INFINITY;
  const seconds = Math.min(maxHookSeconds, global, maxHeartbeats * heartbeat);
  const startedAt = timeOf(value.startedAt);
  return {
    group: textOf(value.autoScalingGroupName),
    name: textOf(value.name),
    token: textOf(value.token),
    endsAt: startedAt === undefined ? undefined : startedAt + seconds * microsPerSecond,
  };
};

const causesOf = (
  spec: JsonObject,
  known: readonly CauseState[],
  at: number,
): readonly CauseState[] =>
  objectsOf(spec.causes).map((cause) => {
    const id = textOf(cause.id);
    const { state: answer } = objectOr(cause.confirmation);
    const isCancelled = cause.cancelledAt !== undefined || answer === 'Refuted';
    const before = known.find((one) => one.id === id);
    return {
      id,
      kind: textOf(cause.kind),
      receivedAt: timeOf(cause.receivedAt),
      deadlineAt: timeOf(cause.deadline),
      isForcing: cause.onDeadline === 'force',
      followUp: textOf(cause.followUp),
      hook: cause.hook === undefined ? undefined : hookOf(objectOr(cause.hook)),
      isHolding: cause.hold === true,
      isKeeping: cause.holdTermination === true,
      forceFromAt: timeOf(cause.forceFrom),
      windowStartsAt: timeOf(objectOr(cause.window).startsAt),
      windowEndsAt: timeOf(objectOr(cause.window).endsAt),
      cooldownMicros: (numberOf(cause.cooldownSeconds) ?? 0) * microsPerSecond,
      seenAt: before?.seenAt ?? at,
      isCancelled,
      isConfirmed: !noticeKinds.has(textOf(cause.kind)) || answer === 'Confirmed',
      cancelledSeenAt: isCancelled ? (before?.cancelledSeenAt ?? at) : undefined,
    };
  });

/** The pod and budgets that an entry of `waitingOn` names, for every kind that names them. */
const waitingOf = (value: JsonObject): Waiting => ({
  kind: textOf(value.kind),
  pod: textOf(value.pod),
  budgets: typeof value.budget === 'string' ? [value.budget] : textsOf(value.budgets),
});

const newDisruption = (name: string, object: JsonObject): DisruptionState => ({
  name,
  instanceId: '',
  nodeName: '',
  goneAt: undefined,
  causes: [],
  episode: 1,
  phase: '',
  phaseAt: new Map(),
  openedAt: 0,
  handledBefore: new Set(),
  before: undefined,
  outcome: '',
  statusDeadlineAt: undefined,
  statusForces: false,
  forcingSince: false,
  handled: new Map(),
  boomerangOwners: new Set(),
  waitingOn: [],
  heldSince: undefined,
  heldUntil: undefined,
  waitingOnTotal: 0,
  object,
  previous: undefined,
});

export class Disruptions {
  readonly byName = new Map<string, DisruptionState>();
  readonly #byInstance = new Map<string, DisruptionState>();
  readonly #byNode = new Map<string, DisruptionState>();

  /** Disruptions that exist. */
  *living(): Iterable<DisruptionState> {
    for (const one of this.byName.values()) if (one.goneAt === undefined) yield one;
  }

  ofInstance(instanceId: string): DisruptionState | undefined {
    return instanceId === '' ? undefined : this.#byInstance.get(instanceId);
  }

  /** The disruption of a node: by its instance id, else by its name. */
  ofNode(node: {
    readonly name: string;
    readonly instanceId: string;
  }): DisruptionState | undefined {
    const byInstance = this.ofInstance(node.instanceId);
    if (byInstance !== undefined) return byInstance;
    const byName = this.#byNode.get(node.name);
    // Addresses and node names are reused: skip the disruption of another instance.
    const isOther = byName !== undefined && byName.instanceId !== '' && node.instanceId !== '';
    return isOther ? undefined : byName;
  }

  ofNodeName(name: string): DisruptionState | undefined {
    return this.#byNode.get(name);
  }

  apply(type: string, object: JsonObject, at: number): DisruptionState {
    const name = textOf(objectOr(object.metadata).name);
    const known = this.byName.get(name);
    const isNew = known === undefined || (known.goneAt !== undefined && type !== 'DELETED');
    const state = isNew ? newDisruption(name, object) : known;
    this.byName.set(name, state);
    if (type === 'DELETED') {
      state.goneAt = at;
      return state;
    }
    state.previous = isNew ? undefined : state.object;
    state.object = object;
    this.#readSpec(state, objectOr(object.spec), at);
    this.#readStatus(state, objectOr(object.status), at);
    if (state.instanceId !== '') this.#byInstance.set(state.instanceId, state);
    if (state.nodeName !== '') this.#byNode.set(state.nodeName, state);
    return state;
  }

  #readSpec(state: DisruptionState, spec: JsonObject, at: number): void {
    state.causes = causesOf(spec, state.causes, at);
    const instanceId = textOf(spec.instanceId);
    if (instanceId !== '') state.instanceId = instanceId;
    else if (instanceIdOfProviderId(`aws:///${state.name}`) !== undefined) {
      state.instanceId = state.name;
    }
    const nodeName = textOf(spec.nodeName);
    if (nodeName !== '') state.nodeName = nodeName;
  }

  #readStatus(state: DisruptionState, status: JsonObject, at: number): void {
    const episode = numberOf(status.episode) ?? 1;
    const phase = textOf(status.phase) as DisruptionPhase | '';
    if (episode !== state.episode) {
      state.before = {
        phases: new Set(state.phaseAt.keys()),
        forcingSince: state.forcingSince,
        deadlineAt: state.statusForces ? state.statusDeadlineAt : undefined,
      };
      state.phaseAt = new Map();
      state.openedAt = at;
      state.handledBefore = new Set(state.handled.keys());
    }
    state.episode = episode;
    state.phase = phase;
    if (phase !== '' && !state.phaseAt.has(phase)) state.phaseAt.set(phase, at);
    state.outcome = textOf(status.outcome);
    state.statusDeadlineAt = timeOf(status.deadline);
    state.statusForces = status.onDeadline === 'force';
    state.forcingSince = status.forcingSince !== undefined;
    const handled = textsOf(status.handledCauses);
    state.handled = new Map(handled.map((id) => [id, state.handled.get(id) ?? at]));
    state.boomerangOwners = new Set(objectsOf(status.boomerangs).map((one) => textOf(one.owner)));
    state.waitingOn = objectsOf(status.waitingOn).map(waitingOf);
    const isHeld = state.waitingOn.some(({ kind }) => kind === 'hold');
    if (!isHeld && state.heldSince !== undefined) state.heldUntil = at;
    state.heldSince = isHeld ? (state.heldSince ?? at) : undefined;
    state.waitingOnTotal = numberOf(status.waitingOnTotal) ?? state.waitingOn.length;
    const node = textOf(objectOr(status.node).name);
    if (node !== '') state.nodeName = node;
  }
}

/** Whether all causes ask only to mark the node and wait. */
export const isHeld = (
  state: DisruptionState,
  options: { readonly at: number; readonly lagMicros: number },
): boolean => {
  const causes = inForce(state, options);
  return causes.length > 0 && causes.every((cause) => cause.isHolding);
};

/** Causes that count: confirmed, not withdrawn, not handled by an earlier episode. */
export const inForce = (
  state: DisruptionState,
  options: { readonly at: number; readonly lagMicros: number },
): readonly CauseState[] =>
  state.causes.filter((cause) => {
    // The controller may not have seen a very recent withdrawal or end.
    const isRecent = (at: number): boolean => options.at - at <= options.lagMicros;
    const handledAt = state.handled.get(cause.id);
    if (handledAt !== undefined && !isRecent(handledAt)) return false;
    if (!cause.isConfirmed && !cause.isCancelled) return false;
    return !cause.isCancelled || isRecent(cause.cancelledSeenAt ?? 0);
  });

/**
 * The earliest time at which causes in force drain the node by force; undefined: never. A cause
 * without a deadline takes the default deadline from the journal.
 */
export const forcingDeadline = (
  state: DisruptionState,
  options: { readonly at: number; readonly lagMicros: number },
): number | undefined => {
  const fallback = state.statusForces ? state.statusDeadlineAt : undefined;
  const ends = inForce(state, options)
    .filter((cause) => cause.isForcing)
    .map((cause) => cause.deadlineAt ?? fallback ?? Number.POSITIVE_INFINITY);
  const earliest = Math.min(...ends);
  return Number.isFinite(earliest) ? earliest : undefined;
};

/** When the earliest cause in force was received; the time of a drain counts from here. */
export const beganAt = (
  state: DisruptionState,
  options: { readonly at: number; readonly lagMicros: number },
): number | undefined => {
  // A cause that was withdrawn later still began the drain.
  const begun = (cause: CauseState): boolean => cause.isCancelled && !state.handled.has(cause.id);
  const causes = new Set([...inForce(state, options), ...state.causes.filter(begun)]);
  const starts = [...causes].flatMap(({ receivedAt }) => receivedAt ?? []);
  return starts.length === 0 ? undefined : Math.min(...starts);
};
