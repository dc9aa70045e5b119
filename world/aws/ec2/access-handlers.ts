// Key pairs and security groups over the API, and the parts of a network that are only reported.
// Rules are kept in CloudFormation's form, one range or group each. They only block kubelets'
// packets.
import { isIpv4Block } from '../../../src/api/addresses.ts';
import { defined } from '../../../src/api/defined.ts';
import type { JsonObject } from '../../../src/api/json.ts';
import {
  type AwsInput,
  optionalNumber,
  optionalText,
  structures,
  text,
  texts,
} from '../../../src/aws-wire/index.ts';
import { hexString } from '../../kernel/index.ts';
import {
  applyFilters,
  type FilterTable,
  readFilters,
  tagList,
  tagSpecification,
} from '../filters.ts';
import { pageOf } from '../paging.ts';
import { refuse, type ServiceHandlers } from '../scope.ts';
import { type Ec2Parts, invalidToken } from './describe-instances.ts';
import { renderSubnet, renderVpc } from './describe-network.ts';
import type { KeyPairs } from './key-pairs.ts';
import type { NetworkRecord, NetworkRecords } from './network-records.ts';
import { contentOf, type Direction, renderGroupRule, rulesOf } from './security-group-rules.ts';
import { encodeBase64 } from './user-data.ts';

export interface AccessParts extends Ec2Parts {
  readonly keyPairs: KeyPairs;
  readonly records: NetworkRecords;
  /** Called after a rule is added or removed: reachability may have changed. */
  readonly entries: { changed(): void };
}

export const accessHandlers = (parts: AccessParts): ServiceHandlers => ({
  ...networkHandlers(parts),
  ...keyHandlers(parts),
  ...groupHandlers(parts),
  ...recordHandlers(parts),
});

/** AWS reserves the first four addresses and the last; a VPC or subnet is at most a /16. */
const blocks = { shortest: 16, longest: 28 } as const;

const checkedCidr = (input: AwsInput): string => {
  const cidr = optionalText(input, 'CidrBlock') ?? '';
  if (isIpv4Block(cidr, blocks)) return cidr;
  throw refuse(
    'InvalidParameterValue',
    `Value (${cidr}) for parameter cidrBlock is invalid. This is not a valid CIDR block.`,
  );
};

const networkHandlers = (parts: AccessParts): ServiceHandlers => {
  const { network, scope } = parts;
  return {
    CreateVpc: (input) => {
      const row = network.addVpc(checkedCidr(input), tagSpecification(input, 'vpc'));
      const description = 'default VPC security group';
      network.addSecurityGroup({ name: 'default', description, vpcId: row.vpcId, tags: {} });
      return { Vpc: renderVpc(parts, row) };
    },
    CreateSubnet: (input) => {
      const vpcId = text(input, 'VpcId');
      if (!network.vpcs().some((one) => one.vpcId === vpcId)) {
        throw refuse('InvalidVpcID.NotFound', `The vpc ID '${vpcId}' does not exist`);
      }
      const zone = optionalText(input, 'AvailabilityZone') ?? `${scope.region}a`;
      if (!/^[a-f]$/.test(zone.slice(scope.region.length)) || !zone.startsWith(scope.region)) {
        throw refuse(
          'InvalidParameterValue',
          `Value (${zone}) for parameter availabilityZone is invalid.`,
        );
      }
      const cidr = checkedCidr(input);
      if (network.subnets().some((one) => one.vpcId === vpcId && one.cidr === cidr)) {
        throw refuse('InvalidSubnet.Conflict', `The CIDR '${cidr}' conflicts with another subnet`);
      }
      const row = network.addSubnet({
        vpcId,
        cidr,
        zone,
        zoneId: network.zoneIdOf(zone),
        isPublic: false,
        tags: tagSpecification(input, 'subnet'),
      });
      return { Subnet: renderSubnet(parts, row) };
    },
    DeleteVpc: (input) => network.removeVpc(text(input, 'VpcId')),
    DeleteSubnet: (input) => network.removeSubnet(text(input, 'SubnetId')),
  };
};

