// What `drover top` shows: rows for groups and nodes, with what each waits for and since when, from
// one set of objects. The texts are core/explain's. Pure.
import { type EpochMs, parseTime } from '../../api/brand.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import type { NodeGroupUpdate } from '../../api/nodegroup-update.ts';
import { explainDisruption, explainHealth, explainRepair } from '../../core/explain/index.ts';
import { groupNameOf, healthIn, type NodeInHealth, nodeRow } from '../../core/overview/index.ts';
import { formatDuration } from '../duration.ts';
import type { TopObjects } from './feed.ts';

export interface TopRow {
  /** Name of the node or group; unique in its view. */
  readonly name: string;
  readonly cells: readonly string[];
  /** It waits for something or has a problem; such rows are listed first. */
  readonly isWaiting: boolean;
}

export interface TopModel {
  readonly groups: readonly TopRow[];
  readonly nodesOf: (group: string | undefined) => readonly TopRow[];
  /** All details of one node. */
  readonly detailOf: (node: string) => readonly string[];
  /** One line that summarizes all groups. */
  readonly summary: string;
}

export const groupHeader = ['GROUP', 'READY', 'DESIRED', 'DRAINING', 'STATE', 'SINCE', 'WAITS FOR'];
export const nodeHeader = ['NODE', 'GROUP', 'ZONE', 'HEALTH', 'SINCE', 'WAITS FOR'];

/** Row for nodes without a group. */
export const noGroup = '(no group)';

const age = (at: string | undefined, now: EpochMs): string => {
  const since = parseTime(at);
  if (since === undefined) return '-';
  return formatDuration(Math.max(0, Math.floor((now - since) / 1000)));
};

const isOpenUpdate = ({ status }: NodeGroupUpdate): boolean =>
  status === undefined || status.status === 'InProgress';

interface GroupWait {
  readonly state: string;
  readonly since: string | undefined;
  readonly text: string;
}

const waitOfGroup = (
  group: NodeGroup | undefined,
  update: NodeGroupUpdate | undefined,
): GroupWait => {
  if (update !== undefined) {
    const { phase = 'Pending', message = '', startedAt, progress } = update.status ?? {};
    const counted = progress === undefined ? '' : `${progress.done}/${progress.total} `;
    const since = startedAt ?? update.metadata.creationTimestamp;
    return { state: `update ${phase}`, since, text: `${counted}${message}`.trim() };
  }
  const { state = '-', health = [], conditions = [] } = group?.status ?? {};
  const [issue] = health;
  const degraded = conditions.find(({ type, status }) => type === 'Degraded' && status === 'True');
  if (issue !== undefined) {
    const since = degraded?.lastTransitionTime;
    return { state, since, text: `${issue.code}: ${issue.message}` };
  }
  return { state, since: undefined, text: '' };
};

const isDraining = ({ disruption }: NodeInHealth): boolean =>
  disruption !== undefined && disruption.status?.phase !== 'Ended';

const sinceOf = (one: NodeInHealth): string | undefined =>
  isDraining(one)
    ? (one.disruption?.status?.startedAt ?? one.disruption?.metadata.creationTimestamp)
    : one.health.findings[0] === undefined
      ? undefined
      : (nodeRow(one).since ?? undefined);

const inOrder = (a: TopRow, b: TopRow): number =>
  Number(b.isWaiting) - Number(a.isWaiting) || (a.name < b.name ? -1 : 1);

const nodeRowOf = (one: NodeInHealth, now: EpochMs): TopRow => {
  const { name, group, zone, health, finding, waitsFor } = nodeRow(one);
  const isWaiting = waitsFor !== null || finding !== null;
  const state = finding === null ? health : `${health} (${finding})`;
  const since = isWaiting ? age(sinceOf(one), now) : '-';
  return {
    name,
    cells: [name, group ?? '-', zone ?? '-', state, since, waitsFor ?? ''],
    isWaiting,
  };
};

export const topModel = (objects: TopObjects, now: EpochMs): TopModel => {
  const inHealth = healthIn(objects, now);
  const members = Map.groupBy(inHealth, ({ node }) => groupNameOf(node) ?? noGroup);
  const updates = new Map(
    objects.updates.filter(isOpenUpdate).map((one) => [one.spec.nodeGroup, one] as const),
  );
  const known = new Map(objects.groups.map((group) => [group.metadata.name, group]));
  const groupRow = (name: string): TopRow => {
    const nodes = members.get(name) ?? [];
    const group = known.get(name);
    const draining = nodes.filter(isDraining).length;
    const ready =
      group?.status?.ready ?? nodes.filter(({ health }) => health.findings.length === 0).length;
    const { state, since, text } = waitOfGroup(group, updates.get(name));
    const desired = group?.status === undefined ? '-' : String(group.status.desired);
    const cells = [name, String(ready), desired, String(draining), state, age(since, now), text];
    return { name, cells, isWaiting: text !== '' || draining > 0 };
  };
  const names = [...new Set([...known.keys(), ...members.keys()])];
  const draining = inHealth.filter(isDraining).length;
  const unhealthy = inHealth.filter(({ health }) => health.findings.length > 0).length;
  return {
    groups: names.map(groupRow).toSorted(inOrder),
    nodesOf: (group) =>
      (group === undefined ? inHealth : (members.get(group) ?? []))
        .map((one) => nodeRowOf(one, now))
        .toSorted(inOrder),
    detailOf: (name) => {
      const one = inHealth.find(({ node }) => node.metadata.name === name);
      if (one === undefined) return [`${name} is not in the cluster any more`];
      const { health, repair, group, disruption } = one;
      const more = { ...(repair && { repair }), ...(group && { group }) };
      return [
        ...(disruption === undefined ? [] : explainDisruption(disruption)),
        ...explainHealth(health),
        ...explainRepair(health, more),
      ];
    },
    summary:
      `${names.length} groups, ${inHealth.length} nodes, ${draining} draining, ` +
      `${unhealthy} unhealthy`,
  };
};
