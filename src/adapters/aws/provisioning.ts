// What the command line asks of AWS to create and delete: EKS clusters and add-ons, stacks,
// subnets, images. Only translates; never waits for what a call has started.

import type { Stack as SdkStack } from '@aws-sdk/client-cloudformation';
import type { Cluster, Nodegroup } from '@aws-sdk/client-eks';
import type {
  AddonFacts,
  ClusterFacts,
  NodegroupFacts,
  StackState,
} from '../../api/cloud-provisioning.ts';
import { defined } from '../../api/defined.ts';
import { type Clock, CloudError, type ProvisioningApi } from '../../ports/index.ts';
import {
  type AwsOptions,
  allPages,
  type CallOptions,
  call,
  createClients,
  tagsOf,
} from './clients.ts';
import { entryCalls } from './entries.ts';
import { quotaCalls } from './quotas.ts';

type Clients = ReturnType<typeof createClients>;

const clusterOf = (cluster: Cluster): ClusterFacts => ({
  name: cluster.name ?? '',
  arn: cluster.arn ?? '',
  status: cluster.status ?? '',
  version: cluster.version ?? '',
  endpoint: cluster.endpoint ?? '',
  certificateAuthority: cluster.certificateAuthority?.data ?? '',
  serviceCidr: cluster.kubernetesNetworkConfig?.serviceIpv4Cidr,
  vpcId: cluster.resourcesVpcConfig?.vpcId ?? '',
  subnetIds: cluster.resourcesVpcConfig?.subnetIds ?? [],
  securityGroupId: cluster.resourcesVpcConfig?.clusterSecurityGroupId,
  logTypes: (cluster.logging?.clusterLogging ?? [])
    .filter((setup) => setup.enabled === true)
    .flatMap((setup) => setup.types ?? []),
  tags: cluster.tags ?? {},
  createdAt: cluster.createdAt?.toISOString() ?? '',
});

const nodegroupOf = (group: Nodegroup): NodegroupFacts => {
  const { updateConfig, launchTemplate, resources } = group;
  const { maxUnavailable, maxUnavailablePercentage } = updateConfig ?? {};
  const asg = resources?.autoScalingGroups?.[0]?.name;
  // Newer than the SDK's model knows it.
  const strategy = Object.entries(updateConfig ?? {}).find(
    ([key]) => key === 'updateStrategy',
  )?.[1];
  return {
    name: group.nodegroupName ?? '',
    cluster: group.clusterName ?? '',
    status: group.status ?? '',
    version: group.version ?? '',
    releaseVersion: group.releaseVersion ?? '',
    amiType: group.amiType ?? 'CUSTOM',
    capacityType: group.capacityType ?? 'ON_DEMAND',
    instanceTypes: group.instanceTypes ?? [],
    subnets: group.subnets ?? [],
    labels: group.labels ?? {},
    taints: (group.taints ?? []).map(({ key = '', value = '', effect = '' }) => ({
      key,
      value,
      effect,
    })),
    minSize: group.scalingConfig?.minSize ?? 0,
    maxSize: group.scalingConfig?.maxSize ?? 0,
    desiredSize: group.scalingConfig?.desiredSize ?? 0,
    ...defined({ maxUnavailable, maxUnavailablePercentage }),
    ...(typeof strategy === 'string' ? { updateStrategy: strategy } : {}),
    ...(launchTemplate?.id === undefined
      ? {}
      : { launchTemplate: { id: launchTemplate.id, version: launchTemplate.version ?? '' } }),
    ...defined({ autoScalingGroupName: asg }),
  };
};

/** `undefined` where the service says that the named thing is not there. */
const unlessMissing = async <T>(
  isMissing: (error: Error) => boolean,
  ask: () => Promise<T>,
): Promise<T | undefined> => {
  try {
    return await ask();
  } catch (error) {
    const cause = error instanceof CloudError ? error.cause : undefined;
    if (cause instanceof Error && isMissing(cause)) return undefined;
    throw error;
  }
};

const named =
  (...names: readonly string[]) =>
  (error: Error): boolean =>
    names.includes(error.name);

/** CloudFormation has no error of its own for a stack that is not there. */
const stackMissing = (error: Error): boolean =>
  error.name === 'ValidationError' && /does not exist/.test(error.message);

