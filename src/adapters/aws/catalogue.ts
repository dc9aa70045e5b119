// What EC2 has to choose from: subnets, instance types, images, the cluster; and what an
// instance wrote to its console. Filters throughout: one unknown id must not fail the whole call.

import type { _InstanceType, Image as AwsImage, InstanceTypeInfo } from '@aws-sdk/client-ec2';
import type { VpcConfigResponse } from '@aws-sdk/client-eks';
import type { Image, InstanceTypeFacts } from '../../api/cloud.ts';
import { defined } from '../../api/defined.ts';
import type { ClusterNetwork } from '../../api/network.ts';
import type { CloudApi } from '../../ports/index.ts';
import { allPages, type Clients, call } from './clients.ts';
import { orAbsent } from './errors.ts';

const typeFacts = (type: InstanceTypeInfo): InstanceTypeFacts => ({
  name: type.InstanceType ?? '',
  interfaces: type.NetworkInfo?.MaximumNetworkInterfaces ?? 0,
  addressesPerInterface: type.NetworkInfo?.Ipv4AddressesPerInterface ?? 0,
  vcpus: type.VCpuInfo?.DefaultVCpus ?? 0,
  architectures: [...(type.ProcessorInfo?.SupportedArchitectures ?? [])],
});

const imageFacts = (image: AwsImage): Image => ({
  id: image.ImageId ?? '',
  name: image.Name ?? '',
  description: image.Description ?? '',
});

const networkOf = (config: VpcConfigResponse): ClusterNetwork => ({
  vpcId: config.vpcId ?? '',
  publicAccess: config.endpointPublicAccess ?? false,
  privateAccess: config.endpointPrivateAccess ?? false,
  publicAccessCidrs: config.publicAccessCidrs ?? [],
  securityGroups: [config.clusterSecurityGroupId, ...(config.securityGroupIds ?? [])].filter(
    (id) => id !== undefined,
  ),
});

export const catalogueCalls = (
  clients: Clients,
): Pick<
  CloudApi,
  | 'describeSubnets'
  | 'describeInstanceTypes'
  | 'describeImages'
  | 'findImage'
  | 'describeCluster'
  | 'consoleOutput'
> => ({
  describeSubnets: async (ids, options = {}) => {
    const { sdk, client } = await clients.ec2();
    return allPages(async (token) => {
      const command = new sdk.DescribeSubnetsCommand({
        Filters: [{ Name: 'subnet-id', Values: [...ids] }],
        ...defined({ NextToken: token }),
      });
      const page = await call('DescribeSubnets', options, (http) => client.send(command, http));
      const items = (page.Subnets ?? []).map((subnet) => ({
        id: subnet.SubnetId ?? '',
        availabilityZone: subnet.AvailabilityZone ?? '',
        vpcId: subnet.VpcId ?? '',
        freeAddresses: subnet.AvailableIpAddressCount ?? 0,
      }));
      return { items, next: page.NextToken };
    });
  },
  describeInstanceTypes: async (names, options = {}) => {
    const { sdk, client } = await clients.ec2();
    return allPages(async (token) => {
      const command = new sdk.DescribeInstanceTypesCommand({
        Filters: [{ Name: 'instance-type', Values: names.map((name) => name as _InstanceType) }],
        ...defined({ NextToken: token }),
      });
      const page = await call('DescribeInstanceTypes', options, (http) =>
        client.send(command, http),
      );
      return { items: (page.InstanceTypes ?? []).map(typeFacts), next: page.NextToken };
    });
  },
  describeImages: async (name, options = {}) => {
    const { sdk, client } = await clients.ec2();
    return allPages(async (token) => {
      const command = new sdk.DescribeImagesCommand({
        Owners: ['amazon'],
        Filters: [{ Name: 'name', Values: [name] }],
        ...defined({ NextToken: token }),
      });
      const page = await call('DescribeImages', options, (http) => client.send(command, http));
      return { items: (page.Images ?? []).map(imageFacts), next: page.NextToken };
    });
  },
  findImage: async (id, options = {}) => {
    const { sdk, client } = await clients.ec2();
    const command = new sdk.DescribeImagesCommand({
      Filters: [{ Name: 'image-id', Values: [id] }],
    });
    const answer = await call('DescribeImages', options, (http) => client.send(command, http));
    return (answer.Images ?? []).map(imageFacts)[0];
  },
  describeCluster: async (name, options = {}) => {
    const { sdk, client } = await clients.eks();
    const command = new sdk.DescribeClusterCommand({ name });
    const answer = await orAbsent(
      call('DescribeCluster', options, (http) => client.send(command, http)),
    );
    const cluster = answer?.cluster;
    if (cluster === undefined) return undefined;
    const serviceCidr = cluster.kubernetesNetworkConfig?.serviceIpv4Cidr;
    const authenticationMode = cluster.accessConfig?.authenticationMode;
    const securityGroupId = cluster.resourcesVpcConfig?.clusterSecurityGroupId;
    return {
      ...defined({ version: cluster.version }),
      endpoint: cluster.endpoint ?? '',
      certificateAuthority: cluster.certificateAuthority?.data ?? '',
      ...defined({ serviceCidr, securityGroupId, authenticationMode }),
      ...(cluster.resourcesVpcConfig === undefined
        ? {}
        : { network: networkOf(cluster.resourcesVpcConfig) }),
    };
  },
  consoleOutput: async (instanceId, options = {}) => {
    const { sdk, client } = await clients.ec2();
    const command = new sdk.GetConsoleOutputCommand({ InstanceId: instanceId });
    const answer = await call('GetConsoleOutput', options, (http) => client.send(command, http));
    return Buffer.from(answer.Output ?? '', 'base64').toString('utf8');
  },
});
