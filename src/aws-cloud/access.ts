// Key pairs and security groups of EC2, access entries of EKS.
import { defined } from '../api/defined.ts';
import { isObject, type JsonObject } from '../api/json.ts';
import type { SecurityRule } from '../api/network.ts';
import type { CloudAccess } from '../ports/index.ts';
import type { AwsCalls } from './calls.ts';
import {
  allowIngressRequest,
  createSecurityGroupRequest,
  findSecurityGroupsRequest,
} from './requests.ts';
import type { AwsRefusal } from './transport.ts';
import { maybeNumber, maybeText, objects, tagsOf, textMapOf, textOf } from './values.ts';

const ruleOf = (permission: JsonObject): SecurityRule => ({
  protocol: maybeText(permission.IpProtocol) ?? '-1',
  ...defined({
    fromPort: maybeNumber(permission.FromPort),
    toPort: maybeNumber(permission.ToPort),
  }),
  cidrs: [
    ...objects(permission.IpRanges).map((one) => one.CidrIp),
    ...objects(permission.Ipv6Ranges).map((one) => one.CidrIpv6),
  ].flatMap((cidr) => maybeText(cidr) ?? []),
  groups: objects(permission.UserIdGroupPairs).flatMap((one) => maybeText(one.GroupId) ?? []),
  hasPrefixLists: objects(permission.PrefixListIds).length > 0,
});

const isAllowedAlready = ({ codes }: AwsRefusal): boolean =>
  codes.includes('InvalidPermission.Duplicate');

export const accessCalls = (calls: AwsCalls): CloudAccess => ({
  hasKeyPair: async (name, options = {}) => {
    const input = { Filters: [{ Name: 'key-name', Values: [name] }] };
    const output = await calls.send('ec2', 'DescribeKeyPairs', input, options);
    // A filter interprets wildcards: `*` in a name would match other keys.
    return objects(output.KeyPairs).some(({ KeyName }) => KeyName === name);
  },
  findSecurityGroups: async (by, options = {}) => {
    const input = findSecurityGroupsRequest(by);
    const operation = 'DescribeSecurityGroups';
    const groups = await calls.all('ec2', operation, input, 'SecurityGroups', options);
    return groups.map((group) => ({
      id: textOf(group.GroupId),
      name: textOf(group.GroupName),
      vpcId: textOf(group.VpcId),
      tags: tagsOf(group.Tags),
      ingress: objects(group.IpPermissions).map(ruleOf),
      egress: objects(group.IpPermissionsEgress).map(ruleOf),
    }));
  },
  createSecurityGroup: async (group, options = {}) => {
    const request = createSecurityGroupRequest(group);
    return textOf((await calls.send('ec2', 'CreateSecurityGroup', request, options)).GroupId);
  },
  allowIngress: async (groupId, rule, options = {}) => {
    const request = allowIngressRequest(groupId, rule);
    const operation = 'AuthorizeSecurityGroupIngress';
    await calls.maybe('ec2', operation, request, options, isAllowedAlready);
  },
  deleteSecurityGroup: async (GroupId, options = {}) =>
    (await calls.maybe('ec2', 'DeleteSecurityGroup', { GroupId }, options)) !== undefined,
  findAccessEntry: async ({ clusterName, principalArn }, options = {}) => {
    const input = { clusterName, principalArn };
    const output = await calls.maybe('eks', 'DescribeAccessEntry', input, options);
    const entry = output?.accessEntry;
    if (!isObject(entry)) return undefined;
    return { clusterName, principalArn, type: textOf(entry.type), tags: textMapOf(entry.tags) };
  },
  createAccessEntry: async (entry, options = {}) => {
    await calls.send('eks', 'CreateAccessEntry', { ...entry }, options);
  },
  deleteAccessEntry: async ({ clusterName, principalArn }, options = {}) => {
    const input = { clusterName, principalArn };
    return (await calls.maybe('eks', 'DeleteAccessEntry', input, options)) !== undefined;
  },
});
