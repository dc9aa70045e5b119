// What the world's AWS answers look like as values of the CloudApi port, and the one request that
// more than one operation shares. Pure.

import { epochMs, formatKubeTime } from '../../api/brand.ts';
import type {
  CloudInstance,
  HookCall,
  ImpairedInstance,
  InstanceProfile,
  InstanceTypeFacts,
  LifecycleHook,
  ScalingGroup,
  ScalingInstance,
  ScheduledEvent,
} from '../../api/cloud.ts';
import { defined } from '../../api/defined.ts';
import { isObject, type JsonObject, objectOr, setOwn } from '../../api/json.ts';
import type { ClusterNetwork } from '../../api/network.ts';
import { isOverEvent, isSpotAlone } from '../../ports/index.ts';

export const objects = (value: unknown): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
export const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
export const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 0);
export const timeOf = (value: unknown): string => formatKubeTime(epochMs(numberOf(value)));

export const tagsOf = (value: unknown): Readonly<Record<string, string>> => {
  const tags: Record<string, string> = {};
  for (const tag of objects(value)) setOwn(tags, textOf(tag.Key), textOf(tag.Value));
  return tags;
};

const toInstance = (groupName: string, instance: JsonObject): ScalingInstance => ({
  instanceId: textOf(instance.InstanceId),
  autoScalingGroupName: groupName,
  availabilityZone: textOf(instance.AvailabilityZone),
  lifecycleState: textOf(instance.LifecycleState),
  instanceType: textOf(instance.InstanceType),
  protectedFromScaleIn: instance.ProtectedFromScaleIn === true,
  healthStatus: textOf(instance.HealthStatus),
  launchTemplateVersion: textOf(objectOr(instance.LaunchTemplate).Version),
});

export const toProfile = (profile: JsonObject): InstanceProfile => ({
  name: textOf(profile.InstanceProfileName),
  roles: objects(profile.Roles).map((role) => textOf(role.RoleName)),
  tags: tagsOf(profile.Tags),
  ...objects(profile.Roles)
    .slice(0, 1)
    .map((role) => ({ roleArn: textOf(role.Arn) }))[0],
});

const mixedOf = (group: JsonObject): JsonObject =>
  objectOr(objectOr(group.MixedInstancesPolicy).LaunchTemplate);

const templateOf = (group: JsonObject): ScalingGroup['launchTemplate'] => {
  const template = group.LaunchTemplate ?? mixedOf(group).LaunchTemplateSpecification;
  if (!isObject(template)) return undefined;
  const { LaunchTemplateId, LaunchTemplateName, Version } = template;
  return {
    id: textOf(LaunchTemplateId),
    name: textOf(LaunchTemplateName),
    version: textOf(Version),
  };
};

const warmPoolOf = (group: JsonObject): Pick<ScalingGroup, 'warmPool'> => {
  const pool = group.WarmPoolConfiguration;
  if (!isObject(pool) || pool.Status === 'PendingDelete') return {};
  return { warmPool: { instances: numberOf(group.WarmPoolSize), state: textOf(pool.PoolState) } };
};

export const toGroup = (group: JsonObject): ScalingGroup => {
  const name = textOf(group.AutoScalingGroupName);
  const launchTemplate = templateOf(group);
  return {
    name,
    arn: textOf(group.AutoScalingGroupARN),
    minSize: numberOf(group.MinSize),
    maxSize: numberOf(group.MaxSize),
    desiredCapacity: numberOf(group.DesiredCapacity),
    createdAt: timeOf(group.CreatedTime),
    instances: objects(group.Instances).map((instance) => toInstance(name, instance)),
    tags: tagsOf(group.Tags),
    subnets: textOf(group.VPCZoneIdentifier).split(',').filter(Boolean),
    capacityRebalance: group.CapacityRebalance === true,
    suspendedProcesses: objects(group.SuspendedProcesses).map((one) => textOf(one.ProcessName)),
    ...warmPoolOf(group),
    ...defined({ launchTemplate }),
    ...(isSpotAlone(objectOr(objectOr(group.MixedInstancesPolicy).InstancesDistribution))
      ? { isSpot: true }
      : {}),
    ...(isObject(group.MixedInstancesPolicy)
      ? { overrides: objects(mixedOf(group).Overrides) }
      : {}),
  };
};

