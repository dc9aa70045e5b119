// The open work of a world: drains, hooks, node groups, updates, applications that are not ready. A
// life waits until there is none. Read-only.

import type { World } from '../../../world/index.ts';
import { microsPerMs } from '../../../world/kernel/index.ts';
import { parseTime } from '../../api/brand.ts';
import { type JsonObject, objectOr } from '../../api/json.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';

export const resources = {
  nodes: { group: '', resource: 'nodes' },
  deployments: { group: 'apps', resource: 'deployments' },
  disruptions: { group: 'drover.dev', resource: 'nodedisruptions' },
  groups: { group: 'drover.dev', resource: 'nodegroups' },
  repairs: { group: 'drover.dev', resource: 'noderepairs' },
  updates: { group: 'drover.dev', resource: 'nodegroupupdates' },
  sequences: { group: 'drover.dev', resource: 'nodegroupupdatesequences' },
} as const;

export const phaseOf = (disruption: JsonObject): string =>
  String(objectOr(disruption.status).phase ?? 'Pending');

/**
 * EC2 schedules events days ahead, and their drains may wait for budgets until then; a life does
 * not wait for that.
 */
const longestWaitMs = 2 * 24 * 3_600_000;

/**
 * A drain without a deadline may wait for budgets forever, as requested; it must then name only
 * budgets, and pods of higher tiers that wait behind them. A pending drain may likewise wait for
 * its turn.
 */
const isBlockedForGood = (disruption: JsonObject, nowMs: number): boolean => {
  const status = objectOr(disruption.status);
  const { waitingOn, deadline, phase } = status;
  if (phase !== 'Draining' && phase !== 'Pending') return false;
  const isSoon = (time: unknown): boolean => {
    const at = typeof time === 'string' ? parseTime(time) : undefined;
    return at !== undefined && at - nowMs < longestWaitMs;
  };
  if (isSoon(deadline)) return false;
  const blockers: readonly unknown[] = Array.isArray(waitingOn) ? waitingOn : [];
  const kinds = blockers
    .map(objectOr)
    .filter(({ kind, until }) => kind !== 'tier' || isSoon(until))
    .map(({ kind }) => kind);
  const forGood = phase === 'Pending' ? ['turn'] : ['pdb', 'multiplePdbs'];
  return kinds.length > 0 && kinds.every((kind) => forGood.includes(String(kind)));
};

/** Instances in the wait of a termination hook. */
const waitingInstances = ({ kernel }: World): readonly string[] => {
  const members = kernel.tables.open<JsonObject>('aws/autoscaling/instances');
  return [...members.entries()]
    .filter(([, row]) => String(row.state) === 'Terminating:Wait')
    .map(([instanceId]) => instanceId);
};

const isInProgress = ({ status }: JsonObject): boolean =>
  (objectOr(status).status ?? 'InProgress') === 'InProgress';

/**
 * Why a group is not settled: its deletion is not complete, or it does not have the desired size.
 */
const whyUnsettled = ({ spec, status, metadata }: NodeGroup): string | undefined => {
  if (metadata.deletionTimestamp !== undefined) return 'is being deleted';
  if (status === undefined) return 'has no status';
  const { observedGeneration, scaleIn, state, surge } = status;
  if (observedGeneration !== metadata.generation) return 'was not looked at since it was changed';
  if (scaleIn !== undefined) return 'is being scaled in';
  if (state === 'CREATING') return 'is being created';
  // Surge that an update could not remove does not count.
  const size = status.desired - (surge?.desired ?? 0);
  const { desired } = spec.scaling;
  if (desired === undefined || desired === size) return undefined;
  return `has ${size} nodes where ${desired} are asked for`;
};

