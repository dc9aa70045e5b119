// The CloudFormation stack of a cluster, with the resources that eksctl creates: a new network or
// the one that the file names, the control plane, its role and the nodes' shared security group.
// Pure.
import { defined } from '../../api/defined.ts';
import type { JsonObject } from '../../api/json.ts';
import type { ClusterConfig } from '../../formats/index.ts';
import { clusterStackName, clusterTag } from './names.ts';

export interface ClusterStackFacts {
  /** Zones of the new network, at most three; unused with an existing network. */
  readonly zones: readonly string[];
}

export interface ZoneBlocks {
  readonly zone: string;
  readonly publicCidr: string;
  readonly privateCidr: string;
}

const subnetBits = 3;

/** eksctl divides the VPC into eight equal blocks: public subnets first, then private ones. */
export const zoneBlocks = (vpcCidr: string, zones: readonly string[]): readonly ZoneBlocks[] => {
  const [address = '', bits = '16'] = vpcCidr.split('/');
  const base = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  const size = Number(bits) + subnetBits;
  const block = (index: number): string => {
    const start = base + index * 2 ** (32 - size);
    const parts = [24, 16, 8, 0].map((shift) => Math.floor(start / 2 ** shift) % 256);
    return `${parts.join('.')}/${size}`;
  };
  return zones.map((zone, i) => ({
    zone,
    publicCidr: block(i),
    privateCidr: block(zones.length + i),
  }));
};

const ref = (name: string): JsonObject => ({ Ref: name });
const getAtt = (resource: string, attribute: string): JsonObject => ({
  'Fn::GetAtt': [resource, attribute],
});
const named = (suffix: string): JsonObject => ({
  Key: 'Name',
  Value: { 'Fn::Sub': `\${AWS::StackName}/${suffix}` },
});
const logical = (zone: string): string => zone.toUpperCase().replaceAll('-', '');

const zoneResources = (
  { zone, publicCidr, privateCidr }: ZoneBlocks,
  hasNat: boolean,
): JsonObject => {
  const id = logical(zone);
  const subnet = (kind: 'Public' | 'Private', cidr: string): JsonObject => ({
    Type: 'AWS::EC2::Subnet',
    DependsOn: ['VPC'],
    Properties: {
      VpcId: ref('VPC'),
      AvailabilityZone: zone,
      CidrBlock: cidr,
      ...(kind === 'Public' ? { MapPublicIpOnLaunch: true } : {}),
      Tags: [
        {
          Key: kind === 'Public' ? 'kubernetes.io/role/elb' : 'kubernetes.io/role/internal-elb',
          Value: '1',
        },
        named(`Subnet${kind}${id}`),
      ],
    },
  });
  const association = (kind: 'Public' | 'Private', table: string): JsonObject => ({
    Type: 'AWS::EC2::SubnetRouteTableAssociation',
    Properties: { SubnetId: ref(`Subnet${kind}${id}`), RouteTableId: ref(table) },
  });
  return {
    [`SubnetPublic${id}`]: subnet('Public', publicCidr),
    [`SubnetPrivate${id}`]: subnet('Private', privateCidr),
    [`PrivateRouteTable${id}`]: {
      Type: 'AWS::EC2::RouteTable',
      Properties: { VpcId: ref('VPC'), Tags: [named(`PrivateRouteTable${id}`)] },
    },
    ...(hasNat
      ? {
          [`NATPrivateSubnetRoute${id}`]: {
            Type: 'AWS::EC2::Route',
            Properties: {
              RouteTableId: ref(`PrivateRouteTable${id}`),
              DestinationCidrBlock: '0.0.0.0/0',
              NatGatewayId: ref('NATGateway'),
            },
          },
        }
      : {}),
    [`RouteTableAssociationPublic${id}`]: association('Public', 'PublicRouteTable'),
    [`RouteTableAssociationPrivate${id}`]: association('Private', `PrivateRouteTable${id}`),
  };
};

const networkResources = (
  cidr: string,
  blocks: readonly ZoneBlocks[],
  hasNat: boolean,
): JsonObject => ({
  VPC: {
    Type: 'AWS::EC2::VPC',
    Properties: {
      CidrBlock: cidr,
      EnableDnsHostnames: true,
      EnableDnsSupport: true,
      Tags: [named('VPC')],
    },
  },
  InternetGateway: { Type: 'AWS::EC2::InternetGateway', Properties: {} },
  VPCGatewayAttachment: {
    Type: 'AWS::EC2::VPCGatewayAttachment',
    Properties: { InternetGatewayId: ref('InternetGateway'), VpcId: ref('VPC') },
  },
  PublicRouteTable: {
    Type: 'AWS::EC2::RouteTable',
    Properties: { VpcId: ref('VPC'), Tags: [named('PublicRouteTable')] },
  },
  PublicSubnetRoute: {
    Type: 'AWS::EC2::Route',
    DependsOn: ['VPCGatewayAttachment'],
    Properties: {
      RouteTableId: ref('PublicRouteTable'),
      DestinationCidrBlock: '0.0.0.0/0',
      GatewayId: ref('InternetGateway'),
    },
  },
  ...(hasNat
    ? {
        NATIP: { Type: 'AWS::EC2::EIP', Properties: { Domain: 'vpc' } },
        NATGateway: {
          Type: 'AWS::EC2::NatGateway',
          Properties: {
            AllocationId: getAtt('NATIP', 'AllocationId'),
            SubnetId: ref(`SubnetPublic${logical(blocks[0]?.zone ?? '')}`),
          },
        },
      }
    : {}),
  ...Object.assign({}, ...blocks.map((block) => zoneResources(block, hasNat))),
});

