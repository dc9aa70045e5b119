// The CloudFormation stack of one node group, with the resources that eksctl creates: for a managed
// group an EKS nodegroup with a launch template and a role, for a self-managed one an Auto Scaling
// group. Pure: facts of cluster, subnets and image are its input, a template its result.
import { defined } from '../../api/defined.ts';
import type { JsonObject } from '../../api/json.ts';
import type { Taint } from '../../api/kube.ts';
import { type GroupConfig, sizesOf } from '../../formats/index.ts';
import { architectureOf, familyNamed } from './images.ts';
import { nodeGroupStackName, nodeGroupStackTags } from './names.ts';
import { type JoinFacts, type UserDataKind, userDataOf } from './user-data.ts';

export interface NodeGroupStackFacts extends JoinFacts {
  readonly vpcId: string;
  readonly clusterSecurityGroupId: string | undefined;
  /** Subnets of the instances. */
  readonly subnetIds: readonly string[];
  /** eksctl's name of the image family, with defaults resolved. */
  readonly family: string;
  /** The image of a self-managed group, or the user's own image. */
  readonly imageId: string | undefined;
}

export interface NodeGroupStack {
  readonly name: string;
  readonly template: JsonObject;
  readonly tags: Readonly<Record<string, string>>;
}

const nodePolicies = [
  'AmazonEKSWorkerNodePolicy',
  'AmazonEKS_CNI_Policy',
  'AmazonEC2ContainerRegistryPullOnly',
];
/** eksctl attaches the SSM agent's policy even when the user lists other policies. */
const agentPolicy = 'AmazonSSMManagedInstanceCore';
const ofAws = (name: string): JsonObject => ({
  'Fn::Sub': `arn:\${AWS::Partition}:iam::aws:policy/${name}`,
});

const role = (policyArns: readonly string[]): JsonObject => ({
  Type: 'AWS::IAM::Role',
  Properties: {
    AssumeRolePolicyDocument: {
      Version: '2012-10-17',
      Statement: [
        {
          Action: ['sts:AssumeRole'],
          Effect: 'Allow',
          Principal: { Service: [{ 'Fn::Sub': `ec2.\${AWS::URLSuffix}` }] },
        },
      ],
    },
    ManagedPolicyArns:
      policyArns.length === 0
        ? [...nodePolicies, agentPolicy].map(ofAws)
        : [...policyArns.filter((arn) => !arn.endsWith(`/${agentPolicy}`)), ofAws(agentPolicy)],
    Path: '/',
  },
});

const getAtt = (resource: string, attribute: string): JsonObject => ({
  'Fn::GetAtt': [resource, attribute],
});

const sshSources = (group: GroupConfig): readonly JsonObject[] => {
  const groups = group.sshSourceGroups.map((id) => ({ SourceSecurityGroupId: id }));
  if (groups.length > 0) return groups;
  return [{ CidrIp: group.privateNetworking ? '192.168.0.0/16' : '0.0.0.0/0' }];
};

const sshGroup = (facts: NodeGroupStackFacts, group: GroupConfig): JsonObject => ({
  Type: 'AWS::EC2::SecurityGroup',
  Properties: {
    GroupDescription: 'Allow SSH access',
    VpcId: facts.vpcId,
    SecurityGroupIngress: sshSources(group).map((source) => ({
      ...source,
      Description: 'Allow SSH access to nodes',
      FromPort: 22,
      ToPort: 22,
      IpProtocol: 'tcp',
    })),
  },
});

const disk = (facts: NodeGroupStackFacts, group: GroupConfig): JsonObject => {
  const volume: JsonObject = {
    VolumeSize: group.volumeSizeGiB,
    VolumeType: group.volumeType,
    ...defined({ Encrypted: group.volumeEncrypted }),
  };
  return {
    DeviceName: familyNamed(facts.family)?.rootDevice ?? '/dev/xvda',
    Ebs: group.volumeType === 'gp3' ? { ...volume, Iops: 3000, Throughput: 125 } : volume,
  };
};

const tagList = (tags: Readonly<Record<string, string>>): JsonObject[] =>
  Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));

/** Throws for a family without bootstrap; the validation of groups refuses those earlier. */
const bootstrapOf = (family: string): UserDataKind => {
  const kind = familyNamed(family)?.userData;
  if (kind === undefined) throw new Error(`no bootstrap of ${family} is known`);
  return kind;
};

