// What the repair controller reports: a Kubernetes event on the node and a journal entry for each
// change of a repair's phase. One list of reasons; decides nothing.
import { type EpochMs, formatKubeTime } from '../../api/brand.ts';
import type { JsonObject } from '../../api/json.ts';
import type { NodeRepair, NodeRepairStatus, RepairPhase } from '../../api/node-repair.ts';
import type { Journal } from '../../ports/index.ts';

interface Told {
  readonly reason: string;
  readonly type: 'Normal' | 'Warning';
}

const toldOf: Readonly<Record<RepairPhase, Told>> = {
  Waiting: { reason: 'NodeUnhealthy', type: 'Warning' },
  // Karpenter uses the same reason.
  Blocked: { reason: 'NodeRepairBlocked', type: 'Warning' },
  WouldRepair: { reason: 'NodeRepairAudited', type: 'Warning' },
  Repairing: { reason: 'NodeRepairStarted', type: 'Warning' },
  Verifying: { reason: 'NodeRepairVerifying', type: 'Normal' },
  Succeeded: { reason: 'NodeRepaired', type: 'Normal' },
  Failed: { reason: 'NodeRepairFailed', type: 'Warning' },
  Cancelled: { reason: 'NodeRepairCancelled', type: 'Normal' },
};

/** The API server refuses longer messages (metav1, 1024 characters). */
const maxMessage = 1000;

/** The event of a phase change, if any. Its name makes a repeat after a crash fail as existing. */
export const eventOf = (
  { metadata, spec, status: before }: NodeRepair,
  after: NodeRepairStatus,
  now: EpochMs,
): JsonObject | undefined => {
  if (before?.phase === after.phase) return undefined;
  const { reason, type } = toldOf[after.phase];
  const { message = after.phase, attempts = [] } = after;
  const at = formatKubeTime(now);
  const about =
    spec.node === undefined
      ? { apiVersion: 'drover.dev/v1alpha1', kind: 'NodeRepair', name: metadata.name }
      : { apiVersion: 'v1', kind: 'Node', ...spec.node };
  // A breaker may close and open again; each attempt is reported separately.
  const serial = `${attempts.length}.${Math.floor(now / 1000)}`;
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: {
      name: `${metadata.name}.${reason.toLowerCase()}.${serial}`,
      namespace: 'default',
    },
    involvedObject: about,
    reason,
    message: `${spec.condition} ${spec.reason} since ${spec.unhealthySince}: ${message}`.slice(
      0,
      maxMessage,
    ),
    type,
    source: { component: 'drover' },
    reportingComponent: 'drover.dev/repair',
    reportingInstance: 'drover',
    firstTimestamp: at,
    lastTimestamp: at,
    count: 1,
  };
};

export const journalRepair = (
  journal: Journal,
  { metadata, spec, status: before }: NodeRepair,
  after: NodeRepairStatus,
): void => {
  if (before?.phase === after.phase) return;
  journal.record({
    type: 'repair:phase',
    subject: metadata.name,
    facts: {
      from: before?.phase ?? 'none',
      to: after.phase,
      instance: spec.instanceId,
      group: spec.nodeGroup,
      message: after.message ?? '',
      blockedBy: (after.blockedBy ?? []).map(({ kind }) => kind),
    },
  });
};
