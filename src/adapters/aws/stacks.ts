// CloudFormation stacks that hold an Auto Scaling group, as eksctl makes them for node groups.

import type { Stack as SdkStack } from '@aws-sdk/client-cloudformation';
import type { Stack } from '../../api/cloud.ts';
import { defined } from '../../api/defined.ts';
import { type CloudApi, nodeRoleOutputs } from '../../ports/index.ts';
import { allPages, type CallOptions, type Clients, call, tagsOf } from './clients.ts';

const groupResourceType = 'AWS::AutoScaling::AutoScalingGroup';
/** eksctl's mark on the stack of a node group, written before its group exists. */
const nodeGroupTag = 'alpha.eksctl.io/nodegroup-name';
/** CloudFormation's mark on what it makes. */
const stackNameTag = 'aws:cloudformation:stack-name';

const describeStacks = async (
  clients: Clients,
  options: CallOptions,
): Promise<readonly SdkStack[]> => {
  const { sdk, client } = await clients.cloudFormation();
  return allPages(async (token) => {
    const command = new sdk.DescribeStacksCommand(token === undefined ? {} : { NextToken: token });
    const page = await call('DescribeStacks', options, (http) => client.send(command, http));
    return { items: page.Stacks ?? [], next: page.NextToken };
  });
};

/** The group in a stack that no group names as its own: asked of the stack itself. */
const groupInStack = async (
  clients: Clients,
  stackName: string,
  options: CallOptions,
): Promise<string | undefined> => {
  const { sdk, client } = await clients.cloudFormation();
  const resources = await allPages(async (token) => {
    const command = new sdk.ListStackResourcesCommand({
      StackName: stackName,
      ...defined({ NextToken: token }),
    });
    const page = await call('ListStackResources', options, (http) => client.send(command, http));
    return { items: page.StackResourceSummaries ?? [], next: page.NextToken };
  });
  return resources.find(({ ResourceType }) => ResourceType === groupResourceType)
    ?.PhysicalResourceId;
};

export const stackCalls = (
  clients: Clients,
  groups: Pick<CloudApi, 'describeGroups'>,
): Pick<CloudApi, 'listStacks'> => ({
  listStacks: async (options = {}) => {
    const tagged = new Map<string, string>();
    for (const group of await groups.describeGroups(undefined, options)) {
      const stack = group.tags[stackNameTag];
      if (stack !== undefined) tagged.set(stack, group.name);
    }
    const stacks: Stack[] = [];
    for (const stack of await describeStacks(clients, options)) {
      const name = stack.StackName ?? '';
      const tags = tagsOf(stack.Tags);
      const isNodeGroup = tags[nodeGroupTag] !== undefined;
      const group =
        tagged.get(name) ?? (isNodeGroup ? await groupInStack(clients, name, options) : undefined);
      if (group === undefined && !isNodeGroup) continue;
      const role = stack.Outputs?.find(({ OutputKey = '' }) => nodeRoleOutputs.includes(OutputKey));
      stacks.push({
        name,
        status: stack.StackStatus ?? '',
        createdAt: stack.CreationTime?.toISOString() ?? '',
        tags,
        ...defined({ autoScalingGroupName: group, nodeRole: role?.OutputValue }),
      });
    }
    return stacks;
  },
});
