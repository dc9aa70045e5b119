// Key pairs and security groups of the world's EC2 as the port sees them, in virtual time.
import {
  allowIngressRequest,
  type CloudAccess,
  CloudError,
  createSecurityGroupRequest,
  findSecurityGroupsRequest,
  isDoubleRule,
} from '../ports/index.ts';
import type { CloudCalls } from './cloud-calls.ts';
import { objects, tagsOf, textOf } from './cloud-values.ts';

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
});