const keyHandlers = ({ keyPairs, scope }: AccessParts): ServiceHandlers => {
  const add = (input: AwsInput) => {
    const name = text(input, 'KeyName');
    if (keyPairs.all().some((row) => row.name === name)) {
      throw refuse('InvalidKeyPair.Duplicate', `The keypair '${name}' already exists.`);
    }
    const row = keyPairs.add(name);
    const tags = tagList(tagSpecification(input, 'key-pair'));
    return { KeyName: name, KeyPairId: row.id, KeyFingerprint: row.fingerprint, Tags: tags };
  };
  return {
    /**
     * Returns text in the form of a private key. It is not a real key, since instances accept no
     * logins.
     */
    CreateKeyPair: (input) => {
      const made = add(input);
      const noise = encodeBase64(hexString(scope.kernel.random('aws.ec2.key-material'), 300));
      const lines = noise.match(/.{1,64}/g) ?? [];
      const frame = (word: string) => `-----${word} RSA PRIVATE KEY-----`;
      return { ...made, KeyMaterial: [frame('BEGIN'), ...lines, frame('END'), ''].join('\n') };
    },
    ImportKeyPair: (input) => add(input),
    DeleteKeyPair: (input) => {
      const wanted = optionalText(input, 'KeyName');
      const id = optionalText(input, 'KeyPairId');
      const row = keyPairs.all().find((one) => one.name === wanted || one.id === id);
      if (row !== undefined) keyPairs.remove(row.name);
      return { Return: true, ...(row === undefined ? {} : { KeyPairId: row.id }) };
    },
  };
};

const groupHandlers = (parts: AccessParts): ServiceHandlers => ({
  CreateSecurityGroup: (input) => {
    const { network } = parts;
    const name = text(input, 'GroupName');
    const vpcId =
      optionalText(input, 'VpcId') ?? network.vpcs().find((one) => one.isDefault)?.vpcId;
    if (vpcId === undefined || !network.vpcs().some((one) => one.vpcId === vpcId)) {
      throw refuse('InvalidVpcID.NotFound', `The vpc ID '${vpcId ?? ''}' does not exist`);
    }
    if (network.securityGroups().some((one) => one.vpcId === vpcId && one.name === name)) {
      throw refuse(
        'InvalidGroup.Duplicate',
        `The security group '${name}' already exists for VPC '${vpcId}'`,
      );
    }
    const tags = tagSpecification(input, 'security-group');
    const { groupId } = network.addSecurityGroup({
      name,
      description: text(input, 'Description'),
      vpcId,
      tags,
    });
    return { GroupId: groupId, Tags: tagList(tags) };
  },
  DeleteSecurityGroup: (input) => {
    const { groupId } = needGroup(parts, input);
    const user = [...parts.instances.all()].find(
      (row) => row.state !== 'terminated' && row.securityGroupIds.includes(groupId),
    );
    if (user !== undefined) {
      throw refuse('DependencyViolation', `resource ${groupId} has a dependent object`);
    }
    parts.network.removeSecurityGroup(groupId);
    return { Return: true, GroupId: groupId };
  },
  AuthorizeSecurityGroupIngress: (input) => authorize(parts, input, 'ingress'),
  AuthorizeSecurityGroupEgress: (input) => authorize(parts, input, 'egress'),
  RevokeSecurityGroupIngress: (input) => revoke(parts, input, 'ingress'),
  RevokeSecurityGroupEgress: (input) => revoke(parts, input, 'egress'),
  DescribeSecurityGroupRules: (input) => {
    const all = parts.network
      .securityGroups()
      .flatMap((group) => rulesOf(group, parts.scope.account));
    const ids = texts(input, 'SecurityGroupRuleIds');
    const unknown = ids.find((id) => !all.some((rule) => rule.SecurityGroupRuleId === id));
    if (unknown !== undefined) {
      throw refuse(
        'InvalidSecurityGroupRuleId.NotFound',
        `The security group rule ID '${unknown}' does not exist`,
      );
    }
    const named = all.filter((rule) => ids.length === 0 || ids.includes(rule.SecurityGroupRuleId));
    const table: FilterTable<(typeof all)[number]> = {
      'group-id': (rule) => rule.GroupId,
      'security-group-rule-id': (rule) => rule.SecurityGroupRuleId,
    };
    const page = pageOf(
      applyFilters(named, readFilters(input), table, () => ({})),
      {
        max: optionalNumber(input, 'MaxResults') ?? 1000,
        token: optionalText(input, 'NextToken'),
        keyOf: (rule) => rule.SecurityGroupRuleId,
        invalid: invalidToken,
      },
    );
    return {
      SecurityGroupRules: page.items,
      ...defined({ NextToken: page.nextToken }),
    };
  },
});

const needGroup = ({ network }: AccessParts, input: AwsInput) => {
  const id = optionalText(input, 'GroupId');
  const name = optionalText(input, 'GroupName');
  const row = network.securityGroups().find((one) => one.groupId === id || one.name === name);
  if (row !== undefined) return row;
  throw refuse('InvalidGroup.NotFound', `The security group '${id ?? name}' does not exist`);
};

