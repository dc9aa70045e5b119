// Target groups of an Auto Scaling group over the API, in both spellings: load balancer target
// groups and traffic sources.
import {
  type AwsInput,
  optionalText,
  structures,
  text,
  texts,
} from '../../../src/aws-wire/index.ts';
import type { TargetGroups } from '../elb/target-groups.ts';
import { type ServiceHandlers, validationError } from '../scope.ts';
import type { GroupStore } from './store.ts';

export interface TargetParts {
  readonly store: GroupStore;
  readonly targets: TargetGroups;
}

export const targetGroupHandlers = (parts: TargetParts): ServiceHandlers => {
  const { store } = parts;
  const nameOf = (input: AwsInput) => text(input, 'AutoScalingGroupName');
  return {
    AttachLoadBalancerTargetGroups: (input) =>
      attach(parts, nameOf(input), texts(input, 'TargetGroupARNs')),
    DetachLoadBalancerTargetGroups: (input) =>
      detach(parts, nameOf(input), texts(input, 'TargetGroupARNs')),
    DescribeLoadBalancerTargetGroups: (input) => ({
      LoadBalancerTargetGroups: (store.needGroup(nameOf(input)).targetGroups ?? []).map((arn) => ({
        LoadBalancerTargetGroupARN: arn,
        State: 'InService',
      })),
    }),
    AttachTrafficSources: (input) => attach(parts, nameOf(input), sourcesOf(input)),
    DetachTrafficSources: (input) => detach(parts, nameOf(input), sourcesOf(input)),
    DescribeTrafficSources: (input) => ({
      TrafficSources: (store.needGroup(nameOf(input)).targetGroups ?? []).map((Identifier) => ({
        Identifier,
        Type: 'elbv2',
        State: 'InService',
      })),
    }),
  };
};

const sourcesOf = (input: AwsInput): readonly string[] =>
  structures(input, 'TrafficSources').map((source) => {
    const type = optionalText(source, 'Type') ?? 'elbv2';
    if (type === 'elbv2') return text(source, 'Identifier');
    throw validationError(`Traffic sources of type ${type} are not part of Drover's world`);
  });

const attach = ({ store, targets }: TargetParts, name: string, arns: readonly string[]) => {
  const group = store.needGroup(name);
  for (const arn of arns) targets.need(arn);
  store.patchGroup(name, { targetGroups: [...new Set([...(group.targetGroups ?? []), ...arns])] });
  for (const member of store.members(name)) {
    if (member.state !== 'InService') continue;
    for (const arn of arns) targets.register(arn, member.instanceId, undefined);
  }
  return {};
};

const detach = ({ store, targets }: TargetParts, name: string, arns: readonly string[]) => {
  const group = store.needGroup(name);
  const attached = group.targetGroups ?? [];
  const foreign = arns.find((arn) => !attached.includes(arn));
  if (foreign !== undefined) {
    throw validationError(
      `Trying to remove Target Groups that are not part of the group: ${foreign}`,
    );
  }
  store.patchGroup(name, { targetGroups: attached.filter((arn) => !arns.includes(arn)) });
  for (const member of store.members(name)) {
    for (const arn of arns) targets.deregister(arn, member.instanceId);
  }
  return {};
};
