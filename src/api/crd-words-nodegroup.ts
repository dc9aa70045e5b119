// What `kubectl explain nodegroup` says. Names what is asked and what is told; decides nothing.
import {
  conditionWords,
  issueWords,
  launchTemplateWords,
  taintWords,
  type Words,
} from './crd-words.ts';
import { updateConfigWords } from './crd-words-policy.ts';

export const sizeWords: Words = {
  minSize: 'The fewest nodes that anybody, an autoscaler included, may ask for.',
  maxSize: 'The most; an update of strategy DEFAULT or SURGE goes beyond it while it runs.',
  desired: 'How many nodes are asked for.',
};

export const revisionWords: Words = {
  version: "The nodes' Kubernetes version, such as 1.32.",
  releaseVersion: "The image's release, such as 1.32.3-20250501; absent with an image of your own.",
  imageId: 'The image (ami-...).',
  templateVersion: 'Version of the launch template that Drover derives for the group.',
  launchTemplate: ['Your own launch template.', launchTemplateWords],
};

export const requestedRevisionWords: Words = {
  version: revisionWords.version ?? '',
  releaseVersion: revisionWords.releaseVersion ?? '',
  launchTemplate: revisionWords.launchTemplate ?? '',
};

/** EKS' nodeRepairConfig. */
export const nodeRepairWords: Words = {
  enabled: 'Whether unhealthy nodes are repaired.',
  maxUnhealthyNodeThresholdCount: 'No repairs while more nodes than that are unhealthy.',
  maxUnhealthyNodeThresholdPercentage: 'The same as a percentage of the nodes.',
  maxParallelNodesRepairedCount: 'So many are repaired at once.',
  maxParallelNodesRepairedPercentage: 'The same as a percentage of the unhealthy nodes.',
  nodeRepairConfigOverrides: [
    'What is done otherwise for some causes.',
    {
      nodeMonitoringCondition: 'Condition of the node, such as NetworkingReady.',
      nodeUnhealthyReason: 'Its reason.',
      minRepairWaitTimeMins: 'Minutes that it must last.',
      repairAction: 'Replace, Reboot or NoAction.',
    },
  ],
};

const specWords: Words = {
  clusterName: 'The cluster that the nodes join. Never changes.',
  autoScalingGroupName:
    'Adopts an Auto Scaling group that exists, and needs no other field: status.adopted says what AWS knows. Absent = eks-<name>-<uid>, created for this group, which needs clusterName, amiType, capacityType, version, nodeRole, subnets and scaling. Never changes.',
  amiType: "One of EKS' image types, such as AL2023_x86_64_STANDARD. Never changes.",
  capacityType: 'ON_DEMAND or SPOT. Never changes.',
  instanceTypes:
    'EC2 instance types, the one to prefer first; none where the launch template names one. Where neither does: t3.medium, as EKS. Never changes.',
  version: "The nodes' Kubernetes version, such as 1.32; a change is an update.",
  releaseVersion:
    "The image's release; absent = the newest of the version when the group was made or last updated, status tells which. A change is an update.",
  nodeRole: 'ARN of the IAM role that the nodes have. Never changes.',
  subnets: 'Ids of the subnets that nodes are started in. Never changes.',
  scaling: [
    'Sizes of the Auto Scaling group.',
    {
      ...sizeWords,
      desired:
        'How many nodes are asked for. A change of it is a request; absent = the value of the Auto Scaling group stands, which an autoscaler may set.',
    },
  ],
  labels: 'Labels of every node.',
  taints: ['Taints of every node.', taintWords],
  launchTemplate: [
    'Your own EC2 launch template; what it does not say, Drover adds. A change of its version is an update.',
    launchTemplateWords,
  ],
  remoteAccess: [
    'SSH to the nodes. Never changes.',
    {
      ec2SshKey: 'Name of the EC2 key pair.',
      sourceSecurityGroups: 'Ids of security groups that may connect; absent = from everywhere.',
    },
  ],
  diskSizeGiB: "GiB of the root volume; default: the image type's. Never changes.",
  tags: 'AWS tags of the group, not of its instances, as of EKS.',
  updateConfig: ['How its nodes are updated.', updateConfigWords],
  nodeRepairConfig: ["EKS' nodeRepairConfig, kept as given.", nodeRepairWords],
  lifecycleHooks:
    'Manage (default): Drover installs its two lifecycle hooks on the Auto Scaling group and puts them back when they vanish. Leave: it installs none; without them condition TerminationsNotSeen says so.',
  deletionPolicy:
    'What deleting the NodeGroup does. Delete: its nodes are drained and terminated, its Auto Scaling group is deleted. Retain: both stay, hooks and tags of Drover are removed. Default: Retain for an adopted group, Delete for a group that Drover created.',
  drain: [
    'How its nodes are drained when nothing else says so: scale-in, delete, updates.',
    {
      timeoutSeconds:
        'Seconds from the notice until pods are forced, or the drain fails; default 900, as EKS.',
      onDeadline: 'What happens then: force deletes the pods, fail leaves them and says so.',
    },
  ],
};

