// The text of `kubectl explain nodegroup`. Decides nothing.
import { drainPolicyWords } from './crd-drain-policy.ts';
import { nodeRepairPolicyWords } from './crd-repair.ts';
import {
  conditionWords,
  issueWords,
  launchTemplateWords,
  taintWords,
  type Words,
} from './crd-words.ts';
import { updateConfigWords } from './crd-words-policy.ts';

export const sizeWords: Words = {
  minSize:
    'Minimum number of nodes. Requests for fewer nodes are refused, including those of autoscalers.',
  maxSize:
    'Maximum number of nodes. An update with strategy DEFAULT or SURGE exceeds it while it runs.',
  desired: 'Desired number of nodes.',
};

export const revisionWords: Words = {
  version: "The nodes' Kubernetes version, such as 1.32.",
  releaseVersion: "The image's release, such as 1.32.3-20250501; absent for a custom image.",
  imageId: 'The image (ami-...).',
  templateVersion: 'Version of the launch template that Drover creates for the group.',
  replaceEqual: 'Nodes with a lower template version are replaced, even those with the same image.',
  launchTemplate: ['Your own launch template.', launchTemplateWords],
};

export const requestedRevisionWords: Words = {
  version: revisionWords.version ?? '',
  releaseVersion: revisionWords.releaseVersion ?? '',
  launchTemplate: revisionWords.launchTemplate ?? '',
};

/** EKS' nodeRepairConfig. */
export const nodeRepairWords: Words = {
  enabled: 'Whether Drover repairs unhealthy nodes.',
  maxUnhealthyNodeThresholdCount: 'Repairs stop while more nodes than this are unhealthy.',
  maxUnhealthyNodeThresholdPercentage: 'That threshold as a percentage of the nodes.',
  maxParallelNodesRepairedCount: 'Maximum number of nodes repaired at once.',
  maxParallelNodesRepairedPercentage: 'That maximum as a percentage of the unhealthy nodes.',
  nodeRepairConfigOverrides: [
    'Waits and actions for single conditions and reasons.',
    {
      nodeMonitoringCondition: 'The node condition, such as NetworkingReady.',
      nodeUnhealthyReason: "The condition's reason.",
      minRepairWaitTimeMins: 'Minutes that the condition must last before the repair.',
      repairAction: 'Replace, Reboot or NoAction.',
    },
  ],
};

const specWords: Words = {
  clusterName: 'The cluster that the nodes join. Immutable.',
  autoScalingGroupName:
    'Name of an existing Auto Scaling group to adopt. No other field is then required; ' +
    'status.adopted shows what AWS reports. If absent, Drover creates eks-<name>-<uid> and ' +
    'requires clusterName, amiType, capacityType, version, nodeRole, subnets and scaling. ' +
    'Immutable.',
  amiType: "One of EKS's image types, such as AL2023_x86_64_STANDARD. Immutable.",
  capacityType: 'ON_DEMAND or SPOT. Immutable.',
  instanceTypes:
    'EC2 instance types, in order of preference. Must be empty if the launch template names ' +
    'a type. Default t3.medium, as in EKS. Immutable.',
  version: "The nodes' Kubernetes version, such as 1.32. A change starts an update.",
  releaseVersion:
    "The image's release. If absent, the newest release of the version when the group was " +
    'created or last updated; status shows it. A change starts an update.',
  nodeRole: "ARN of the nodes' IAM role. Immutable.",
  subnets: 'Ids of the subnets in which nodes are launched. Immutable.',
  scaling: [
    'Sizes of the Auto Scaling group.',
    {
      ...sizeWords,
      desired:
        'Desired number of nodes. A change is a request to scale. If absent, the Auto ' +
        "Scaling group's value is kept, which an autoscaler may set.",
    },
  ],
  labels: 'Labels for every node.',
  taints: ['Taints for every node.', taintWords],
  launchTemplate: [
    'Your own EC2 launch template. Drover sets the fields that it omits. A change of its ' +
      'version starts an update.',
    launchTemplateWords,
  ],
  remoteAccess: [
    'SSH access to the nodes. Immutable.',
    {
      ec2SshKey: 'Name of the EC2 key pair.',
      sourceSecurityGroups:
        'Ids of the security groups that may connect. If absent, every address may.',
    },
  ],
  diskSizeGiB: 'Size of the root volume in GiB; the default depends on the image type. Immutable.',
  tags: 'AWS tags for the group. As in EKS, its instances do not get them.',
  updateConfig: ['How the nodes are updated.', updateConfigWords],
  nodeRepairConfig: ["EKS's nodeRepairConfig, unchanged.", nodeRepairWords],
  nodeRepair: ["What Drover adds to EKS's nodeRepairConfig.", nodeRepairPolicyWords],
  lifecycleHooks:
    'Manage (default): Drover installs its two lifecycle hooks on the Auto Scaling group ' +
    'and restores them when they are deleted. Leave: it installs none; the condition ' +
    'TerminationsNotSeen reports missing hooks.',
  deletionPolicy:
    'What deleting the NodeGroup does. Delete: its nodes are drained and terminated, its ' +
    'Auto Scaling group is deleted. Retain: both stay, hooks and tags of Drover are ' +
    'removed. Default: Retain for an adopted group, Delete for a group that Drover created.',
  drain: [
    'How nodes are drained for scale-in, delete and updates, unless the request says otherwise.',
    drainPolicyWords,
  ],
};

