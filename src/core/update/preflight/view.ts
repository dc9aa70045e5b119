// The snapshot in the form that checks need: pods of the old nodes with owner and budgets, expected
// new nodes, other usable nodes. Computed once per preflight; decides nothing.

import { isReady } from '../../../api/conditions.ts';
import type { OwnerReference, PodDisruptionBudget } from '../../../api/kube.ts';
import type { FullPod, Workload } from '../../../api/workloads.ts';
import {
  BudgetIndex,
  controllerOf,
  isTerminating,
  keyOfObject,
  skipReasonOf,
} from '../../drain/index.ts';
import { eksSurge, ownSurge } from '../strategies/unavailable.ts';
import { evenSurge } from '../strategies/zone-placement.ts';
import { allowedWhenHealthy } from './budgets.ts';
import type { Forecast } from './forecast.ts';
import { type NewNode, newNodesOf, podsByNode, zonesOf } from './new-nodes.ts';
import { type Amounts, podAmounts } from './quantity.ts';
import type { Place } from './scheduling.ts';
import type { PlannedNode, Snapshot } from './snapshot.ts';
import { waitSecondsOf } from './waits.ts';

export interface Owner {
  /**
   * Kind/namespace/name of the object that scales the pods: the Deployment rather than its
   * ReplicaSet.
   */
  readonly key: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  readonly workload: Workload | undefined;
}

/** A pod that the update has to move. */
export interface MovedPod {
  readonly pod: FullPod;
  /** namespace/name. */
  readonly name: string;
  readonly node: string;
  readonly zone: string;
  readonly owner: Owner | undefined;
  readonly budgets: readonly PodDisruptionBudget[];
  /** What the scheduler reserves for it. */
  readonly asks: Amounts;
  /** How long the drain of its node waits before it evicts this pod. */
  readonly waitSeconds: number;
}

/** A budget that selects pods of old nodes. */
export interface ConcernedBudget {
  readonly budget: PodDisruptionBudget;
  /** namespace/name. */
  readonly name: string;
  readonly expected: number;
  readonly healthy: number;
  /** Allowed disruptions when all pods are healthy, by its spec. */
  readonly allowed: number;
  readonly pods: readonly MovedPod[];
}

export interface View {
  readonly snapshot: Snapshot;
  readonly forecast: Forecast;
  readonly oldNodes: readonly PlannedNode[];
  readonly moved: readonly MovedPod[];
  /** `moved` by node. */
  readonly movedFrom: (node: string) => readonly MovedPod[];
  /** All pods of a node, by its name. */
  readonly podsOn: (node: string) => readonly FullPod[];
  readonly budgets: readonly ConcernedBudget[];
  /** The expected new nodes, one for each zone that gets any. */
  readonly newNodes: readonly NewNode[];
  /** Schedulable nodes that the update does not replace. */
  readonly others: readonly PlannedNode[];
  /** New nodes launched before the first drain. */
  readonly surge: number;
}

const ownerKey = (kind: string, namespace: string, name: string): string =>
  `${kind}/${namespace}/${name}`;

/** The object that scales a pod; undefined for a bare pod. */
const ownerLookup = (workloads: readonly Workload[]): ((pod: FullPod) => Owner | undefined) => {
  const byUid = new Map(workloads.map((one) => [one.metadata.uid, one]));
  const ownerBy = (first: OwnerReference, namespace: string): Owner => {
    const direct = byUid.get(first.uid);
    const second = direct?.metadata.ownerReferences?.find((one) => one.controller === true);
    const { kind, name, uid } = second ?? first;
    return {
      key: ownerKey(kind, namespace, name),
      kind,
      name,
      namespace,
      workload: byUid.get(uid),
    };
  };
  // A controller and its pods are in one namespace.
  const known = new Map<string, Owner>();
  return (pod) => {
    const first = controllerOf(pod);
    if (first === undefined) return undefined;
    const owner = known.get(first.uid) ?? ownerBy(first, pod.metadata.namespace ?? '');
    known.set(first.uid, owner);
    return owner;
  };
};

export const placeOf = ({ node }: PlannedNode): Place => ({
  name: node.metadata.name,
  labels: node.metadata.labels ?? {},
  taints: node.spec.taints ?? [],
});

export const isNodeReady = ({ node }: Pick<PlannedNode, 'node'>): boolean => isReady(node);

/** Pods left when a drain times out are deleted, because of --force or the policy. */
export const isForced = ({ force, policies }: Snapshot['group']): boolean =>
  force || policies?.onTimeout === 'Force';

