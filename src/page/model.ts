// Keeps the rows current: a change of an object marks the rows that it affects, and `refresh`
// recomputes those. Cost grows with the changes, not with the cluster. Reads no clock.
import type { EpochMs } from '../api/brand.ts';
import { instanceIdOfProviderId } from '../api/brand.ts';
import type { NodeDisruption } from '../api/disruption.ts';
import type { NodeRepair } from '../api/node-repair.ts';
import type { NodeGroup } from '../api/nodegroup.ts';
import { type NodeGroupUpdate, updateStatusOf } from '../api/nodegroup-update.ts';
import { pageLimits } from '../api/page.ts';
import { groupNameOf, healthIn } from '../core/overview/index.ts';
import { isOpenRepair } from '../core/repair/index.ts';
import { openInTurn } from '../core/update/index.ts';
import type { Change } from '../runtime/index.ts';
import { type Collections, podsOn } from './collections.ts';
import { RowStore } from './row-store.ts';
import {
  budgetRowOf,
  budgetsOf,
  drainRowOf,
  groupRowOf,
  looseGroupRow,
  nodeRowOf,
  type RoomyNode,
  repairRowOf,
  type Usage,
  updateRowOf,
} from './rows/index.ts';

const isOpenDrain = ({ status }: NodeDisruption): boolean => status?.phase !== 'Ended';

/** All open rows, and the newest of the others up to the limit. */
const openAndNewest = <T>(
  all: readonly T[],
  {
    isOpen,
    endedAt,
    limit,
  }: {
    readonly isOpen: (one: T) => boolean;
    readonly endedAt: (one: T) => string;
    readonly limit: number;
  },
): readonly T[] => {
  const open = all.filter(isOpen);
  const room = Math.max(0, limit - open.length);
  const ended = all
    .filter((one) => !isOpen(one))
    .toSorted((a, b) => endedAt(b).localeCompare(endedAt(a)));
  return [...open, ...ended.slice(0, room)];
};

const keptEndedDrains = 200;

export class PageModel {
  readonly store = new RowStore();
  readonly #from: Collections;
  readonly #nodes = new Set<string>();
  /** All other kinds have few rows: a change recomputes the rows of its kind. */
  #others = true;
  #budgets = true;
  /** Rows that depend on the time: the next `refresh` recomputes them. */
  readonly #restless = new Set<string>();
  readonly #stop: (() => void)[] = [];

  constructor(from: Collections) {
    this.#from = from;
    this.#stop.push(
      from.nodes.onChange(({ object }) => {
        this.#nodes.add(object.metadata.name);
        if (this.#groupOf(object) === undefined) this.#others = true;
      }),
      from.pods.onChange((change) => this.#podChanged(change)),
      from.budgets.onChange(() => {
        this.#budgets = true;
      }),
      from.groups.onChange((change) => this.#groupChanged(change)),
      from.updates.onChange((change) => this.#updateChanged(change)),
      from.drains.onChange(({ object }) => this.#drainChanged(object)),
      from.repairs.onChange(({ object }) => this.#repairChanged(object)),
    );
  }

  close(): void {
    for (const stop of this.#stop) stop();
  }

  /** Recomputes changed rows; `withTime`: also rows that depend on the time. */
  refresh(now: EpochMs, { withTime }: { readonly withTime: boolean }): void {
    if (withTime) for (const name of this.#restless) this.#nodes.add(name);
    if (this.#nodes.size > 0) this.#refreshNodes(now);
    if (this.#others) this.#refreshOthers();
    if (this.#budgets) this.#refreshBudgets();
  }

  /** By node group: the update in progress. */
  openUpdates(): ReadonlyMap<string, NodeGroupUpdate> {
    const updates = this.#from.updates.list();
    if (!updates.some((one) => updateStatusOf(one) === 'InProgress')) return new Map();
    const first = this.#from.groups.list().flatMap((group) => {
      const [one] = openInTurn(updates, group);
      return one === undefined ? [] : [[group.metadata.name, one] as const];
    });
    return new Map(first);
  }

  #groupOf(node: RoomyNode): string | undefined {
    const name = groupNameOf(node);
    return name === undefined ? undefined : this.#from.groups.get(name)?.metadata.name;
  }

  #podChanged(change: Change<{ readonly spec: { readonly nodeName?: string } }>): void {
    const names = [
      change.object.spec.nodeName,
      change.kind === 'changed' ? change.previous.spec.nodeName : undefined,
    ];
    for (const name of names) if (name !== undefined) this.#nodes.add(name);
  }

  /** Counts in its status change all the time; nodes depend only on its image and its spec. */
  #groupChanged(change: Change<NodeGroup>): void {
    this.#others = true;
    const { object } = change;
    const previous = change.kind === 'changed' ? change.previous : undefined;
    const isSame =
      previous?.metadata.generation === object.metadata.generation &&
      previous?.status?.imageId === object.status?.imageId;
    if (previous === undefined || !isSame) this.#membersChanged(object.metadata.name);
  }

  #updateChanged(change: Change<NodeGroupUpdate>): void {
    this.#others = true;
    const { object } = change;
    const previous = change.kind === 'changed' ? change.previous : undefined;
    const isSame =
      previous !== undefined &&
      updateStatusOf(previous) === updateStatusOf(object) &&
      previous.status?.target?.templateVersion === object.status?.target?.templateVersion;
    if (!isSame) this.#membersChanged(object.spec.nodeGroup);
  }

  #membersChanged(group: string): void {
    for (const node of this.#from.nodes.list()) {
      if (groupNameOf(node) === group) this.#nodes.add(node.metadata.name);
    }
  }

  #drainChanged({ spec, status }: NodeDisruption): void {
    this.#others = true;
    this.#budgets = true;
    const name = status?.node?.name ?? spec.nodeName;
    if (name !== undefined) this.#nodes.add(name);
    else if (spec.instanceId !== undefined) this.#instanceChanged(spec.instanceId);
  }

  #repairChanged({ spec }: NodeRepair): void {
    this.#others = true;
    if (spec.node !== undefined) this.#nodes.add(spec.node.name);
    this.#instanceChanged(spec.instanceId);
  }

  #instanceChanged(instanceId: string): void {
    const found = this.#from.nodes
      .list()
      .find(({ spec }) => instanceIdOfProviderId(spec.providerID) === instanceId);
    if (found !== undefined) this.#nodes.add(found.metadata.name);
  }

