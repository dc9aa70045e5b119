// The group of a plan: a NodeGroup of Drover, or one that EKS manages, in the same shape. Reads
// only; an EKS group is known only from EKS, EC2 and the kubeconfig's cluster.

import type { NodegroupFacts } from '../../api/cloud-provisioning.ts';
import { defined } from '../../api/defined.ts';
import type { Taint } from '../../api/kube.ts';
import { autoScalingGroupNameOf, type NodeGroup, type UpdateConfig } from '../../api/nodegroup.ts';
import type { NodeGroupUpdate, UpdateStrategy } from '../../api/nodegroup-update.ts';
import type { StopTimes } from '../../api/stop-times.ts';
import type { HookTime } from '../../api/update-hooks.ts';
import { openInTurn, strategyOf } from '../../core/update/index.ts';
import type { KubeApi, ProvisioningApi } from '../../ports/index.ts';
import { CommandError, exitCodes } from '../context.ts';
import { listUpdates, needGroup } from '../update/read.ts';
import { setupsOf } from './times.ts';

export interface PlanGroup {
  readonly group: NodeGroup;
  readonly managedBy: 'drover' | 'eks';
  readonly autoScalingGroupName: string | undefined;
  readonly strategy: UpdateStrategy;
  readonly activeUpdate: string | undefined;
  /** Durations of hooks in earlier updates. */
  readonly hookTimes?: readonly HookTime[];
  /**
   * How long pods took to stop in earlier updates of any group, since their owners belong to the
   * cluster.
   */
  readonly stopTimes?: readonly StopTimes[];
  /**
   * How long earlier updates took to begin: those of this group if there are any, else of all
   * groups.
   */
  readonly setups?: readonly number[];
  /** EKS' status. */
  readonly state: string | undefined;
}

const inTime = (updates: readonly NodeGroupUpdate[]): readonly NodeGroupUpdate[] =>
  updates.toSorted((a, b) => ((a.status?.endedAt ?? '') < (b.status?.endedAt ?? '') ? -1 : 1));

export const ownGroup = async (
  kube: KubeApi,
  name: string,
  cluster: string | undefined,
): Promise<PlanGroup> => {
  const group = await needGroup(kube, name, cluster);
  const all = await listUpdates(kube);
  const updates = all.filter(({ spec }) => spec.nodeGroup === name);
  const [open] = openInTurn(updates, group);
  return {
    group,
    managedBy: 'drover',
    autoScalingGroupName: autoScalingGroupNameOf(group),
    strategy: strategyOf(group),
    activeUpdate: open?.metadata.name,
    setups: setupsOf(all, name),
    hookTimes: updates.flatMap(({ status }) => status?.hookTimes ?? []),
    stopTimes: inTime(all).flatMap(({ status }) => status?.stopTimes ?? []),
    state: group.metadata.deletionTimestamp === undefined ? group.status?.state : 'DELETING',
  };
};

const effects: Readonly<Record<string, Taint['effect']>> = {
  NO_SCHEDULE: 'NoSchedule',
  NO_EXECUTE: 'NoExecute',
  PREFER_NO_SCHEDULE: 'PreferNoSchedule',
};

const configOf = (facts: NodegroupFacts): UpdateConfig => {
  const { maxUnavailable, maxUnavailablePercentage } = facts;
  return {
    ...defined({ maxUnavailable, maxUnavailablePercentage }),
    updateStrategy: facts.updateStrategy === 'MINIMAL' ? 'MINIMAL' : 'DEFAULT',
  };
};

const asNodeGroup = (facts: NodegroupFacts): NodeGroup => ({
  apiVersion: 'drover.dev/v1alpha1',
  kind: 'NodeGroup',
  metadata: { name: facts.name, uid: '', resourceVersion: '', creationTimestamp: '' },
  spec: {
    clusterName: facts.cluster,
    amiType: facts.amiType,
    capacityType: facts.capacityType === 'SPOT' ? 'SPOT' : 'ON_DEMAND',
    instanceTypes: facts.instanceTypes,
    version: facts.version,
    releaseVersion: facts.releaseVersion,
    nodeRole: '',
    subnets: facts.subnets,
    scaling: { minSize: facts.minSize, maxSize: facts.maxSize, desired: facts.desiredSize },
    labels: facts.labels,
    taints: facts.taints.flatMap(({ key, value, effect }): readonly Taint[] => {
      const known = effects[effect];
      return known === undefined ? [] : [{ key, value, effect: known }];
    }),
    updateConfig: configOf(facts),
    ...defined({ launchTemplate: facts.launchTemplate }),
  },
});

/** `CLUSTER/NODEGROUP` of --eks. */
export const eksGroup = async (
  provisioning: ProvisioningApi,
  reference: string,
): Promise<PlanGroup> => {
  const [cluster = '', name = '', ...rest] = reference.split('/');
  if (cluster === '' || name === '' || rest.length > 0) {
    throw new CommandError(exitCodes.usage, `--eks takes CLUSTER/NODEGROUP, not ${reference}`);
  }
  const facts = await provisioning.describeNodegroup(cluster, name);
  if (facts === undefined) {
    throw new CommandError(
      exitCodes.failed,
      `EKS has no node group ${name} in a cluster ${cluster}: ` +
        `\`aws eks list-nodegroups --cluster-name ${cluster}\` lists them`,
    );
  }
  const group = asNodeGroup(facts);
  return {
    group,
    managedBy: 'eks',
    autoScalingGroupName: facts.autoScalingGroupName,
    strategy: strategyOf(group),
    activeUpdate: facts.status === 'UPDATING' ? 'one of EKS' : undefined,
    state: facts.status,
  };
};
