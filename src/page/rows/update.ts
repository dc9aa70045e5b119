// The row of an update: progress, predicted end, and holds. Pure.
import type { NodeDisruption } from '../../api/disruption.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import {
  type NodeGroupUpdate,
  type NodeGroupUpdateStatus,
  updateStatusOf,
} from '../../api/nodegroup-update.ts';
import type { PageIssue, PageUpdate, PageWait } from '../../api/page.ts';
import { healthRemedy } from '../../core/explain/index.ts';
import { fromTo, updateView } from '../../core/overview/index.ts';
import { drainWait } from './waits.ts';

type Status = Partial<NodeGroupUpdateStatus>;

/** Since when the update is in its phase. */
const phaseSince = ({ metadata, status }: NodeGroupUpdate): string =>
  status?.phases?.at(-1)?.at ?? status?.startedAt ?? metadata.creationTimestamp;

/** The drain that blocks the update itself: the update continues when that drain does. */
const drainOf = (
  { metadata }: NodeGroupUpdate,
  drains: readonly NodeDisruption[],
): PageWait | undefined => {
  const id = `update/${metadata.name}`;
  const waits = drains.flatMap((drain) => {
    const isOwn = drain.spec.causes.some(
      (cause) => cause.hold !== true && (cause.id === id || cause.id.startsWith(`${id}/`)),
    );
    const wait = isOwn ? drainWait(drain) : null;
    return wait === null || wait.cause === 'progress' ? [] : [wait];
  });
  return waits.toSorted((a, b) => (a.since ?? '').localeCompare(b.since ?? ''))[0];
};

/**
 * A hold first, then missing nodes, then a drain, then the status message, which core/update wrote.
 * Null for an update that has ended.
 */
export const updateWait = (
  update: NodeGroupUpdate,
  drains: readonly NodeDisruption[],
): PageWait | null => {
  if (updateStatusOf(update) !== 'InProgress') return null;
  const { holds = [], missing = [], message = '', progress, phase }: Status = update.status ?? {};
  const [hold] = holds;
  if (hold !== undefined) {
    const { kind, reason, since, until = null } = hold;
    return { text: reason, cause: kind, since, until, atEnd: null, more: holds.length - 1 };
  }
  const [lost] = missing;
  if (lost !== undefined) {
    const { code, since } = lost;
    const text = `${code}: ${lost.message}`;
    return { text, cause: code, since, until: null, atEnd: null, more: missing.length - 1 };
  }
  const drain = drainOf(update, drains);
  if (drain !== undefined) return drain;
  return {
    text: message === '' ? `update ${phase ?? 'not started'}` : message,
    cause: 'progress',
    since: phaseSince(update),
    until: progress?.eta?.p90 ?? null,
    atEnd: null,
    more: 0,
  };
};

const issuesOf = (group: string, { errors = [] }: Status): readonly PageIssue[] =>
  errors.map((issue) => ({
    code: issue.code,
    message: issue.message,
    remedy: healthRemedy(issue, { name: group }),
  }));

const predictedOf = ({ predicted }: NodeGroupUpdate['spec']): PageUpdate['predicted'] =>
  predicted === undefined ? null : { p50: predicted.p50Seconds, p90: predicted.p90Seconds };

interface Around {
  readonly group: NodeGroup | undefined;
  /** The drains of the group. */
  readonly drains: readonly NodeDisruption[];
}

export const updateRowOf = (update: NodeGroupUpdate, { group, drains }: Around): PageUpdate => {
  const { metadata, spec } = update;
  const status: Status = update.status ?? {};
  const { from, to } = fromTo(updateView({ update, group, disruptions: [] }));
  const { total = null, done = 0, draining = 0, failed = 0, eta } = status.progress ?? {};
  return {
    key: metadata.name,
    group: spec.nodeGroup,
    what: spec.action === 'Rollback' ? 'Rollback' : spec.type,
    strategy: status.strategy ?? spec.strategy ?? null,
    from: from ?? null,
    to: to ?? null,
    status: updateStatusOf(update),
    phase: status.phase ?? null,
    message: status.message ?? '',
    isPaused: spec.paused === true,
    abort: spec.abort ?? null,
    created: metadata.creationTimestamp,
    started: status.startedAt ?? null,
    ended: status.endedAt ?? null,
    total,
    done,
    draining,
    failed,
    eta: eta ?? null,
    predicted: predictedOf(spec),
    maxUnavailable: status.maxUnavailable ?? null,
    holds: (status.holds ?? []).map(({ until = null, ...hold }) => ({ ...hold, until })),
    issues: issuesOf(spec.nodeGroup, status),
    pace: status.pace ?? [],
    phases: status.phases ?? [],
    wait: updateWait(update, drains),
  };
};
