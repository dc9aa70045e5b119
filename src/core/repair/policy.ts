// Whether a group repairs its nodes, and for each finding the wait and the actions. Sources: EKS
// user guide, "Node auto repair" and "Node health issues"; EKS API, NodeRepairConfig. Pure.

import { eksctlConditions, type NodeRepairRule, type RepairAction } from '../../api/node-repair.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import {
  deletedWaitMs,
  type Finding,
  instanceConditions,
  pressureConditions,
  startupTimeoutMs,
} from '../health/index.ts';

const minuteMs = 60_000;
const defaultWaitMs = 30 * minuteMs;
const defaultHealthyDelayMs = 3 * minuteMs;
const defaultCooldownMs = 5 * minuteMs;

export type RepairMode = 'Off' | 'Audit' | 'Enforce';
type Group = Pick<NodeGroup, 'spec'>;

export const repairModeOf = ({ spec: { nodeRepairConfig, nodeRepair } }: Group): RepairMode => {
  if (nodeRepairConfig?.enabled === false) return 'Off';
  if (nodeRepair?.mode !== undefined) return nodeRepair.mode;
  return nodeRepairConfig?.enabled === true ? 'Enforce' : 'Off';
};

export interface RepairTimes {
  readonly healthyDelayMs: number;
  readonly cooldownMs: number;
  readonly startupTimeoutMs: number;
}

const msOf = (seconds: number | undefined, otherwise: number): number =>
  seconds === undefined ? otherwise : seconds * 1000;

export const repairTimesOf = ({ spec: { nodeRepair = {} } }: Group): RepairTimes => ({
  healthyDelayMs: msOf(nodeRepair.healthyDelaySeconds, defaultHealthyDelayMs),
  cooldownMs: msOf(nodeRepair.stormCooldownSeconds, defaultCooldownMs),
  startupTimeoutMs: msOf(nodeRepair.startupTimeoutSeconds, startupTimeoutMs),
});

export interface RepairRule {
  readonly waitMs: number;
  /** Tried in this order; empty: the finding leads to no repair. */
  readonly actions: readonly RepairAction[];
}

const noAction: readonly RepairAction[] = [];

/** XIDs that EKS handles with a reboot; Drover replaces the node when the reboot does not help. */
const rebootXids: ReadonlySet<string> = new Set(['13', '31', '48', '63', '64', '94', '95']);

const acceleratorActions = (reason: string): readonly RepairAction[] => {
  if (/^DCGM(?:Error|DiagnosticFailure|HealthCode)/.test(reason)) return noAction;
  const xid = /^NvidiaXID(\d+)Error$/.exec(reason)?.[1];
  return xid !== undefined && rebootXids.has(xid) ? ['Reboot', 'Replace'] : ['Replace'];
};

const missingWaitMs: Readonly<Record<string, number>> = {
  // No further wait: the startup time has already passed.
  NeverJoined: 0,
  NodeDeleted: deletedWaitMs,
};

const defaultRule = ({ condition, reason }: Finding): RepairRule => {
  if (pressureConditions.has(condition)) return { waitMs: defaultWaitMs, actions: noAction };
  if (condition === 'AcceleratedHardwareReady') {
    return { waitMs: 10 * minuteMs, actions: acceleratorActions(reason) };
  }
  const waitMs =
    condition === instanceConditions.node
      ? (missingWaitMs[reason] ?? defaultWaitMs)
      : defaultWaitMs;
  return { waitMs, actions: ['Replace'] };
};

/** How specifically a rule matches a reason; undefined: it does not match. */
const specificity = ({ reason }: NodeRepairRule, given: string): number | undefined => {
  if (reason === undefined) return 0;
  if (reason === given) return Number.POSITIVE_INFINITY;
  if (!reason.endsWith('*')) return undefined;
  return given.startsWith(reason.slice(0, -1)) ? reason.length : undefined;
};

const ownRule = (
  { spec: { nodeRepair } }: Group,
  { condition, reason }: Finding,
): NodeRepairRule | undefined => {
  let best: { readonly rule: NodeRepairRule; readonly rank: number } | undefined;
  for (const rule of nodeRepair?.rules ?? []) {
    const rank = rule.condition === condition ? specificity(rule, reason) : undefined;
    if (rank !== undefined && rank > (best?.rank ?? -1)) best = { rule, rank };
  }
  return best?.rule;
};

const effective = (actions: readonly RepairAction[]): readonly RepairAction[] => {
  const end = actions.indexOf('NoAction');
  return end < 0 ? actions : actions.slice(0, end);
};

/** EKS' override for exactly this reason, else Drover's most specific rule, else EKS' default. */
export const repairRuleOf = (group: Group, finding: Finding): RepairRule => {
  const override = group.spec.nodeRepairConfig?.nodeRepairConfigOverrides?.find(
    ({ nodeMonitoringCondition: condition, nodeUnhealthyReason }) =>
      (eksctlConditions[condition] ?? condition) === finding.condition &&
      nodeUnhealthyReason === finding.reason,
  );
  if (override !== undefined) {
    const { minRepairWaitTimeMins, repairAction } = override;
    return { waitMs: minRepairWaitTimeMins * minuteMs, actions: effective([repairAction]) };
  }
  const otherwise = defaultRule(finding);
  const own = ownRule(group, finding);
  if (own === undefined) return otherwise;
  return {
    waitMs: msOf(own.waitSeconds, otherwise.waitMs),
    actions: own.actions === undefined ? otherwise.actions : effective(own.actions),
  };
};