const nodeName = (facts: NodeGroupStackFacts, group: GroupConfig): string =>
  `${facts.cluster}-${group.name}-Node`;

/** Template data of managed and self-managed groups. */
const launchData = (facts: NodeGroupStackFacts, group: GroupConfig): JsonObject => {
  const own = { Name: nodeName(facts, group), ...group.tags };
  const ssh = group.sshAllowed ? [{ Ref: 'SSH' }] : [];
  const clusters = facts.clusterSecurityGroupId;
  return {
    BlockDeviceMappings: [disk(facts, group)],
    MetadataOptions: {
      HttpTokens: group.imdsV1 ? 'optional' : 'required',
      // Packets of a pod pass one more hop than those of the node.
      HttpPutResponseHopLimit: group.podImdsDisabled ? 1 : 2,
    },
    SecurityGroupIds: [...(clusters === undefined ? [] : [clusters]), ...ssh],
    ...(group.sshAllowed && group.sshKeyName !== undefined ? { KeyName: group.sshKeyName } : {}),
    TagSpecifications: ['instance', 'volume'].map((type) => ({
      ResourceType: type,
      Tags: tagList(own),
    })),
  };
};

const eksTaintEffect: Readonly<Record<Taint['effect'], string>> = {
  NoSchedule: 'NO_SCHEDULE',
  NoExecute: 'NO_EXECUTE',
  PreferNoSchedule: 'PREFER_NO_SCHEDULE',
};

/** EKS' own fields; a field that the file does not set is omitted. */
const managedOptions = (facts: NodeGroupStackFacts, group: GroupConfig): JsonObject => {
  const amiType = familyNamed(facts.family)?.amiType?.[
    architectureOf(group.instanceTypes[0] ?? '')
  ];
  const repair = group.nodeRepair;
  return {
    ...(group.ami === undefined && amiType !== undefined ? { AmiType: amiType } : {}),
    ...(group.spot ? { CapacityType: 'SPOT' } : {}),
    ...defined({ ReleaseVersion: group.releaseVersion }),
    ...(group.taints.length === 0
      ? {}
      : {
          Taints: group.taints.map(({ key, value, effect }) => ({
            Key: key,
            ...defined({ Value: value }),
            Effect: eksTaintEffect[effect],
          })),
        }),
    ...(group.updateConfig === undefined ? {} : { UpdateConfig: upperKeys(group.updateConfig) }),
    ...(repair === undefined
      ? {}
      : { NodeRepairConfig: upperKeys({ enabled: repair.enabled, ...repair.rest }) }),
  };
};

const upper = (key: string): string => key.slice(0, 1).toUpperCase() + key.slice(1);
/** CloudFormation capitalizes the API's field names. */
const upperKeys = (value: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      upper(key),
      Array.isArray(member)
        ? member.map((item) =>
            typeof item === 'object' && item !== null && !Array.isArray(item)
              ? upperKeys(item as JsonObject)
              : item,
          )
        : member,
    ]),
  );

/** EKS adds no bootstrap to a user's own image, so the template must contain it. */
const ownBootstrap = (facts: NodeGroupStackFacts, group: GroupConfig): JsonObject => {
  if (group.overrideBootstrapCommand !== undefined) {
    return { UserData: { 'Fn::Base64': group.overrideBootstrapCommand } };
  }
  if (group.ami === undefined) return {};
  return { UserData: { 'Fn::Base64': userDataOf(bootstrapOf(facts.family), facts, group) } };
};

const managedResources = (
  facts: NodeGroupStackFacts,
  group: GroupConfig,
  tags: Readonly<Record<string, string>>,
): JsonObject => {
  const { min, max, desired } = sizesOf(group.sizes);
  const own = group.launchTemplate;
  const template =
    own === undefined
      ? { Id: { Ref: 'LaunchTemplate' } }
      : { Id: own.id, ...defined({ Version: own.version }) };
  return {
    ...(own === undefined
      ? {
          LaunchTemplate: {
            Type: 'AWS::EC2::LaunchTemplate',
            Properties: {
              LaunchTemplateName: { Ref: 'AWS::StackName' },
              LaunchTemplateData: {
                ...launchData(facts, group),
                ...defined({ ImageId: group.ami }),
                ...ownBootstrap(facts, group),
              },
            },
          },
        }
      : {}),
    ManagedNodeGroup: {
      Type: 'AWS::EKS::Nodegroup',
      Properties: {
        ClusterName: facts.cluster,
        NodegroupName: group.name,
        InstanceTypes: [...group.instanceTypes],
        Labels: {
          'alpha.eksctl.io/cluster-name': facts.cluster,
          'alpha.eksctl.io/nodegroup-name': group.name,
          ...group.labels,
        },
        LaunchTemplate: template,
        NodeRole: group.instanceRoleArn ?? getAtt('NodeInstanceRole', 'Arn'),
        ScalingConfig: { MinSize: min, MaxSize: max, DesiredSize: desired },
        Subnets: [...facts.subnetIds],
        Tags: { ...tags },
        ...managedOptions(facts, group),
      },
    },
  };
};

