// The row of a node: zone, instance, utilization, state letter and blocker. Pure.
import { epochMs, formatTime, instanceIdOfProviderId, parseTime } from '../../api/brand.ts';
import type { NodeDisruption } from '../../api/disruption.ts';
import type { Node } from '../../api/kube.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import type { NodeGroupUpdate } from '../../api/nodegroup-update.ts';
import type { PageNode, PageWait, PhaseLetter } from '../../api/page.ts';
import { quantityValue } from '../../api/quantity.ts';
import { explainDisruption, explainHealth, explainRepair } from '../../core/explain/index.ts';
import { startupTimeoutMs } from '../../core/health/index.ts';
import { type NodeInHealth, nodeRow } from '../../core/overview/index.ts';
import { isOfRevision } from '../../core/update/index.ts';
import { drainWait } from './waits.ts';

/** A node as the page reads it. */
export type RoomyNode = Node & {
  readonly status: {
    readonly nodeInfo?: { readonly kubeletVersion?: string };
    readonly allocatable?: { readonly cpu?: string; readonly memory?: string };
  };
};

/** Sums of what the pods of a node request: cores, bytes. */
export interface Usage {
  readonly cpu: number;
  readonly memory: number;
  readonly pods: number;
}

const typeLabel = 'node.kubernetes.io/instance-type';
const capacityLabel = 'eks.amazonaws.com/capacityType';
const imageLabel = 'eks.amazonaws.com/nodegroup-image';

const isOpen = ({ disruption }: NodeInHealth): boolean =>
  disruption !== undefined && disruption.status?.phase !== 'Ended';

const drainLetter = ({ disruption }: NodeInHealth): PhaseLetter => {
  const { phase = 'Pending', waitingOn = [], podsRemaining } = disruption?.status ?? {};
  const kinds = waitingOn.map(({ kind }) => kind);
  if (phase === 'Completing') return kinds.includes('cooldown') ? 'E' : 'T';
  if (kinds.includes('hold')) return 'H';
  if (phase !== 'Draining') return 'C';
  return podsRemaining === 0 ? 'E' : 'D';
};

/** Its drain is over, and the cloud takes the instance: only its Node object remains. */
const isLeaving = ({ node, disruption }: NodeInHealth): boolean => {
  const { phase, followUp, outcome } = disruption?.status ?? {};
  if (phase !== 'Ended' || node.spec.unschedulable !== true) return false;
  return followUp !== 'Release' && outcome !== 'Cancelled' && outcome !== 'Failed';
};

const letterOf = (one: NodeInHealth): PhaseLetter => {
  const { node, health } = one;
  if (isOpen(one)) return drainLetter(one);
  if (node.metadata.deletionTimestamp !== undefined || isLeaving(one)) return 'T';
  if (health.state === 'Unhealthy') return 'X';
  if (health.state === 'Joining') return 'J';
  if (node.spec.unschedulable === true) return 'C';
  return health.state === 'Pressure' ? 'P' : '';
};

/** Undefined: the node runs without a repair, and none is due. */
const repairWait = ({ health, repair, group }: NodeInHealth): PageWait | undefined => {
  const more = { ...(repair && { repair }), ...(group && { group }) };
  const [text, ...rest] = explainRepair(health, more);
  if (text === undefined) return undefined;
  const { phase, blockedBy = [], eligibleAt } = repair?.status ?? {};
  const [blocker] = blockedBy;
  const finding = health.findings[0];
  const what = finding === undefined ? 'repair' : `${finding.condition} ${finding.reason}`;
  return {
    text: blocker === undefined ? text : [text, ...rest].join('; '),
    cause: blocker === undefined ? what : `repair held up by ${blocker.kind}`,
    since: repair?.spec.unhealthySince ?? (health.since ? formatTime(health.since) : null),
    until: blocker?.until ?? (phase === 'Waiting' ? (eligibleAt ?? null) : null),
    atEnd: null,
    more: Math.max(0, blockedBy.length - 1),
  };
};

const joiningWait = ({ node, health }: NodeInHealth): PageWait => {
  const [state = '', ...findings] = explainHealth(health);
  const created = parseTime(node.metadata.creationTimestamp);
  return {
    text: findings[0] ?? state,
    cause: 'nodes that join',
    since: node.metadata.creationTimestamp,
    until: created === undefined ? null : formatTime(epochMs(created + startupTimeoutMs)),
    atEnd: null,
    more: Math.max(0, findings.length - 1),
  };
};

const pressureWait = ({ health }: NodeInHealth): PageWait => {
  const [state = '', ...findings] = explainHealth(health);
  const [finding] = health.findings;
  return {
    text: findings[0] ?? state,
    cause: finding?.condition ?? 'pressure',
    since: health.since === undefined ? null : formatTime(health.since),
    until: null,
    atEnd: null,
    more: Math.max(0, findings.length - 1),
  };
};

const leavingWait = (drain: NodeDisruption): PageWait => {
  const [text = ''] = explainDisruption(drain);
  const since = drain.status?.endedAt ?? null;
  return { text, cause: 'progress', since, until: null, atEnd: null, more: 0 };
};

const waitOf = (one: NodeInHealth): PageWait | null => {
  if (isLeaving(one) && one.disruption !== undefined) return leavingWait(one.disruption);
  if (isOpen(one) && one.disruption !== undefined) return drainWait(one.disruption);
  const repair = repairWait(one);
  if (repair !== undefined) return repair;
  if (one.health.state === 'Joining') return joiningWait(one);
  return one.health.state === 'Pressure' ? pressureWait(one) : null;
};

/** Compared with the target of the open update, else with what the group was last created from. */
const isOldNode = (
  node: Node,
  group: NodeGroup | undefined,
  update: NodeGroupUpdate | undefined,
): boolean => {
  const target = update?.status?.target;
  if (target !== undefined) {
    // A node does not show its template version: only labels count.
    const byLabels = { ...target, replaceEqual: false };
    return !isOfRevision(byLabels, { version: undefined, restored: undefined }, node);
  }
  const image = node.metadata.labels?.[imageLabel];
  const { imageId } = group?.status ?? {};
  return image !== undefined && imageId !== undefined && image !== imageId;
};

const share = (used: number, of: string | undefined): number | null => {
  const total = quantityValue(of);
  return total > 0 ? Math.round((used / total) * 1_000) / 1_000 : null;
};

export const nodeRowOf = (
  one: NodeInHealth & { readonly node: RoomyNode },
  { usage, update }: { readonly usage: Usage; readonly update: NodeGroupUpdate | undefined },
): PageNode => {
  const { node, group, disruption, repair } = one;
  const { name, group: groupName, zone, revision, health, finding } = nodeRow(one);
  const labels = node.metadata.labels ?? {};
  const { cpu, memory } = node.status.allocatable ?? {};
  return {
    key: name,
    group: groupName,
    zone,
    type: labels[typeLabel] ?? null,
    isSpot: labels[capacityLabel] === 'SPOT',
    instance: instanceIdOfProviderId(node.spec.providerID) ?? null,
    version: revision,
    isOld: isOldNode(node, group, update),
    letter: letterOf(one),
    health,
    finding,
    isCordoned: node.spec.unschedulable === true,
    cpu: share(usage.cpu, cpu),
    memory: share(usage.memory, memory),
    pods: usage.pods,
    created: node.metadata.creationTimestamp,
    drain: disruption === undefined ? null : disruption.metadata.name,
    repair: repair === undefined ? null : repair.metadata.name,
    wait: waitOf(one),
  };
};
