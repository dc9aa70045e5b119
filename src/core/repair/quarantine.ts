// The quarantine of a repaired node: its instance leaves the group, which launches another one, and
// stays for inspection until its time limit. Then a second cause terminates it. Pure.
import { epochMs, formatTime, parseTime } from '../../api/brand.ts';
import type { DisruptionCause } from '../../api/disruption.ts';
import type { NodeRepair, NodeRepairStatus, RepairAction } from '../../api/node-repair.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import { canDrain } from '../health/index.ts';
import { wasHandled } from '../termination/index.ts';
import type { RepairMember, RepairObservation, RepairStep } from './observation.ts';

const defaultLimitMs = 24 * 3_600_000;
const defaultMost = 1;

const lastAction = ({ status }: Pick<NodeRepair, 'status'>): RepairAction | undefined =>
  status?.attempts?.at(-1)?.action;

/** Its instance is detached or will be. */
export const isQuarantine = (repair: Pick<NodeRepair, 'status'>): boolean => {
  const phase = repair.status?.phase;
  if (phase === 'Quarantined') return true;
  return lastAction(repair) === 'Quarantine' && (phase === 'Repairing' || phase === 'Verifying');
};

const limitMsOf = ({ spec: { nodeRepair } }: NodeGroup): number => {
  const seconds = nodeRepair?.quarantine?.timeLimitSeconds;
  return seconds === undefined ? defaultLimitMs : seconds * 1000;
};

/** Quarantines that this pass has decided; the observed repairs do not show them. */
export interface Decided {
  readonly quarantines: number;
}

/** Why a node cannot be quarantined; undefined: it can. */
export const whyNotQuarantined = (
  { group, repairs }: RepairObservation,
  member: RepairMember,
  { quarantines }: Decided,
): string | undefined => {
  if (!canDrain(member.health)) {
    return 'its kubelet is not Ready, so that its pods would run on in quarantine';
  }
  const most = group.spec.nodeRepair?.quarantine?.maxInstances ?? defaultMost;
  const count = repairs.filter(isQuarantine).length + quarantines;
  return count < most ? undefined : `${count} of ${most} instances are in quarantine`;
};

/** The action to start, and the reason if it differs from the rule's action. */
export const feasible = (
  action: RepairAction,
  observation: RepairObservation,
  member: RepairMember,
  decided: Decided,
): { readonly action: RepairAction; readonly why?: string } => {
  if (action !== 'Quarantine') return { action };
  const why = whyNotQuarantined(observation, member, decided);
  return why === undefined ? { action } : { action: 'Replace', why };
};

export const quarantinedUntil = ({ status }: NodeRepair, { group, now }: RepairObservation) => {
  const since = parseTime(status?.attempts?.at(-1)?.endedAt) ?? now;
  return epochMs(since + limitMsOf(group));
};

/**
 * The status of a repair whose detached instance is kept for inspection, whether or not a
 * replacement was found.
 */
export const kept = (
  repair: NodeRepair,
  observation: RepairObservation,
  verified: NodeRepairStatus,
): NodeRepairStatus => {
  const until = formatTime(quarantinedUntil(repair, observation));
  const { endedAt: _ended, ...status } = verified;
  const message = `${status.message ?? 'detached'}; kept for inspection until ${until}`;
  return { ...status, phase: 'Quarantined', message, quarantinedUntil: until };
};

const endOf = (
  { metadata: { name }, status }: NodeRepair,
  { now, group }: RepairObservation,
): DisruptionCause => ({
  kind: 'Repair',
  id: `${status?.attempts?.at(-1)?.causeId ?? name}/end`,
  receivedAt: formatTime(now),
  deadline: formatTime(now),
  onDeadline: 'force',
  followUp: 'Terminate',
  isDetached: true,
  requestedBy: 'node repair',
  reason:
    group.metadata.deletionTimestamp === undefined
      ? `the quarantine of NodeRepair ${name} has reached its time limit`
      : `the node group of NodeRepair ${name} is being deleted`,
});

/** A quarantine ends at its limit, or with its group where that is deleted with its instances. */
export const nextQuarantined = (
  repair: NodeRepair,
  observation: RepairObservation,
): { readonly status: NodeRepairStatus; readonly steps: readonly RepairStep[] } => {
  const { disruptions, group, now } = observation;
  const { instanceId, node } = repair.spec;
  const status = repair.status ?? { phase: 'Quarantined' };
  const until = parseTime(status.quarantinedUntil) ?? now;
  const isOver = now >= until || group.metadata.deletionTimestamp !== undefined;
  if (!isOver) return { status, steps: [] };
  const cause = endOf(repair, observation);
  const disruption = disruptions.get(instanceId);
  const known = disruption?.spec.causes.find(({ id }) => id === cause.id);
  if (known === undefined) {
    const nodeName = node === undefined ? {} : { nodeName: node.name };
    return { status, steps: [{ kind: 'RecordCause', instanceId, ...nodeName, cause }] };
  }
  if (!wasHandled(known, disruption?.status?.handledCauses ?? [])) return { status, steps: [] };
  const phase = status.attempts?.at(-1)?.outcome === 'Failed' ? 'Failed' : 'Succeeded';
  const message = `quarantine over: ${disruption?.status?.message ?? 'terminated'}`.slice(0, 500);
  return { status: { ...status, phase, message, endedAt: formatTime(now) }, steps: [] };
};