/** One rule per range or group, including the short form of the call. */
const readRules = (input: AwsInput): readonly JsonObject[] => {
  const cidr = optionalText(input, 'CidrIp');
  const short = cidr === undefined ? [] : [{ ...input, IpRanges: [{ CidrIp: cidr }] }];
  return [...structures(input, 'IpPermissions'), ...short].flatMap((permission) => {
    const from = optionalNumber(permission, 'FromPort');
    const to = optionalNumber(permission, 'ToPort');
    const base: JsonObject = {
      IpProtocol: optionalText(permission, 'IpProtocol') ?? '-1',
      ...defined({ FromPort: from, ToPort: to }),
    };
    return [
      ...structures(permission, 'IpRanges').map((one) => ({
        ...base,
        CidrIp: optionalText(one, 'CidrIp') ?? '',
      })),
      ...structures(permission, 'UserIdGroupPairs').map((one) => ({
        ...base,
        SourceSecurityGroupId: optionalText(one, 'GroupId') ?? '',
      })),
    ];
  });
};

const authorize = (parts: AccessParts, input: AwsInput, direction: Direction) => {
  const group = needGroup(parts, input);
  const before = (group[direction] ?? []).map(contentOf);
  const rules = readRules(input);
  const double = rules.find((rule) => before.includes(contentOf(rule)));
  if (double !== undefined) {
    throw refuse(
      'InvalidPermission.Duplicate',
      `the specified rule "${contentOf(double)}" already exists`,
    );
  }
  const made = rules.map((rule) => ({
    ...rule,
    ruleId: parts.scope.id('aws.ec2.network-records', 'sgr'),
  }));
  parts.network.changeRules(group.groupId, direction, (all) => [...all, ...made]);
  parts.entries.changed();
  return {
    Return: true,
    SecurityGroupRules: made.map((rule: JsonObject) =>
      renderGroupRule(group.groupId, rule, { account: parts.scope.account, direction }),
    ),
  };
};

const revoke = (parts: AccessParts, input: AwsInput, direction: Direction) => {
  const group = needGroup(parts, input);
  const ids = texts(input, 'SecurityGroupRuleIds');
  const wanted = readRules(input).map(contentOf);
  const isWanted = (rule: JsonObject): boolean =>
    ids.includes(String(rule.ruleId)) || wanted.includes(contentOf(rule));
  const found = (group[direction] ?? []).filter(isWanted);
  if (found.length < ids.length + wanted.length) {
    throw refuse(
      'InvalidPermission.NotFound',
      'The specified rule does not exist in this security group.',
    );
  }
  parts.network.changeRules(group.groupId, direction, (all) =>
    all.filter((rule) => !isWanted(rule)),
  );
  parts.entries.changed();
  return { Return: true };
};

const property = (record: NetworkRecord, name: string): string | undefined => {
  const value = record.properties[name];
  return typeof value === 'string' ? value : undefined;
};

const recordHandlers = ({ records, scope }: AccessParts): ServiceHandlers => ({
  DescribeInternetGateways: () => ({
    InternetGateways: records.of('internet-gateway').map((row) => ({
      InternetGatewayId: row.id,
      OwnerId: scope.account,
      Attachments: records
        .of('gateway-attachment')
        .filter((one) => property(one, 'InternetGatewayId') === row.id)
        .map((one) => ({ State: 'available', VpcId: property(one, 'VpcId') })),
      Tags: tagList(row.tags),
    })),
  }),
  DescribeNatGateways: () => ({
    NatGateways: records.of('nat-gateway').map((row) => ({
      NatGatewayId: row.id,
      State: 'available',
      SubnetId: property(row, 'SubnetId'),
      NatGatewayAddresses: [{ AllocationId: property(row, 'AllocationId') }],
      Tags: tagList(row.tags),
    })),
  }),
  DescribeAddresses: () => ({
    Addresses: records.of('address').map((row) => ({
      AllocationId: row.id,
      PublicIp: row.publicIp,
      Domain: 'vpc',
      Tags: tagList(row.tags),
    })),
  }),
  DescribeRouteTables: () => ({
    RouteTables: records.of('route-table').map((row) => ({
      RouteTableId: row.id,
      VpcId: property(row, 'VpcId'),
      OwnerId: scope.account,
      Associations: records
        .of('route-table-association')
        .filter((one) => property(one, 'RouteTableId') === row.id)
        .map((one) => ({
          RouteTableAssociationId: one.id,
          RouteTableId: row.id,
          SubnetId: property(one, 'SubnetId'),
          Main: false,
        })),
      Routes: records
        .of('route')
        .filter((one) => property(one, 'RouteTableId') === row.id)
        .map((one) => ({
          DestinationCidrBlock: property(one, 'DestinationCidrBlock'),
          GatewayId: property(one, 'GatewayId'),
          NatGatewayId: property(one, 'NatGatewayId'),
          State: 'active',
        })),
      Tags: tagList(row.tags),
    })),
  }),
});
