// CloudFormation stacks with an Auto Scaling group, as eksctl creates them for node groups.

import type { Stack } from '../api/cloud.ts';
import { defined } from '../api/defined.ts';
import type { CloudApi } from '../ports/index.ts';
import type { AwsCalls, CallOptions } from './calls.ts';
import { maybeText, objects, tagsOf, textOf, timeOf } from './values.ts';

const groupResourceType = 'AWS::AutoScaling::AutoScalingGroup';
/** eksctl's tag on a node group's stack, written before its group exists. */
const nodeGroupTag = 'alpha.eksctl.io/nodegroup-name';
/** CloudFormation's tag on the resources that it creates. */
const stackNameTag = 'aws:cloudformation:stack-name';
/** Outputs with the nodes' role: of eksctl's stacks, of EKS' own template. */
const nodeRoleOutputs: readonly string[] = ['InstanceRoleARN', 'NodeInstanceRole'];

const service = 'cloudformation';

/** Finds the group of a stack that no group's tag names, from the stack's resources. */
const groupInStack = async (
  calls: AwsCalls,
  stackName: string,
  options: CallOptions,
): Promise<string | undefined> => {
  const input = { StackName: stackName };
  const member = 'StackResourceSummaries';
  const resources = await calls.all(service, 'ListStackResources', input, member, options);
  const group = resources.find(({ ResourceType }) => ResourceType === groupResourceType);
  return maybeText(group?.PhysicalResourceId);
};

export const stackCalls = (
  calls: AwsCalls,
  { describeGroups }: Pick<CloudApi, 'describeGroups'>,
): Pick<CloudApi, 'listStacks'> => ({
  listStacks: async (options = {}) => {
    const groupOfStack = new Map<string, string>();
    for (const group of await describeGroups(undefined, options)) {
      const stack = group.tags[stackNameTag];
      if (stack !== undefined) groupOfStack.set(stack, group.name);
    }
    const stacks: Stack[] = [];
    for (const stack of await calls.all(service, 'DescribeStacks', {}, 'Stacks', options)) {
      const name = textOf(stack.StackName);
      const tags = tagsOf(stack.Tags);
      const isNodeGroup = tags[nodeGroupTag] !== undefined;
      const group =
        groupOfStack.get(name) ??
        (isNodeGroup ? await groupInStack(calls, name, options) : undefined);
      if (group === undefined && !isNodeGroup) continue;
      const role = objects(stack.Outputs).find(({ OutputKey }) =>
        nodeRoleOutputs.includes(textOf(OutputKey)),
      );
      stacks.push({
        name,
        status: textOf(stack.StackStatus),
        createdAt: timeOf(stack.CreationTime),
        tags,
        ...defined({ autoScalingGroupName: group, nodeRole: maybeText(role?.OutputValue) }),
      });
    }
    return stacks;
  },
});
