// Templates of the demo's stacks in eksctl's form: what its commands read, change and send back.
// Text only.
import { defined } from '../../../src/api/defined.ts';
import type { Json, JsonObject } from '../../../src/api/json.ts';
import type { SubnetRow } from '../ec2/network.ts';
import { nodePolicies } from './group-parts.ts';

const stackName: JsonObject = { Ref: 'AWS::StackName' };
const attribute = (logicalId: string, name: string): JsonObject => ({
  'Fn::GetAtt': [logicalId, name],
});
const clusterStackOf = (cluster: string): string => `eksctl-${cluster}-cluster`;
const imported = (cluster: string, name: string): JsonObject => ({
  'Fn::ImportValue': `${clusterStackOf(cluster)}::${name}`,
});
const tagList = (tags: Readonly<Record<string, string>>): readonly JsonObject[] =>
  Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));

/** Exports the values that other stacks import; feature outputs are for eksctl alone. */
const outputsOf = (values: Readonly<Record<string, Json>>): JsonObject =>
  Object.fromEntries(
    Object.entries(values).map(([name, Value]) => [
      name,
      name.startsWith('Feature')
        ? { Value }
        : { Value, Export: { Name: { 'Fn::Join': ['::', [stackName, name]] } } },
    ]),
  );

const role = (service: string, policies: readonly string[]): JsonObject => ({
  Type: 'AWS::IAM::Role',
  Properties: {
    AssumeRolePolicyDocument: {
      Version: '2012-10-17',
      Statement: [
        { Action: ['sts:AssumeRole'], Effect: 'Allow', Principal: { Service: [service] } },
      ],
    },
    ManagedPolicyArns: policies,
    Path: '/',
  },
});

const template = (
  Description: string,
  Resources: JsonObject,
  outputs: Readonly<Record<string, Json>> = {},
): JsonObject => ({
  AWSTemplateFormatVersion: '2010-09-09',
  Description,
  Resources,
  ...(Object.keys(outputs).length === 0 ? {} : { Outputs: outputsOf(outputs) }),
});

/** The subnets by id, if the group does not use all public ones. */
const subnetsOf = (cluster: string, subnetIds: readonly string[] | undefined): Json =>
  subnetIds ?? { 'Fn::Split': [',', imported(cluster, 'SubnetsPublic')] };

export interface ManagedTemplateFacts {
  readonly clusterName: string;
  readonly name: string;
  readonly amiType: string;
  readonly capacityType: string | undefined;
  readonly instanceType: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly tags: Readonly<Record<string, string>>;
  readonly sizes: { readonly min: number; readonly max: number; readonly desired: number };
  readonly subnetIds: readonly string[] | undefined;
  readonly launchTemplateData: JsonObject;
}

export const managedTemplate = (facts: ManagedTemplateFacts): JsonObject => {
  const { clusterName, sizes, capacityType } = facts;
  return template('EKS Managed Nodes (SSH access: true) [created by eksctl]', {
    LaunchTemplate: {
      Type: 'AWS::EC2::LaunchTemplate',
      Properties: {
        LaunchTemplateName: stackName,
        LaunchTemplateData: facts.launchTemplateData,
      },
    },
    ManagedNodeGroup: {
      Type: 'AWS::EKS::Nodegroup',
      Properties: {
        AmiType: facts.amiType,
        ...defined({ CapacityType: capacityType }),
        ClusterName: clusterName,
        InstanceTypes: [facts.instanceType],
        Labels: facts.labels,
        LaunchTemplate: { Id: { Ref: 'LaunchTemplate' } },
        NodeRole: attribute('NodeInstanceRole', 'Arn'),
        NodegroupName: facts.name,
        ScalingConfig: { DesiredSize: sizes.desired, MaxSize: sizes.max, MinSize: sizes.min },
        Subnets: subnetsOf(clusterName, facts.subnetIds),
        Tags: facts.tags,
      },
    },
    NodeInstanceRole: role('ec2.amazonaws.com', nodePolicies),
  });
};

export interface SelfManagedTemplateFacts {
  readonly clusterName: string;
  readonly name: string;
  readonly sizes: ManagedTemplateFacts['sizes'];
  readonly subnetIds: readonly string[] | undefined;
  readonly launchTemplateData: JsonObject;
}

