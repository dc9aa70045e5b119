// Everything about one node or one update, for its own view. Read from the collections when it is
// asked for. Changes nothing.
import type { EpochMs } from '../api/brand.ts';
import { instanceIdOfProviderId } from '../api/brand.ts';
import type { NodeDisruptionStatus } from '../api/disruption.ts';
import {
  type PageEntry,
  type PageNodeDetail,
  type PagePod,
  type PageUpdateDetail,
  type PageUpdateNode,
  pageVersion,
} from '../api/page.ts';
import { classifyPods, ownerName } from '../core/drain/index.ts';
import { explainDisruption, explainHealth, explainRepair } from '../core/explain/index.ts';
import { groupNameOf, healthIn, type NodeView, updateView } from '../core/overview/index.ts';
import { isOfRevision } from '../core/update/index.ts';
import { actionsOf } from './actions.ts';
import { type Collections, podsOn, type RoomyPod } from './collections.ts';
import { timelineOf } from './timeline.ts';

/** A node runs at most some hundred pods; an update of thousands of nodes lists the first. */
const maxPods = 300;
const maxNodes = 500;

const podOf = (pod: RoomyPod, stays: boolean): PagePod => {
  const { metadata, status, requests } = pod;
  return {
    key: `${metadata.namespace ?? ''}/${metadata.name}`,
    owner: ownerName(pod) ?? null,
    phase: status.phase ?? 'Unknown',
    stays,
    isStopping: metadata.deletionTimestamp !== undefined,
    cpu: requests.cpu,
    memory: requests.memory,
    since: metadata.creationTimestamp,
  };
};

/** Undefined: the node does not exist. */
export const nodeDetail = (
  from: Collections,
  name: string,
  { now, journal }: { readonly now: EpochMs; readonly journal: readonly PageEntry[] },
): PageNodeDetail | undefined => {
  const node = from.nodes.get(name);
  if (node === undefined) return undefined;
  const { groups, drains, repairs } = from;
  const lists = { groups: groups.list(), disruptions: drains.list(), repairs: repairs.list() };
  const [one] = healthIn({ nodes: [node], ...lists }, now);
  if (one === undefined) return undefined;
  const { health, disruption, repair, group } = one;
  const instance = instanceIdOfProviderId(node.spec.providerID);
  const own = repairs.list().filter(({ spec }) => spec.instanceId === instance);
  const pods = podsOn(from, name);
  const leaving = new Set(classifyPods(pods).evict.map(({ pod }) => pod.metadata.uid));
  const rows = pods
    .map((pod) => podOf(pod, !leaving.has(pod.metadata.uid)))
    .toSorted((a, b) => Number(a.stays) - Number(b.stays) || a.key.localeCompare(b.key));
  const subjects = new Set([name, instance, disruption?.metadata.name]);
  return {
    version: pageVersion,
    name,
    lines: [
      ...(disruption === undefined ? [] : explainDisruption(disruption)),
      ...explainHealth(health),
      ...explainRepair(health, { ...(repair && { repair }), ...(group && { group }) }),
    ],
    timeline: timelineOf(one, own),
    pods: rows.slice(0, maxPods),
    podsLeftOut: Math.max(0, rows.length - maxPods),
    conditions: (node.status.conditions ?? []).map((condition) => ({
      type: condition.type,
      status: condition.status,
      reason: condition.reason ?? '',
      message: condition.message ?? '',
      since: condition.lastTransitionTime ?? null,
    })),
    journal: journal.filter(({ subject, facts }) => subjects.has(subject) || facts.node === name),
  };
};

/** The instance's termination is a separate episode: the drain began before it. */
const begunAt = (status: NodeDisruptionStatus | undefined): string | undefined =>
  status?.previous?.startedAt ?? status?.markedAt;

const order: Readonly<Record<NodeView['state'], number>> = {
  inFlight: 0,
  failed: 1,
  waiting: 2,
  kept: 3,
  takenBack: 4,
  done: 5,
  notBegun: 6,
};

export const updateDetail = (
  from: Collections,
  name: string,
  { journal }: { readonly journal: readonly PageEntry[] },
): PageUpdateDetail | undefined => {
  const update = from.updates.get(name);
  if (update === undefined) return undefined;
  const group = from.groups.get(update.spec.nodeGroup);
  // A node does not show its template version: only labels count.
  const target = update.status?.target && { ...update.status.target, replaceEqual: false };
  const old = from.nodes.list().flatMap((node) => {
    const instanceId = instanceIdOfProviderId(node.spec.providerID);
    const isMember = groupNameOf(node) === update.spec.nodeGroup;
    if (!isMember || instanceId === undefined || target === undefined) return [];
    const template = { version: undefined, restored: undefined };
    return isOfRevision(target, template, node) ? [] : [{ name: node.metadata.name, instanceId }];
  });
  const drains = from.drains.list();
  const view = updateView({ update, group, disruptions: drains, old });
  const spans = new Map(drains.map(({ metadata, status }) => [metadata.name, status] as const));
  const nodes = view.nodes
    .map((one): PageUpdateNode => {
      const status = spans.get(one.instanceId);
      const isOver = one.state === 'done' || one.state === 'failed' || one.state === 'takenBack';
      return {
        name: one.name,
        state: one.state,
        what: one.what,
        started: one.state === 'notBegun' ? null : (begunAt(status) ?? one.since ?? null),
        ended: isOver ? (status?.endedAt ?? one.since ?? null) : null,
        deadline: one.deadline ?? null,
        podsLeft: one.podsLeft ?? null,
        podsTotal: one.podsTotal ?? null,
        blockers: one.blockers,
      };
    })
    .toSorted(
      (a, b) =>
        order[a.state] - order[b.state] || (a.started ?? '~').localeCompare(b.started ?? '~'),
    );
  const subjects = new Set([name, update.spec.nodeGroup]);
  return {
    version: pageVersion,
    name,
    nodes: nodes.slice(0, maxNodes),
    nodesLeftOut: Math.max(0, nodes.length - maxNodes),
    actions: actionsOf(update),
    journal: journal.filter(({ subject, facts }) => subjects.has(subject) || facts.update === name),
  };
};