const clusterCalls = (clients: Clients) => ({
  listClusters: async (options: CallOptions = {}) => {
    const { sdk, client } = await clients.eks();
    return allPages(async (nextToken) => {
      const command = new sdk.ListClustersCommand(nextToken === undefined ? {} : { nextToken });
      const page = await call('ListClusters', options, (http) => client.send(command, http));
      return { items: page.clusters ?? [], next: page.nextToken };
    });
  },
  describeCluster: (name: string, options: CallOptions = {}) =>
    unlessMissing(named('ResourceNotFoundException'), async () => {
      const { sdk, client } = await clients.eks();
      const command = new sdk.DescribeClusterCommand({ name });
      const { cluster } = await call('DescribeCluster', options, (http) =>
        client.send(command, http),
      );
      return clusterOf(cluster ?? {});
    }),
  updateClusterVersion: async (
    name: string,
    { version, force }: { readonly version: string; readonly force: boolean },
    options: CallOptions = {},
  ) => {
    const { sdk, client } = await clients.eks();
    const asked = { name, version, ...(force ? { force } : {}) };
    const command = new sdk.UpdateClusterVersionCommand(asked);
    const { update } = await call('UpdateClusterVersion', options, (http) =>
      client.send(command, http),
    );
    return update?.id ?? '';
  },
  describeClusterUpdate: async (name: string, updateId: string, options: CallOptions = {}) => {
    const { sdk, client } = await clients.eks();
    const command = new sdk.DescribeUpdateCommand({ name, updateId });
    const { update } = await call('DescribeUpdate', options, (http) => client.send(command, http));
    const errors = (update?.errors ?? []).map(({ errorCode = '', errorMessage = '' }) => ({
      code: errorCode,
      message: errorMessage,
    }));
    return { status: update?.status ?? '', errors };
  },
  listNodegroups: async (clusterName: string, options: CallOptions = {}) => {
    const { sdk, client } = await clients.eks();
    return allPages(async (nextToken) => {
      const command = new sdk.ListNodegroupsCommand({
        clusterName,
        ...defined({ nextToken }),
      });
      const page = await call('ListNodegroups', options, (http) => client.send(command, http));
      return { items: page.nodegroups ?? [], next: page.nextToken };
    });
  },
});

const nodegroupCalls = (clients: Clients) => ({
  describeNodegroup: (clusterName: string, nodegroupName: string, options: CallOptions = {}) =>
    unlessMissing(named('ResourceNotFoundException'), async () => {
      const { sdk, client } = await clients.eks();
      const command = new sdk.DescribeNodegroupCommand({ clusterName, nodegroupName });
      const { nodegroup } = await call('DescribeNodegroup', options, (http) =>
        client.send(command, http),
      );
      return nodegroupOf(nodegroup ?? {});
    }),
});

const addonCalls = (clients: Clients) => ({
  listAddons: async (clusterName: string, options: CallOptions = {}) => {
    const { sdk, client } = await clients.eks();
    const names = await allPages(async (nextToken) => {
      const command = new sdk.ListAddonsCommand({
        clusterName,
        ...defined({ nextToken }),
      });
      const page = await call('ListAddons', options, (http) => client.send(command, http));
      return { items: page.addons ?? [], next: page.nextToken };
    });
    return Promise.all(
      names.map(async (addonName): Promise<AddonFacts> => {
        const command = new sdk.DescribeAddonCommand({ clusterName, addonName });
        const { addon } = await call('DescribeAddon', options, (http) =>
          client.send(command, http),
        );
        return {
          name: addonName,
          version: addon?.addonVersion ?? '',
          status: addon?.status ?? '',
          roleArn: addon?.serviceAccountRoleArn ?? '',
          configurationValues: addon?.configurationValues ?? '',
          issues: (addon?.health?.issues ?? []).map((issue) => `${issue.code}: ${issue.message}`),
          createdAt: addon?.createdAt?.toISOString() ?? '',
        };
      }),
    );
  },
  createAddon: async (
    clusterName: string,
    addon: Parameters<ProvisioningApi['createAddon']>[1],
    options: CallOptions = {},
  ) => {
    const { sdk, client } = await clients.eks();
    const command = new sdk.CreateAddonCommand({
      clusterName,
      addonName: addon.name,
      ...defined({ addonVersion: addon.version, configurationValues: addon.configurationValues }),
      ...(addon.overwrite === true ? { resolveConflicts: 'OVERWRITE' as const } : {}),
    });
    await call('CreateAddon', options, (http) => client.send(command, http));
  },
  deleteAddon: async (clusterName: string, addonName: string, options: CallOptions = {}) => {
    const gone = await unlessMissing(named('ResourceNotFoundException'), async () => {
      const { sdk, client } = await clients.eks();
      const command = new sdk.DeleteAddonCommand({ clusterName, addonName });
      await call('DeleteAddon', options, (http) => client.send(command, http));
      return true;
    });
    return gone === true;
  },
});