const statusWords: Words = {
  observedGeneration: 'Generation of the spec that this status describes.',
  state:
    "EKS's state: CREATING, ACTIVE, UPDATING, DELETING, CREATE_FAILED, DELETE_FAILED or DEGRADED.",
  minSize: "The Auto Scaling group's minimum size.",
  maxSize: "The Auto Scaling group's maximum size, including what an update adds.",
  desired: "The Auto Scaling group's desired capacity, including what an update adds.",
  instances: 'Number of instances.',
  ready: 'Number of nodes in service.',
  perZone: 'Number of instances per Availability Zone.',
  perTemplateVersion: 'Number of instances per version of the launch template that Drover creates.',
  autoScalingGroupName: 'Name of the Auto Scaling group.',
  releaseVersion: 'Release of the image from which nodes are launched.',
  imageId: 'The image from which nodes are launched.',
  createdAt: 'When the group was complete for the first time.',
  requested: ['spec.scaling as last observed. A difference from it is a request.', sizeWords],
  scaleIn: [
    'The scale-in or delete in progress.',
    {
      id: 'Id of its causes in the NodeDisruptions.',
      target: 'Number of nodes to remain.',
      since: 'When it began.',
    },
  ],
  failure: [
    'Why the last request was not carried out. Cleared by the next request.',
    {
      ...issueWords,
      generation: 'Generation of the spec that made the request.',
      at: 'When it ended.',
    },
  ],
  failedUpdate: 'The last version update, if it failed.',
  nodeLabels:
    "Keys of the spec's labels that were set on nodes. A label removed from the spec is " +
    'removed from the nodes.',
  nodeTaints: [
    'Taints of the spec that were set on nodes. A taint removed from the spec is removed ' +
      'from the nodes.',
    { key: 'Key of the taint.', effect: 'Effect of the taint.' },
  ],
  nodeMarks: [
    'Labels and taints that every node received. Drover does not restore one that an ' +
      'operator removes afterwards.',
    {
      applied: 'Digest of the labels and taints.',
      since: 'When every node had received them.',
      owed: 'Instances whose node has not received them yet.',
    },
  ],
  templateGeneration:
    'Generation of the spec whose labels and taints the launch template contains.',
  surge: [
    "The part of the Auto Scaling group's size that belongs to an update. Written before " +
      'the call that changes the size.',
    {
      desired: 'Instances added to the desired size.',
      maxSize: 'Amount by which the maximum exceeds the spec.',
      base: "Desired size without the update's instances, if the spec has no desired.",
      retiring: 'Instances that the update was terminating with decrement when the group was read.',
      carried: 'Part of desired that belongs to the update.',
      left: 'Number of retiring instances that had left the group when it was read.',
      takenUntil: 'Time in Auto Scaling up to which terminations by others are accounted for.',
      next: [
        'The values after the next call.',
        {
          desired: 'As above, after the call.',
          maxSize: 'As above, after the call.',
          carried: 'As above, after the call.',
        },
      ],
    },
  ],
  sizeCalls: [
    'Sizes that a leader was about to set in Auto Scaling. They are not requests.',
    {
      ...sizeWords,
      epoch: "The leader's term.",
      at: 'When it was written.',
      instead: ['Set when the call arrived late: the sizes that Drover restores.', sizeWords],
    },
  ],
  updating: [
    'The version update in progress, with what its rollback needs.',
    {
      name: 'Its NodeGroupUpdate.',
      turn: "Its position in the order of the group's updates.",
      strategy: 'DEFAULT, MINIMAL, SURGE or BLUE_GREEN.',
      from: ['Revision of the nodes before the update.', revisionWords],
      target: ['Revision that the update installs.', revisionWords],
      original: ['Sizes before the update began.', sizeWords],
      nodes: 'Number of old nodes when the update began.',
      surge: 'Number of instances added at the start.',
      maxUnavailable: 'Maximum number of nodes drained at once.',
      suspends: 'EC2 Auto Scaling processes that were running and that the update suspended.',
      suspendedIn: "The leader's term in which this was recorded.",
      skippedTypes: 'Instance types that are not launched while the update runs.',
      restored: 'Launch template version that was restored.',
    },
  ],
  requestedRevision: [
    'spec.version, releaseVersion and launchTemplate as last observed.',
    requestedRevisionWords,
  ],
  capacityType: 'ON_DEMAND or SPOT. For an adopted group, as AWS reports it.',
  version: "The nodes' Kubernetes version, from the last successful update.",
  launchTemplate: [
    'Your own launch template in the version that all nodes have.',
    launchTemplateWords,
  ],
  adopted: [
    "Values that AWS reports for the fields that an adopted group's spec leaves out.",
    {
      clusterName: "The cluster named by the Auto Scaling group's tags.",
      capacityType: 'SPOT if the group or its template launches only Spot Instances.',
      instanceTypes: 'Instance types of the mixed instances policy, else of the launch template.',
      subnets: 'Subnets in which it launches instances.',
      nodeRole: 'ARN of the role in the instance profile that its launch template names.',
      launchTemplate: ['Its launch template.', launchTemplateWords],
      version: 'Kubernetes minor version of its nodes.',
      imageId: 'Image that its launch template names.',
      minSize: "The Auto Scaling group's minimum size.",
      maxSize: "The Auto Scaling group's maximum size.",
    },
  ],
  health: ["Health issues, with EKS's codes.", issueWords],
  conditions: ['Ready, Progressing and Degraded, for GitOps tools.', conditionWords],
};

export const nodeGroupWords: Words = {
  spec: ['Desired state of the node group.', specWords],
  status: ['Observed state. Only Drover writes it.', statusWords],
};
