// The remedy for a health issue of a node group or an error of its update. It is found by EKS' code
// and by what the message names. Knows only the group's name; the issue's own message has the
// details.
import type { HealthIssue } from '../../api/nodegroup.ts';

const goOn = '`drover update nodegroup {name}` continues';

const hookRemedy = `correct what the hook reports, or the hook (spec.updateConfig.hooks), then ${goOn}`;

const remedies: Readonly<Record<string, string>> = {
  AccessDenied:
    'give the role of the controller, or of the nodes, the right that the message names',
  AmiIdNotFound: 'name an image that there is (releaseVersion, or ImageId of the launch template)',
  AsgInstanceLaunchFailures:
    'correct what EC2 reports; Auto Scaling then launches again without further action',
  AutoScalingGroupNotFound:
    'the Auto Scaling group was deleted: delete the node group and create it again',
  Ec2InstanceTypeDoesNotExist:
    'name instance types that the region has: instanceTypes of another group',
  Ec2LaunchTemplateInvalidConfiguration:
    'ask for a version of the launch template that is as the message wants it',
  Ec2LaunchTemplateNotFound: 'an update to a launch template version that there is',
  Ec2SecurityGroupNotFound: 'a launch template version with security groups that there are',
  Ec2SubnetNotFound: 'a subnet was deleted: make another node group in subnets that there are',
  HealthProbeFailed: `correct what the probe checks, or the probe (spec.updateConfig.probes), then ${goOn}`,
  HookFailed: hookRemedy,
  IamInstanceProfileNotFound: 'make the instance profile again, with the role of the nodes in it',
  IamNodeRoleNotFound: 'make the role of the nodes again, under the same name',
  InstanceLimitExceeded: 'ask for a higher quota of EC2, or for fewer or smaller instances',
  InsufficientFreeAddresses:
    'free addresses in the subnets, or make another node group in larger ones',
  KubernetesLabelInvalid: 'correct the labels of the node group',
  NodeCreationFailure: '`drover explain nodegroup {name}` says what keeps its instances out',
  OperationNotPermitted:
    'set what the message refuses back to what it allows: in the spec, or `drover update nodegroup {name}`',
  RepairIneffective:
    'change the image or the settings of the group; `drover get repairs --nodegroup {name}` lists what was tried',
  PodEvictionFailure:
    'let the budget allow an eviction, or update with --force; `drover plan update {name}` looks first',
};

/**
 * A failed drain has one code and many reasons; the first pattern that matches the message applies.
 */
const ofEvictions: readonly (readonly [RegExp, string])[] = [
  [
    /failed to assign an IP address|InsufficientFreeAddresses/,
    `free addresses in the subnet that the message names: pods get none there, and no budget is at fault; then ${goOn}`,
  ],
  [
    /, not Ready since /,
    `make the pod Ready that the message names: its budget allows no eviction before; then ${goOn}`,
  ],
  [
    /tolerates every taint/,
    `take the toleration from that pod's owner, or update with --force; then ${goOn}`,
  ],
  [
    /\(budget [^)]+, [^)]+\)/,
    `leave each of these pods one budget: Kubernetes evicts none that several select; then ${goOn}`,
  ],
  [
    /needs (\d+) healthy pods and has \1 currently/,
    'let the budget need fewer pods, or update with --force; one replica more helps only where ' +
      `minAvailable is a number; then ${goOn}`,
  ],
];

/** The message often says why no new nodes join; the code alone does not. */
const ofCreation: readonly (readonly [RegExp, string])[] = [
  // The nodes exist, but their postReady hook has not completed.
  [/Hook postReady of node /, hookRemedy],
  [
    /InsufficientFreeAddresses|not enough free addresses/,
    `free addresses in the subnets that the message names; then ${goOn}`,
  ],
  [
    /InstanceLimitExceeded|VcpuLimitExceeded/,
    `ask for a higher quota of EC2, or for fewer or smaller instances; then ${goOn}`,
  ],
  [
    /InsufficientInstanceCapacity|do not have sufficient .*capacity/,
    'add instance types or zones to the group, or wait until EC2 has capacity there; ' +
      '`drover update nodegroup {name} --strategy SURGE --on-shortage Minimal` needs none beside the old nodes',
  ],
  [
    /its node \S+ is not Ready \(/,
    `fix what the kubelet of that node reports (\`kubectl describe node\`); then ${goOn}`,
  ],
  [
    /has not become a node: its console ends with/,
    `fix what the console's last line names (user data, node role, network); then ${goOn}`,
  ],
];

const byMessage: Readonly<Record<string, typeof ofEvictions>> = {
  PodEvictionFailure: ofEvictions,
  NodeCreationFailure: ofCreation,
  OperationNotPermitted: [[/is being deleted/, 'none is needed: the node group goes']],
};

const remedyOf = ({ code, message }: Pick<HealthIssue, 'code' | 'message'>): string => {
  const special = byMessage[code]?.find(([pattern]) => pattern.test(message))?.[1];
  const known = special ?? remedies[code];
  return known ?? '`drover explain nodegroup {name}` looks at what can be looked at';
};

/** Deleting a group neither forces drains nor starts updates; the controller retries it. */
const ofDelete =
  'let the budget allow an eviction, or correct what the message names: the delete is tried again every 5 minutes, and at once by `drover delete nodegroup {name}`';

/** A sentence without a full stop. */
export const healthRemedy = (
  issue: Pick<HealthIssue, 'code' | 'message'>,
  { name, isLeaving = false }: { readonly name: string; readonly isLeaving?: boolean },
): string => {
  const isDelete = isLeaving && issue.code === 'PodEvictionFailure';
  return (isDelete ? ofDelete : remedyOf(issue)).replaceAll('{name}', name);
};
