// How a group repairs its nodes: modes, waits, thresholds. From EKS' user guide and
// docs/designs/repair.md, implemented apart from the controllers so that it does not share their
// mistakes.
import { type Json, type JsonObject, objectOr } from '../../../src/api/json.ts';
import { microsPerMinute, microsPerSecond, numberOf, objectsOf, textOf, textsOf } from './read.ts';

export type RepairMode = 'Off' | 'Audit' | 'Enforce';

export const modeOf = (spec: JsonObject): RepairMode => {
  const { enabled } = objectOr(spec.nodeRepairConfig);
  const { mode } = objectOr(spec.nodeRepair);
  if (enabled === false) return 'Off';
  if (mode === 'Audit' || mode === 'Enforce') return mode;
  return enabled === true ? 'Enforce' : 'Off';
};

const acceleratorWait = 10 * microsPerMinute;
const usualWait = 30 * microsPerMinute;
const pressures: ReadonlySet<string> = new Set(['DiskPressure', 'MemoryPressure', 'PIDPressure']);

export interface Answer {
  readonly waitMicros: number;
  /** Replace, Reboot; empty: no action. */
  readonly actions: readonly string[];
}

const beforeNoAction = (actions: readonly string[]): readonly string[] =>
  actions.includes('NoAction') ? actions.slice(0, actions.indexOf('NoAction')) : actions;

const usualAnswer = (condition: string, reason: string): Answer => {
  if (pressures.has(condition)) return { waitMicros: usualWait, actions: [] };
  if (condition !== 'AcceleratedHardwareReady')
    return { waitMicros: usualWait, actions: ['Replace'] };
  if (/^DCGM(Error|DiagnosticFailure|HealthCode)/.test(reason)) {
    return { waitMicros: acceleratorWait, actions: [] };
  }
  const isReboot = /^NvidiaXID(13|31|48|63|64|94|95)Error$/.test(reason);
  return { waitMicros: acceleratorWait, actions: isReboot ? ['Reboot', 'Replace'] : ['Replace'] };
};

/** The most specific rule for the reason: an exact match, the longest prefix, or any reason. */
const ruleOf = (spec: JsonObject, condition: string, given: string): JsonObject | undefined => {
  const rank = ({ reason }: JsonObject): number => {
    if (reason === undefined) return 0;
    const said = textOf(reason);
    if (said === given) return 1000;
    return said.endsWith('*') && given.startsWith(said.slice(0, -1)) ? said.length : -1;
  };
  const rules = objectsOf(objectOr(spec.nodeRepair).rules).filter(
    (rule) => rule.condition === condition && rank(rule) >= 0,
  );
  return rules.toSorted((a, b) => rank(b) - rank(a))[0];
};

/** The actions for a finding, and the wait before them. */
export const answerOf = (spec: JsonObject, condition: string, reason: string): Answer => {
  const overrides = objectsOf(objectOr(spec.nodeRepairConfig).nodeRepairConfigOverrides);
  const override = overrides.find(
    (one) => one.nodeMonitoringCondition === condition && one.nodeUnhealthyReason === reason,
  );
  if (override !== undefined) {
    const minutes = numberOf(override.minRepairWaitTimeMins) ?? 0;
    const actions = beforeNoAction([textOf(override.repairAction)]);
    return { waitMicros: minutes * microsPerMinute, actions };
  }
  const usual = usualAnswer(condition, reason);
  const rule = ruleOf(spec, condition, reason);
  if (rule === undefined) return usual;
  const seconds = numberOf(rule.waitSeconds);
  return {
    waitMicros: seconds === undefined ? usual.waitMicros : seconds * microsPerSecond,
    actions: rule.actions === undefined ? usual.actions : beforeNoAction(textsOf(rule.actions)),
  };
};

const secondsOf = (spec: JsonObject, field: string, usual: number): number =>
  (numberOf(objectOr(spec.nodeRepair)[field]) ?? usual) * microsPerSecond;

export const healthyDelayOf = (spec: JsonObject): number =>
  secondsOf(spec, 'healthyDelaySeconds', 180);
export const cooldownOf = (spec: JsonObject): number =>
  secondsOf(spec, 'stormCooldownSeconds', 300);
export const startupTimeoutOf = (spec: JsonObject): number =>
  secondsOf(spec, 'startupTimeoutSeconds', 900);

/** New repairs stop above this number of unhealthy nodes. */
export const unhealthyLimitOf = (spec: JsonObject, size: number): number => {
  const config = objectOr(spec.nodeRepairConfig);
  const count = numberOf(config.maxUnhealthyNodeThresholdCount);
  if (count !== undefined) return count;
  const percentage = numberOf(config.maxUnhealthyNodeThresholdPercentage);
  if (percentage === undefined && size <= 5) return Number.POSITIVE_INFINITY;
  return Math.max(1, Math.floor((size * (percentage ?? 20)) / 100));
};

const percentOf = (value: Json | undefined, of: number): number | undefined => {
  const percentage = numberOf(value);
  return percentage === undefined ? undefined : Math.max(1, Math.floor((of * percentage) / 100));
};

/** Maximum number of concurrent repairs. */
export const parallelLimitOf = (
  spec: JsonObject,
  { size, unhealthy }: { readonly size: number; readonly unhealthy: number },
): number => {
  const config = objectOr(spec.nodeRepairConfig);
  const update = objectOr(spec.updateConfig);
  return (
    numberOf(config.maxParallelNodesRepairedCount) ??
    percentOf(config.maxParallelNodesRepairedPercentage, unhealthy) ??
    percentOf(update.maxUnavailablePercentage, size) ??
    numberOf(update.maxUnavailable) ??
    1
  );
};
