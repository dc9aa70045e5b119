// One open repair before its action is decided: its findings, when it becomes eligible, and whether
// it is over. Flapping, further reasons and restarts do not change its times. Pure.
import { type EpochMs, epochMs, formatTime, parseTime } from '../../api/brand.ts';
import {
  type NodeRepair,
  type RepairAction,
  type RepairFinding,
  repairAnnotation,
} from '../../api/node-repair.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import { type Finding, instanceConditions, type NodeHealth } from '../health/index.ts';
import type { RepairMember } from './observation.ts';
import { repairRuleOf, repairTimesOf } from './policy.ts';

const maxFindings = 16;
const maxMessage = 500;

/** Findings of a member that some rule repairs. */
export const repairable = (group: NodeGroup, { findings }: NodeHealth): readonly Finding[] =>
  findings.filter((finding) => repairRuleOf(group, finding).actions.length > 0);

const asFinding = ({ condition, reason, since, message }: Finding): RepairFinding => ({
  condition,
  reason: reason.slice(0, 128),
  since: formatTime(since),
  ...(message === undefined ? {} : { message: message.slice(0, maxMessage) }),
});

/**
 * Known findings keep their start; new ones are added. A missing Node that has registered again is
 * no longer a finding: if it is deleted again, the kubelet gets the full time to register it.
 */
export const mergedFindings = (
  known: readonly RepairFinding[],
  { node, health: { findings } }: Pick<RepairMember, 'node' | 'health'>,
): readonly RepairFinding[] => {
  const isMissing = node === undefined;
  const merged = new Map(
    known
      .filter(({ condition }) => isMissing || condition !== instanceConditions.node)
      .map((finding) => [finding.condition, finding]),
  );
  for (const finding of findings) {
    const before = merged.get(finding.condition);
    const found = asFinding(finding);
    const since = before !== undefined && before.since < found.since ? before.since : found.since;
    merged.set(finding.condition, { ...found, since });
  }
  return [...merged.values()].slice(0, maxFindings);
};

export interface Due {
  readonly at: EpochMs;
  readonly finding: Finding;
  readonly actions: readonly RepairAction[];
}

/** The finding whose wait ends first, counted from its start in this episode. */
export const dueOf = (
  group: NodeGroup,
  member: RepairMember,
  known: readonly RepairFinding[],
): Due | undefined => {
  const starts = new Map(known.map(({ condition, since }) => [condition, parseTime(since)]));
  let first: Due | undefined;
  for (const finding of repairable(group, member.health)) {
    const { waitMs, actions } = repairRuleOf(group, finding);
    const since = Math.min(finding.since, starts.get(finding.condition) ?? finding.since);
    const at = epochMs(since + waitMs);
    if (first === undefined || at < first.at) first = { at, finding, actions };
  }
  return first;
};

/** The value of the operator's annotation on the node. */
export const askedOf = ({ node }: RepairMember): string | undefined =>
  node?.metadata.annotations?.[repairAnnotation];

/** When a healthy member counts as recovered; undefined: it is not healthy. */
export const recoversAt = (group: NodeGroup, { health }: RepairMember): EpochMs | undefined => {
  if (health.state !== 'Healthy' && health.state !== 'Pressure') return undefined;
  return health.since === undefined
    ? undefined
    : epochMs(health.since + repairTimesOf(group).healthyDelayMs);
};

/**
 * The name of an instance's next repair: the instance id and a number, well below Kubernetes' limit
 * of 253 characters.
 */
export const repairName = (instanceId: string, repairs: readonly NodeRepair[]): string => {
  const numbers = repairs
    .filter(({ spec }) => spec.instanceId === instanceId)
    .map(({ metadata }) => Number(metadata.name.slice(instanceId.length + 1)) || 0);
  return `${instanceId}-${Math.max(0, ...numbers) + 1}`;
};

/**
 * The attempt's time is part of the id: after a NodeRepair is deleted, its successor has the same
 * name, and the NodeDisruption remembers the causes that it has handled.
 */
export const causeIdOf = (repair: NodeRepair, attempt: number, startedAt: string): string =>
  `repair/${repair.metadata.name}/${attempt}/${startedAt}`;