export const selfManagedTemplate = (facts: SelfManagedTemplateFacts): JsonObject => {
  const { clusterName, name, sizes } = facts;
  const tags = {
    Name: `${clusterName}-${name}-Node`,
    [`kubernetes.io/cluster/${clusterName}`]: 'owned',
  };
  const description =
    'EKS nodes (AMI family: AmazonLinux2, SSH access: true, private networking: false) ' +
    '[created and managed by eksctl]';
  const resources = {
    NodeGroup: {
      Type: 'AWS::AutoScaling::AutoScalingGroup',
      Properties: {
        DesiredCapacity: String(sizes.desired),
        LaunchTemplate: {
          LaunchTemplateName: stackName,
          Version: attribute('NodeGroupLaunchTemplate', 'LatestVersionNumber'),
        },
        MaxSize: String(sizes.max),
        MinSize: String(sizes.min),
        Tags: tagList(tags).map((tag) => ({ ...tag, PropagateAtLaunch: 'true' })),
        VPCZoneIdentifier: subnetsOf(clusterName, facts.subnetIds),
      },
    },
    NodeGroupLaunchTemplate: {
      Type: 'AWS::EC2::LaunchTemplate',
      Properties: {
        LaunchTemplateName: stackName,
        LaunchTemplateData: {
          ...facts.launchTemplateData,
          IamInstanceProfile: { Name: { Ref: 'NodeInstanceProfile' } },
          SecurityGroupIds: [imported(clusterName, 'ClusterSecurityGroupId')],
        },
      },
    },
    NodeInstanceProfile: {
      Type: 'AWS::IAM::InstanceProfile',
      Properties: { Path: '/', Roles: [{ Ref: 'NodeInstanceRole' }] },
    },
    NodeInstanceRole: role('ec2.amazonaws.com', nodePolicies),
    SG: {
      Type: 'AWS::EC2::SecurityGroup',
      Properties: {
        GroupDescription: `Communication between the control plane and worker nodes in group ${name}`,
        VpcId: imported(clusterName, 'VPC'),
      },
    },
  };
  return template(description, resources, {
    InstanceRoleARN: attribute('NodeInstanceRole', 'Arn'),
    InstanceProfileARN: attribute('NodeInstanceProfile', 'Arn'),
    FeatureLocalSecurityGroup: true,
    FeaturePrivateNetworking: false,
    FeatureSharedSecurityGroup: true,
  });
};

export interface ClusterTemplateFacts {
  readonly clusterName: string;
  readonly version: string;
  readonly vpcCidr: string;
  readonly subnets: readonly (SubnetRow & { readonly logicalId: string })[];
}

export const clusterTemplate = (facts: ClusterTemplateFacts): JsonObject => {
  const { clusterName, subnets } = facts;
  const named = (isPublic: boolean): Json => {
    const ids = subnets.filter((one) => one.isPublic === isPublic);
    return { 'Fn::Join': [',', ids.map(({ logicalId }) => ({ Ref: logicalId }))] };
  };
  const nodeGroup = attribute('ControlPlane', 'ClusterSecurityGroupId');
  const resources = {
    ControlPlane: {
      Type: 'AWS::EKS::Cluster',
      Properties: {
        Name: clusterName,
        ResourcesVpcConfig: { SubnetIds: subnets.map(({ logicalId }) => ({ Ref: logicalId })) },
        RoleArn: attribute('ServiceRole', 'Arn'),
        Version: facts.version,
      },
    },
    ServiceRole: role('eks.amazonaws.com', [clusterPolicy]),
    VPC: { Type: 'AWS::EC2::VPC', Properties: { CidrBlock: facts.vpcCidr } },
    // Without this resource, eksctl changes the stack before it adds a managed group.
    IngressDefaultClusterToNodeSG: {
      Type: 'AWS::EC2::SecurityGroupIngress',
      Properties: { GroupId: nodeGroup, SourceSecurityGroupId: nodeGroup, IpProtocol: '-1' },
    },
    ...Object.fromEntries(subnets.map((one) => [one.logicalId, subnetResource(one)])),
  };
  const description =
    'EKS cluster (dedicated VPC: true, dedicated IAM: true) [created and managed by eksctl]';
  return template(description, resources, {
    VPC: { Ref: 'VPC' },
    SubnetsPublic: named(true),
    SubnetsPrivate: named(false),
    SecurityGroup: nodeGroup,
    SharedNodeSecurityGroup: nodeGroup,
    ClusterSecurityGroupId: nodeGroup,
    ClusterStackName: stackName,
    FeatureNATMode: 'Single',
    ServiceRoleARN: attribute('ServiceRole', 'Arn'),
    ARN: attribute('ControlPlane', 'Arn'),
  });
};

export const clusterPolicy = 'arn:aws:iam::aws:policy/AmazonEKSClusterPolicy';

const subnetResource = ({ cidr, zone, isPublic, tags }: SubnetRow): JsonObject => ({
  Type: 'AWS::EC2::Subnet',
  Properties: {
    AvailabilityZone: zone,
    CidrBlock: cidr,
    ...(isPublic ? { MapPublicIpOnLaunch: true } : {}),
    Tags: tagList(tags),
    VpcId: { Ref: 'VPC' },
  },
});
