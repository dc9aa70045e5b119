// A managed node group as EKS and eksctl create it: eksctl's launch template and EKS' derived one,
// the Auto Scaling group with the two hooks, the stack. As in articles 001 and 002.
import type { JsonObject } from '../../../src/api/json.ts';
import type { NodeGroupSpec } from '../../../src/api/nodegroup.ts';
import { putHook } from '../autoscaling/hook-handlers.ts';
import { launching, type TemplateUse, terminating } from '../autoscaling/rows.ts';
import { addStanding, nodegroupAttributes } from '../cloudformation/index.ts';
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
  templateAttributes,
  templateData,
} from './group-parts.ts';
import { managedTemplate } from './stack-templates.ts';

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
  const labels = {
    'alpha.eksctl.io/cluster-name': clusterName,
    'alpha.eksctl.io/nodegroup-name': group.name,
  };
  addManagedStack(context, group, { stackName, role, source, labels, uuid });
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
    labels,
    launchTemplate: { id: source.id, name: source.name, version: source.version },
    remoteAccess: { ec2SshKey: context.keyName },
    tags: stackTags(context, group),
    // EKS created it and deletes it with the node group.
    deletionPolicy: 'Delete',
  };
  return { name: group.name, spec };
};

type SourceTemplate = Required<TemplateUse> & { readonly data: JsonObject };

/** eksctl's own template, which the node group names and nodes have as a label. */
const addSourceTemplate = ({ parts, foundation }: DemoContext, name: string): SourceTemplate => {
  const disk = { DeviceName: '/dev/xvda', Ebs: { VolumeSize: 80, VolumeType: 'gp3' } };
  const data = {
    BlockDeviceMappings: [disk],
    MetadataOptions: { HttpTokens: 'required', HttpPutResponseHopLimit: 2 },
    SecurityGroupIds: [foundation.nodeSecurityGroupId],
  };
  const createdBy = `arn:aws:iam::${parts.scope.account}:user/cli`;
  const { template } = parts.templates.create({ name, createdBy, data });
  return { id: template.id, name, version: '1', data };
};

const nodegroupRole = 'AWSServiceRoleForAmazonEKSNodegroup';

/** The template that EKS derives from it, with image and user data; instances start from it. */
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

/**
 * Article 001's two hooks with the same numbers; they need no role, since the topic belongs to EKS.
 */
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
  facts: {
    readonly stackName: string;
    readonly role: { readonly name: string; readonly arn: string };
    readonly source: SourceTemplate;
    readonly labels: Readonly<Record<string, string>>;
    /** EKS' own id of the node group. */
    readonly uuid: string;
  },
): void => {
  const { parts, clusterName, amiType } = context;
  const { stackName, role, source, labels, uuid } = facts;
  const { name, min, max, desired, capacityType, instanceType } = group;
  const tags = stackTags(context, group);
  const arn = parts.scope.arn('eks', `nodegroup/${clusterName}/${name}/${uuid}`);
  addStanding(parts, {
    name: stackName,
    template: managedTemplate({
      ...{ clusterName, name, amiType, capacityType, instanceType, labels },
      // The other tags come from the stack.
      tags: {
        'alpha.eksctl.io/nodegroup-name': name,
        'alpha.eksctl.io/nodegroup-type': 'managed',
      },
      sizes: { min, max, desired },
      subnetIds: group.isZonal === true ? subnetsOf(context, group) : undefined,
      launchTemplateData: source.data,
    }),
    tags,
    resources: {
      LaunchTemplate: { physicalId: source.id, attributes: templateAttributes(source) },
      ManagedNodeGroup: {
        physicalId: `${clusterName}/${name}`,
        attributes: nodegroupAttributes(clusterName, name, arn),
      },
      NodeInstanceRole: { physicalId: role.name, attributes: { Arn: role.arn } },
    },
  });
};
