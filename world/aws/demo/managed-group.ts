// A managed node group as EKS and eksctl leave it: eksctl's launch template, EKS' own derived from
// it, the Auto Scaling group with the two hooks, the stack. As in articles 001 and 002.
import type { NodeGroupSpec } from '../../../src/api/nodegroup.ts';
import { putHook } from '../autoscaling/hook-handlers.ts';
import { launching, type TemplateUse, terminating } from '../autoscaling/rows.ts';
import type { StandingResource } from '../cloudformation/index.ts';
import type { ImageRow } from '../ec2/images.ts';
import { plainUuid } from '../scope.ts';
import {
  addGroup,
  addRole,
  component,
  type DemoContext,
  type DemoGroup,
  imageOf,
  labelFlags,
  maxPods,
  propagated,
  settle,
  stackNameOf,
  stackTags,
  subnetsOf,
  templateData,
} from './group-parts.ts';

export interface ManagedGroupFacts {
  readonly name: string;
  readonly spec: NodeGroupSpec & { readonly autoScalingGroupName: string };
}

export const addManagedGroup = (context: DemoContext, group: DemoGroup): ManagedGroupFacts => {
  const { parts, clusterName } = context;
  const stackName = stackNameOf(context, group);
  const image = imageOf(context, group);
  const role = addRole(context, stackName);
  const source = addSourceTemplate(context, stackName);
  const uuid = plainUuid(parts.scope.kernel.random(component));
  const name = `eks-${group.name}-${uuid}`;
  context.parts.identity.addProfile({
    name: `eks-${uuid}`,
    path: '/',
    roles: [role.name],
    tags: { 'eks:cluster-name': clusterName, 'eks:nodegroup-name': group.name },
  });
  addGroup(context, group, {
    name,
    template: addDerivedTemplate(context, group, { source, image, name: `eks-${uuid}` }),
    tags: propagated({
      'eks:cluster-name': clusterName,
      'eks:nodegroup-name': group.name,
      'k8s.io/cluster-autoscaler/enabled': 'true',
      [`k8s.io/cluster-autoscaler/${clusterName}`]: 'owned',
      [`kubernetes.io/cluster/${clusterName}`]: 'owned',
    }),
    gracePeriodSeconds: 15,
  });
  addHooks(context, name);
  settle(context, group, name);
  addManagedStack(context, group, { stackName, roleName: role.name, templateId: source.id });
  const spec: ManagedGroupFacts['spec'] = {
    clusterName,
    autoScalingGroupName: name,
    amiType: context.amiType,
    capacityType: group.capacityType ?? 'ON_DEMAND',
    instanceTypes: [group.instanceType],
    version: context.version,
    releaseVersion: image.releaseVersion,
    nodeRole: role.arn,
    subnets: subnetsOf(context, group),
    scaling: { minSize: group.min, maxSize: group.max, desired: group.desired },
    labels: {
      'alpha.eksctl.io/cluster-name': clusterName,
      'alpha.eksctl.io/nodegroup-name': group.name,
    },
    launchTemplate: { id: source.id, name: source.name, version: source.version },
    remoteAccess: { ec2SshKey: context.keyName },
    tags: stackTags(context, group),
    // EKS made it and deletes it with the node group.
    deletionPolicy: 'Delete',
  };
  return { name: group.name, spec };
};

/** eksctl's own template: the one that the node group names and that nodes carry as a label. */
const addSourceTemplate = (
  { parts, foundation }: DemoContext,
  name: string,
): Required<TemplateUse> => {
  const disk = { DeviceName: '/dev/xvda', Ebs: { VolumeSize: 80, VolumeType: 'gp3' } };
  const { template } = parts.templates.create({
    name,
    createdBy: `arn:aws:iam::${parts.scope.account}:user/cli`,
    data: {
      BlockDeviceMappings: [disk],
      MetadataOptions: { HttpTokens: 'required', HttpPutResponseHopLimit: 2 },
      SecurityGroupIds: [foundation.nodeSecurityGroupId],
    },
  });
  return { id: template.id, name, version: '1' };
};

const nodegroupRole = 'AWSServiceRoleForAmazonEKSNodegroup';

/**
 * The template that EKS derives from it, with image and user data: the one instances start from.
 */
const addDerivedTemplate = (
  context: DemoContext,
  group: DemoGroup,
  facts: {
    readonly name: string;
    readonly source: Required<TemplateUse>;
    readonly image: ImageRow;
  },
): Required<TemplateUse> => {
  const { parts, clusterName } = context;
  const { name, source, image } = facts;
  // In the order of article 002's kubelet arguments.
  const labels = {
    'eks.amazonaws.com/sourceLaunchTemplateVersion': source.version,
    'alpha.eksctl.io/nodegroup-name': group.name,
    'alpha.eksctl.io/cluster-name': clusterName,
    'eks.amazonaws.com/nodegroup-image': image.imageId,
    'eks.amazonaws.com/capacityType': group.capacityType ?? 'ON_DEMAND',
    'eks.amazonaws.com/nodegroup': group.name,
    'eks.amazonaws.com/sourceLaunchTemplateId': source.id,
  };
  const userData = [
    '#!/bin/bash',
    'set -ex',
    `KUBELET_ARGS='--node-labels=${labelFlags(labels)} --max-pods=${maxPods(group.instanceType)}'`,
    `/etc/eks/bootstrap.sh ${clusterName} --kubelet-extra-args "$KUBELET_ARGS"`,
    '',
  ].join('\n');
  const { imageId } = image;
  const { template } = parts.templates.create({
    name,
    createdBy: `arn:aws:sts::${parts.scope.account}:assumed-role/${nodegroupRole}/EKS`,
    data: templateData(context, group, { imageId, userData, profile: name }),
    tags: { 'eks:cluster-name': clusterName, 'eks:nodegroup-name': group.name },
  });
  return { id: template.id, name, version: '1' };
};

/** Article 001's two hooks, number for number; no role, for the topic is EKS' own. */
const addHooks = ({ parts, foundation }: DemoContext, group: string): void => {
  const hooks = [
    { LifecycleHookName: 'Launch-LC-Hook', LifecycleTransition: launching },
    { LifecycleHookName: 'Terminate-LC-Hook', LifecycleTransition: terminating },
  ];
  for (const hook of hooks) {
    putHook(parts, {
      ...hook,
      AutoScalingGroupName: group,
      NotificationTargetARN: foundation.topicArn,
      HeartbeatTimeout: 1800,
      DefaultResult: 'CONTINUE',
    });
  }
};

const addManagedStack = (
  context: DemoContext,
  group: DemoGroup,
  facts: { readonly stackName: string; readonly roleName: string; readonly templateId: string },
): void => {
  const resources: readonly StandingResource[] = [
    { logicalId: 'LaunchTemplate', physicalId: facts.templateId, type: 'AWS::EC2::LaunchTemplate' },
    {
      logicalId: 'ManagedNodeGroup',
      physicalId: `${context.clusterName}/${group.name}`,
      type: 'AWS::EKS::Nodegroup',
    },
    { logicalId: 'NodeInstanceRole', physicalId: facts.roleName, type: 'AWS::IAM::Role' },
  ];
  context.parts.stacks.add({
    name: facts.stackName,
    description: 'EKS Managed Nodes (SSH access: true) [created by eksctl]',
    tags: stackTags(context, group),
    outputs: {},
    resources,
  });
};
