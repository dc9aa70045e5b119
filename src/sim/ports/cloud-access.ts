// Key pairs, security groups and access entries of the world's EC2 as the port sees them, in
// virtual time.
import { type JsonObject, objectOr } from '../../api/json.ts';
import type { SecurityRule } from '../../api/network.ts';
import {
  allowIngressRequest,
  type CloudAccess,
  CloudError,
  createSecurityGroupRequest,
  findSecurityGroupsRequest,
  isDoubleRule,
} from '../../ports/index.ts';
import type { CloudCalls } from './cloud-calls.ts';
import { numberOf, objects, tagsOf, textOf } from './cloud-values.ts';

const ruleOf = (permission: JsonObject): SecurityRule => ({
  protocol: textOf(permission.IpProtocol),
  ...(permission.FromPort === undefined ? {} : { fromPort: numberOf(permission.FromPort) }),
  ...(permission.ToPort === undefined ? {} : { toPort: numberOf(permission.ToPort) }),
  cidrs: objects(permission.IpRanges).map((one) => textOf(one.CidrIp)),
  groups: objects(permission.UserIdGroupPairs).map((one) => textOf(one.GroupId)),
  hasPrefixLists: false,
});

export const accessCalls = (calls: CloudCalls): CloudAccess => ({
  hasKeyPair: async (name, options = {}) => {
    const input = { Filters: [{ Name: 'key-name', Values: [name] }] };
    const answer = await calls.send('ec2', 'DescribeKeyPairs', input, options);
    return objects(answer.KeyPairs).length > 0;
  },
  findSecurityGroups: (by, options = {}) => {
    const input = findSecurityGroupsRequest(by);
    return calls.all(
      'ec2',
      'DescribeSecurityGroups',
      input,
      'SecurityGroups',
      options,
      (group) => ({
        id: textOf(group.GroupId),
        name: textOf(group.GroupName),
        vpcId: textOf(group.VpcId),
        tags: tagsOf(group.Tags),
        ingress: objects(group.IpPermissions).map(ruleOf),
        egress: objects(group.IpPermissionsEgress).map(ruleOf),
      }),
    );
  },
  createSecurityGroup: async (group, options = {}) => {
    const request = createSecurityGroupRequest(group);
    const answer = await calls.send('ec2', 'CreateSecurityGroup', request, options);
    return textOf(answer.GroupId);
  },
  allowIngress: async (groupId, rule, options = {}) => {
    const request = allowIngressRequest(groupId, rule);
    try {
      await calls.send('ec2', 'AuthorizeSecurityGroupIngress', request, options);
    } catch (error) {
      if (!(error instanceof CloudError) || !isDoubleRule(error.message)) throw error;
    }
  },
  deleteSecurityGroup: async (GroupId, options = {}) =>
    (await calls.maybe('ec2', 'DeleteSecurityGroup', { GroupId }, options)) !== undefined,
  findAccessEntry: async ({ clusterName, principalArn }, options = {}) => {
    const input = { clusterName, principalArn };
    const answer = await calls.maybe('eks', 'DescribeAccessEntry', input, options);
    if (answer === undefined) return undefined;
    const { type, tags } = objectOr(answer.accessEntry);
    const texts = Object.entries(objectOr(tags)).map(([key, value]) => [key, textOf(value)]);
    return { clusterName, principalArn, type: textOf(type), tags: Object.fromEntries(texts) };
  },
  createAccessEntry: async (entry, options = {}) => {
    await calls.send('eks', 'CreateAccessEntry', { ...entry }, options);
  },
  deleteAccessEntry: async ({ clusterName, principalArn }, options = {}) => {
    const input = { clusterName, principalArn };
    return (await calls.maybe('eks', 'DeleteAccessEntry', input, options)) !== undefined;
  },
});
