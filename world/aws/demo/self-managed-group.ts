// A self-managed node group as eksctl creates it: launch template, Auto Scaling group without
// hooks, stack. As in articles 001 and 002.
import type { JsonObject } from '../../../src/api/json.ts';
import { addStanding } from '../cloudformation/index.ts';
import {
  addGroup,
  addRole,
  component,
  type DemoContext,
  type DemoGroup,
  imageOf,
  labelFlags,
  propagated,
  settle,
  stackNameOf,
  stackTags,
  subnetsOf,
  suffix,
  templateAttributes,
  templateData,
} from './group-parts.ts';
import { selfManagedTemplate } from './stack-templates.ts';

export interface SelfManagedGroupFacts {
  readonly name: string;
  readonly autoScalingGroupName: string;
  readonly stackName: string;
  readonly nodeRole: string;
}

export const addSelfManagedGroup = (
  context: DemoContext,
  group: DemoGroup,
): SelfManagedGroupFacts => {
  const { parts, clusterName } = context;
  const stackName = stackNameOf(context, group);
  const image = imageOf(context, group);
  const role = addRole(context, stackName);
  const profile = `${stackName}-NodeInstanceProfile-${suffix(context, 12)}`;
  parts.identity.addProfile({ name: profile, path: '/', roles: [role.name] });
  const labels = {
    'alpha.eksctl.io/cluster-name': clusterName,
    'alpha.eksctl.io/nodegroup-name': group.name,
    'node-lifecycle': '$INSTANCE_LIFECYCLE',
    'alpha.eksctl.io/instance-id': '$INSTANCE_ID',
  };
  const userData = [
    '#!/bin/bash',
    'set -ex',
    'INSTANCE_ID=$(imds instance-id)',
    'INSTANCE_LIFECYCLE=$(imds instance-life-cycle)',
    `KUBELET_ARGS="--node-labels=${labelFlags(labels)}"`,
    `/etc/eks/bootstrap.sh ${clusterName} --kubelet-extra-args "$KUBELET_ARGS"`,
    '',
  ].join('\n');
  const data = templateData(context, group, { imageId: image.imageId, userData, profile });
  const template = parts.templates.create({
    name: stackName,
    createdBy: `arn:aws:iam::${parts.scope.account}:user/cli`,
    data,
  });
  const name = `${stackName}-NodeGroup-${suffix(context)}`;
  const stack = addSelfManagedStack(context, group, {
    stackName,
    name,
    roleName: role.name,
    roleArn: role.arn,
    profile,
    templateId: template.template.id,
    data,
  });
  addGroup(context, group, {
    name,
    template: { id: template.template.id, name: stackName, version: '1' },
    tags: propagated({
      'alpha.eksctl.io/nodegroup-name': group.name,
      'alpha.eksctl.io/nodegroup-type': 'unmanaged',
      'aws:cloudformation:logical-id': 'NodeGroup',
      'aws:cloudformation:stack-id': stack.id,
      'aws:cloudformation:stack-name': stackName,
      'eksctl.cluster.k8s.io/v1alpha1/cluster-name': clusterName,
      'eksctl.io/v1alpha2/nodegroup-name': group.name,
      [`kubernetes.io/cluster/${clusterName}`]: 'owned',
      Name: `${clusterName}-${group.name}-Node`,
    }),
    gracePeriodSeconds: 0,
  });
  settle(context, group, name);
  return { name: group.name, autoScalingGroupName: name, stackName, nodeRole: role.arn };
};

const addSelfManagedStack = (
  context: DemoContext,
  group: DemoGroup,
  facts: {
    readonly stackName: string;
    readonly name: string;
    readonly roleName: string;
    readonly roleArn: string;
    readonly profile: string;
    readonly templateId: string;
    readonly data: JsonObject;
  },
) => {
  const { parts, foundation } = context;
  const { groupId } = parts.network.addSecurityGroup(
    {
      name: `${facts.stackName}-SG-${facts.profile.slice(-12)}`,
      description: `Communication between the control plane and worker nodes in group ${group.name}`,
      vpcId: foundation.vpc.vpcId,
      tags: stackTags(context, group),
    },
    parts.scope.id(`${component}.security-groups`, 'sg'),
  );
  const { min, max, desired } = group;
  return addStanding(parts, {
    name: facts.stackName,
    template: selfManagedTemplate({
      clusterName: context.clusterName,
      name: group.name,
      sizes: { min, max, desired },
      subnetIds: group.isZonal === true ? subnetsOf(context, group) : undefined,
      launchTemplateData: facts.data,
    }),
    tags: stackTags(context, group),
    resources: {
      NodeGroup: { physicalId: facts.name },
      NodeGroupLaunchTemplate: {
        physicalId: facts.templateId,
        attributes: templateAttributes({ id: facts.templateId }),
      },
      NodeInstanceProfile: {
        physicalId: facts.profile,
        attributes: {
          Arn: `arn:aws:iam::${parts.scope.account}:instance-profile/${facts.profile}`,
        },
      },
      NodeInstanceRole: { physicalId: facts.roleName, attributes: { Arn: facts.roleArn } },
      SG: { physicalId: groupId, attributes: { GroupId: groupId, Id: groupId } },
    },
  });
};