const serviceRole = (boundary: string | undefined): JsonObject => ({
  Type: 'AWS::IAM::Role',
  Properties: {
    AssumeRolePolicyDocument: {
      Version: '2012-10-17',
      Statement: [
        {
          Action: ['sts:AssumeRole', 'sts:TagSession'],
          Effect: 'Allow',
          Principal: { Service: [{ 'Fn::Sub': `eks.\${AWS::URLSuffix}` }] },
        },
      ],
    },
    ...defined({ PermissionsBoundary: boundary }),
    ManagedPolicyArns: ['AmazonEKSClusterPolicy', 'AmazonEKSVPCResourceController'].map((name) => ({
      'Fn::Sub': `arn:\${AWS::Partition}:iam::aws:policy/${name}`,
    })),
  },
});

const securityGroups = (vpc: JsonObject | string, makesOwn: boolean): JsonObject => ({
  ...(makesOwn
    ? {
        ControlPlaneSecurityGroup: {
          Type: 'AWS::EC2::SecurityGroup',
          Properties: {
            GroupDescription: 'Communication between the control plane and worker nodegroups',
            VpcId: vpc,
          },
        },
      }
    : {}),
  ClusterSharedNodeSecurityGroup: {
    Type: 'AWS::EC2::SecurityGroup',
    Properties: {
      GroupDescription: 'Communication between all nodes in the cluster',
      VpcId: vpc,
    },
  },
  IngressInterNodeGroupSG: {
    Type: 'AWS::EC2::SecurityGroupIngress',
    Properties: {
      GroupId: ref('ClusterSharedNodeSecurityGroup'),
      SourceSecurityGroupId: ref('ClusterSharedNodeSecurityGroup'),
      Description: 'Allow nodes to communicate with each other (all ports)',
      IpProtocol: '-1',
      FromPort: 0,
      ToPort: 65_535,
    },
  },
});

const controlPlane = (config: ClusterConfig, subnets: readonly (JsonObject | string)[]) => ({
  Type: 'AWS::EKS::Cluster',
  Properties: {
    Name: config.name,
    ...defined({ Version: config.version }),
    RoleArn: config.serviceRoleArn ?? getAtt('ServiceRole', 'Arn'),
    ResourcesVpcConfig: {
      SubnetIds: [...subnets],
      SecurityGroupIds: [config.securityGroupId ?? ref('ControlPlaneSecurityGroup')],
      EndpointPublicAccess: config.publicAccess,
      EndpointPrivateAccess: config.privateAccess,
      ...(config.publicAccessCidrs === undefined
        ? {}
        : { PublicAccessCidrs: [...config.publicAccessCidrs] }),
    },
    AccessConfig: {
      AuthenticationMode: config.authenticationMode,
      BootstrapClusterCreatorAdminPermissions: true,
    },
    ...(config.defaultAddonsDisabled === true ? { BootstrapSelfManagedAddons: false } : {}),
    ...(config.serviceCidr === undefined
      ? {}
      : { KubernetesNetworkConfig: { ServiceIpv4Cidr: config.serviceCidr } }),
    ...(config.logTypes.length === 0
      ? {}
      : {
          Logging: {
            ClusterLogging: { EnabledTypes: config.logTypes.map((Type) => ({ Type })) },
          },
        }),
    Tags: Object.entries(config.tags).map(([Key, Value]) => ({ Key, Value })),
  },
});

export interface ClusterStack {
  readonly name: string;
  readonly template: JsonObject;
  readonly tags: Readonly<Record<string, string>>;
}

/** The complete stack of a cluster. */
export const clusterStack = (config: ClusterConfig, facts: ClusterStackFacts): ClusterStack => {
  const blocks = zoneBlocks(config.vpcCidr, facts.zones);
  const own = config.vpcId === undefined;
  const subnets = own
    ? blocks.flatMap(({ zone }) => [
        ref(`SubnetPublic${logical(zone)}`),
        ref(`SubnetPrivate${logical(zone)}`),
      ])
    : config.subnets.flatMap(({ id }) => id ?? []);
  const vpc = config.vpcId ?? ref('VPC');
  return {
    name: clusterStackName(config.name),
    tags: {
      [clusterTag]: config.name,
      'alpha.eksctl.io/cluster-oidc-enabled': String(config.withOidc),
      'eksctl.cluster.k8s.io/v1alpha1/cluster-name': config.name,
      ...config.tags,
    },
    template: {
      AWSTemplateFormatVersion: '2010-09-09',
      Description:
        `EKS cluster (dedicated VPC: ${own}, dedicated IAM: ` +
        `${config.serviceRoleArn === undefined}) ` +
        '[created and managed by drover]',
      Resources: {
        ...(own ? networkResources(config.vpcCidr, blocks, config.natGateway !== 'Disable') : {}),
        ...securityGroups(vpc, config.securityGroupId === undefined),
        ...(config.serviceRoleArn === undefined
          ? { ServiceRole: serviceRole(config.serviceRoleBoundary) }
          : {}),
        ControlPlane: controlPlane(config, subnets),
      },
      Outputs: {
        VPC: { Value: vpc },
        Endpoint: { Value: getAtt('ControlPlane', 'Endpoint') },
        ARN: { Value: getAtt('ControlPlane', 'Arn') },
      },
    },
  };
};
