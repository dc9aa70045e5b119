// EC2's subnets, instance types and images, and the EKS cluster. Uses filters only: one unknown id
// must not fail the call.

import type { Image, InstanceTypeFacts, Subnet } from '../api/cloud.ts';
import { defined } from '../api/defined.ts';
import { isObject, type JsonObject, objectOr } from '../api/json.ts';
import type { ClusterNetwork } from '../api/network.ts';
import type { CloudApi } from '../ports/index.ts';
import type { AwsCalls } from './calls.ts';
import { maybeText, numberOf, objects, textOf, textsOf } from './values.ts';

const subnetOf = (subnet: JsonObject): Subnet => ({
  id: textOf(subnet.SubnetId),
  availabilityZone: textOf(subnet.AvailabilityZone),
  vpcId: textOf(subnet.VpcId),
  freeAddresses: numberOf(subnet.AvailableIpAddressCount),
});

const typeOf = (type: JsonObject): InstanceTypeFacts => ({
  name: textOf(type.InstanceType),
  interfaces: numberOf(objectOr(type.NetworkInfo).MaximumNetworkInterfaces),
  addressesPerInterface: numberOf(objectOr(type.NetworkInfo).Ipv4AddressesPerInterface),
  vcpus: numberOf(objectOr(type.VCpuInfo).DefaultVCpus),
  architectures: textsOf(objectOr(type.ProcessorInfo).SupportedArchitectures),
});

const imageOf = (image: JsonObject): Image => ({
  id: textOf(image.ImageId),
  name: textOf(image.Name),
  description: textOf(image.Description),
});

/** EKS' resourcesVpcConfig. */
const networkOf = (config: JsonObject): ClusterNetwork => ({
  vpcId: textOf(config.vpcId),
  publicAccess: config.endpointPublicAccess === true,
  privateAccess: config.endpointPrivateAccess === true,
  publicAccessCidrs: textsOf(config.publicAccessCidrs),
  securityGroups: [
    ...textsOf([config.clusterSecurityGroupId]),
    ...textsOf(config.securityGroupIds),
  ].filter((id) => id !== ''),
});

export const catalogueCalls = (
  calls: AwsCalls,
): Pick<
  CloudApi,
  'describeCluster' | 'describeImages' | 'describeInstanceTypes' | 'describeSubnets' | 'findImage'
> => ({
  describeSubnets: async (ids, options = {}) => {
    const input = { Filters: [{ Name: 'subnet-id', Values: ids }] };
    return (await calls.all('ec2', 'DescribeSubnets', input, 'Subnets', options)).map(subnetOf);
  },
  describeInstanceTypes: async (names, options = {}) => {
    const input = { Filters: [{ Name: 'instance-type', Values: names }] };
    const operation = 'DescribeInstanceTypes';
    return (await calls.all('ec2', operation, input, 'InstanceTypes', options)).map(typeOf);
  },
  describeImages: async (name, options = {}) => {
    const input = { Owners: ['amazon'], Filters: [{ Name: 'name', Values: [name] }] };
    return (await calls.all('ec2', 'DescribeImages', input, 'Images', options)).map(imageOf);
  },
  findImage: async (id, options = {}) => {
    const input = { Filters: [{ Name: 'image-id', Values: [id] }] };
    const output = await calls.send('ec2', 'DescribeImages', input, options);
    return objects(output.Images).map(imageOf)[0];
  },
  describeCluster: async (name, options = {}) => {
    const output = await calls.maybe('eks', 'DescribeCluster', { name }, options);
    const cluster = output?.cluster;
    if (!isObject(cluster)) return undefined;
    const network = cluster.resourcesVpcConfig;
    const { serviceIpv4Cidr } = objectOr(cluster.kubernetesNetworkConfig);
    return {
      endpoint: textOf(cluster.endpoint),
      certificateAuthority: textOf(objectOr(cluster.certificateAuthority).data),
      ...defined({
        version: maybeText(cluster.version),
        serviceCidr: maybeText(serviceIpv4Cidr),
        securityGroupId: maybeText(objectOr(network).clusterSecurityGroupId),
        authenticationMode: maybeText(objectOr(cluster.accessConfig).authenticationMode),
        network: isObject(network) ? networkOf(network) : undefined,
      }),
    };
  },
});
