// Subnets, VPCs, security groups, zones, images, instance types and key pairs in EC2's shapes.
import type { JsonObject } from '../../../src/api/json.ts';
import { type AwsInput, optionalNumber, optionalText, texts } from '../../../src/aws-wire/index.ts';
import { applyFilters, type FilterTable, readFilters, type Tags, tagList } from '../filters.ts';
import { pageOf } from '../paging.ts';
import { isoMillis, refuse, type ServiceHandlers } from '../scope.ts';
import { plainFamily, plainOwner } from './amazon-linux.ts';
import { type Ec2Parts, invalidToken, notFound } from './describe-instances.ts';
import type { ImageRow } from './images.ts';
import { type InstanceType, instanceTypes } from './instance-types.ts';
import type { KeyPairs } from './key-pairs.ts';
import type { SecurityGroupRow, SubnetRow, VpcRow } from './network.ts';

export interface CatalogueParts extends Ec2Parts {
  readonly keyPairs: KeyPairs;
}

interface Listing<T> {
  readonly all: readonly T[];
  readonly idsMember: string;
  readonly keyOf: (item: T) => string;
  readonly filters: FilterTable<T>;
  readonly tags?: (item: T) => Tags;
  readonly unknown: (ids: readonly string[]) => Error;
}

/** Applies the ids, filters and pages of one Describe call. */
const list = <T>(input: AwsInput, listing: Listing<T>) => {
  const ids = texts(input, listing.idsMember);
  const known = listing.all.map(listing.keyOf);
  const unknown = ids.filter((id) => !known.includes(id));
  if (unknown.length > 0) throw listing.unknown(unknown);
  const named = listing.all.filter((item) => ids.length === 0 || ids.includes(listing.keyOf(item)));
  const found = applyFilters(
    named,
    readFilters(input),
    listing.filters,
    listing.tags ?? (() => ({})),
  );
  const page = pageOf(found, {
    max: optionalNumber(input, 'MaxResults') ?? 1000,
    token: optionalText(input, 'NextToken'),
    keyOf: listing.keyOf,
    invalid: invalidToken,
  });
  return {
    items: page.items,
    next: page.nextToken === undefined ? {} : { NextToken: page.nextToken },
  };
};

export const catalogueHandlers = (parts: CatalogueParts): ServiceHandlers => ({
  ...networkHandlers(parts),
  ...placeHandlers(parts),
  ...machineHandlers(parts),
});

const networkHandlers = (parts: CatalogueParts): ServiceHandlers => ({
  DescribeVpcs: (input) => {
    const { items, next } = list(input, {
      all: parts.network.vpcs(),
      idsMember: 'VpcIds',
      keyOf: (row) => row.vpcId,
      filters: {
        'vpc-id': (row) => row.vpcId,
        cidr: (row) => row.cidr,
        state: () => 'available',
        isDefault: (row) => String(row.isDefault ?? false),
        'is-default': (row) => String(row.isDefault ?? false),
      },
      tags: (row) => row.tags,
      unknown: (ids) => notFound('InvalidVpcID.NotFound', 'vpc', ids),
    });
    return { Vpcs: items.map((row) => renderVpc(parts, row)), ...next };
  },
  DescribeSubnets: (input) => {
    const { items, next } = list(input, {
      all: parts.network.subnets(),
      idsMember: 'SubnetIds',
      keyOf: (row) => row.subnetId,
      filters: {
        'subnet-id': (row) => row.subnetId,
        'vpc-id': (row) => row.vpcId,
        'availability-zone': (row) => row.zone,
        availabilityZone: (row) => row.zone,
        'availability-zone-id': (row) => row.zoneId,
        'cidr-block': (row) => row.cidr,
        'default-for-az': (row) => String(isInDefaultVpc(parts, row)),
        'map-public-ip-on-launch': (row) => String(row.isPublic),
        state: () => 'available',
      },
      tags: (row) => row.tags,
      unknown: (ids) => notFound('InvalidSubnetID.NotFound', 'subnet', ids),
    });
    return { Subnets: items.map((row) => renderSubnet(parts, row)), ...next };
  },
  DescribeSecurityGroups: (input) => {
    const { items, next } = list(input, {
      all: parts.network.securityGroups(),
      idsMember: 'GroupIds',
      keyOf: (row) => row.groupId,
      filters: {
        'group-id': (row) => row.groupId,
        'group-name': (row) => row.name,
        'vpc-id': (row) => row.vpcId,
      },
      tags: (row) => row.tags,
      unknown: (ids) => notFound('InvalidGroup.NotFound', 'security group', ids),
    });
    return { SecurityGroups: items.map((row) => renderSecurityGroup(parts, row)), ...next };
  },
});

