// How a group repairs its nodes, as EKS' user guide and docs/designs/repair.md say it: modes,
// waits, thresholds. Restated here, so that a mistake of the controllers is not shared.
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
  /** Replace, Reboot; empty: nothing is done. */
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

/** The rule that names the reason best: exactly, by its longest beginning, or any reason. */
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

/** What a finding is answered with, and after how long. */
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

/** More unhealthy nodes than this stop new repairs. */
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

/** As many repairs may run at once. */
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