export const toHook = (hook: JsonObject): LifecycleHook => ({
  name: textOf(hook.LifecycleHookName),
  autoScalingGroupName: textOf(hook.AutoScalingGroupName),
  transition: textOf(hook.LifecycleTransition) as LifecycleHook['transition'],
  heartbeatTimeoutSeconds: numberOf(hook.HeartbeatTimeout),
  globalTimeoutSeconds: numberOf(hook.GlobalTimeout),
  defaultResult: hook.DefaultResult === 'CONTINUE' ? 'CONTINUE' : 'ABANDON',
  ...(typeof hook.NotificationMetadata === 'string' ? { metadata: hook.NotificationMetadata } : {}),
});

export const toCloudInstance = (instance: JsonObject): CloudInstance => ({
  instanceId: textOf(instance.InstanceId),
  state: isObject(instance.State) ? textOf(instance.State.Name) : '',
  privateDnsName: textOf(instance.PrivateDnsName),
  instanceType: textOf(instance.InstanceType),
  isSpot: instance.InstanceLifecycle === 'spot',
  imageId: textOf(instance.ImageId),
  availabilityZone: isObject(instance.Placement) ? textOf(instance.Placement.AvailabilityZone) : '',
  launchTime: timeOf(instance.LaunchTime),
  addresses: [instance.PrivateIpAddress, instance.PublicIpAddress, instance.Ipv6Address]
    .map(textOf)
    .filter((address) => address !== ''),
  ...toNetwork(instance),
});

const toNetwork = (instance: JsonObject): Pick<CloudInstance, 'network'> => {
  const privateAddress = textOf(instance.PrivateIpAddress);
  if (privateAddress === '') return {};
  const publicAddress = textOf(instance.PublicIpAddress);
  return {
    network: {
      subnetId: textOf(instance.SubnetId),
      vpcId: textOf(instance.VpcId),
      securityGroups: objects(instance.SecurityGroups).map((one) => textOf(one.GroupId)),
      privateAddress,
      ...(publicAddress === '' ? {} : { publicAddress }),
    },
  };
};

/** EKS' resourcesVpcConfig. */
export const toClusterNetwork = (network: JsonObject): ClusterNetwork => ({
  vpcId: textOf(network.vpcId),
  publicAccess: network.endpointPublicAccess === true,
  privateAccess: network.endpointPrivateAccess === true,
  publicAccessCidrs: textsOf(network.publicAccessCidrs),
  securityGroups: [
    textOf(network.clusterSecurityGroupId),
    ...textsOf(network.securityGroupIds),
  ].filter((id) => id !== ''),
});

/** All that is scheduled for one instance. */
export const toScheduledEvents = (status: JsonObject): readonly ScheduledEvent[] =>
  objects(status.Events).map((event) => ({
    id: textOf(event.InstanceEventId),
    instanceId: textOf(status.InstanceId),
    code: textOf(event.Code),
    notBefore: timeOf(event.NotBefore),
    isOver: isOverEvent(textOf(event.Description)),
  }));

export const toImpaired = (
  status: JsonObject,
  check: ImpairedInstance['check'],
): ImpairedInstance => {
  const summary = objectOr(check === 'instance' ? status.InstanceStatus : status.SystemStatus);
  const [since] = objects(summary.Details).flatMap(({ ImpairedSince }) => ImpairedSince ?? []);
  return {
    instanceId: textOf(status.InstanceId),
    check,
    ...defined({ since: since === undefined ? undefined : timeOf(since) }),
  };
};

export const toInstanceType = (type: JsonObject): InstanceTypeFacts => ({
  name: textOf(type.InstanceType),
  interfaces: numberOf(objectOr(type.NetworkInfo).MaximumNetworkInterfaces),
  addressesPerInterface: numberOf(objectOr(type.NetworkInfo).Ipv4AddressesPerInterface),
  vcpus: numberOf(objectOr(type.VCpuInfo).DefaultVCpus),
  architectures: textsOf(objectOr(type.ProcessorInfo).SupportedArchitectures),
});

export const hookInput = (call: HookCall): JsonObject => ({
  AutoScalingGroupName: call.autoScalingGroupName,
  LifecycleHookName: call.hookName,
  InstanceId: call.instanceId,
});
