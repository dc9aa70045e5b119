// The AWS operations that the mapping calls, by service: what a transport must carry, and what the
// credentials of each process must allow. A call of any other operation does not compile.

/** Of the controllers, and of commands that look at what the controllers work with. */
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
    'DescribeKeyPairs',
    'DescribeLaunchTemplateVersions',
    'DescribeLaunchTemplates',
    'DescribeSecurityGroups',
    'DescribeSubnets',
    'GetConsoleOutput',
    'RebootInstances',
  ],
  eks: ['CreateAccessEntry', 'DeleteAccessEntry', 'DescribeAccessEntry', 'DescribeCluster'],
  iam: [
    'AddRoleToInstanceProfile',
    'CreateInstanceProfile',
    'DeleteInstanceProfile',
    'GetInstanceProfile',
    'RemoveRoleFromInstanceProfile',
  ],
  sqs: ['ChangeMessageVisibility', 'DeleteMessage', 'ReceiveMessage'],
} as const;

/** Of the commands that create, list and delete clusters and groups. */
export const provisioningOperations = {
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
} as const;

/** Of `drover logs` with a query that runs in CloudWatch. */
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

/** As the service models name them. */
export type AwsService = keyof Cloud | keyof Provisioning | keyof Logs;
export type AwsOperation<Service extends AwsService = AwsService> =
  | Of<Cloud, Service>
  | Of<Provisioning, Service>
  | Of<Logs, Service>;
