// The health of nodes from their conditions: the start of each bad condition in this episode, and
// operators' annotations about the repair of a node. A brief recovery ends no episode.
import { instanceIdOfProviderId } from '../../../src/api/brand.ts';
import { type Json, type JsonObject, objectOr } from '../../../src/api/json.ts';
import { preserveAnnotation, repairAnnotation } from '../../../src/api/node-repair.ts';
import { microsPerMinute, microsPerSecond, objectsOf, textOf, timeOf } from './read.ts';

/** Conditions that can lead to a repair: those of the kubelet and of EKS' monitoring agent. */
const agents: ReadonlySet<string> = new Set([
  'AcceleratedHardwareReady',
  'ContainerRuntimeReady',
  'KernelReady',
  'NetworkingReady',
  'StorageReady',
]);
/** Three heartbeats of the agent without an update. */
const silentMicros = 15 * microsPerMinute;
/** A node that is NotReady from its registration is starting. */
const startsWithinMicros = microsPerMinute;

export interface Spell {
  readonly condition: string;
  readonly reason: string;
  /** The previous reason, and when it changed. */
  readonly reasonBefore: string;
  readonly reasonAt: number;
  readonly status: string;
  /** When the condition first turned bad in this episode of its node. */
  readonly since: number;
  /** When the condition took this status. */
  readonly from: number;
  readonly endedAt: number | undefined;
  readonly heartbeatAt: number | undefined;
}

export interface Said {
  readonly value: string;
  readonly at: number;
  readonly before: string;
}

const unsaid: Said = { value: '', at: 0, before: '' };

/** Only `Health` writes these fields. */
export interface HealthState {
  readonly instanceId: string;
  name: string;
  group: string;
  zone: string;
  spells: ReadonlyMap<string, Spell>;
  /** Time since which no condition is bad; undefined while one is. */
  goodSince: number | undefined;
  /** When the Node object was created and deleted. */
  joinedAt: number;
  goneAt: number | undefined;
  bootId: string;
  bootedAt: number;
  asked: Said;
  preserved: Said;
  uid: string;
  conditions: Json | undefined;
}

/** The current value, or one that was replaced within `lagMicros`. */
export const saysOrSaid = (
  said: Said,
  values: readonly string[],
  options: { readonly at: number; readonly lagMicros: number },
): boolean =>
  values.includes(said.value) ||
  (options.at - said.at <= options.lagMicros && values.includes(said.before));

/** The value has been set for longer than `lagMicros`. */
export const hasSaid = (
  said: Said,
  values: readonly string[],
  options: { readonly at: number; readonly lagMicros: number },
): boolean => values.includes(said.value) && options.at - said.at > options.lagMicros;

export const said = (before: Said, value: string, at: number): Said =>
  before.value === value ? before : { value, at, before: before.value };

const isBad = ({ type, status }: JsonObject): boolean =>
  (agents.has(textOf(type)) && status === 'False') || (type === 'Ready' && status !== 'True');

const spellOf = (known: Spell | undefined, condition: JsonObject, at: number): Spell => {
  const reason = textOf(condition.reason) || textOf(condition.type);
  const status = textOf(condition.status);
  const isOngoing = known?.endedAt === undefined && known?.status === status;
  const isSame = known?.reason === reason;
  return {
    condition: textOf(condition.type),
    reason,
    reasonBefore: isSame ? known.reasonBefore : (known?.reason ?? reason),
    reasonAt: isSame ? known.reasonAt : at,
    status,
    since: known?.since ?? at,
    from: isOngoing ? known.from : at,
    endedAt: undefined,
    heartbeatAt: timeOf(condition.lastHeartbeatTime),
  };
};

export class Health {
  readonly byInstance = new Map<string, HealthState>();
  /** When a node last joined or left the cluster. */
  changedAt = 0;
  readonly #byName = new Map<string, HealthState>();

  ofNodeName(name: string): HealthState | undefined {
    return this.#byName.get(name);
  }

