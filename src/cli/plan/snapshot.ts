// The snapshot for a plan: group, target, cluster and cloud, read once. Reads only; refused reads
// are noted in it.

import { type EpochMs, instanceIdOfProviderId } from '../../api/brand.ts';
import type { CloudInstance, ScalingGroup } from '../../api/cloud.ts';
import { defined } from '../../api/defined.ts';
import type { UpdateStrategy } from '../../api/nodegroup-update.ts';
import type { UpdatePolicies } from '../../api/update-policy.ts';
import type { FullNode } from '../../api/workloads.ts';
import { overridesComplaint } from '../../core/nodegroup/index.ts';
import { podWaitsOf } from '../../core/termination/index.ts';
import { isOfRevision, maxUnavailableOf, outlookOf, policiesOf } from '../../core/update/index.ts';
import type { Snapshot } from '../../core/update/preflight/index.ts';
import type { CloudApi, KubeApi, ProvisioningApi } from '../../ports/index.ts';
import type { Asked } from '../update/request.ts';
import { Collector } from './collect.ts';
import type { PlanGroup } from './group.ts';
import { readMissingTemplates } from './hooks.ts';
import { readProbes } from './probes.ts';
import { readQuotas } from './quotas.ts';
import { readCluster } from './read-cluster.ts';
import { readTarget } from './target.ts';
import { readTimes } from './times.ts';

export interface Sources {
  readonly kube: KubeApi;
  readonly cloud: CloudApi;
  readonly provisioning: ProvisioningApi;
  readonly now: EpochMs;
  readonly isEmbedded?: boolean;
}

export interface PlanRequest extends Asked {
  readonly strategy: UpdateStrategy | undefined;
  readonly force: boolean;
  /** Nodes are replaced even if their launch template would have the same content. */
  readonly replaceEqual?: boolean;
  /** For this update only. */
  readonly policies?: UpdatePolicies;
}

type PlannedNode = Snapshot['nodes'][number];

const groupLabel = 'eks.amazonaws.com/nodegroup';
const zoneLabel = 'topology.kubernetes.io/zone';

/** Decides like the update itself which nodes it replaces. */
const isOfTarget = (
  node: FullNode,
  startedFrom: string | undefined,
  { imageId, templateVersion, launchTemplate }: Snapshot['target'],
  replaceEqual: boolean,
): boolean => {
  if (imageId === undefined) return false;
  const target = { imageId, replaceEqual, ...defined({ templateVersion, launchTemplate }) };
  return isOfRevision(target, { version: startedFrom, restored: undefined }, node);
};

const plannedNodes = (
  nodes: readonly FullNode[],
  facts: {
    readonly name: string;
    readonly scaling: ScalingGroup | undefined;
    readonly instances: readonly CloudInstance[];
    readonly target: Snapshot['target'];
    readonly replaceEqual: boolean;
  },
): readonly PlannedNode[] => {
  const members = new Map(facts.scaling?.instances.map((one) => [one.instanceId, one]));
  const byId = new Map(facts.instances.map((one) => [one.instanceId, one]));
  return nodes.map((node): PlannedNode => {
    const id = instanceIdOfProviderId(node.spec.providerID);
    const instance = id === undefined ? undefined : byId.get(id);
    const startedFrom = id === undefined ? undefined : members.get(id)?.launchTemplateVersion;
    const labels = node.metadata.labels ?? {};
    const isOfGroup =
      facts.scaling === undefined || id === undefined
        ? labels[groupLabel] === facts.name
        : members.has(id);
    return {
      node,
      isOfGroup,
      isOld: isOfGroup && !isOfTarget(node, startedFrom, facts.target, facts.replaceEqual),
      zone: labels[zoneLabel] ?? instance?.availabilityZone ?? '',
      ...defined({ instanceId: id }),
      ...(instance === undefined ? {} : { instanceType: instance.instanceType }),
      ...defined({ launchTime: instance?.launchTime }),
    };
  });
};

/** The subnets in which instances are launched at present; they may differ from the spec's. */
const subnetsOf = (
  { subnets }: Pick<PlanGroup['group']['spec'], 'subnets'>,
  scaling: ScalingGroup | undefined,
): readonly string[] => {
  const { subnets: started = [] } = scaling ?? {};
  return started.length === 0 ? subnets : started;
};

const readCloud = async (
  { cloud, provisioning }: Sources,
  { group, autoScalingGroupName }: PlanGroup,
  collector: Collector,
) => {
  const { spec } = group;
  const scaling = await collector.read('scalingGroup', undefined, async () => {
    const names = autoScalingGroupName === undefined ? [] : [autoScalingGroupName];
    return (await cloud.describeGroups(names))[0];
  });
  if (scaling === undefined) collector.note('scalingGroup', 'its Auto Scaling group was not found');
  const ids = (scaling?.instances ?? []).map(({ instanceId }) => instanceId);
  const instances = await collector.read<readonly CloudInstance[]>('scalingGroup', [], () =>
    cloud.describeInstances(ids),
  );
  const subnets = await collector.read<Snapshot['subnets']>('subnets', [], async () =>
    (await cloud.describeSubnets(subnetsOf(spec, scaling))).map(
      ({ id, availabilityZone, freeAddresses }) => ({
        id,
        zone: availabilityZone,
        freeAddresses,
      }),
    ),
  );
  const cluster = await collector.read('controlPlane', undefined, () =>
    provisioning.describeCluster(spec.clusterName),
  );
  if (cluster === undefined) {
    collector.note('controlPlane', `EKS has no cluster ${spec.clusterName}`);
  }
  return { scaling, instances, subnets, clusterVersion: cluster?.version };
};

