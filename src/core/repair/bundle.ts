// Before a repair reboots or replaces a node: whether its logs are asked for, and how long the
// repair waits for them. A silent agent never holds a repair up. Pure.
import { type EpochMs, epochMs, formatTime, parseTime } from '../../api/brand.ts';
import { bundleAnnotation, bundleAnswerOf } from '../../api/log-bundle.ts';
import type {
  NodeRepair,
  NodeRepairStatus,
  RepairAction,
  RepairAttempt,
  RepairBundle,
} from '../../api/node-repair.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import type { RepairMember, RepairObservation, RepairOutlook, RepairStep } from './observation.ts';

/** An agent looks for requests every 15 s and collects for 30 s at most. */
const patienceMs = 60_000;

/** Quarantine keeps the instance and its logs. */
const isDestructive = (action: RepairAction): boolean =>
  action === 'Replace' || action === 'Reboot';

const isAskedFor = ({ spec }: Pick<NodeGroup, 'spec'>): boolean =>
  spec.nodeRepair?.collectBundle === true;

const pendingOf = ({ phase, attempts }: NodeRepairStatus): RepairAttempt | undefined => {
  const last = attempts?.at(-1);
  const isPending = last?.bundle !== undefined && last.bundle.outcome === undefined;
  return phase === 'Repairing' && isPending ? last : undefined;
};

/** When the repair goes on without its bundle. */
export const bundleDueAt = (status: NodeRepairStatus): EpochMs | undefined => {
  const requestedAt = parseTime(pendingOf(status)?.bundle?.requestedAt);
  return requestedAt === undefined ? undefined : epochMs(requestedAt + patienceMs);
};

const withBundle = (
  { status }: NodeRepair,
  bundle: RepairBundle,
  message: string,
): NodeRepairStatus => {
  const attempts = status?.attempts ?? [];
  const known = attempts.map((one, index) =>
    index === attempts.length - 1 ? { ...one, bundle } : one,
  );
  return { phase: 'Repairing', ...status, attempts: known, message };
};

/**
 * The next step towards the bundle of this attempt; undefined: none is asked for, or it has ended,
 * and the repair acts.
 */
export const nextBundle = (
  repair: NodeRepair,
  attempt: RepairAttempt,
  { node }: RepairMember,
  { group, now }: RepairObservation,
): { readonly status: NodeRepairStatus; readonly steps: readonly RepairStep[] } | undefined => {
  const { action, causeId, bundle } = attempt;
  if (!isDestructive(action) || bundle?.outcome !== undefined) return undefined;
  if (bundle === undefined && !isAskedFor(group)) return undefined;
  const requestedAt = bundle?.requestedAt ?? formatTime(now);
  const ended = (outcome: 'Collected' | 'NotCollected', message: string) => {
    const over: RepairBundle = { requestedAt, endedAt: formatTime(now), outcome, message };
    return { status: withBundle(repair, over, `${action} decided`), steps: [] };
  };
  if (!isAskedFor(group)) return ended('NotCollected', 'collectBundle was switched off');
  if (node === undefined) return ended('NotCollected', 'the instance has no Node object');
  if (bundle === undefined) {
    const message = `${action} waits for the logs of the node, ${patienceMs / 1000} s at most`;
    return { status: withBundle(repair, { requestedAt }, message), steps: [] };
  }
  const answer = bundleAnswerOf(node.status.conditions, causeId);
  if (answer !== undefined) {
    return ended(answer.isCollected ? 'Collected' : 'NotCollected', answer.message);
  }
  if (now >= (parseTime(requestedAt) ?? 0) + patienceMs) {
    return ended('NotCollected', `no node agent answered within ${patienceMs / 1000} s`);
  }
  const status = repair.status ?? { phase: 'Repairing' };
  const isAsked = node.metadata.annotations?.[bundleAnnotation] === causeId;
  return { status, steps: isAsked ? [] : [askStep(node.metadata, causeId)] };
};

const askStep = (
  { name, uid }: { readonly name: string; readonly uid: string },
  request: string | null,
): Extract<RepairStep, { kind: 'AskForBundle' }> => ({
  kind: 'AskForBundle',
  nodeName: name,
  uid,
  request,
});

/** Removes requests that no repair waits for: answered, given up, or cancelled. */
export const endedRequests = (
  { members }: RepairObservation,
  outlook: readonly RepairOutlook[],
): readonly RepairStep[] => {
  const awaited = new Set(outlook.flatMap(({ status }) => pendingOf(status)?.causeId ?? []));
  return members.flatMap(({ node }) => {
    const request = node?.metadata.annotations?.[bundleAnnotation];
    if (node === undefined || request === undefined || awaited.has(request)) return [];
    return [askStep(node.metadata, null)];
  });
};
