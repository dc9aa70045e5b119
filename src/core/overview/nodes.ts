// Nodes at a glance: the health of each, its group, its drain and its repair, and the first thing
// that it waits for. `drover get nodes`, `drover top` and the page share it. Decides nothing.
import { type EpochMs, formatKubeTime, instanceIdOfProviderId } from '../../api/brand.ts';
import { defined } from '../../api/defined.ts';
import type { NodeDisruption } from '../../api/disruption.ts';
import type { KubeObject, Node } from '../../api/kube.ts';
import type { NodeRepair } from '../../api/node-repair.ts';
import { type NodeGroup, nodeGroupLabels } from '../../api/nodegroup.ts';
import { explainRepair, explainWaiting } from '../explain/index.ts';
import { healthOf, type NodeHealth } from '../health/index.ts';
import { isOpenRepair } from '../repair/index.ts';

/** The NodeDisruption's name: the instance's id, or the node's uid where there is no instance. */
export const disruptionNameOf = (node: Node): string =>
  instanceIdOfProviderId(node.spec.providerID) ?? `node-${node.metadata.uid}`;

/** Name of the node's group: a NodeGroup, or a self-managed group of eksctl. */
export const groupNameOf = ({ metadata }: Node): string | undefined =>
  nodeGroupLabels.map((label) => metadata.labels?.[label]).find((name) => name !== undefined);

/** One node with the data about its health. */
export interface NodeInHealth {
  readonly node: Node;
  readonly health: NodeHealth;
  readonly group?: NodeGroup;
  readonly disruption?: NodeDisruption;
  /** The open repair of its instance. */
  readonly repair?: NodeRepair;
}

/** The objects from which the health of nodes follows. */
export interface HealthObjects {
  readonly nodes: readonly Node[];
  readonly groups: readonly NodeGroup[];
  readonly disruptions: readonly NodeDisruption[];
  readonly repairs: readonly NodeRepair[];
}

const byName = <T extends KubeObject>(objects: readonly T[]): ReadonlyMap<string, T> =>
  new Map(objects.map((one) => [one.metadata.name, one]));

/** O(objects). */
export const healthIn = (
  { nodes, groups, disruptions, repairs }: HealthObjects,
  now: EpochMs,
): readonly NodeInHealth[] => {
  const groupOf = byName(groups);
  const disruptionOf = byName(disruptions);
  const repairOf = new Map(
    repairs.filter(isOpenRepair).map((one) => [one.spec.instanceId, one] as const),
  );
  return nodes.map((node) => ({
    node,
    health: healthOf({ node, now }),
    ...defined({
      group: groupOf.get(groupNameOf(node) ?? ''),
      disruption: disruptionOf.get(disruptionNameOf(node)),
      repair: repairOf.get(instanceIdOfProviderId(node.spec.providerID) ?? ''),
    }),
  }));
};

const zoneLabel = 'topology.kubernetes.io/zone';

/** One row; the json and yaml form of `drover get nodes`. */
export interface NodeRow {
  readonly name: string;
  readonly group: string | null;
  readonly zone: string | null;
  /** The kubelet's version. */
  readonly revision: string | null;
  readonly health: string;
  /** The first finding: condition and reason. */
  readonly finding: string | null;
  /** RFC 3339: since when it has this health. */
  readonly since: string | null;
  readonly waitsFor: string | null;
}

const waitsFor = ({ health, group, repair, disruption }: NodeInHealth): string | undefined => {
  const { phase, waitingOn = [] } = disruption?.status ?? {};
  const [first] = waitingOn;
  if (phase !== undefined && phase !== 'Ended') {
    return first === undefined ? `drain: ${phase}` : `drain: ${explainWaiting(first)}`;
  }
  const [line] = explainRepair(health, {
    ...(repair === undefined ? {} : { repair }),
    ...(group === undefined ? {} : { group }),
  });
  return line;
};

type WithVersion = Node & {
  readonly status: { readonly nodeInfo?: { readonly kubeletVersion?: string } };
};

export const nodeRow = (one: NodeInHealth): NodeRow => {
  const { node, health } = one;
  const [finding] = health.findings;
  return {
    name: node.metadata.name,
    group: groupNameOf(node) ?? null,
    zone: node.metadata.labels?.[zoneLabel] ?? null,
    revision: (node as WithVersion).status.nodeInfo?.kubeletVersion ?? null,
    health: health.state,
    finding: finding === undefined ? null : `${finding.condition} ${finding.reason}`,
    since: health.since === undefined ? null : formatKubeTime(health.since),
    waitsFor: waitsFor(one) ?? null,
  };
};
