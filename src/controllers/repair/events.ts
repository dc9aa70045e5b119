// What the repair controller reports: a Kubernetes event on the node and a journal entry for each
// change of a repair's phase. One list of reasons; decides nothing.
import { type EpochMs, formatKubeTime } from '../../api/brand.ts';
import type { JsonObject } from '../../api/json.ts';
import type {
  NodeRepair,
  NodeRepairStatus,
  RepairAttempt,
  RepairPhase,
} from '../../api/node-repair.ts';
import type { Journal } from '../../ports/index.ts';

interface EventKind {
  readonly reason: string;
  readonly type: 'Normal' | 'Warning';
}

const eventOfPhase: Readonly<Record<RepairPhase, EventKind>> = {
  Waiting: { reason: 'NodeUnhealthy', type: 'Warning' },
  // Karpenter uses the same reason.
  Blocked: { reason: 'NodeRepairBlocked', type: 'Warning' },
  WouldRepair: { reason: 'NodeRepairAudited', type: 'Warning' },
  Repairing: { reason: 'NodeRepairStarted', type: 'Warning' },
  Verifying: { reason: 'NodeRepairVerifying', type: 'Normal' },
  Quarantined: { reason: 'NodeQuarantined', type: 'Warning' },
  Succeeded: { reason: 'NodeRepaired', type: 'Normal' },
  Failed: { reason: 'NodeRepairFailed', type: 'Warning' },
  Cancelled: { reason: 'NodeRepairCancelled', type: 'Normal' },
};

/** The API server refuses longer messages (metav1, 1024 characters). */
const maxMessage = 1000;

/**
 * The event of a phase change, if any. Its name is derived from the change, so a repeat after a
 * crash fails as existing.
 */
export const eventOf = (
  { metadata, spec, status: before }: NodeRepair,
  after: NodeRepairStatus,
  now: EpochMs,
): JsonObject | undefined => {
  if (before?.phase === after.phase) return undefined;
  const { reason, type } = eventOfPhase[after.phase];
  const { message = after.phase, attempts = [] } = after;
  // A breaker may close and open again; each attempt is reported separately.
  const serial = `${attempts.length}.${Math.floor(now / 1000)}`;
  const text = `${spec.condition} ${spec.reason} since ${spec.unhealthySince}: ${message}`;
  return eventAbout({ metadata, spec }, { reason, type }, { serial, text, now });
};

/** The event for a bundle that was collected, or abandoned, before the repair acts. */
export const bundleEventOf = (
  { metadata, spec, status: before }: NodeRepair,
  { attempts = [] }: NodeRepairStatus,
  now: EpochMs,
): JsonObject | undefined => {
  const ended = endedBundle(before, attempts);
  if (ended === undefined) return undefined;
  const { outcome, message = '' } = ended.bundle ?? {};
  const kind: EventKind =
    outcome === 'Collected'
      ? { reason: 'NodeLogsCollected', type: 'Normal' }
      : { reason: 'NodeLogsNotCollected', type: 'Warning' };
  const text = `before ${ended.action}: ${message}`;
  return eventAbout({ metadata, spec }, kind, { serial: String(attempts.length), text, now });
};

/** The last attempt, if its bundle has just got an outcome. */
const endedBundle = (
  before: NodeRepairStatus | undefined,
  attempts: readonly RepairAttempt[],
): RepairAttempt | undefined => {
  const last = attempts.at(-1);
  if (last?.bundle?.outcome === undefined) return undefined;
  return before?.attempts?.[attempts.length - 1]?.bundle?.outcome === undefined ? last : undefined;
};

const eventAbout = (
  { metadata, spec }: Pick<NodeRepair, 'metadata' | 'spec'>,
  { reason, type }: EventKind,
  said: { readonly serial: string; readonly text: string; readonly now: EpochMs },
): JsonObject => {
  const at = formatKubeTime(said.now);
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: {
      name: `${metadata.name}.${reason.toLowerCase()}.${said.serial}`,
      namespace: 'default',
    },
    involvedObject:
      spec.node === undefined
        ? { apiVersion: 'drover.dev/v1alpha1', kind: 'NodeRepair', name: metadata.name }
        : { apiVersion: 'v1', kind: 'Node', ...spec.node },
    reason,
    message: said.text.slice(0, maxMessage),
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
  const { bundle } = endedBundle(before, after.attempts ?? []) ?? {};
  if (bundle !== undefined) {
    const { outcome = '', message = '' } = bundle;
    const facts = { instance: spec.instanceId, outcome, message };
    journal.record({ type: 'repair:bundle', subject: metadata.name, facts });
  }
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