const isUsable = (one: PlannedNode): boolean =>
  one.node.spec.unschedulable !== true && isNodeReady(one);

const movedPods = (snapshot: Snapshot, index: BudgetIndex): readonly MovedPod[] => {
  const ownerOf = ownerLookup(snapshot.workloads);
  const old = new Map(
    snapshot.nodes.filter(({ isOld }) => isOld).map((one) => [one.node.metadata.name, one]),
  );
  const moved: MovedPod[] = [];
  for (const pod of snapshot.pods) {
    const node = pod.spec.nodeName ?? '';
    const from = old.get(node);
    if (from === undefined || skipReasonOf(pod) !== undefined || isTerminating(pod)) continue;
    moved.push({
      pod,
      name: keyOfObject(pod),
      node,
      zone: from.zone,
      owner: ownerOf(pod),
      budgets: index.of(pod),
      asks: podAmounts(pod),
      waitSeconds: waitSecondsOf(pod, snapshot),
    });
  }
  return moved;
};

/**
 * The disruption controller could not find the scale of the pods' owners, so its counts are
 * invalid.
 */
const isUncounted = ({ status }: PodDisruptionBudget): boolean =>
  (status.conditions ?? []).some(
    ({ type, reason }) => type === 'DisruptionAllowed' && reason === 'SyncFailed',
  );

const concerned = (snapshot: Snapshot, moved: readonly MovedPod[], index: BudgetIndex) => {
  const byBudget = new Map<string, MovedPod[]>();
  for (const one of moved) {
    for (const budget of one.budgets) {
      const name = keyOfObject(budget);
      const known = byBudget.get(name);
      if (known === undefined) byBudget.set(name, [one]);
      else known.push(one);
    }
  }
  return [...byBudget].flatMap(([name, pods]): readonly ConcernedBudget[] => {
    const budget = index.get(name);
    if (budget === undefined) return [];
    // The disruption controller may not have synced the budget yet, or cannot.
    const { expectedPods, currentHealthy } = isUncounted(budget) ? {} : budget.status;
    const selected = (): readonly FullPod[] =>
      snapshot.pods.filter((pod) => index.of(pod).includes(budget));
    const expected = expectedPods ?? selected().length;
    const healthy = currentHealthy ?? selected().filter(isReady).length;
    const allowed = allowedWhenHealthy(budget, expected);
    return [{ budget, name, expected, healthy, allowed, pods }];
  });
};

/** How many nodes the strategy launches before the first drain. */
const surgeOf = (snapshot: Snapshot): number => {
  const { group, nodes } = snapshot;
  const old = nodes.filter(({ isOld }) => isOld);
  if (old.length === 0) return 0;
  switch (group.strategy) {
    case 'MINIMAL':
      return 0;
    case 'BLUE_GREEN':
      return old.length;
    case 'SURGE': {
      const placeOf = ({ zone }: (typeof nodes)[number]): string => zone;
      const zones = new Set(old.map(placeOf)).size;
      return evenSurge(ownSurge(old.length, zones, group.maxUnavailable), {
        zones: zonesOf(snapshot),
        old: old.map(placeOf),
        fresh: nodes.filter(({ isOld }) => !isOld).map(placeOf),
      });
    }
    case 'DEFAULT':
      return eksSurge(zonesOf(snapshot).length, group.maxUnavailable);
  }
};

export const viewOf = (snapshot: Snapshot, forecast: Forecast): View => {
  const index = new BudgetIndex(snapshot.budgets);
  const moved = movedPods(snapshot, index);
  const byNode = Map.groupBy(moved, ({ node }) => node);
  const podsOn = podsByNode(snapshot.pods);
  return {
    snapshot,
    forecast,
    moved,
    movedFrom: (node) => byNode.get(node) ?? [],
    podsOn,
    oldNodes: snapshot.nodes.filter(({ isOld }) => isOld),
    budgets: concerned(snapshot, moved, index),
    newNodes: newNodesOf(snapshot, podsOn),
    others: snapshot.nodes.filter((one) => !one.isOld && isUsable(one)),
    surge: surgeOf(snapshot),
  };
};

/** The pod of `pods` whose node is drained first, and the minute of that drain. */
export const firstMoved = (
  view: View,
  pods: readonly MovedPod[],
): { readonly pod: MovedPod; readonly minute: number } | undefined => {
  const first = view.forecast.firstDrained([...new Set(pods.map(({ node }) => node))]);
  const pod = pods.find(({ node }) => node === first?.node);
  return first === undefined || pod === undefined ? undefined : { pod, minute: first.minute };
};