const groupFacts = (
  { group, managedBy, strategy, activeUpdate, state, hookTimes = [] }: PlanGroup,
  scaling: ScalingGroup | undefined,
  request: PlanRequest,
): Snapshot['group'] => {
  const { spec, status, metadata } = group;
  const { minSize, maxSize } = spec.scaling;
  const leftover = activeUpdate === undefined ? (status?.surge?.desired ?? 0) : 0;
  const there = scaling?.desiredCapacity ?? spec.scaling.desired ?? minSize;
  const desired = Math.max(minSize, there - leftover);
  const releaseVersion = status?.releaseVersion ?? spec.releaseVersion;
  const strategyUsed = request.strategy ?? strategy;
  const policies = policiesOf(spec, request, strategyUsed);
  return {
    name: metadata.name,
    cluster: spec.clusterName,
    managedBy,
    ...defined({ state }),
    amiType: spec.amiType,
    capacityType: spec.capacityType,
    instanceTypes: spec.instanceTypes,
    subnets: subnetsOf(spec, scaling),
    labels: spec.labels ?? {},
    taints: spec.taints ?? [],
    sizes: { minSize, maxSize, desired },
    strategy: strategyUsed,
    maxUnavailable: maxUnavailableOf(spec.updateConfig, desired),
    force: request.force,
    drainTimeoutSeconds: policies.drainTimeoutMs / 1000,
    ...(managedBy === 'eks'
      ? {}
      : { podWaits: podWaitsOf(spec.drain ?? {}, policies.drainTimeoutMs / 1000) }),
    cooldownSeconds: policies.cooldownSeconds,
    policies,
    ...(strategyUsed === 'SURGE' ? { onShortage: policies.onShortage } : {}),
    ...(strategyUsed === 'BLUE_GREEN'
      ? {
          soakSeconds: (policies.soakMs ?? 0) / 1000,
          batchSoakSeconds: (policies.batchSoakMs ?? 0) / 1000,
        }
      : {}),
    ...(spec.updateConfig?.hooks === undefined
      ? {}
      : { hooks: spec.updateConfig.hooks, hookTimes }),
    ...defined({ updateConfig: spec.updateConfig }),
    current: {
      version: status?.version ?? spec.version,
      ...defined({ releaseVersion, imageId: status?.imageId, launchTemplate: spec.launchTemplate }),
    },
    ...(leftover === 0 ? {} : { leftover }),
    ...defined({ activeUpdate }),
  };
};

/**
 * Stop times that drains recorded. Drains of an update are left out: the update's own status has
 * them.
 */
const drainStops = (disruptions: Snapshot['disruptions']) =>
  disruptions
    .filter(({ spec }) => spec.causes.every(({ kind }) => kind !== 'Update'))
    .flatMap(({ status }) => status?.stopTimes ?? []);

export const readSnapshot = async (
  sources: Sources,
  planned: PlanGroup,
  request: PlanRequest,
): Promise<Snapshot> => {
  const { kube, cloud, now } = sources;
  const { group } = planned;
  const collector = new Collector();
  const { nodes, ...cluster } = await readCluster(kube, collector);
  const { scaling, instances, subnets, clusterVersion } = await readCloud(
    sources,
    planned,
    collector,
  );
  const around = {
    group,
    clusterVersion,
    managedBy: planned.managedBy,
    inUse: scaling?.launchTemplate?.version,
    replaceEqual: request.replaceEqual === true,
    complaint: scaling === undefined ? undefined : overridesComplaint(scaling),
  };
  const target = await readTarget(cloud, collector, around, request);
  const types = target.instanceTypes ?? group.spec.instanceTypes;
  const instanceTypes = await collector.read<Snapshot['instanceTypes']>('instanceTypes', [], () =>
    cloud.describeInstanceTypes(types),
  );
  const { capacityType } = group.spec;
  const accountQuotas = await readQuotas(sources, collector, {
    instanceTypes: types,
    capacityType,
  });
  const missingTemplates = await readMissingTemplates(kube, collector, group.spec.updateConfig);
  const { name } = group.metadata;
  const { endpointSlices } = cluster;
  const looked = { ...sources, endpointSlices };
  return {
    ...cluster,
    ...(await readProbes(looked, collector, group.spec.updateConfig?.probes)),
    ...(await readTimes(sources, collector, planned)),
    ...(missingTemplates.length === 0 ? {} : { missingTemplates }),
    stopTimes: [...(planned.stopTimes ?? []), ...drainStops(cluster.disruptions)],
    now,
    group: groupFacts(planned, scaling, request),
    target,
    nodes: plannedNodes(nodes, {
      ...{ name, scaling, instances, target },
      replaceEqual: around.replaceEqual,
    }),
    ...(scaling === undefined
      ? {}
      : {
          scalingGroup: {
            instances: scaling.instances.map(
              ({ instanceId, lifecycleState, availabilityZone }) => ({
                instanceId,
                lifecycleState,
                zone: availabilityZone,
              }),
            ),
            ...(scaling.warmPool === undefined
              ? {}
              : { warmPool: { of: scaling.name, ...scaling.warmPool } }),
          },
        }),
    subnets,
    instanceTypes,
    accountQuotas,
    outlook: outlookOf(group.spec.updateConfig ?? {}, now),
    ...defined({ controlPlaneVersion: clusterVersion }),
    unread: collector.unread,
  };
};
