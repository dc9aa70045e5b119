// What mends a health issue of a node group, by EKS' code. Knows no group but by its name; what exactly is wrong
// is in the issue's own message.

const remedies: Readonly<Record<string, string>> = {
  AccessDenied:
    'give the role of the controller, or of the nodes, the right that the message names',
  AmiIdNotFound: 'name an image that there is (releaseVersion, or ImageId of the launch template)',
  AsgInstanceLaunchFailures: 'mend what EC2 says; Auto Scaling launches again by itself',
  AutoScalingGroupNotFound:
    'somebody deleted the Auto Scaling group: delete the node group, make it anew',
  Ec2InstanceTypeDoesNotExist:
    'name instance types that the region has: instanceTypes of another group',
  Ec2LaunchTemplateInvalidConfiguration:
    'a new version of the launch template without what the message names',
  Ec2LaunchTemplateNotFound: 'an update to a launch template version that there is',
  Ec2SecurityGroupNotFound: 'a launch template version with security groups that there are',
  Ec2SubnetNotFound: 'a subnet was deleted: make another node group in subnets that there are',
  IamInstanceProfileNotFound: 'make the instance profile again, with the role of the nodes in it',
  IamNodeRoleNotFound: 'make the role of the nodes again, under the same name',
  InstanceLimitExceeded: 'ask for a higher quota of EC2, or for fewer or smaller instances',
  InsufficientFreeAddresses:
    'free addresses in the subnets, or make another node group in larger ones',
  KubernetesLabelInvalid: 'correct the labels of the node group',
  NodeCreationFailure: '`drover explain nodegroup {name}` says what keeps its instances out',
  PodEvictionFailure:
    'let the budget allow an eviction, or update with --force; `drover plan update {name}` looks first',
};

/** A sentence without a full stop. */
export const healthRemedy = (code: string, nodeGroup: string): string =>
  (remedies[code] ?? '`drover explain nodegroup {name}` looks at what can be looked at').replace(
    '{name}',
    nodeGroup,
  );