const statusWords: Words = {
  observedGeneration: 'The generation of the spec that all this was said of.',
  state:
    "EKS' word: CREATING, ACTIVE, UPDATING, DELETING, CREATE_FAILED, DELETE_FAILED or DEGRADED.",
  minSize: 'Of the Auto Scaling group.',
  maxSize: 'Of the Auto Scaling group, what an update adds included.',
  desired: 'Of the Auto Scaling group, what an update adds included.',
  instances: 'How many instances it has.',
  ready: 'How many nodes of it are Ready.',
  perZone: 'How many instances in each Availability Zone.',
  perTemplateVersion: 'How many instances of each version of the derived launch template.',
  autoScalingGroupName: 'Name of the Auto Scaling group.',
  releaseVersion: 'Release of the image that nodes are made from.',
  imageId: 'That image.',
  createdAt: 'When the group was whole for the first time.',
  requested: ['spec.scaling as taken note of: what differs from it is a request.', sizeWords],
  scaleIn: [
    'A scale-in or delete that is under way.',
    {
      id: 'Id of its causes in NodeDisruptions.',
      target: 'How many nodes are to be left.',
      since: 'When it began.',
    },
  ],
  failure: [
    'Why the last request ended without being carried out; gone with the next.',
    { ...issueWords, generation: 'The generation that asked.', at: 'When it ended.' },
  ],
  failedUpdate: 'The last version update, where it failed.',
  nodeLabels:
    'Keys of labels of the spec that were set on nodes: what leaves the spec leaves them.',
  nodeTaints: [
    'Taints of the spec that were set on nodes, likewise.',
    { key: 'Key of the taint.', effect: 'Effect of the taint.' },
  ],
  nodeMarks: [
    'Labels and taints that every node was given; what somebody takes off afterwards is not put back.',
    {
      applied: 'A digest of them.',
      since: 'Since when.',
      owed: 'Instances whose node does not have them yet.',
    },
  ],
  templateGeneration: 'The generation of the spec whose labels and taints the launch template has.',
  surge: [
    "What of the Auto Scaling group's size is an update's; written before its effect.",
    {
      desired: 'So many instances more than asked for.',
      maxSize: 'So much above the spec is the maximum.',
      base: 'How many there are to be besides, where the spec states no desired.',
      retiring: 'How many the update was ending with decrement when the group was looked at.',
      carried: "What of desired is the update's.",
      left: 'How many of those had left by then.',
      takenUntil: "Others' terminations up to this one are accounted for, in Auto Scaling's time.",
      next: [
        'What the call that follows makes of it.',
        {
          desired: 'As above, after the call.',
          maxSize: 'As above, after the call.',
          carried: 'As above, after the call.',
        },
      ],
    },
  ],
  sizeCalls: [
    'Sizes that leaders were about to ask Auto Scaling for: no wishes of anybody.',
    {
      ...sizeWords,
      epoch: "The leader's term.",
      at: 'When it was written.',
      instead: ['It arrived late: what the group had, and goes back to.', sizeWords],
    },
  ],
  updating: [
    'The version update that is under way: what setting it back needs to know.',
    {
      name: 'Its NodeGroupUpdate.',
      turn: 'Its place among the updates of the group.',
      strategy: 'DEFAULT, MINIMAL, SURGE or BLUE_GREEN.',
      from: ['What nodes were made of before.', revisionWords],
      target: ['What they are to be made of.', revisionWords],
      original: ['Sizes before it began.', sizeWords],
      nodes: 'Old nodes when it began.',
      surge: 'How many instances more than asked for it began with.',
      maxUnavailable: 'How many nodes are drained at once.',
      suspends: 'Processes of EC2 Auto Scaling that it suspended and that were running.',
      suspendedIn: "The leader's term in which that was noted.",
      skippedTypes: 'Instance types that are left out while it runs.',
      restored: 'Version of the derived template that new nodes are made from again.',
    },
  ],
  requestedRevision: [
    'What spec.version, releaseVersion and launchTemplate asked for when last taken note of.',
    requestedRevisionWords,
  ],
  capacityType: 'ON_DEMAND or SPOT; for an adopted group as AWS reports it.',
  version: "The nodes' Kubernetes version: that of the last update that was successful.",
  launchTemplate: ['Your own launch template, as of all nodes.', launchTemplateWords],
  adopted: [
    'What AWS says of an adopted group, for fields that its spec leaves out.',
    {
      clusterName: 'The cluster, by the tags of the Auto Scaling group.',
      capacityType: 'SPOT where the group or its template starts Spot Instances alone.',
      instanceTypes: 'Of its mixed instances policy, else of its launch template.',
      subnets: 'Where it starts instances.',
      nodeRole: 'ARN of the role in the instance profile that its launch template names.',
      launchTemplate: ['Its launch template.', launchTemplateWords],
      version: "Kubernetes' minor version of its nodes.",
      imageId: 'The image that its launch template names.',
      minSize: 'Of the Auto Scaling group.',
      maxSize: 'Of the Auto Scaling group.',
    },
  ],
  health: ["What is wrong, in EKS' codes.", issueWords],
  conditions: ['Ready, Progressing and Degraded: what GitOps tools wait for.', conditionWords],
};

export const nodeGroupWords: Words = {
  spec: ['What people ask of the node group.', specWords],
  status: ['What is there. Written by Drover alone.', statusWords],
};