const selfManagedResources = (
  facts: NodeGroupStackFacts,
  group: GroupConfig,
  tags: Readonly<Record<string, string>>,
): JsonObject => {
  const { min, max, desired } = sizesOf(group.sizes);
  const kind = bootstrapOf(facts.family);
  return {
    NodeGroup: {
      Type: 'AWS::AutoScaling::AutoScalingGroup',
      Properties: {
        DesiredCapacity: String(desired),
        MinSize: String(min),
        MaxSize: String(max),
        VPCZoneIdentifier: [...facts.subnetIds],
        LaunchTemplate: {
          LaunchTemplateName: { Ref: 'AWS::StackName' },
          Version: getAtt('NodeGroupLaunchTemplate', 'LatestVersionNumber'),
        },
        Tags: tagList({
          ...tags,
          Name: nodeName(facts, group),
          [`kubernetes.io/cluster/${facts.cluster}`]: 'owned',
        }).map((tag) => ({ ...tag, PropagateAtLaunch: true })),
      },
    },
    NodeGroupLaunchTemplate: {
      Type: 'AWS::EC2::LaunchTemplate',
      Properties: {
        LaunchTemplateName: { Ref: 'AWS::StackName' },
        LaunchTemplateData: {
          ...launchData(facts, group),
          ...defined({ ImageId: facts.imageId }),
          InstanceType: group.instanceTypes[0] ?? 'm5.large',
          IamInstanceProfile: { Arn: getAtt('NodeInstanceProfile', 'Arn') },
          UserData: { 'Fn::Base64': userDataOf(kind, facts, group) },
        },
      },
    },
    NodeInstanceProfile: {
      Type: 'AWS::IAM::InstanceProfile',
      Properties: {
        Path: '/',
        Roles: [
          group.instanceRoleArn === undefined
            ? { Ref: 'NodeInstanceRole' }
            : (group.instanceRoleArn.split('/').at(-1) ?? ''),
        ],
      },
    },
  };
};

const describe = (facts: NodeGroupStackFacts, group: GroupConfig): string =>
  group.kind === 'managed'
    ? `EKS Managed Nodes (SSH access: ${group.sshAllowed}) [created by drover]`
    : `EKS nodes (AMI family: ${facts.family}, SSH access: ${group.sshAllowed}, private ` +
      `networking: ${group.privateNetworking}) [created and managed by drover]`;

/** The complete stack of a group. Its outputs contain the role, which aws-auth needs. */
export const nodeGroupStack = (facts: NodeGroupStackFacts, group: GroupConfig): NodeGroupStack => {
  const tags = nodeGroupStackTags({
    cluster: facts.cluster,
    group: group.name,
    kind: group.kind,
    own: group.tags,
  });
  const make = group.kind === 'managed' ? managedResources : selfManagedResources;
  const needsKeys = group.sshAllowed && group.launchTemplate === undefined;
  return {
    name: nodeGroupStackName(facts.cluster, group.name),
    tags,
    template: {
      AWSTemplateFormatVersion: '2010-09-09',
      Description: describe(facts, group),
      Resources: {
        ...make(facts, group, tags),
        ...(group.instanceRoleArn === undefined
          ? { NodeInstanceRole: role(group.policyArns) }
          : {}),
        ...(needsKeys ? { SSH: sshGroup(facts, group) } : {}),
      },
      Outputs: {
        InstanceRoleARN: {
          Value: group.instanceRoleArn ?? getAtt('NodeInstanceRole', 'Arn'),
          Export: { Name: { 'Fn::Sub': `\${AWS::StackName}::InstanceRoleARN` } },
        },
      },
    },
  };
};
