// EKS clusters, their node groups and add-ons, for the commands that list and create them. Never
// waits for the operations that a call starts.

import type { AddonFacts, ClusterFacts, NodegroupFacts } from '../api/cloud-provisioning.ts';
import { defined } from '../api/defined.ts';
import { type JsonObject, objectOr } from '../api/json.ts';
import type { ProvisioningApi } from '../ports/index.ts';
import type { AwsCalls } from './calls.ts';
import type { AwsRefusal } from './transport.ts';
import {
  maybeNumber,
  maybeText,
  numberOf,
  objects,
  textMapOf,
  textOf,
  textsOf,
  timeOf,
} from './values.ts';

const clusterOf = (cluster: JsonObject): ClusterFacts => {
  const network = objectOr(cluster.resourcesVpcConfig);
  return {
    name: textOf(cluster.name),
    arn: textOf(cluster.arn),
    status: textOf(cluster.status),
    version: textOf(cluster.version),
    endpoint: textOf(cluster.endpoint),
    certificateAuthority: textOf(objectOr(cluster.certificateAuthority).data),
    serviceCidr: maybeText(objectOr(cluster.kubernetesNetworkConfig).serviceIpv4Cidr),
    vpcId: textOf(network.vpcId),
    subnetIds: textsOf(network.subnetIds),
    securityGroupId: maybeText(network.clusterSecurityGroupId),
    logTypes: objects(objectOr(cluster.logging).clusterLogging)
      .filter((setup) => setup.enabled === true)
      .flatMap((setup) => textsOf(setup.types)),
    tags: textMapOf(cluster.tags),
    createdAt: timeOf(cluster.createdAt),
  };
};

const nodegroupOf = (group: JsonObject): NodegroupFacts => {
  const updateConfig = objectOr(group.updateConfig);
  const scaling = objectOr(group.scalingConfig);
  const template = objectOr(group.launchTemplate);
  const templateId = maybeText(template.id);
  return {
    name: textOf(group.nodegroupName),
    cluster: textOf(group.clusterName),
    status: textOf(group.status),
    version: textOf(group.version),
    releaseVersion: textOf(group.releaseVersion),
    amiType: maybeText(group.amiType) ?? 'CUSTOM',
    capacityType: maybeText(group.capacityType) ?? 'ON_DEMAND',
    instanceTypes: textsOf(group.instanceTypes),
    subnets: textsOf(group.subnets),
    labels: textMapOf(group.labels),
    taints: objects(group.taints).map(({ key, value, effect }) => ({
      key: textOf(key),
      value: textOf(value),
      effect: textOf(effect),
    })),
    minSize: numberOf(scaling.minSize),
    maxSize: numberOf(scaling.maxSize),
    desiredSize: numberOf(scaling.desiredSize),
    ...defined({
      maxUnavailable: maybeNumber(updateConfig.maxUnavailable),
      maxUnavailablePercentage: maybeNumber(updateConfig.maxUnavailablePercentage),
      updateStrategy: maybeText(updateConfig.updateStrategy),
      launchTemplate:
        templateId === undefined
          ? undefined
          : { id: templateId, version: textOf(template.version) },
      autoScalingGroupName: maybeText(
        objects(objectOr(group.resources).autoScalingGroups)[0]?.name,
      ),
    }),
  };
};

const addonOf = (name: string, addon: JsonObject): AddonFacts => ({
  name,
  version: textOf(addon.addonVersion),
  status: textOf(addon.status),
  roleArn: textOf(addon.serviceAccountRoleArn),
  configurationValues: textOf(addon.configurationValues),
  issues: objects(objectOr(addon.health).issues).map(
    ({ code, message }) => `${textOf(code)}: ${textOf(message)}`,
  ),
  createdAt: timeOf(addon.createdAt),
});

/** Only an unknown cluster, group or add-on, not other kinds of absence. */
const isUnknown = ({ codes }: AwsRefusal): boolean => codes.includes('ResourceNotFoundException');

const service = 'eks';

export const clusterCalls = (
  calls: AwsCalls,
): Pick<
  ProvisioningApi,
  | 'describeCluster'
  | 'describeClusterUpdate'
  | 'describeNodegroup'
  | 'listClusters'
  | 'listNodegroups'
  | 'updateClusterVersion'
> => ({
  listClusters: (options = {}) => calls.allTexts(service, 'ListClusters', {}, 'clusters', options),
  describeCluster: async (name, options = {}) => {
    const output = await calls.maybe(service, 'DescribeCluster', { name }, options, isUnknown);
    return output && clusterOf(objectOr(output.cluster));
  },
  updateClusterVersion: async (name, { version, force }, options = {}) => {
    const input = { name, version, ...(force ? { force } : {}) };
    const { update } = await calls.send(service, 'UpdateClusterVersion', input, options);
    return textOf(objectOr(update).id);
  },
  describeClusterUpdate: async (name, updateId, options = {}) => {
    const output = await calls.send(service, 'DescribeUpdate', { name, updateId }, options);
    const { status, errors } = objectOr(output.update);
    return {
      status: textOf(status),
      errors: objects(errors).map(({ errorCode, errorMessage }) => ({
        code: textOf(errorCode),
        message: textOf(errorMessage),
      })),
    };
  },
  listNodegroups: (clusterName, options = {}) =>
    calls.allTexts(service, 'ListNodegroups', { clusterName }, 'nodegroups', options),
  describeNodegroup: async (clusterName, nodegroupName, options = {}) => {
    const input = { clusterName, nodegroupName };
    const output = await calls.maybe(service, 'DescribeNodegroup', input, options, isUnknown);
    return output && nodegroupOf(objectOr(output.nodegroup));
  },
});

export const addonCalls = (
  calls: AwsCalls,
): Pick<ProvisioningApi, 'createAddon' | 'deleteAddon' | 'listAddons'> => ({
  listAddons: async (clusterName, options = {}) => {
    const names = await calls.allTexts(service, 'ListAddons', { clusterName }, 'addons', options);
    return Promise.all(
      names.map(async (addonName) => {
        const input = { clusterName, addonName };
        const { addon } = await calls.send(service, 'DescribeAddon', input, options);
        return addonOf(addonName, objectOr(addon));
      }),
    );
  },
  createAddon: async (clusterName, addon, options = {}) => {
    const input = {
      clusterName,
      addonName: addon.name,
      ...defined({
        addonVersion: addon.version,
        configurationValues: addon.configurationValues,
        resolveConflicts: addon.overwrite === true ? 'OVERWRITE' : undefined,
      }),
    };
    await calls.send(service, 'CreateAddon', input, options);
  },
  deleteAddon: async (clusterName, addonName, options = {}) => {
    const input = { clusterName, addonName };
    return (await calls.maybe(service, 'DeleteAddon', input, options, isUnknown)) !== undefined;
  },
});
