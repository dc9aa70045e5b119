// EC2 resources of a stack: launch templates, security groups with their rules, and parts of a
// network. Parts that the world does not model (gateways, routes) are kept as records.
import { type JsonObject, objectOr } from '../../../../src/api/json.ts';
import type { LaunchTemplates } from '../../ec2/launch-templates.ts';
import type { Network } from '../../ec2/network.ts';
import type { NetworkRecordKind, NetworkRecords } from '../../ec2/network-records.ts';
import type { Scope } from '../../scope.ts';
import type { LocalType, ResourceTypes, TypeContext } from './resource-type.ts';
import { flagOf, objectsOf, tagsOf, textOf, typed } from './values.ts';

export interface Ec2TypeParts {
  readonly scope: Scope;
  readonly network: Network;
  readonly records: NetworkRecords;
  readonly templates: LaunchTemplates;
}

export const ec2Types = (parts: Ec2TypeParts): ResourceTypes => ({
  'AWS::EC2::LaunchTemplate': launchTemplate(parts),
  'AWS::EC2::SecurityGroup': securityGroup(parts),
  'AWS::EC2::SecurityGroupIngress': securityRule(parts, 'ingress'),
  'AWS::EC2::SecurityGroupEgress': securityRule(parts, 'egress'),
  'AWS::EC2::VPC': vpc(parts),
  'AWS::EC2::Subnet': subnet(parts),
  ...Object.fromEntries(
    Object.entries(recordKinds).map(([type, kind]) => [type, record(parts, kind)]),
  ),
});

const recordKinds: Readonly<Record<string, NetworkRecordKind>> = {
  'AWS::EC2::InternetGateway': 'internet-gateway',
  'AWS::EC2::EgressOnlyInternetGateway': 'egress-only-internet-gateway',
  'AWS::EC2::VPCGatewayAttachment': 'gateway-attachment',
  'AWS::EC2::RouteTable': 'route-table',
  'AWS::EC2::Route': 'route',
  'AWS::EC2::SubnetRouteTableAssociation': 'route-table-association',
  'AWS::EC2::NatGateway': 'nat-gateway',
  'AWS::EC2::EIP': 'address',
  'AWS::EC2::VPCCidrBlock': 'cidr-association',
  'AWS::EC2::SubnetCidrBlock': 'subnet-cidr-association',
  'AWS::EC2::VPCEndpoint': 'vpc-endpoint',
};

const tagged = (properties: JsonObject, context: TypeContext) => ({
  ...context.tags,
  'aws:cloudformation:logical-id': context.logicalId,
  'aws:cloudformation:stack-id': context.stackId,
  'aws:cloudformation:stack-name': context.stackName,
  ...tagsOf(properties.Tags),
});

const launchTemplate = ({ templates }: Ec2TypeParts): LocalType => ({
  kind: 'local',
  create: (properties, context) => {
    const own = objectsOf(properties.TagSpecifications)
      .filter((one) => one.ResourceType === 'launch-template')
      .map((one) => tagsOf(one.Tags));
    const { template, version } = templates.create({
      name: textOf(properties.LaunchTemplateName) ?? context.physicalName(128),
      data: typed(objectOr(properties.LaunchTemplateData)) as JsonObject,
      createdBy: context.createdBy,
      description: textOf(properties.VersionDescription),
      tags: Object.assign({}, tagged({}, context), ...own),
    });
    return {
      physicalId: template.id,
      attributes: {
        LaunchTemplateId: template.id,
        LatestVersionNumber: String(version.version),
        DefaultVersionNumber: String(template.defaultVersion),
      },
    };
  },
  replacing: new Set(['LaunchTemplateName', 'TagSpecifications']),
  // A change of the content creates a new version of the template.
  update: ({ physicalId }, properties, context) => {
    const { version } = templates.addVersion(physicalId, {
      data: typed(objectOr(properties.LaunchTemplateData)) as JsonObject,
      createdBy: context.createdBy,
      description: textOf(properties.VersionDescription),
    });
    return { LatestVersionNumber: String(version) };
  },
  remove: ({ physicalId }) => templates.delete(physicalId),
});

