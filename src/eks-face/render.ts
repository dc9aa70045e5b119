// NodeGroup and NodeGroupUpdate in the form of EKS' API. Sizes come from the Auto Scaling group
// itself.

import type { ScalingGroup } from '../api/cloud.ts';
import {
  autoScalingGroupNameOf,
  deleteAgainAnnotation,
  type HealthIssue,
  type NodeGroup,
  type UpdateConfig,
} from '../api/nodegroup.ts';
import { type NodeGroupUpdate, updateStatusOf } from '../api/nodegroup-update.ts';
import type { AwsCallContext } from '../aws-wire/index.ts';
import { defaultInstanceType } from '../core/nodegroup/index.ts';
import { nodegroupArn } from './context.ts';

type Shape = Readonly<Record<string, unknown>>;

export const taintEffects: Readonly<Record<string, string>> = {
  NoSchedule: 'NO_SCHEDULE',
  NoExecute: 'NO_EXECUTE',
  PreferNoSchedule: 'PREFER_NO_SCHEDULE',
};

/** Without types in the spec: the default, or none when a launch template determines the type. */
const typesOf = ({ instanceTypes, launchTemplate }: NodeGroup['spec']): readonly string[] =>
  instanceTypes.length === 0 && launchTemplate === undefined
    ? [defaultInstanceType]
    : instanceTypes;

const stateOf = (group: NodeGroup, isUpdating: boolean): string => {
  const state = group.status?.state;
  if (group.metadata.deletionTimestamp !== undefined) {
    const again = group.metadata.annotations?.[deleteAgainAnnotation];
    const isFailed = state === 'DELETE_FAILED' && group.status?.failure?.at !== again;
    return isFailed ? state : 'DELETING';
  }
  if (state === undefined) {
    return group.spec.autoScalingGroupName === undefined ? 'CREATING' : 'ACTIVE';
  }
  // An update that the controller has not started yet counts too.
  return isUpdating && (state === 'ACTIVE' || state === 'DEGRADED') ? 'UPDATING' : state;
};

const defined = (members: Shape): Shape =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));

/** For a custom image EKS returns the image id. */
const releaseShown = ({ spec, status }: NodeGroup): string | undefined =>
  spec.amiType === 'CUSTOM' ? status?.imageId : (status?.releaseVersion ?? spec.releaseVersion);

/** EKS' NodegroupIssueCode; Drover's additional codes appear in the message. */
const issueCodes: ReadonlySet<string> = new Set([
  'AutoScalingGroupNotFound',
  'AutoScalingGroupInvalidConfiguration',
  'Ec2SecurityGroupNotFound',
  'Ec2SecurityGroupDeletionFailure',
  'Ec2LaunchTemplateNotFound',
  'Ec2LaunchTemplateVersionMismatch',
  'Ec2SubnetNotFound',
  'Ec2SubnetInvalidConfiguration',
  'IamInstanceProfileNotFound',
  'Ec2SubnetMissingIpv6Assignment',
  'IamLimitExceeded',
  'IamNodeRoleNotFound',
  'NodeCreationFailure',
  'AsgInstanceLaunchFailures',
  'InstanceLimitExceeded',
  'InsufficientFreeAddresses',
  'AccessDenied',
  'InternalFailure',
  'ClusterUnreachable',
  'AmiIdNotFound',
  'AutoScalingGroupOptInRequired',
  'AutoScalingGroupRateLimitExceeded',
  'Ec2LaunchTemplateDeletionFailure',
  'Ec2LaunchTemplateInvalidConfiguration',
  'Ec2LaunchTemplateMaxLimitExceeded',
  'Ec2SubnetListTooLong',
  'IamThrottling',
  'NodeTerminationFailure',
  'PodEvictionFailure',
  'SourceEc2LaunchTemplateNotFound',
  'LimitExceeded',
  'Unknown',
  'AutoScalingGroupInstanceRefreshActive',
  'KubernetesLabelInvalid',
  'Ec2LaunchTemplateVersionMaxLimitExceeded',
  'Ec2InstanceTypeDoesNotExist',
]);

const issueShown = (issue: HealthIssue): HealthIssue =>
  issueCodes.has(issue.code)
    ? issue
    : { ...issue, code: 'Unknown', message: `${issue.code}: ${issue.message}` };

