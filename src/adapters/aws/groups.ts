// EC2 Auto Scaling groups, their hooks and instances as the port sees them.

import type {
  AutoScalingGroup,
  Instance,
  LaunchTemplateSpecification,
  LifecycleHook as SdkHook,
} from '@aws-sdk/client-auto-scaling';
import type { Instance as Ec2Instance, InstanceStatus } from '@aws-sdk/client-ec2';
import type {
  CloudInstance,
  HookCall,
  ImpairedInstance,
  LifecycleHook,
  ScalingGroup,
  ScalingInstance,
  ScheduledEvent,
} from '../../api/cloud.ts';
import { defined } from '../../api/defined.ts';
import type { JsonObject } from '../../api/json.ts';
import {
  type CloudApi,
  impairedRequest,
  isOverEvent,
  isSpotAlone,
  scheduledEventsRequest,
  statusChecks,
} from '../../ports/index.ts';
import { allPages, batchesOf, type CallOptions, type Clients, call, tagsOf } from './clients.ts';

/** Auto Scaling takes 50 names in one call, and gives 100 groups. */
const groupNamesAtOnce = 50;
const groupsPerPage = 100;
/** EC2 takes 200 values in one filter. */
const instanceIdsAtOnce = 200;

const instanceOf = (group: string, instance: Instance): ScalingInstance => ({
  instanceId: instance.InstanceId ?? '',
  autoScalingGroupName: group,
  availabilityZone: instance.AvailabilityZone ?? '',
  lifecycleState: instance.LifecycleState ?? '',
  instanceType: instance.InstanceType ?? '',
  protectedFromScaleIn: instance.ProtectedFromScaleIn ?? false,
  healthStatus: instance.HealthStatus ?? '',
  launchTemplateVersion: instance.LaunchTemplate?.Version ?? '',
});

const launchTemplateOf = (
  template: LaunchTemplateSpecification | undefined,
): Pick<ScalingGroup, 'launchTemplate'> =>
  template === undefined
    ? {}
    : {
        launchTemplate: {
          id: template.LaunchTemplateId ?? '',
          name: template.LaunchTemplateName ?? '',
          version: template.Version ?? '$Default',
        },
      };

const warmPoolOf = ({
  WarmPoolConfiguration: pool,
  WarmPoolSize: instances = 0,
}: AutoScalingGroup): Pick<ScalingGroup, 'warmPool'> =>
  pool === undefined || pool.Status === 'PendingDelete'
    ? {}
    : { warmPool: { instances, state: pool.PoolState ?? 'Stopped' } };

const groupOf = (group: AutoScalingGroup): ScalingGroup => {
  const name = group.AutoScalingGroupName ?? '';
  const policy = group.MixedInstancesPolicy?.LaunchTemplate;
  const mixed = policy?.LaunchTemplateSpecification;
  return {
    name,
    ...defined({ arn: group.AutoScalingGroupARN }),
    minSize: group.MinSize ?? 0,
    maxSize: group.MaxSize ?? 0,
    desiredCapacity: group.DesiredCapacity ?? 0,
    createdAt: group.CreatedTime?.toISOString() ?? '',
    instances: (group.Instances ?? []).map((instance) => instanceOf(name, instance)),
    tags: tagsOf(group.Tags),
    subnets: (group.VPCZoneIdentifier ?? '').split(',').flatMap((id) => id.trim() || []),
    capacityRebalance: group.CapacityRebalance === true,
    suspendedProcesses: (group.SuspendedProcesses ?? []).map(({ ProcessName = '' }) => ProcessName),
    ...warmPoolOf(group),
    ...launchTemplateOf(group.LaunchTemplate ?? mixed),
    ...(isSpotAlone(group.MixedInstancesPolicy?.InstancesDistribution ?? {})
      ? { isSpot: true }
      : {}),
    // What is not set is not in a value of JSON.
    ...(policy === undefined
      ? {}
      : { overrides: JSON.parse(JSON.stringify(policy.Overrides ?? [])) as readonly JsonObject[] }),
  };
};

const hookOf = (hook: SdkHook): LifecycleHook => ({
  name: hook.LifecycleHookName ?? '',
  autoScalingGroupName: hook.AutoScalingGroupName ?? '',
  transition:
    hook.LifecycleTransition === 'autoscaling:EC2_INSTANCE_LAUNCHING'
      ? 'autoscaling:EC2_INSTANCE_LAUNCHING'
      : 'autoscaling:EC2_INSTANCE_TERMINATING',
  // Defaults of PutLifecycleHook.
  heartbeatTimeoutSeconds: hook.HeartbeatTimeout ?? 3600,
  globalTimeoutSeconds: hook.GlobalTimeout ?? 172_800,
  defaultResult: hook.DefaultResult === 'CONTINUE' ? 'CONTINUE' : 'ABANDON',
  ...defined({ metadata: hook.NotificationMetadata }),
});

