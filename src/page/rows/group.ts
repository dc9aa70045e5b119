// The row of a node group, and of nodes whose group has no NodeGroup: sizes, nodes out of service,
// issues, and blockers. Pure.
import type { CauseKind, NodeDisruption } from '../../api/disruption.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import type { NodeGroupUpdate } from '../../api/nodegroup-update.ts';
import type { PageGroup, PageIssue, PageLedger, PageWait } from '../../api/page.ts';
import { healthRemedy } from '../../core/explain/index.ts';
import { maxUnavailableOf, strategyOf } from '../../core/update/index.ts';
import { updateWait } from './update.ts';

const ledgerParts: Readonly<Record<CauseKind, Exclude<keyof PageLedger, 'limit'>>> = {
  Update: 'update',
  Repair: 'repair',
  SpotInterruption: 'notice',
  RebalanceRecommendation: 'notice',
  Maintenance: 'notice',
  StateChange: 'notice',
  LifecycleHook: 'notice',
  ScaleIn: 'other',
  Manual: 'other',
};

/**
 * The nodes out of service against their limit, by reason. Each open drain counts once, for its
 * first cause in force.
 */
const ledgerOf = (group: NodeGroup, drains: readonly NodeDisruption[]): PageLedger => {
  const counts = { update: 0, repair: 0, notice: 0, other: 0 };
  for (const { spec, status } of drains) {
    if (status?.phase === 'Ended') continue;
    const isHeld = status?.waitingOn?.some(({ kind }) => kind === 'hold') ?? false;
    const cause = spec.causes.find(({ cancelledAt }) => cancelledAt === undefined);
    if (cause !== undefined && !isHeld) counts[ledgerParts[cause.kind]] += 1;
  }
  const { updateConfig } = group.spec;
  return { limit: maxUnavailableOf(updateConfig, group.status?.desired ?? 0), ...counts };
};

const issuesOf = ({ metadata, status }: NodeGroup): readonly PageIssue[] =>
  (status?.health ?? []).map((issue) => ({
    code: issue.code,
    message: issue.message,
    remedy: healthRemedy(issue, { name: metadata.name }),
  }));

interface Around {
  readonly update: NodeGroupUpdate | undefined;
  readonly drains: readonly NodeDisruption[];
}

const waitOf = (group: NodeGroup, { update, drains }: Around): PageWait | null => {
  if (update !== undefined) return updateWait(update, drains);
  const { health = [], conditions = [], scaleIn, state } = group.status ?? {};
  const conditionSince = (type: string): string | null =>
    conditions.find((one) => one.type === type && one.status === 'True')?.lastTransitionTime ??
    null;
  const rest = { until: null, atEnd: null };
  const [issue] = health;
  if (issue !== undefined) {
    const text = `${issue.code}: ${issue.message}`;
    const since = conditionSince('Degraded');
    return { text, cause: issue.code, since, ...rest, more: health.length - 1 };
  }
  if (scaleIn !== undefined) {
    const text = `scale-in to ${scaleIn.target} nodes`;
    return { text, cause: 'progress', since: scaleIn.since, ...rest, more: 0 };
  }
  const { message } = conditions.find(({ type }) => type === 'Progressing') ?? {};
  if (state === undefined || state === 'ACTIVE') return null;
  const text = message ?? state;
  return { text, cause: 'progress', since: conditionSince('Progressing'), ...rest, more: 0 };
};

export const groupRowOf = (group: NodeGroup, around: Around): PageGroup => {
  const { metadata, spec, status } = group;
  const { update, drains } = around;
  return {
    key: metadata.name,
    isManaged: true,
    cluster: spec.clusterName,
    state: status?.state ?? 'CREATING',
    desired: status?.desired ?? spec.scaling.desired ?? null,
    min: status?.minSize ?? spec.scaling.minSize,
    max: status?.maxSize ?? spec.scaling.maxSize,
    ready: status?.ready ?? 0,
    version: status?.version ?? spec.version,
    release: status?.releaseVersion ?? spec.releaseVersion ?? null,
    types: spec.instanceTypes,
    capacity: status?.capacityType ?? spec.capacityType,
    strategy: strategyOf(group),
    ledger: ledgerOf(group, drains),
    issues: issuesOf(group),
    update: update?.metadata.name ?? null,
    wait: waitOf(group, around),
  };
};

/** Nodes that carry a group's label, without a NodeGroup. */
export const looseGroupRow = (name: string, nodes: number, ready: number): PageGroup => ({
  key: name,
  isManaged: false,
  cluster: null,
  state: 'self-managed',
  desired: nodes,
  min: null,
  max: null,
  ready,
  version: null,
  release: null,
  types: [],
  capacity: null,
  strategy: null,
  ledger: null,
  issues: [],
  update: null,
  wait: null,
});
