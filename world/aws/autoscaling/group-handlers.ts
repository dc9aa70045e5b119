// Auto Scaling groups over the API: create, describe, update, delete, processes. Makes the checks
// of the service with its messages; the engine does the rest.
import { defined } from '../../../src/api/defined.ts';
import {
  type AwsInput,
  optionalFlag,
  optionalNumber,
  optionalStructure,
  optionalText,
  structures,
  text,
  texts,
} from '../../../src/aws-wire/index.ts';
import type { Images } from '../ec2/images.ts';
import type { LaunchTemplates } from '../ec2/launch-templates.ts';
import type { Network } from '../ec2/network.ts';
import type { ClassicBalancers } from '../elb/classic-balancers.ts';
import type { TargetGroups } from '../elb/target-groups.ts';
import { applyFilters, readFilters } from '../filters.ts';
import { invalidNextToken, pageOf } from '../paging.ts';
import { refuse, type Scope, type ServiceHandlers, sentence, validationError } from '../scope.ts';
import type { Engine } from './engine.ts';
import { readPlaces, readSource } from './group-source.ts';
import { type HookRequest, putHook } from './hook-handlers.ts';
import { renderGroup } from './render.ts';
import { tagsOfGroup } from './rows.ts';
import { component, type GroupStore } from './store.ts';
import { readTag } from './tag-handlers.ts';
import { needBalancers } from './target-handlers.ts';
import type { WarmPools } from './warm-pool.ts';

export interface GroupParts {
  readonly scope: Scope;
  readonly store: GroupStore;
  readonly engine: Engine;
  readonly network: Network;
  readonly templates: LaunchTemplates;
  readonly images: Images;
  readonly warmPools: WarmPools;
  readonly targets: TargetGroups;
  readonly classic: ClassicBalancers;
}

const processes = [
  'Launch',
  'Terminate',
  'AddToLoadBalancer',
  'AlarmNotification',
  'AZRebalance',
  'HealthCheck',
  'InstanceRefresh',
  'ReplaceUnhealthy',
  'ScheduledActions',
];

export const groupHandlers = (parts: GroupParts): ServiceHandlers => ({
  CreateAutoScalingGroup: (input) => create(parts, input),
  UpdateAutoScalingGroup: (input) => update(parts, input),
  DeleteAutoScalingGroup: (input) => remove(parts, input),
  DescribeAutoScalingGroups: (input) => describe(parts, input),
  SetDesiredCapacity: (input) => setDesired(parts, input),
  SuspendProcesses: (input) => {
    const { store } = parts;
    const group = store.needGroup(text(input, 'AutoScalingGroupName'));
    const named = readProcesses(input);
    store.patchGroup(group.name, { suspended: [...new Set([...group.suspended, ...named])] });
  },
  ResumeProcesses: (input) => {
    const { store, engine } = parts;
    const group = store.needGroup(text(input, 'AutoScalingGroupName'));
    const named = readProcesses(input);
    const suspended = group.suspended.filter((name) => !named.includes(name));
    store.patchGroup(group.name, { suspended });
    engine.queueScaling(group.name);
    engine.recheck(group.name);
  },
  DescribeScalingProcessTypes: () => ({
    Processes: processes.map((ProcessName) => ({ ProcessName })),
  }),
  DescribeTerminationPolicyTypes: () => ({ TerminationPolicyTypes: knownPolicies }),
  // The world has no such objects, but clients list them at their start.
  DescribeLaunchConfigurations: () => ({ LaunchConfigurations: [] }),
  DescribePolicies: () => ({ ScalingPolicies: [] }),
  DescribeScheduledActions: () => ({ ScheduledUpdateGroupActions: [] }),
  DescribeNotificationConfigurations: () => ({ NotificationConfigurations: [] }),
  DescribeAccountLimits: () => ({
    MaxNumberOfAutoScalingGroups: 500,
    MaxNumberOfLaunchConfigurations: 200,
    NumberOfAutoScalingGroups: parts.store.groups().length,
    NumberOfLaunchConfigurations: 0,
  }),
});

const readProcesses = (input: AwsInput): readonly string[] => {
  const named = texts(input, 'ScalingProcesses');
  const unknown = named.find((name) => !processes.includes(name));
  if (unknown !== undefined) throw validationError(`Unknown process name: ${unknown}`);
  return named.length === 0 ? processes : named;
};

