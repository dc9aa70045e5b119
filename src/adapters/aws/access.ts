// Key pairs and security groups of EC2, access entries of EKS, as the port sees them.

import type { IpPermission } from '@aws-sdk/client-ec2';
import { defined } from '../../api/defined.ts';
import type { SecurityRule } from '../../api/network.ts';
import {
  allowIngressRequest,
  type CloudAccess,
  CloudError,
  createSecurityGroupRequest,
  findSecurityGroupsRequest,
  isDoubleRule,
} from '../../ports/index.ts';
import { allPages, type Clients, call, tagsOf } from './clients.ts';
import { orAbsent } from './errors.ts';

const ruleOf = (permission: IpPermission): SecurityRule => {
  const { IpProtocol = '-1', FromPort, ToPort, IpRanges = [], Ipv6Ranges = [] } = permission;
  const cidrs = [...IpRanges.map((one) => one.CidrIp), ...Ipv6Ranges.map((one) => one.CidrIpv6)];
  return {
    protocol: IpProtocol,
    ...defined({ fromPort: FromPort, toPort: ToPort }),
    cidrs: cidrs.filter((one) => one !== undefined),
    groups: (permission.UserIdGroupPairs ?? []).flatMap(({ GroupId }) => GroupId ?? []),
    hasPrefixLists: (permission.PrefixListIds ?? []).length > 0,
  };
};

export const accessCalls = (clients: Clients): CloudAccess => ({
  hasKeyPair: async (name, options = {}) => {
    const { sdk, client } = await clients.ec2();
    const Filters = [{ Name: 'key-name', Values: [name] }];
    const command = new sdk.DescribeKeyPairsCommand({ Filters });
    const answer = await call('DescribeKeyPairs', options, (http) => client.send(command, http));
    return (answer.KeyPairs ?? []).some(({ KeyName }) => KeyName === name);
  },
  findSecurityGroups: async (by, options = {}) => {
    const { sdk, client } = await clients.ec2();
    return allPages(async (token) => {
      const command = new sdk.DescribeSecurityGroupsCommand({
        ...findSecurityGroupsRequest(by),
        ...defined({ NextToken: token }),
      });
      const page = await call('DescribeSecurityGroups', options, (http) =>
        client.send(command, http),
      );
      const items = (page.SecurityGroups ?? []).map((group) => ({
        id: group.GroupId ?? '',
        name: group.GroupName ?? '',
        vpcId: group.VpcId ?? '',
        tags: tagsOf(group.Tags),
        ingress: (group.IpPermissions ?? []).map(ruleOf),
        egress: (group.IpPermissionsEgress ?? []).map(ruleOf),
      }));
      return { items, next: page.NextToken };
    });
  },
  createSecurityGroup: async (group, options = {}) => {
    const { sdk, client } = await clients.ec2();
    const command = new sdk.CreateSecurityGroupCommand(createSecurityGroupRequest(group));
    const answer = await call('CreateSecurityGroup', options, (http) => client.send(command, http));
    return answer.GroupId ?? '';
  },
  allowIngress: async (groupId, rule, options = {}) => {
    const { sdk, client } = await clients.ec2();
    const request = allowIngressRequest(groupId, rule);
    const command = new sdk.AuthorizeSecurityGroupIngressCommand(request);
    try {
      await call('AuthorizeSecurityGroupIngress', options, (http) => client.send(command, http));
    } catch (error) {
      if (!(error instanceof CloudError) || !isDoubleRule(error.message)) throw error;
    }
  },
  deleteSecurityGroup: async (GroupId, options = {}) => {
    const { sdk, client } = await clients.ec2();
    const command = new sdk.DeleteSecurityGroupCommand({ GroupId });
    const done = await orAbsent(
      call('DeleteSecurityGroup', options, (http) => client.send(command, http)),
    );
    return done !== undefined;
  },
  findAccessEntry: async ({ clusterName, principalArn }, options = {}) => {
    const { sdk, client } = await clients.eks();
    const command = new sdk.DescribeAccessEntryCommand({ clusterName, principalArn });
    const answer = await orAbsent(
      call('DescribeAccessEntry', options, (http) => client.send(command, http)),
    );
    const entry = answer?.accessEntry;
    if (entry === undefined) return undefined;
    return { clusterName, principalArn, type: entry.type ?? '', tags: { ...entry.tags } };
  },
  createAccessEntry: async (entry, options = {}) => {
    const { sdk, client } = await clients.eks();
    const command = new sdk.CreateAccessEntryCommand({ ...entry });
    await call('CreateAccessEntry', options, (http) => client.send(command, http));
  },
  deleteAccessEntry: async ({ clusterName, principalArn }, options = {}) => {
    const { sdk, client } = await clients.eks();
    const command = new sdk.DeleteAccessEntryCommand({ clusterName, principalArn });
    const done = await orAbsent(
      call('DeleteAccessEntry', options, (http) => client.send(command, http)),
    );
    return done !== undefined;
  },
});
