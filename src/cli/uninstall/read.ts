// What of Drover is in a cluster: node groups, open drains, records, controller, marks on nodes.
// Reads only.

import { agentWrittenTypes } from '../../api/agent-rights.ts';
import { type EpochMs, parseTime } from '../../api/brand.ts';
import { leaderLease } from '../../api/controller-rights.ts';
import type { NodeDisruption } from '../../api/disruption.ts';
import { type KubeObject, type Node, resourceTypes } from '../../api/kube.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import { standingMarks } from '../../core/termination/index.ts';
import { type KubeApi, listNodeGroups, type ObjectName } from '../../ports/index.ts';
import { orUndefined } from '../health/read.ts';
import {
  agentObjects,
  controllerDeployment,
  controllerObjects,
  hookObjects,
  hookRoleName,
  type NamedObject,
  recordTypes,
} from './objects.ts';
import { openSwaps } from './surges.ts';

interface Lease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly renewTime?: string;
    readonly leaseDurationSeconds?: number;
  };
}

export interface Installation {
  readonly groups: readonly NodeGroup[];
  readonly openDrains: readonly NodeDisruption[];
  /** Drains whose instances are detached for inspection; they stay, cordoned. */
  readonly inspected: readonly NodeDisruption[];
  /** Updates, sequences, repairs and disruptions. */
  readonly records: readonly NamedObject[];
  readonly hasDefinitions: boolean;
  /** The process that leads, by its Lease; undefined: none. */
  readonly leader: string | undefined;
  readonly deployment: KubeObject | undefined;
  /** Rights, fence, agent, ConfigMaps and the Lease that exist. */
  readonly objects: readonly NamedObject[];
  readonly markedNodes: readonly Node[];
  /**
   * Deployments that the controller has scaled up for a drain, or whose pods have a deletion cost
   * that it set.
   */
  readonly swaps: readonly ObjectName[];
}

/** Open, or ended with marks on a node that stays, which are removed when it is withdrawn. */
const isOpen = (disruption: NodeDisruption, node: Node | undefined): boolean =>
  disruption.status?.phase !== 'Ended' || standingMarks(disruption, node) === 'left';

const nodeIn = (nodes: readonly Node[], { status }: NodeDisruption): Node | undefined =>
  nodes.find(({ metadata }) => metadata.uid === status?.node?.uid);

/** A leader that crashed counts as running until its Lease expires. */
const leaderOf = (lease: Lease | undefined, now: EpochMs): string | undefined => {
  const { holderIdentity = '', renewTime, leaseDurationSeconds = 0 } = lease?.spec ?? {};
  const renewed = parseTime(renewTime);
  if (holderIdentity === '' || renewed === undefined) return undefined;
  return now < renewed + leaseDurationSeconds * 1000 ? holderIdentity : undefined;
};

export const readLeader = async (kube: KubeApi, now: EpochMs): Promise<string | undefined> => {
  const found = await kube.get<Lease>(resourceTypes.leases, leaderLease);
  return leaderOf(found.kind === 'found' ? found.object : undefined, now);
};

const ours = /^drover\.dev\//;
const keysOf = (record: Readonly<Record<string, string>> = {}): readonly string[] =>
  Object.keys(record).filter((key) => ours.test(key));

/**
 * The conditions of Drover's node agent. Other agents may write the same types, except
 * AgentHealthy.
 */
const agentConditionsOn = ({ status }: Node): readonly string[] => {
  const types = (status.conditions ?? []).map(({ type }) => type);
  if (!types.includes('AgentHealthy')) return [];
  return agentWrittenTypes.filter((type) => types.includes(type));
};

/** Labels, annotations and taints of Drover's API group, and conditions of its agent. */
export const marksOn = (node: Node) => ({
  ...keysOn(node),
  conditions: agentConditionsOn(node),
});

const keysOn = ({ metadata, spec }: Node) => ({
  labels: keysOf(metadata.labels),
  annotations: keysOf(metadata.annotations),
  taints: (spec.taints ?? []).filter(({ key }) => ours.test(key)).map(({ key }) => key),
});

export const isMarked = (node: Node): boolean =>
  Object.values(marksOn(node)).some((keys) => keys.length > 0);

const listed = async <T extends KubeObject>(
  kube: KubeApi,
  type: NamedObject['type'],
): Promise<readonly T[]> => (await orUndefined(kube.list<T>(type)))?.items ?? [];

/** Those that exist. */
const existing = async (
  kube: KubeApi,
  objects: readonly NamedObject[],
): Promise<readonly NamedObject[]> => {
  const found: NamedObject[] = [];
  for (const one of objects) {
    if ((await kube.get(one.type, one.name)).kind === 'found') found.push(one);
  }
  return found;
};

const hookRoles = async (kube: KubeApi): Promise<readonly NamedObject[]> => {
  const all: NamedObject[] = [];
  for (const type of hookObjects) {
    const fieldSelector = `metadata.name=${hookRoleName}`;
    const { items } = await kube.list(type, { fieldSelector });
    all.push(
      ...items.map(({ metadata: { namespace = '', name } }) => ({
        type,
        name: { namespace, name },
      })),
    );
  }
  return all;
};

interface Drains {
  readonly open: readonly NodeDisruption[];
  readonly inspected: readonly NodeDisruption[];
}

export const readDrains = async (kube: KubeApi): Promise<Drains> => {
  const all = await listed<NodeDisruption>(kube, resourceTypes.nodedisruptions);
  const marked = all.some(({ status }) => status?.ownedMarks !== undefined);
  const nodes = marked ? (await kube.list<Node>(resourceTypes.nodes)).items : [];
  return {
    open: all.filter((one) => isOpen(one, nodeIn(nodes, one))),
    inspected: all.filter((one) => standingMarks(one, nodeIn(nodes, one)) === 'inspected'),
  };
};

/** One line for each instance that is detached for inspection. */
export const inspectedLines = (inspected: readonly NodeDisruption[]): readonly string[] =>
  inspected.map(
    ({ metadata, status }) =>
      `instance ${metadata.name}, detached for inspection: node ${status?.node?.name ?? '?'} ` +
      'stays cordoned until you terminate the instance in EC2',
  );

/** Throws KubeError. */
export const readInstallation = async (kube: KubeApi, now: EpochMs): Promise<Installation> => {
  const groups = await orUndefined(listNodeGroups(kube));
  const records: NamedObject[] = [];
  for (const type of recordTypes) {
    const items = await listed(kube, type);
    records.push(...items.map(({ metadata: { name } }) => ({ type, name: { name } })));
  }
  const deployment = await kube.get<KubeObject>(
    controllerDeployment.type,
    controllerDeployment.name,
  );
  const { items: nodes } = await kube.list<Node>(resourceTypes.nodes);
  const { open, inspected } = await readDrains(kube);
  return {
    groups: groups ?? [],
    openDrains: open,
    inspected,
    records,
    hasDefinitions: groups !== undefined,
    leader: await readLeader(kube, now),
    deployment: deployment.kind === 'found' ? deployment.object : undefined,
    objects: [
      ...(await existing(kube, [...agentObjects, ...controllerObjects])),
      ...(await hookRoles(kube)),
    ],
    markedNodes: nodes.filter(isMarked),
    swaps: await openSwaps(kube),
  };
};
