// Load balancers of an Auto Scaling group over the API: target groups, Classic Load Balancers, and
// both as traffic sources.
import {
  type AwsInput,
  optionalText,
  structures,
  text,
  texts,
} from '../../../src/aws-wire/index.ts';
import type { ClassicBalancers } from '../elb/classic-balancers.ts';
import type { TargetGroups } from '../elb/target-groups.ts';
import { type ServiceHandlers, validationError } from '../scope.ts';
import { trafficSourcesOf } from './render.ts';
import type { GroupStore } from './store.ts';

export interface TargetParts {
  readonly store: GroupStore;
  readonly targets: TargetGroups;
  readonly classic: ClassicBalancers;
}

/** The load balancers that a request attaches or detaches. */
interface Sources {
  readonly targetGroups?: readonly string[];
  readonly loadBalancers?: readonly string[];
}

const inService = 'InService';
const nameOf = (input: AwsInput) => text(input, 'AutoScalingGroupName');
const targetGroupsIn = (input: AwsInput): Sources => ({
  targetGroups: texts(input, 'TargetGroupARNs'),
});
const balancersIn = (input: AwsInput): Sources => ({
  loadBalancers: texts(input, 'LoadBalancerNames'),
});

export const targetGroupHandlers = (parts: TargetParts): ServiceHandlers => {
  const { store } = parts;
  return {
    AttachLoadBalancerTargetGroups: (input) => attach(parts, nameOf(input), targetGroupsIn(input)),
    DetachLoadBalancerTargetGroups: (input) => detach(parts, nameOf(input), targetGroupsIn(input)),
    DescribeLoadBalancerTargetGroups: (input) => ({
      LoadBalancerTargetGroups: (store.needGroup(nameOf(input)).targetGroups ?? []).map((arn) => ({
        LoadBalancerTargetGroupARN: arn,
        State: inService,
      })),
    }),
    AttachLoadBalancers: (input) => attach(parts, nameOf(input), balancersIn(input)),
    DetachLoadBalancers: (input) => detach(parts, nameOf(input), balancersIn(input)),
    DescribeLoadBalancers: (input) => ({
      LoadBalancers: (store.needGroup(nameOf(input)).loadBalancers ?? []).map((name) => ({
        LoadBalancerName: name,
        State: inService,
      })),
    }),
    AttachTrafficSources: (input) => attach(parts, nameOf(input), sourcesOf(input)),
    DetachTrafficSources: (input) => detach(parts, nameOf(input), sourcesOf(input)),
    DescribeTrafficSources: (input) => ({
      TrafficSources: trafficSourcesOf(store.needGroup(nameOf(input))).map((source) => ({
        ...source,
        State: inService,
      })),
    }),
  };
};

const sourcesOf = (input: AwsInput): Sources => {
  const given = structures(input, 'TrafficSources').map((source) => {
    const type = optionalText(source, 'Type') ?? 'elbv2';
    if (type !== 'elbv2' && type !== 'elb') {
      throw validationError(`Traffic sources of type ${type} are not part of Drover's world`);
    }
    return { type, id: text(source, 'Identifier') };
  });
  const of = (type: string) => given.filter((one) => one.type === type).map(({ id }) => id);
  return { targetGroups: of('elbv2'), loadBalancers: of('elb') };
};

/** Throws Auto Scaling's error unless all of these load balancers exist. */
export const needBalancers = (classic: ClassicBalancers, names: readonly string[]): void => {
  if (names.every((name) => classic.find(name) !== undefined)) return;
  throw validationError(
    'Provided Load Balancers may not be valid. Please ensure they exist and try again.',
  );
};

const attach = (
  { store, targets, classic }: TargetParts,
  name: string,
  { targetGroups = [], loadBalancers = [] }: Sources,
) => {
  const group = store.needGroup(name);
  for (const arn of targetGroups) targets.need(arn);
  needBalancers(classic, loadBalancers);
  store.patchGroup(name, {
    targetGroups: [...new Set([...(group.targetGroups ?? []), ...targetGroups])],
    loadBalancers: [...new Set([...(group.loadBalancers ?? []), ...loadBalancers])],
  });
  for (const { state, instanceId } of store.members(name)) {
    if (state !== 'InService') continue;
    for (const arn of targetGroups) targets.register(arn, instanceId, undefined);
    for (const balancer of loadBalancers) classic.register(balancer, instanceId);
  }
  return {};
};

const detach = (
  { store, targets, classic }: TargetParts,
  name: string,
  { targetGroups = [], loadBalancers = [] }: Sources,
) => {
  const group = store.needGroup(name);
  const attached = { targets: group.targetGroups ?? [], balancers: group.loadBalancers ?? [] };
  refuseForeign('Target Groups', targetGroups, attached.targets);
  refuseForeign('Load Balancers', loadBalancers, attached.balancers);
  store.patchGroup(name, {
    targetGroups: attached.targets.filter((arn) => !targetGroups.includes(arn)),
    loadBalancers: attached.balancers.filter((one) => !loadBalancers.includes(one)),
  });
  for (const { instanceId } of store.members(name)) {
    for (const arn of targetGroups) targets.deregister(arn, instanceId);
    for (const balancer of loadBalancers) classic.deregister(balancer, instanceId);
  }
  return {};
};

const refuseForeign = (
  what: string,
  asked: readonly string[],
  attached: readonly string[],
): void => {
  const foreign = asked.find((one) => !attached.includes(one));
  if (foreign === undefined) return;
  throw validationError(`Trying to remove ${what} that are not part of the group: ${foreign}`);
};