const placeHandlers = (parts: CatalogueParts): ServiceHandlers => ({
  DescribeAvailabilityZones: (input) => {
    const { items } = list(input, {
      all: parts.network.zones(),
      idsMember: 'ZoneNames',
      keyOf: (row) => row.zone,
      filters: {
        'zone-name': (row) => row.zone,
        'zone-id': (row) => row.zoneId,
        'zone-type': () => 'availability-zone',
        'region-name': () => parts.scope.region,
        state: () => 'available',
        'opt-in-status': () => 'opt-in-not-required',
      },
      unknown: (names) =>
        refuse('InvalidParameterValue', `Invalid availability zone: [${names.join(', ')}]`),
    });
    return { AvailabilityZones: items.map((row) => renderZone(parts, row)) };
  },
  DescribeRegions: () => ({
    Regions: [
      {
        RegionName: parts.scope.region,
        Endpoint: `ec2.${parts.scope.region}.amazonaws.com`,
        OptInStatus: 'opt-in-not-required',
      },
    ],
  }),
});

const machineHandlers = (parts: CatalogueParts): ServiceHandlers => ({
  DescribeImages: (input) => {
    const { items, next } = list(input, {
      all: parts.images.all(),
      idsMember: 'ImageIds',
      keyOf: (row) => row.imageId,
      filters: {
        'image-id': (row) => row.imageId,
        name: (row) => row.name,
        architecture: (row) => row.architecture,
        'owner-alias': () => 'amazon',
        'owner-id': ownerOf,
        'root-device-type': () => 'ebs',
        'virtualization-type': () => 'hvm',
        'image-type': () => 'machine',
        'is-public': () => 'true',
        state: () => 'available',
      },
      unknown: (ids) => notFound('InvalidAMIID.NotFound', 'image', ids),
    });
    return { Images: items.map(renderImage), ...next };
  },
  DescribeInstanceTypes: (input) => {
    const { items, next } = list(input, {
      ...typeListing,
      idsMember: 'InstanceTypes',
      unknown: (names) =>
        refuse(
          'InvalidInstanceType',
          `The following supplied instance types do not exist: [${names.join(', ')}]`,
        ),
    });
    return { InstanceTypes: items.map(renderType), ...next };
  },
  DescribeInstanceTypeOfferings: (input) => describeOfferings(parts, input),
  DescribeKeyPairs: (input) => {
    const { items } = list(input, {
      all: parts.keyPairs.all(),
      idsMember: 'KeyNames',
      keyOf: (row) => row.name,
      filters: { 'key-name': (row) => row.name, 'key-pair-id': (row) => row.id },
      unknown: (names) =>
        refuse('InvalidKeyPair.NotFound', `The key pair '${names.join(', ')}' does not exist`),
    });
    return {
      KeyPairs: items.map((row) => ({
        KeyPairId: row.id,
        KeyName: row.name,
        KeyType: 'rsa',
        KeyFingerprint: row.fingerprint,
        CreateTime: row.createdAt,
        Tags: [],
      })),
    };
  },
});

const typeListing = {
  all: [...instanceTypes.values()],
  keyOf: (type: InstanceType) => type.name,
  filters: {
    'instance-type': (type: InstanceType) => type.name,
    'processor-info.supported-architecture': (type: InstanceType) => type.architecture,
    'current-generation': () => 'true',
  },
};

const describeOfferings = ({ scope, network }: Ec2Parts, input: AwsInput) => {
  const location = optionalText(input, 'LocationType') ?? 'region';
  const zones = network.zones();
  const places =
    location === 'availability-zone'
      ? zones.map((one) => one.zone)
      : location === 'availability-zone-id'
        ? zones.map((one) => one.zoneId)
        : [scope.region];
  const all = typeListing.all.flatMap((type) => places.map((place) => ({ type, place })));
  const { items, next } = list(input, {
    all,
    idsMember: '',
    keyOf: (one) => `${one.type.name}/${one.place}`,
    filters: { 'instance-type': (one) => one.type.name, location: (one) => one.place },
    unknown: () => invalidToken(),
  });
  return {
    InstanceTypeOfferings: items.map((one) => ({
      InstanceType: one.type.name,
      LocationType: location,
      Location: one.place,
    })),
    ...next,
  };
};

export const renderVpc = ({ scope }: Ec2Parts, row: VpcRow) => ({
  VpcId: row.vpcId,
  CidrBlock: row.cidr,
  CidrBlockAssociationSet: [
    {
      AssociationId: `vpc-cidr-assoc-${row.vpcId.slice(4)}`,
      CidrBlock: row.cidr,
      CidrBlockState: { State: 'associated' },
    },
  ],
  State: 'available',
  IsDefault: row.isDefault ?? false,
  InstanceTenancy: 'default',
  OwnerId: scope.account,
  Tags: tagList(row.tags),
});

const isInDefaultVpc = ({ network }: Ec2Parts, row: SubnetRow): boolean =>
  network.vpcs().some((vpc) => vpc.vpcId === row.vpcId && vpc.isDefault === true);