const hookTarget = (hook: HookCall) => ({
  AutoScalingGroupName: hook.autoScalingGroupName,
  LifecycleHookName: hook.hookName,
  InstanceId: hook.instanceId,
});

const describeSome = async (
  clients: Clients,
  names: readonly string[] | undefined,
  options: CallOptions,
): Promise<readonly ScalingGroup[]> => {
  const { sdk, client } = await clients.autoScaling();
  return allPages(async (token) => {
    const command = new sdk.DescribeAutoScalingGroupsCommand({
      MaxRecords: groupsPerPage,
      ...(names === undefined ? {} : { AutoScalingGroupNames: [...names] }),
      ...defined({ NextToken: token }),
    });
    const page = await call('DescribeAutoScalingGroups', options, (http) =>
      client.send(command, http),
    );
    return { items: (page.AutoScalingGroups ?? []).map(groupOf), next: page.NextToken };
  });
};

/** Its own: those of its other interfaces are pods'. */
const addressing = (instance: Ec2Instance): Pick<CloudInstance, 'addresses' | 'publicDnsName'> => {
  const { PrivateIpAddress, PublicIpAddress, Ipv6Address, PublicDnsName } = instance;
  const addresses = [PrivateIpAddress, PublicIpAddress, Ipv6Address].flatMap((one) =>
    one === undefined || one === '' ? [] : [one],
  );
  return {
    ...(addresses.length === 0 ? {} : { addresses }),
    ...(PublicDnsName === undefined || PublicDnsName === ''
      ? {}
      : { publicDnsName: PublicDnsName }),
  };
};

const networkOf = (instance: Ec2Instance): Pick<CloudInstance, 'network'> => {
  const { SubnetId, VpcId, SecurityGroups = [], PrivateIpAddress, PublicIpAddress } = instance;
  if (SubnetId === undefined || VpcId === undefined || PrivateIpAddress === undefined) return {};
  return {
    network: {
      subnetId: SubnetId,
      vpcId: VpcId,
      securityGroups: SecurityGroups.flatMap(({ GroupId }) => GroupId ?? []),
      privateAddress: PrivateIpAddress,
      ...defined({ publicAddress: PublicIpAddress }),
    },
  };
};

const describeBatch = async (
  clients: Clients,
  ids: readonly string[],
  options: CallOptions,
): Promise<readonly CloudInstance[]> => {
  const { sdk, client } = await clients.ec2();
  return allPages(async (token) => {
    const command = new sdk.DescribeInstancesCommand({
      // A filter, since one unknown id in InstanceIds fails the whole call.
      Filters: [{ Name: 'instance-id', Values: [...ids] }],
      MaxResults: 1000,
      ...defined({ NextToken: token }),
    });
    const page = await call('DescribeInstances', options, (http) => client.send(command, http));
    const items = (page.Reservations ?? [])
      .flatMap((reservation) => reservation.Instances ?? [])
      .map(
        (instance): CloudInstance => ({
          instanceId: instance.InstanceId ?? '',
          state: instance.State?.Name ?? '',
          privateDnsName: instance.PrivateDnsName ?? '',
          instanceType: instance.InstanceType ?? '',
          isSpot: instance.InstanceLifecycle === 'spot',
          imageId: instance.ImageId ?? '',
          availabilityZone: instance.Placement?.AvailabilityZone ?? '',
          ...(instance.LaunchTime === undefined
            ? {}
            : { launchTime: instance.LaunchTime.toISOString() }),
          ...addressing(instance),
          ...networkOf(instance),
        }),
      );
    return { items, next: page.NextToken };
  });
};

const eventsOf = ({ InstanceId = '', Events = [] }: InstanceStatus): readonly ScheduledEvent[] =>
  Events.map(({ InstanceEventId = '', Code = '', Description = '', NotBefore }) => ({
    id: InstanceEventId,
    instanceId: InstanceId,
    code: Code,
    isOver: isOverEvent(Description),
    ...(NotBefore === undefined ? {} : { notBefore: NotBefore.toISOString() }),
  }));

const describeEvents = async (
  clients: Clients,
  options: CallOptions,
): Promise<readonly ScheduledEvent[]> => {
  const { sdk, client } = await clients.ec2();
  const statuses = await allPages(async (token) => {
    const command = new sdk.DescribeInstanceStatusCommand({
      ...scheduledEventsRequest(),
      MaxResults: 1000,
      ...defined({ NextToken: token }),
    });
    const page = await call('DescribeInstanceStatus', options, (http) =>
      client.send(command, http),
    );
    return { items: page.InstanceStatuses ?? [], next: page.NextToken };
  });
  return statuses.flatMap(eventsOf);
};

