// The rows of a drain and of a repair. Pure.
import type { NodeDisruption } from '../../api/disruption.ts';
import type { NodeRepair } from '../../api/node-repair.ts';
import type { PageDrain, PageRepair, PageWait } from '../../api/page.ts';
import { explainRepairBlocker } from '../../core/explain/index.ts';
import { isOpenRepair } from '../../core/repair/index.ts';
import { drainWait } from './waits.ts';

export const drainRowOf = (drain: NodeDisruption): PageDrain => {
  const { metadata, spec, status } = drain;
  return {
    key: metadata.name,
    node: status?.node?.name ?? spec.nodeName ?? spec.instanceId ?? metadata.name,
    group: spec.nodeGroup ?? null,
    causes: spec.causes.map(({ kind, cancelledAt }) =>
      cancelledAt === undefined ? kind : `${kind} (withdrawn)`,
    ),
    phase: status?.phase ?? 'Pending',
    outcome: status?.outcome ?? null,
    message: status?.message ?? null,
    followUp: status?.followUp ?? null,
    podsLeft: status?.podsRemaining ?? null,
    podsTotal: status?.podsTotal ?? null,
    started: status?.startedAt ?? metadata.creationTimestamp,
    drained: status?.drainedAt ?? null,
    ended: status?.endedAt ?? null,
    deadline: status?.phase === 'Ended' ? null : (status?.deadline ?? null),
    wait: drainWait(drain),
  };
};

const repairWait = (repair: NodeRepair): PageWait | null => {
  if (!isOpenRepair(repair)) return null;
  const { phase, message = '', action, blockedBy = [], eligibleAt } = repair.status ?? {};
  const [blocker] = blockedBy;
  const since = repair.spec.unhealthySince;
  if (blocker !== undefined) {
    const text = explainRepairBlocker(blocker);
    const cause = `repair held up by ${blocker.kind}`;
    const more = blockedBy.length - 1;
    return { text, cause, since, until: blocker.until ?? null, atEnd: null, more };
  }
  const isWaiting = phase === 'Waiting';
  return {
    text: message === '' ? `repair: ${phase ?? 'recorded'}` : message,
    cause: isWaiting ? `wait before ${action ?? 'repair'}` : 'progress',
    since,
    until: isWaiting ? (eligibleAt ?? null) : null,
    atEnd: null,
    more: 0,
  };
};

export const repairRowOf = (repair: NodeRepair): PageRepair => {
  const { metadata, spec, status } = repair;
  return {
    key: metadata.name,
    node: spec.node?.name ?? spec.instanceId,
    group: spec.nodeGroup,
    finding: `${spec.condition} ${spec.reason}`,
    phase: status?.phase ?? null,
    action: status?.action ?? status?.attempts?.at(-1)?.action ?? null,
    since: spec.unhealthySince,
    ended: status?.endedAt ?? null,
    message: status?.message ?? '',
    wait: repairWait(repair),
  };
};