  #usageOf(node: string): Usage {
    const usage = { cpu: 0, memory: 0, pods: 0 };
    for (const { requests, status } of podsOn(this.#from, node)) {
      if (status.phase === 'Succeeded' || status.phase === 'Failed') continue;
      usage.cpu += requests.cpu;
      usage.memory += requests.memory;
      usage.pods += 1;
    }
    return usage;
  }

  #refreshNodes(now: EpochMs): void {
    const nodes: RoomyNode[] = [];
    for (const name of this.#nodes) {
      const node = this.#from.nodes.get(name);
      if (node !== undefined) nodes.push(node);
      else {
        this.store.remove('node', name);
        this.#restless.delete(name);
      }
    }
    this.#nodes.clear();
    const updates = this.openUpdates();
    const { groups, drains, repairs } = this.#from;
    const lists = { groups: groups.list(), disruptions: drains.list(), repairs: repairs.list() };
    for (const one of healthIn({ nodes, ...lists }, now)) {
      const node = one.node as RoomyNode;
      const update = updates.get(groupNameOf(node) ?? '');
      const usage = this.#usageOf(node.metadata.name);
      const row = nodeRowOf({ ...one, node }, { usage, update });
      this.store.put('node', row);
      if (row.health === 'Healthy') this.#restless.delete(row.key);
      else this.#restless.add(row.key);
    }
  }

  #replace<K extends 'group' | 'update' | 'drain' | 'repair' | 'budget'>(
    kind: K,
    rows: readonly Parameters<RowStore['put']>[1][],
  ): void {
    const keys = new Set(rows.map(({ key }) => key));
    for (const key of this.store.keys(kind)) if (!keys.has(key)) this.store.remove(kind, key);
    for (const row of rows) this.store.put(kind, row as never);
  }

  #refreshOthers(): void {
    this.#others = false;
    const { groups, updates, drains, repairs } = this.#from;
    const open = this.openUpdates();
    const byGroup = Map.groupBy(drains.list(), ({ spec }) => spec.nodeGroup);
    const managed = groups.list().map((group) => {
      const { name } = group.metadata;
      return groupRowOf(group, { update: open.get(name), drains: byGroup.get(name) ?? [] });
    });
    this.#replace('group', [...managed, ...this.#looseGroups()]);
    const shownUpdates = openAndNewest(updates.list(), {
      isOpen: (one) => updateStatusOf(one) === 'InProgress',
      endedAt: ({ status, metadata }) => status?.endedAt ?? metadata.creationTimestamp,
      limit: pageLimits.updates,
    });
    const updateRows = shownUpdates.map((one) => {
      const { nodeGroup } = one.spec;
      const own = byGroup.get(nodeGroup) ?? [];
      return updateRowOf(one, { group: groups.get(nodeGroup), drains: own });
    });
    this.#replace('update', updateRows);
    const isEnded = (one: NodeDisruption): boolean => !isOpenDrain(one);
    const openDrains = drains.list().filter(isOpenDrain);
    const endedDrains = openAndNewest(drains.list().filter(isEnded), {
      isOpen: () => false,
      endedAt: ({ status }) => status?.endedAt ?? '',
      limit: keptEndedDrains,
    });
    this.#replace('drain', [...openDrains, ...endedDrains].map(drainRowOf));
    const shownRepairs = openAndNewest(repairs.list(), {
      isOpen: isOpenRepair,
      endedAt: ({ status, spec }) => status?.endedAt ?? spec.unhealthySince,
      limit: pageLimits.repairs,
    });
    this.#replace('repair', shownRepairs.map(repairRowOf));
  }

  #looseGroups() {
    const { nodes, groups } = this.#from;
    const loose = nodes.list().filter((node) => this.#groupOf(node) === undefined);
    const byName = Map.groupBy(loose, (node) => groupNameOf(node));
    return [...byName].flatMap(([name, members]) => {
      if (name === undefined || groups.get(name) !== undefined) return [];
      const ready = members.filter(({ status }) =>
        status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
      );
      return [looseGroupRow(name, members.length, ready.length)];
    });
  }

  #refreshBudgets(): void {
    this.#budgets = false;
    const waiting = new Map<string, NodeDisruption[]>();
    for (const drain of this.#from.drains.list()) {
      for (const name of budgetsOf(drain)) {
        waiting.set(name, [...(waiting.get(name) ?? []), drain]);
      }
    }
    const rows = this.#from.budgets.list().flatMap((budget) => {
      const key = `${budget.metadata.namespace ?? ''}/${budget.metadata.name}`;
      return budgetRowOf(budget, waiting.get(key) ?? []) ?? [];
    });
    this.#replace('budget', rows);
  }
}