export const renderSubnet = (parts: Ec2Parts, row: SubnetRow) => {
  const { scope, network } = parts;
  return {
    SubnetId: row.subnetId,
    SubnetArn: `arn:aws:ec2:${scope.region}:${scope.account}:subnet/${row.subnetId}`,
    VpcId: row.vpcId,
    CidrBlock: row.cidr,
    AvailabilityZone: row.zone,
    AvailabilityZoneId: row.zoneId,
    AvailableIpAddressCount: network.available(row.subnetId),
    State: 'available',
    DefaultForAz: isInDefaultVpc(parts, row),
    MapPublicIpOnLaunch: row.isPublic,
    AssignIpv6AddressOnCreation: false,
    OwnerId: scope.account,
    Tags: tagList(row.tags),
  };
};

const renderSecurityGroup = ({ scope }: Ec2Parts, row: SecurityGroupRow) => ({
  GroupId: row.groupId,
  GroupName: row.name,
  Description: row.description,
  VpcId: row.vpcId,
  OwnerId: scope.account,
  SecurityGroupArn: `arn:aws:ec2:${scope.region}:${scope.account}:security-group/${row.groupId}`,
  IpPermissions: (row.ingress ?? []).map(renderRule),
  IpPermissionsEgress: [...(row.egress ?? [{ IpProtocol: '-1', CidrIp: '0.0.0.0/0' }])].map(
    renderRule,
  ),
  Tags: tagList(row.tags),
});

const renderRule = (rule: JsonObject) => ({
  IpProtocol: String(rule.IpProtocol ?? '-1'),
  ...(typeof rule.FromPort === 'number' ? { FromPort: rule.FromPort } : {}),
  ...(typeof rule.ToPort === 'number' ? { ToPort: rule.ToPort } : {}),
  IpRanges: typeof rule.CidrIp === 'string' ? [{ CidrIp: rule.CidrIp }] : [],
  UserIdGroupPairs: [rule.SourceSecurityGroupId ?? rule.DestinationSecurityGroupId ?? []]
    .flat()
    .map((GroupId) => ({ GroupId: String(GroupId) })),
});

/** The account that publishes EKS' images in most regions. */
const imageOwner = '602401143452';
const ownerOf = (row: ImageRow): string => (row.family === plainFamily ? plainOwner : imageOwner);

const renderImage = (row: ImageRow) => ({
  ImageId: row.imageId,
  Name: row.name,
  ImageLocation: `amazon/${row.name}`,
  ImageOwnerAlias: 'amazon',
  OwnerId: ownerOf(row),
  Description:
    row.family === plainFamily
      ? `Amazon Linux AMI ${row.name}`
      : `EKS Kubernetes Worker AMI (k8s: ${row.releaseVersion.split('-')[0]})`,
  Architecture: row.architecture,
  CreationDate: isoMillis(row.createdAt),
  ImageType: 'machine',
  Public: true,
  State: 'available',
  RootDeviceName: '/dev/xvda',
  RootDeviceType: 'ebs',
  VirtualizationType: 'hvm',
  Hypervisor: 'xen',
  EnaSupport: true,
  PlatformDetails: 'Linux/UNIX',
  UsageOperation: 'RunInstances',
  BlockDeviceMappings: [
    {
      DeviceName: '/dev/xvda',
      Ebs: { VolumeSize: 20, VolumeType: 'gp3', DeleteOnTermination: true },
    },
  ],
});

const renderType = (type: InstanceType) => ({
  InstanceType: type.name,
  CurrentGeneration: true,
  SupportedUsageClasses: ['on-demand', 'spot'],
  BareMetal: false,
  Hypervisor: 'nitro',
  ProcessorInfo: { SupportedArchitectures: [type.architecture] },
  VCpuInfo: { DefaultVCpus: type.cpus },
  MemoryInfo: { SizeInMiB: type.memoryMiB },
  InstanceStorageSupported: false,
  NetworkInfo: {
    MaximumNetworkInterfaces: type.interfaces,
    Ipv4AddressesPerInterface: type.addressesPerInterface,
    Ipv6AddressesPerInterface: type.addressesPerInterface,
    MaximumNetworkCards: 1,
    Ipv6Supported: true,
    EnaSupport: 'required',
  },
  ...(type.gpus === 0 ? {} : { GpuInfo: { Gpus: [{ Manufacturer: 'NVIDIA', Count: type.gpus }] } }),
});

const renderZone = (
  { scope }: Ec2Parts,
  row: { readonly zone: string; readonly zoneId: string },
) => ({
  ZoneName: row.zone,
  ZoneId: row.zoneId,
  RegionName: scope.region,
  State: 'available',
  OptInStatus: 'opt-in-not-required',
  GroupName: scope.region,
  NetworkBorderGroup: scope.region,
  ZoneType: 'availability-zone',
  Messages: [],
});