const impairedOf = async (
  clients: Clients,
  check: ImpairedInstance['check'],
  options: CallOptions,
): Promise<readonly ImpairedInstance[]> => {
  const { sdk, client } = await clients.ec2();
  const statuses = await allPages(async (token) => {
    const command = new sdk.DescribeInstanceStatusCommand({
      ...impairedRequest(check),
      MaxResults: 1000,
      ...defined({ NextToken: token }),
    });
    const page = await call('DescribeInstanceStatus', options, (http) =>
      client.send(command, http),
    );
    return { items: page.InstanceStatuses ?? [], next: page.NextToken };
  });
  return statuses.map(({ InstanceId = '', InstanceStatus, SystemStatus }) => {
    const details = (check === 'instance' ? InstanceStatus : SystemStatus)?.Details ?? [];
    const since = details.flatMap(({ ImpairedSince }) => ImpairedSince ?? [])[0];
    return { instanceId: InstanceId, check, ...defined({ since: since?.toISOString() }) };
  });
};

export const groupCalls = (
  clients: Clients,
): Pick<
  CloudApi,
  | 'describeGroups'
  | 'describeHooks'
  | 'completeHook'
  | 'heartbeatHook'
  | 'terminateInGroup'
  | 'describeInstances'
  | 'describeScheduledEvents'
  | 'describeImpairedInstances'
  | 'rebootInstance'
  | 'describeLaunchTemplate'
> => ({
  describeScheduledEvents: (options = {}) => describeEvents(clients, options),
  describeImpairedInstances: async (options = {}) => {
    const found = statusChecks.map((check) => impairedOf(clients, check, options));
    return (await Promise.all(found)).flat();
  },
  rebootInstance: async (instanceId, options = {}) => {
    const { sdk, client } = await clients.ec2();
    const command = new sdk.RebootInstancesCommand({ InstanceIds: [instanceId] });
    await call('RebootInstances', options, (http) => client.send(command, http));
  },
  describeLaunchTemplate: async ({ id, version }, options = {}) => {
    const { sdk, client } = await clients.ec2();
    const command = new sdk.DescribeLaunchTemplateVersionsCommand({
      LaunchTemplateId: id,
      Versions: [version],
    });
    const output = await call('DescribeLaunchTemplateVersions', options, (http) =>
      client.send(command, http),
    );
    const data = output.LaunchTemplateVersions?.[0]?.LaunchTemplateData;
    if (data === undefined) return undefined;
    return {
      ...defined({ instanceType: data.InstanceType, imageId: data.ImageId }),
    };
  },
  describeGroups: async (names, options = {}) => {
    if (names === undefined) return describeSome(clients, undefined, options);
    const groups: ScalingGroup[] = [];
    // No names means no group here; to AWS an empty list means all.
    for (const batch of batchesOf(names, groupNamesAtOnce)) {
      groups.push(...(await describeSome(clients, batch, options)));
    }
    return groups;
  },
  describeHooks: async (autoScalingGroupName, options = {}) => {
    const { sdk, client } = await clients.autoScaling();
    const command = new sdk.DescribeLifecycleHooksCommand({
      AutoScalingGroupName: autoScalingGroupName,
    });
    const answer = await call('DescribeLifecycleHooks', options, (http) =>
      client.send(command, http),
    );
    return (answer.LifecycleHooks ?? []).map(hookOf);
  },
  completeHook: async (hook, options = {}) => {
    const { sdk, client } = await clients.autoScaling();
    const command = new sdk.CompleteLifecycleActionCommand({
      ...hookTarget(hook),
      LifecycleActionResult: hook.result,
    });
    await call('CompleteLifecycleAction', options, (http) => client.send(command, http));
  },
  heartbeatHook: async (hook, options = {}) => {
    const { sdk, client } = await clients.autoScaling();
    const command = new sdk.RecordLifecycleActionHeartbeatCommand(hookTarget(hook));
    await call('RecordLifecycleActionHeartbeat', options, (http) => client.send(command, http));
  },
  terminateInGroup: async (instanceId, options) => {
    const { sdk, client } = await clients.autoScaling();
    const command = new sdk.TerminateInstanceInAutoScalingGroupCommand({
      InstanceId: instanceId,
      ShouldDecrementDesiredCapacity: options.decrementDesired,
    });
    await call('TerminateInstanceInAutoScalingGroup', options, (http) =>
      client.send(command, http),
    );
  },
  describeInstances: async (instanceIds, options = {}) => {
    const instances: CloudInstance[] = [];
    for (const batch of batchesOf(instanceIds, instanceIdsAtOnce)) {
      instances.push(...(await describeBatch(clients, batch, options)));
    }
    return instances;
  },
});