const networkCalls = (clients: Clients) => ({
  describeSubnets: async (
    which: Parameters<ProvisioningApi['describeSubnets']>[0],
    options: CallOptions = {},
  ) => {
    const { sdk, client } = await clients.ec2();
    const filter =
      'ids' in which
        ? { Name: 'subnet-id', Values: [...which.ids] }
        : { Name: 'vpc-id', Values: [which.vpcId] };
    if (filter.Values.length === 0) return [];
    const subnets = await allPages(async (NextToken) => {
      const command = new sdk.DescribeSubnetsCommand({
        Filters: [filter],
        ...defined({ NextToken }),
      });
      const page = await call('DescribeSubnets', options, (http) => client.send(command, http));
      return { items: page.Subnets ?? [], next: page.NextToken };
    });
    return subnets.map((subnet) => ({
      id: subnet.SubnetId ?? '',
      zone: subnet.AvailabilityZone ?? '',
      vpcId: subnet.VpcId ?? '',
      isPublic: subnet.MapPublicIpOnLaunch ?? false,
    }));
  },
  availabilityZones: async (options: CallOptions = {}) => {
    const { sdk, client } = await clients.ec2();
    const command = new sdk.DescribeAvailabilityZonesCommand({});
    const { AvailabilityZones } = await call('DescribeAvailabilityZones', options, (http) =>
      client.send(command, http),
    );
    return (AvailabilityZones ?? [])
      .filter((zone) => zone.State === 'available' && zone.ZoneType !== 'local-zone')
      .flatMap((zone) => zone.ZoneName ?? []);
  },
  createKeyPair: async (name: string, options: CallOptions = {}) => {
    const { sdk, client } = await clients.ec2();
    const command = new sdk.CreateKeyPairCommand({ KeyName: name });
    await call('CreateKeyPair', options, (http) => client.send(command, http));
  },
  keyPairExists: async (name: string, options: CallOptions = {}) => {
    const { sdk, client } = await clients.ec2();
    const command = new sdk.DescribeKeyPairsCommand({
      Filters: [{ Name: 'key-name', Values: [name] }],
    });
    const { KeyPairs } = await call('DescribeKeyPairs', options, (http) =>
      client.send(command, http),
    );
    return (KeyPairs ?? []).length > 0;
  },
  imageParameter: (name: string, options: CallOptions = {}) =>
    unlessMissing(named('ParameterNotFound'), async () => {
      const { sdk, client } = await clients.ssm();
      const command = new sdk.GetParameterCommand({ Name: name });
      const { Parameter } = await call('GetParameter', options, (http) =>
        client.send(command, http),
      );
      return Parameter?.Value;
    }),
});

const stateOf = (stack: SdkStack): StackState => ({
  name: stack.StackName ?? '',
  status: stack.StackStatus ?? '',
  statusReason: stack.StackStatusReason,
  outputs: Object.fromEntries(
    (stack.Outputs ?? []).map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue]),
  ),
  tags: tagsOf(stack.Tags),
});

const stackCalls = (clients: Clients) => ({
  createStack: async (
    plan: Parameters<ProvisioningApi['createStack']>[0],
    options: CallOptions = {},
  ) => {
    const { sdk, client } = await clients.cloudFormation();
    const command = new sdk.CreateStackCommand({
      StackName: plan.name,
      TemplateBody: JSON.stringify(plan.template),
      Capabilities: ['CAPABILITY_IAM'],
      Tags: Object.entries(plan.tags).map(([Key, Value]) => ({ Key, Value })),
    });
    await call('CreateStack', options, (http) => client.send(command, http));
  },
  describeStack: (name: string, options: CallOptions = {}) =>
    unlessMissing(stackMissing, async () => {
      const { sdk, client } = await clients.cloudFormation();
      const command = new sdk.DescribeStacksCommand({ StackName: name });
      const { Stacks } = await call('DescribeStacks', options, (http) =>
        client.send(command, http),
      );
      const stack = Stacks?.[0];
      return stack === undefined ? undefined : stateOf(stack);
    }),
  stackFailures: async (name: string, options: CallOptions = {}) => {
    const { sdk, client } = await clients.cloudFormation();
    const events = await allPages(async (NextToken) => {
      const command = new sdk.DescribeStackEventsCommand({
        StackName: name,
        ...defined({ NextToken }),
      });
      const page = await call('DescribeStackEvents', options, (http) => client.send(command, http));
      return { items: page.StackEvents ?? [], next: page.NextToken };
    });
    // Newest first; the first failure in time is the cause of the others.
    return events
      .filter(
        (event) => /_FAILED$/.test(event.ResourceStatus ?? '') && event.LogicalResourceId !== name,
      )
      .map((event) => ({
        logicalId: event.LogicalResourceId ?? '',
        type: event.ResourceType ?? '',
        reason: event.ResourceStatusReason ?? '',
      }))
      .toReversed();
  },
  deleteStack: async (name: string, options: CallOptions = {}) => {
    const { sdk, client } = await clients.cloudFormation();
    const command = new sdk.DeleteStackCommand({ StackName: name });
    await call('DeleteStack', options, (http) => client.send(command, http));
  },
});

/** Nothing is imported or connected before the first call. */
export const createAwsProvisioning = (options: AwsOptions, clock: Clock): ProvisioningApi => {
  const clients = createClients(options);
  return {
    ...clusterCalls(clients),
    ...nodegroupCalls(clients),
    ...addonCalls(clients),
    ...entryCalls(clients, clock),
    ...networkCalls(clients),
    ...quotaCalls(clients, options),
    ...stackCalls(clients),
  };
};
