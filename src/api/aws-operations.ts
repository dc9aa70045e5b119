// The AWS operations that the mapping calls, by service: what a transport supports, and what each
// process's credentials must allow. A call of any other operation does not compile.

/** Operations of the controllers; their IAM policy allows exactly these. */
export const cloudOperations = {
  autoscaling: [
    'CompleteLifecycleAction',
    'CreateAutoScalingGroup',
    'CreateOrUpdateTags',
    'DeleteAutoScalingGroup',
    'DeleteLifecycleHook',
    'DeleteTags',
    'DeleteWarmPool',
    'DescribeAutoScalingGroups',
    'DescribeLifecycleHooks',
    'DescribeScalingActivities',
    'DetachInstances',
    'PutLifecycleHook',
    'RecordLifecycleActionHeartbeat',
    'ResumeProcesses',
    'SuspendProcesses',
    'TerminateInstanceInAutoScalingGroup',
    'UpdateAutoScalingGroup',
  ],
  cloudformation: ['DescribeStacks', 'ListStackResources'],
  ec2: [
    'AuthorizeSecurityGroupIngress',
    'CreateLaunchTemplate',
    'CreateLaunchTemplateVersion',
    'CreateSecurityGroup',
    'DeleteLaunchTemplate',
    'DeleteSecurityGroup',
    'DescribeImages',
    'DescribeInstanceStatus',
    'DescribeInstanceTypes',
    'DescribeInstances',
    'DescribeLaunchTemplateVersions',
    'DescribeLaunchTemplates',
    'DescribeSecurityGroups',
    'DescribeSubnets',
    'GetConsoleOutput',
    'RebootInstances',
    'TerminateInstances',
  ],
  eks: ['CreateAccessEntry', 'DeleteAccessEntry', 'DescribeAccessEntry', 'DescribeCluster'],
  elbv2: ['DescribeTags', 'DescribeTargetGroups', 'DescribeTargetHealth'],
  iam: [
    'AddRoleToInstanceProfile',
    'CreateInstanceProfile',
    'DeleteInstanceProfile',
    'GetInstanceProfile',
    'RemoveRoleFromInstanceProfile',
  ],
  sqs: ['ChangeMessageVisibility', 'DeleteMessage', 'ReceiveMessage'],
} as const;

/** Operations of the commands that create, list, adopt and delete clusters and groups. */
export const provisioningOperations = {
  autoscaling: ['DescribeInstanceRefreshes'],
  cloudformation: ['CreateStack', 'DeleteStack', 'DescribeStackEvents', 'DescribeStacks'],
  ec2: [
    'CreateKeyPair',
    'DescribeAvailabilityZones',
    'DescribeInstances',
    'DescribeKeyPairs',
    'DescribeSubnets',
  ],
  eks: [
    'AssociateAccessPolicy',
    'CreateAccessEntry',
    'CreateAddon',
    'DeleteAddon',
    'DescribeAccessEntry',
    'DescribeAddon',
    'DescribeCluster',
    'DescribeNodegroup',
    'DescribeUpdate',
    'ListAccessEntries',
    'ListAddons',
    'ListAssociatedAccessPolicies',
    'ListClusters',
    'ListNodegroups',
    'UpdateClusterVersion',
  ],
  'service-quotas': ['GetServiceQuota'],
  ssm: ['GetParameter'],
  sts: ['GetCallerIdentity'],
} as const;

/** Operations of `drover logs` for a query that runs in CloudWatch. */
export const logOperations = {
  logs: ['DescribeLogGroups', 'GetQueryResults', 'StartQuery', 'StopQuery'],
} as const;

type Cloud = typeof cloudOperations;
type Provisioning = typeof provisioningOperations;
type Logs = typeof logOperations;
type Of<Table extends object, Service> = Service extends keyof Table
  ? Table[Service] extends readonly (infer Name)[]
    ? Name
    : never
  : never;

/** Names in the service models. */
export type AwsService = keyof Cloud | keyof Provisioning | keyof Logs;
export type AwsOperation<Service extends AwsService = AwsService> =
  | Of<Cloud, Service>
  | Of<Provisioning, Service>
  | Of<Logs, Service>;