  /** `delayMicros`: a node has recovered after no condition was bad for this long. */
  apply(type: string, object: JsonObject, at: number, delayMicros: number): void {
    const instanceId = instanceIdOfProviderId(textOf(objectOr(object.spec).providerID)) ?? '';
    if (instanceId === '') return;
    const known = this.byInstance.get(instanceId);
    if (type === 'DELETED') {
      this.changedAt = at;
      if (known !== undefined) known.goneAt = at;
      return;
    }
    const state = known ?? newHealth(instanceId, at);
    this.byInstance.set(instanceId, state);
    this.#readMetadata(state, objectOr(object.metadata), at);
    const { conditions, nodeInfo } = objectOr(object.status);
    const bootId = textOf(objectOr(nodeInfo).bootID);
    if (bootId !== state.bootId) {
      state.bootId = bootId;
      state.bootedAt = at;
    }
    if (conditions === state.conditions) return;
    state.conditions = conditions;
    readConditions(state, objectsOf(conditions), { at, delayMicros });
  }

  #readMetadata(state: HealthState, metadata: JsonObject, at: number): void {
    const { uid, name, labels, annotations } = metadata;
    if (textOf(uid) !== state.uid) {
      this.changedAt = at;
      state.uid = textOf(uid);
      state.joinedAt = at;
    }
    state.goneAt = undefined;
    state.name = textOf(name);
    this.#byName.set(state.name, state);
    const { 'eks.amazonaws.com/nodegroup': group, 'topology.kubernetes.io/zone': zone } =
      objectOr(labels);
    state.group = textOf(group);
    state.zone = textOf(zone);
    const { [repairAnnotation]: asked, [preserveAnnotation]: preserved } = objectOr(annotations);
    state.asked = said(state.asked, textOf(asked), at);
    state.preserved = said(state.preserved, textOf(preserved), at);
  }
}

const readConditions = (
  state: HealthState,
  conditions: readonly JsonObject[],
  { at, delayMicros }: { readonly at: number; readonly delayMicros: number },
): void => {
  const bad = conditions.filter(isBad);
  const hasRecovered = state.goodSince !== undefined && at - state.goodSince > delayMicros;
  const known = hasRecovered && bad.length > 0 ? new Map<string, Spell>() : state.spells;
  const next = new Map<string, Spell>();
  for (const [type, spell] of known) next.set(type, { ...spell, endedAt: spell.endedAt ?? at });
  for (const one of bad) {
    const type = textOf(one.type);
    next.set(type, spellOf(known.get(type), one, at));
  }
  state.spells = next;
  state.goodSince = bad.length > 0 ? undefined : (state.goodSince ?? at);
};

const newHealth = (instanceId: string, at: number): HealthState => ({
  instanceId,
  name: '',
  group: '',
  zone: '',
  spells: new Map(),
  goodSince: undefined,
  joinedAt: at,
  goneAt: undefined,
  bootId: '',
  bootedAt: at,
  asked: unsaid,
  preserved: unsaid,
  uid: '',
  conditions: undefined,
});

/** A condition of the agent does not count if the agent has been silent. */
export const isFresh = (spell: Spell, at: number): boolean =>
  !agents.has(spell.condition) ||
  spell.heartbeatAt === undefined ||
  at - spell.heartbeatAt <= silentMicros;

/** Conditions that are bad, or were until `lagMicros` ago, unless the node is still starting. */
export const findingsOf = (
  state: HealthState,
  options: {
    readonly at: number;
    readonly lagMicros: number;
    readonly startupMicros: number;
  },
): readonly Spell[] => {
  const { at, lagMicros, startupMicros } = options;
  return [...state.spells.values()].filter((spell) => {
    const isOver = spell.endedAt !== undefined && at - spell.endedAt > lagMicros;
    const isStart =
      spell.condition === 'Ready' && spell.from - state.joinedAt <= startsWithinMicros;
    const starts = isStart && at - state.joinedAt < startupMicros - microsPerSecond;
    return !isOver && !starts && isFresh(spell, at - lagMicros);
  });
};