/** EKS has no value for Drover's own strategies. */
const updateConfigShown = (config: UpdateConfig = {}): UpdateConfig => {
  const { updateStrategy, maxUnavailable, maxUnavailablePercentage } = config;
  const nodes =
    maxUnavailablePercentage === undefined
      ? { maxUnavailable: maxUnavailable ?? 1 }
      : { maxUnavailablePercentage };
  return {
    ...nodes,
    ...(updateStrategy === 'DEFAULT' || updateStrategy === 'MINIMAL' ? { updateStrategy } : {}),
  };
};

/** The spec has an update's change from the start; EKS shows it once the update is successful. */
const templateShown = (
  { spec }: NodeGroup,
  updates: readonly NodeGroupUpdate[],
): NodeGroup['spec']['launchTemplate'] => {
  const last = updates.findLast((one) => one.status?.from !== undefined);
  if (last === undefined || updateStatusOf(last) === 'Successful') return spec.launchTemplate;
  return last.status?.from?.launchTemplate ?? spec.launchTemplate;
};

export const toEksNodegroup = (
  group: NodeGroup,
  context: {
    readonly scaling: ScalingGroup | undefined;
    /** Updates of the group, oldest first. */
    readonly updates: readonly NodeGroupUpdate[];
    readonly remoteAccessSecurityGroup: string | undefined;
  },
  ctx: AwsCallContext,
): Shape => {
  const { spec, status, metadata } = group;
  const { scaling, updates, remoteAccessSecurityGroup } = context;
  const isUpdating = updates.some((one) => updateStatusOf(one) === 'InProgress');
  const createdAt = Date.parse(metadata.creationTimestamp);
  const changes = (status?.conditions ?? []).map(({ lastTransitionTime }) =>
    Date.parse(lastTransitionTime ?? metadata.creationTimestamp),
  );
  const exists = scaling !== undefined || status?.createdAt !== undefined;
  const name = autoScalingGroupNameOf(group);
  return defined({
    nodegroupName: metadata.name,
    nodegroupArn: nodegroupArn(group, ctx),
    clusterName: spec.clusterName,
    version: status?.version ?? spec.version,
    releaseVersion: releaseShown(group),
    createdAt,
    modifiedAt: Math.max(createdAt, ...changes),
    status: stateOf(group, isUpdating),
    capacityType: spec.capacityType,
    scalingConfig: {
      minSize: scaling?.minSize ?? spec.scaling.minSize,
      maxSize: scaling?.maxSize ?? spec.scaling.maxSize,
      desiredSize: spec.scaling.desired ?? scaling?.desiredCapacity ?? spec.scaling.minSize,
    },
    instanceTypes: typesOf(spec),
    subnets: spec.subnets,
    remoteAccess: spec.remoteAccess,
    amiType: spec.amiType,
    nodeRole: spec.nodeRole,
    labels: spec.labels ?? {},
    taints: spec.taints?.map(({ key, value, effect }) =>
      defined({ key, value, effect: taintEffects[effect] }),
    ),
    resources: exists ? defined({ autoScalingGroups: [{ name }], remoteAccessSecurityGroup }) : {},
    diskSize: spec.diskSizeGiB,
    health: { issues: (status?.health ?? []).map(issueShown) },
    updateConfig: updateConfigShown(spec.updateConfig),
    nodeRepairConfig: spec.nodeRepairConfig,
    launchTemplate: templateShown(group, updates),
    tags: spec.tags ?? {},
  });
};

/**
 * EKS' ErrorCode; Drover's additional codes are issues of the group's health and appear in the
 * message.
 */
const updateErrorCodes: ReadonlySet<string> = new Set([
  'SubnetNotFound',
  'SecurityGroupNotFound',
  'EniLimitReached',
  'IpNotAvailable',
  'AccessDenied',
  'OperationNotPermitted',
  'VpcIdNotFound',
  'Unknown',
  'NodeCreationFailure',
  'PodEvictionFailure',
  'InsufficientFreeAddresses',
  'ClusterUnreachable',
  'InsufficientNumberOfReplicas',
  'ConfigurationConflict',
  'AdmissionRequestDenied',
  'UnsupportedAddonModification',
  'K8sResourceNotFound',
]);

export const toEksUpdate = (update: NodeGroupUpdate): Shape => ({
  id: update.metadata.name,
  status: updateStatusOf(update),
  type: update.spec.type,
  params: update.spec.params,
  createdAt: Date.parse(update.metadata.creationTimestamp),
  errors: (update.status?.errors ?? []).map(({ code, message, resourceIds }) => ({
    ...(updateErrorCodes.has(code)
      ? { errorCode: code, errorMessage: message }
      : { errorCode: 'Unknown', errorMessage: `${code}: ${message}` }),
    resourceIds,
  })),
});