const securityGroup = ({ network }: Ec2TypeParts): LocalType => ({
  kind: 'local',
  create: (properties, context) => {
    const row = network.addSecurityGroup({
      name: textOf(properties.GroupName) ?? context.physicalName(),
      description: textOf(properties.GroupDescription) ?? '',
      vpcId: textOf(properties.VpcId) ?? network.vpcs()[0]?.vpcId ?? '',
      tags: tagged(properties, context),
      ingress: objectsOf(properties.SecurityGroupIngress).map((one) => typed(one) as JsonObject),
      egress: objectsOf(properties.SecurityGroupEgress).map((one) => typed(one) as JsonObject),
    });
    return {
      physicalId: row.groupId,
      attributes: { GroupId: row.groupId, Id: row.groupId, VpcId: row.vpcId },
    };
  },
  remove: ({ physicalId }) => network.removeSecurityGroup(physicalId),
});

const securityRule = (
  { network, scope }: Ec2TypeParts,
  direction: 'ingress' | 'egress',
): LocalType => ({
  kind: 'local',
  create: (properties) => {
    const id = scope.id('aws.ec2.network-records', 'sgr');
    const group = textOf(properties.GroupId) ?? '';
    const rule = { ...(typed(properties) as JsonObject), ruleId: id };
    network.changeRules(group, direction, (rules) => [...rules, rule]);
    return { physicalId: id, attributes: { Id: id } };
  },
  remove: ({ physicalId, properties }) => {
    const group = textOf(properties.GroupId) ?? '';
    if (!network.securityGroups().some((one) => one.groupId === group)) return;
    network.changeRules(group, direction, (rules) =>
      rules.filter((one) => one.ruleId !== physicalId),
    );
  },
});

const vpc = ({ network, scope }: Ec2TypeParts): LocalType => ({
  kind: 'local',
  create: (properties, context) => {
    const cidr = textOf(properties.CidrBlock) ?? '10.0.0.0/16';
    const row = network.addVpc(cidr, tagged(properties, context));
    const { groupId } = network.addSecurityGroup({
      name: 'default',
      description: 'default VPC security group',
      vpcId: row.vpcId,
      tags: {},
    });
    return {
      physicalId: row.vpcId,
      attributes: {
        VpcId: row.vpcId,
        CidrBlock: row.cidr,
        DefaultSecurityGroup: groupId,
        DefaultNetworkAcl: scope.id('aws.ec2.network-records', 'acl'),
      },
    };
  },
  remove: ({ physicalId }) => network.removeVpc(physicalId),
});

const subnet = ({ network, scope }: Ec2TypeParts): LocalType => ({
  kind: 'local',
  create: (properties, context) => {
    const zone = textOf(properties.AvailabilityZone) ?? `${scope.region}a`;
    const row = network.addSubnet({
      vpcId: textOf(properties.VpcId) ?? '',
      cidr: textOf(properties.CidrBlock) ?? '',
      zone,
      zoneId: network.zoneIdOf(zone),
      isPublic: flagOf(properties.MapPublicIpOnLaunch) ?? false,
      tags: tagged(properties, context),
    });
    return {
      physicalId: row.subnetId,
      attributes: {
        SubnetId: row.subnetId,
        AvailabilityZone: row.zone,
        VpcId: row.vpcId,
        CidrBlock: row.cidr,
      },
    };
  },
  remove: ({ physicalId }) => network.removeSubnet(physicalId),
});

const record = ({ records }: Ec2TypeParts, kind: NetworkRecordKind): LocalType => ({
  kind: 'local',
  create: (properties, context) => {
    const row = records.add({
      kind,
      properties: typed(properties) as JsonObject,
      tags: tagged(properties, context),
    });
    return { physicalId: row.publicIp ?? row.id, attributes: records.attributesOf(row) };
  },
  remove: ({ physicalId }) => records.remove(physicalId),
});
