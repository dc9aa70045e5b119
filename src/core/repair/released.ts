// The end of the repairs of a node group that is released with policy Retain: their causes are
// withdrawn, and no instance is terminated. An instance that is detached for inspection stays so,
// cordoned. Pure.
import { formatTime } from '../../api/brand.ts';
import type { NodeRepair, NodeRepairStatus } from '../../api/node-repair.ts';
import { isRetained, type NodeGroup } from '../../api/nodegroup.ts';
import { wasHandled } from '../termination/index.ts';
import type { RepairObservation, RepairStep } from './observation.ts';

export const isReleased = (group: NodeGroup): boolean =>
  group.metadata.deletionTimestamp !== undefined && isRetained(group);

/** The repair ends after its causes, so that a crash in between leaves no cause in force. */
export const nextReleased = (
  repair: NodeRepair,
  { disruptions, now }: RepairObservation,
): { readonly status: NodeRepairStatus; readonly steps: readonly RepairStep[] } => {
  const status = repair.status ?? { phase: 'Repairing' };
  const attempts = status.attempts ?? [];
  const last = attempts.at(-1);
  const disruption = disruptions.get(repair.spec.instanceId);
  const handled = disruption?.status?.handledCauses ?? [];
  const causes = disruption?.spec.causes.filter(({ cancelledAt }) => cancelledAt === undefined);
  const cause = causes?.find(({ id }) => id === last?.causeId);
  const isDetached =
    status.phase === 'Quarantined' ||
    (last?.action === 'Quarantine' &&
      cause !== undefined &&
      wasHandled(cause, handled) &&
      disruption?.status?.outcome !== 'Failed');
  const ours = new Set(attempts.flatMap(({ causeId }) => [causeId, `${causeId}/end`]));
  const withdrawn = (causes ?? []).filter(
    ({ id }) => ours.has(id) && !(isDetached && id === last?.causeId),
  );
  if (withdrawn.length > 0 && disruption !== undefined) {
    const { name } = disruption.metadata;
    const steps = withdrawn.map(
      ({ id: causeId }): RepairStep => ({ kind: 'WithdrawCause', disruption: name, causeId }),
    );
    return { status, steps };
  }
  const { action: _action, blockedBy: _blocked, ...rest } = status;
  const message = isDetached
    ? 'the node group is released: the detached instance stays, cordoned'
    : 'the node group is released';
  const endedAt = formatTime(now);
  return { status: { ...rest, phase: 'Cancelled', message, endedAt }, steps: [] };
};