const create = (parts: GroupParts, input: AwsInput) => {
  const { scope, store, engine, network } = parts;
  checkOneSource(input);
  checkSupported(input);
  const name = text(input, 'AutoScalingGroupName');
  if (store.group(name) !== undefined) {
    throw refuse(
      'AlreadyExists',
      `AutoScalingGroup by this name already exists - A group with the name ${name} already exists`,
    );
  }
  const min = optionalNumber(input, 'MinSize') ?? 0;
  const max = optionalNumber(input, 'MaxSize') ?? 0;
  const desired = optionalNumber(input, 'DesiredCapacity') ?? min;
  checkSizes({ min, max, desired });
  const source = readSource(parts, input) ?? noSource();
  const hooks = structures(input, 'LifecycleHookSpecificationList').map((one) => ({
    ...one,
    AutoScalingGroupName: name,
  }));
  store.putGroup({
    name,
    arn: scope.arn(
      'autoscaling',
      `autoScalingGroup:${scope.uuid(component)}:autoScalingGroupName/${name}`,
    ),
    // A new group starts at size 0; its minimum is set with its first change of capacity.
    min: 0,
    max,
    desired: 0,
    createdAt: scope.now(),
    ...source,
    ...(readPlaces(network, input) ?? noSubnets()),
    tags: structures(input, 'Tags').map(readTag),
    suspended: [],
    healthCheckType: optionalText(input, 'HealthCheckType') ?? 'EC2',
    gracePeriodSeconds: optionalNumber(input, 'HealthCheckGracePeriod') ?? 0,
    cooldownSeconds: optionalNumber(input, 'DefaultCooldown') ?? 300,
    protectsNew: optionalFlag(input, 'NewInstancesProtectedFromScaleIn') ?? false,
    capacityRebalance: optionalFlag(input, 'CapacityRebalance') ?? false,
    retainsAbandoned: readRetention(input) ?? false,
    terminationPolicies: readPolicies(input) ?? ['Default'],
    isDeleting: false,
    ...balancersOf(parts, input),
    cause: '',
    isScalingQueued: false,
    failures: 0,
    retry: 0,
    replacing: 0,
  });
  for (const hook of hooks) putHook({ store, engine }, hook as HookRequest);
  engine.changeCapacity(
    name,
    { min, desired },
    `${store.at()} a user request created an AutoScalingGroup`,
  );
};

const sources = ['LaunchTemplate', 'LaunchConfigurationName', 'InstanceId', 'MixedInstancesPolicy'];

const checkOneSource = (input: AwsInput): void => {
  if (sources.filter((name) => input[name] !== undefined).length !== 1) noSource();
};

const noSource = (): never => {
  throw validationError(
    sentence(
      'Valid requests must contain either LaunchTemplate, LaunchConfigurationName, InstanceId or',
      'MixedInstancesPolicy parameter.',
    ),
  );
};

/** Refuses options that would change behaviour and that the world does not model. */
const unsupported = [
  'LaunchConfigurationName',
  'InstanceId',
  'TrafficSources',
  'PlacementGroup',
  'MaxInstanceLifetime',
  'InstanceMaintenancePolicy',
  'AvailabilityZoneDistribution',
  'AvailabilityZoneImpairmentPolicy',
  'CapacityReservationSpecification',
  'DeletionProtection',
];

const checkSupported = (input: AwsInput): void => {
  const name = unsupported.find((one) => input[one] !== undefined);
  if (name !== undefined) throw validationError(`${name} is not supported by Drover's world`);
};

/** The world uses one order of termination for all of these policies (see choose.ts). */
const knownPolicies = ['Default', 'AllocationStrategy', 'OldestLaunchTemplate', 'OldestInstance'];

const readPolicies = (input: AwsInput): readonly string[] | undefined => {
  const given = texts(input, 'TerminationPolicies');
  const unknown = given.find((name) => !knownPolicies.includes(name));
  if (unknown !== undefined) {
    throw validationError(`Termination policy ${unknown} is not supported by Drover's world`);
  }
  return given.length === 0 ? undefined : given;
};

/** InstanceLifecyclePolicy; undefined where the request has none. */
const readRetention = (input: AwsInput): boolean | undefined => {
  const policy = optionalStructure(input, 'InstanceLifecyclePolicy');
  const triggers = policy && optionalStructure(policy, 'RetentionTriggers');
  const action = triggers && optionalText(triggers, 'TerminateHookAbandon');
  return action === undefined ? undefined : action === 'retain';
};

const balancersOf = ({ targets, classic }: GroupParts, input: AwsInput) => {
  const targetGroups = texts(input, 'TargetGroupARNs');
  for (const arn of targetGroups) targets.need(arn);
  const loadBalancers = texts(input, 'LoadBalancerNames');
  needBalancers(classic, loadBalancers);
  return {
    ...(targetGroups.length === 0 ? {} : { targetGroups }),
    ...(loadBalancers.length === 0 ? {} : { loadBalancers }),
  };
};

const noSubnets = (): never => {
  throw validationError('At least one Availability Zone or VPC Subnet is required.');
};

const checkSizes = (sizes: {
  readonly min: number;
  readonly max: number;
  readonly desired: number;
}): void => {
  const { min, max, desired } = sizes;
  if (min < 0 || max < 0) throw validationError('Group sizes must not be negative');
  if (max < min) {
    throw validationError(`Max bound, ${max}, must be greater than or equal to min bound, ${min}`);
  }
  if (desired < min || desired > max) {
    throw validationError(
      sentence(
        `Desired capacity:${desired} must be between the specified min size:${min} and`,
        `max size:${max}`,
      ),
    );
  }
};

