// The conditions of a state. True is published only once every check of a condition has run; until
// then a node keeps its condition, so that a restart never makes an unhealthy node look healthy.
import { type EpochMs, epochMs, parseTime } from '../../api/brand.ts';
import type { Condition } from '../../api/kube.ts';
import { type ConditionType, conditionTypes, type HealthRule } from '../rules/rule.ts';
import {
  type ConditionState,
  type HealthState,
  type Notice,
  type ReasonState,
  reasonKey,
  type Step,
} from './state.ts';

const maxMessageLength = 1024;

/** Reason and message of a healthy condition, in the words of EKS' agent. */
const healthy: Readonly<Record<ConditionType, readonly [reason: string, message: string]>> = {
  KernelReady: ['KernelIsReady', 'Monitoring for the Kernel system is active'],
  StorageReady: ['DiskIsReady', 'Monitoring for the Disk system is active'],
  NetworkingReady: ['NetworkingIsReady', 'Monitoring for the Networking system is active'],
  ContainerRuntimeReady: [
    'ContainerRuntimeIsReady',
    'Monitoring for the ContainerRuntime system is active',
  ],
  AcceleratedHardwareReady: [
    'AcceleratedHardwareIsReady',
    'Monitoring for the AcceleratedHardware system is active',
  ],
  AgentHealthy: ['AgentIsHealthy', 'The agent reads the kernel log and every source it can'],
};

export interface PublishOptions {
  /** Checks that run on this node, by the condition of their rules. */
  readonly needed: ReadonlyMap<ConditionType, readonly string[]>;
  /** A node without accelerators has no condition about them. */
  readonly accelerator: 'nvidia' | 'neuron' | undefined;
}

const accelerators = {
  nvidia: ['NvidiaGPUIsReady', 'Monitoring for the Nvidia GPU system is active'],
  neuron: [
    'NeuronAcceleratedHardwareIsReady',
    'Monitoring for the Neuron AcceleratedHardware system is active',
  ],
} as const;

const healthyText = (
  type: ConditionType,
  accelerator: PublishOptions['accelerator'],
): readonly [string, string] =>
  type === 'AcceleratedHardwareReady' && accelerator !== undefined
    ? accelerators[accelerator]
    : healthy[type];

const textOf = (active: readonly ReasonState[]): string => {
  const [first] = active;
  if (first === undefined) return '';
  const text =
    active.length === 1
      ? first.message
      : active.map(({ reason, message }) => `${reason}: ${message}`).join('; ');
  return text.length <= maxMessageLength ? text : `${text.slice(0, maxMessageLength - 3)}...`;
};

const falseOf = (
  type: ConditionType,
  active: readonly ReasonState[],
  before: ConditionState | undefined,
  now: EpochMs,
): ConditionState => ({
  type,
  status: 'False',
  reason: active[0]?.reason ?? '',
  message: textOf(active),
  // A second or changed reason keeps the transition time, so that repair's wait continues.
  since: before?.status === 'False' ? before.since : now,
});

const conditionAt = (
  state: HealthState,
  type: ConditionType,
  options: PublishOptions,
  now: EpochMs,
): ConditionState | undefined => {
  const before = state.conditions.get(type);
  const active = [...state.reasons.values()]
    .filter((one) => one.condition === type && one.since !== undefined)
    .toSorted((a, b) => b.rank - a.rank || (a.since ?? 0) - (b.since ?? 0));
  if (active.length > 0) return falseOf(type, active, before, now);
  const isLooked = (options.needed.get(type) ?? []).every((name) => state.looked.has(name));
  const [reason, message] = healthyText(type, options.accelerator);
  const isAbsent = type === 'AcceleratedHardwareReady' && options.accelerator === undefined;
  if (!isLooked || (before === undefined && isAbsent)) return before;
  const since = before?.status === 'True' ? before.since : now;
  return { type, status: 'True', reason, message, since };
};

const isSame = (a: ConditionState | undefined, b: ConditionState): boolean =>
  a?.status === b.status && a.reason === b.reason && a.message === b.message;

/** The state with its conditions to publish, and the notices of changes back to True. */
export const publish = (state: HealthState, options: PublishOptions, now: EpochMs): Step => {
  let conditions: Map<ConditionType, ConditionState> | undefined;
  const notices: Notice[] = [];
  for (const type of conditionTypes) {
    const before = state.conditions.get(type);
    const next = conditionAt(state, type, options, now);
    if (next === undefined || isSame(before, next)) continue;
    conditions ??= new Map(state.conditions);
    conditions.set(type, next);
    if (before?.status === 'False' && next.status === 'True') {
      const { reason, message } = next;
      notices.push({ type: 'Normal', condition: type, reason, message, at: now });
    }
  }
  return { state: conditions === undefined ? state : { ...state, conditions }, notices };
};

export interface Adoption {
  /** Conditions of the Node, as read once at the start. */
  readonly conditions: readonly Condition[];
  /** The agent's own saved reasons. */
  readonly saved: readonly ReasonState[];
  readonly rules: readonly HealthRule[];
  readonly bootedAt: EpochMs;
  readonly now: EpochMs;
}

const isOwn = (type: string): type is ConditionType =>
  (conditionTypes as readonly string[]).includes(type);

/** The rule of a reason: by exact name, or by its form (`NvidiaXID79Error`). */
export const ruleOfReason = (
  rules: readonly HealthRule[],
  condition: ConditionType,
  reason: string,
): HealthRule | undefined =>
  rules.find((rule) => {
    if (rule.condition !== condition) return false;
    const [before = '', after] = rule.reason.split(/\{\w+\}/);
    if (after === undefined) return rule.reason === reason;
    return reason.startsWith(before) && reason.endsWith(after);
  });

/** A reason known only from the Node: counts as last seen at the current time. */
const reasonFromNode = (
  type: ConditionType,
  condition: Condition,
  since: EpochMs,
  { rules, now }: Adoption,
): ReasonState => {
  const reason = condition.reason ?? '';
  return {
    rule: ruleOfReason(rules, type, reason)?.reason ?? '',
    reason,
    condition: type,
    severity: 'Condition',
    message: condition.message ?? '',
    rank: 0,
    lastSeen: now,
    hits: [],
    since,
    settings: [since],
  };
};

/** Adopts the state on the Node and on disk; this clears nothing and resets no times. */
export const adopt = (state: HealthState, adoption: Adoption): HealthState => {
  const conditions = new Map(state.conditions);
  const reasons = new Map(state.reasons);
  for (const one of adoption.saved) {
    // It was saved before the last boot, so its faults are looked for again.
    if (one.lastSeen < adoption.bootedAt) continue;
    reasons.set(reasonKey(one.condition, one.reason), one);
  }
  for (const condition of adoption.conditions) {
    const { type, status, reason = '', message = '' } = condition;
    if (!isOwn(type) || status === 'Unknown') continue;
    const since = parseTime(condition.lastTransitionTime) ?? adoption.now;
    conditions.set(type, { type, status, reason, message, since });
    if (status !== 'False') continue;
    const heartbeat = parseTime(condition.lastHeartbeatTime) ?? since;
    const isKnown = [...reasons.values()].some((one) => one.condition === type);
    if (isKnown || heartbeat < adoption.bootedAt) continue;
    const one = reasonFromNode(type, condition, epochMs(since), adoption);
    reasons.set(reasonKey(type, one.reason), one);
  }
  return { ...state, reasons, conditions };
};