function* openThings(world: World): Generator<string> {
  const told = (kind: string, { metadata, status }: JsonObject, what = ''): string =>
    `${kind} ${String(objectOr(metadata).name)} ${what}${JSON.stringify(status)}`;
  for (const group of world.kube.readAll(resources.groups)) {
    const why = whyUnsettled(group as unknown as NodeGroup);
    if (why !== undefined) yield told('group', group, `${why} `);
  }
  for (const update of world.kube.readAll(resources.updates)) {
    if (isInProgress(update)) yield told('update', update);
  }
  for (const sequence of world.kube.readAll(resources.sequences)) {
    if (isInProgress(sequence)) yield told('sequence', sequence);
  }
  for (const repair of world.kube.readAll(resources.repairs)) {
    if (isUnderWay(repair)) yield told('repair', repair);
  }
  const blocked = new Set<string>();
  const nowMs = world.kernel.now() / microsPerMs;
  for (const disruption of world.kube.readAll(resources.disruptions)) {
    if (phaseOf(disruption) === 'Ended') continue;
    if (isBlockedForGood(disruption, nowMs)) {
      blocked.add(String(objectOr(disruption.spec).instanceId));
    } else yield told('drain', disruption);
  }
  for (const instanceId of waitingInstances(world)) {
    if (!blocked.has(instanceId)) yield `hook of ${instanceId}`;
  }
}

const endedRepairs: ReadonlySet<string> = new Set(['Succeeded', 'Failed', 'Cancelled']);
/** Blockers that end only with a change of the cluster or of the group's settings. */
const lastingBlockers: ReadonlySet<string> = new Set([
  'groupUnhealthy',
  'zoneOutage',
  'controlPlane',
  'sameSignal',
  'draining',
  'ledger',
]);

/**
 * The repair is decided or will be. A repair in audit mode, or blocked by a breaker for good, does
 * not count.
 */
const isUnderWay = (repair: JsonObject): boolean => {
  const { phase = 'Waiting', blockedBy } = objectOr(repair.status);
  if (phase === 'WouldRepair' || endedRepairs.has(String(phase))) return false;
  if (phase !== 'Blocked') return true;
  const blockers: readonly unknown[] = Array.isArray(blockedBy) ? blockedBy : [];
  return !blockers.some((one) => lastingBlockers.has(String(objectOr(one).kind)));
};

/** The node has a finding, and its group may repair it. */
export const awaitsRepair = ({ kube }: World, node: string): boolean => {
  const name = kube.read(resources.nodes, { name: node })?.metadata.labels?.[
    'eks.amazonaws.com/nodegroup'
  ];
  const group = name === undefined ? undefined : kube.read(resources.groups, { name });
  const { nodeRepair, nodeRepairConfig } = objectOr(group?.spec);
  const isOn = nodeRepair !== undefined && objectOr(nodeRepairConfig).enabled !== false;
  return isOn && objectOr(nodeRepair).mode !== 'Audit';
};

/** Nothing is in progress, except drains that may wait forever. */
export const isQuiet = (world: World): boolean => openThings(world).next().done === true;

export const appsAreReady = ({ kube }: World): boolean => {
  for (const app of kube.readAll(resources.deployments)) {
    const wanted = Number(objectOr(app.spec).replicas ?? 1);
    if (Number(objectOr(app.status).readyReplicas ?? 0) < wanted) return false;
  }
  return true;
};

/**
 * Whether all groups have their desired size; Auto Scaling retries at growing intervals if capacity
 * is short.
 */
export const groupsAreFull = ({ aws }: World): boolean => {
  const answer = aws.call('autoscaling', 'DescribeAutoScalingGroups', {});
  const groups = objectOr(answer).AutoScalingGroups;
  return (Array.isArray(groups) ? groups : []).every((group) => {
    const { DesiredCapacity, Instances } = objectOr(group);
    return Array.isArray(Instances) && Instances.length === Number(DesiredCapacity);
  });
};

const maxTold = 2000;

/** Lists all open work as text. */
export const openWork = (world: World): string =>
  `still open: ${[...openThings(world)].join('; ').slice(0, maxTold)}`;

export const readyNodes = ({ kube }: World): number => {
  let ready = 0;
  for (const node of kube.readAll(resources.nodes)) {
    const { conditions } = objectOr(node.status);
    const list: readonly unknown[] = Array.isArray(conditions) ? conditions : [];
    if (list.some((c) => objectOr(c).type === 'Ready' && objectOr(c).status === 'True')) ready++;
  }
  return ready;
};