const update = (parts: GroupParts, input: AwsInput) => {
  const { store, engine, network } = parts;
  checkSupported(input);
  if (input.TargetGroupARNs !== undefined) {
    throw validationError('TargetGroupARNs are changed by AttachLoadBalancerTargetGroups');
  }
  const group = store.group(text(input, 'AutoScalingGroupName'));
  // Only UpdateAutoScalingGroup omits the name here.
  if (group === undefined) throw validationError('AutoScalingGroup name not found - null');
  const min = optionalNumber(input, 'MinSize') ?? group.min;
  const max = optionalNumber(input, 'MaxSize') ?? group.max;
  const given = optionalNumber(input, 'DesiredCapacity');
  // New bounds clamp desired capacity; an explicit size must fit them (API reference).
  const desired = given ?? Math.min(Math.max(group.desired, min), max);
  checkSizes({ min, max, desired });
  const source = readSource(parts, input, group.mixed);
  const places = readPlaces(network, input);
  store.patchGroup(group.name, {
    ...(source === undefined ? {} : source),
    ...(places === undefined ? {} : { zones: [], ...places }),
    healthCheckType: optionalText(input, 'HealthCheckType') ?? group.healthCheckType,
    gracePeriodSeconds: optionalNumber(input, 'HealthCheckGracePeriod') ?? group.gracePeriodSeconds,
    cooldownSeconds: optionalNumber(input, 'DefaultCooldown') ?? group.cooldownSeconds,
    protectsNew: optionalFlag(input, 'NewInstancesProtectedFromScaleIn') ?? group.protectsNew,
    capacityRebalance: optionalFlag(input, 'CapacityRebalance') ?? group.capacityRebalance,
    retainsAbandoned: readRetention(input) ?? group.retainsAbandoned ?? false,
    terminationPolicies: readPolicies(input) ?? group.terminationPolicies,
  });
  engine.changeCapacity(
    group.name,
    { min, max, desired },
    sentence(
      `${store.at()} a user request update of AutoScalingGroup constraints to min:`,
      `${min}, max: ${max}, desired: ${desired}`,
    ),
  );
};

const remove = ({ store, engine, warmPools }: GroupParts, input: AwsInput) => {
  const group = store.needGroup(text(input, 'AutoScalingGroupName'));
  const members = [...store.members(group.name), ...store.warmed(group.name)];
  if (members.length === 0) {
    warmPools.forget(group.name);
    store.dropGroup(group.name);
    return;
  }
  if (optionalFlag(input, 'ForceDelete') !== true) {
    throw refuse(
      'ResourceInUse',
      sentence(
        'You cannot delete an AutoScalingGroup while there are instances or pending Spot',
        'instance request(s) still in the group.',
      ),
    );
  }
  store.patchGroup(group.name, { isDeleting: true, min: 0, max: 0, desired: 0 });
  warmPools.remove(group.name);
  // ForceDelete also removes outstanding lifecycle actions (API reference): no hook runs.
  engine.terminateAll(group.name, `${store.at()} a user request force deleted AutoScalingGroup.`);
};

const describe = (parts: GroupParts, input: AwsInput) => {
  const { store, network, scope } = parts;
  const names = texts(input, 'AutoScalingGroupNames');
  const named = store.groups().filter((group) => names.length === 0 || names.includes(group.name));
  const found = applyFilters(
    named,
    readFilters(input),
    { 'tag-value': (group) => group.tags.map((tag) => tag.value) },
    tagsOfGroup,
  );
  const page = pageOf(found, {
    max: optionalNumber(input, 'MaxRecords') ?? 50,
    token: optionalText(input, 'NextToken'),
    keyOf: (group) => group.name,
    invalid: invalidNextToken,
  });
  return {
    AutoScalingGroups: page.items.map((row) =>
      renderGroup(row, { store, network, warmPools: parts.warmPools, account: scope.account }),
    ),
    ...defined({ NextToken: page.nextToken }),
  };
};

/** HonorCooldown has no effect: the world has no scaling policies and so no cooldown. */
const setDesired = ({ store, engine }: GroupParts, input: AwsInput) => {
  const group = store.needGroup(text(input, 'AutoScalingGroupName'));
  const desired = optionalNumber(input, 'DesiredCapacity') ?? 0;
  if (desired > group.max) {
    throw validationError(
      sentence(
        `New SetDesiredCapacity value ${desired} is above max value ${group.max} for the`,
        'AutoScalingGroup.',
      ),
    );
  }
  if (desired < group.min) {
    throw validationError(
      sentence(
        `New SetDesiredCapacity value ${desired} is below min value ${group.min} for the`,
        'AutoScalingGroup.',
      ),
    );
  }
  const cause = `${store.at()} a user request explicitly set group desired capacity`;
  engine.changeCapacity(group.name, { desired }, cause);
};
