// The plan of a node group that was never complete: role, instance profile, security group, launch
// template, Auto Scaling group, in this order. Each pass may repeat one of a process that crashed,
// so existing objects are found by name and tag. Pure.
import type {
  ClusterAccess,
  InstanceProfile,
  LaunchTemplate,
  SecurityGroup,
  Subnet,
} from '../../api/cloud.ts';
import { defined } from '../../api/defined.ts';
import {
  autoScalingGroupNameOf,
  type HealthIssue,
  launchTemplateNameOf,
  type NodeGroup,
  remoteAccessGroupNameOf,
} from '../../api/nodegroup.ts';
import type { GroupPlan, GroupStep } from '../../api/plan.ts';
import {
  creationRefusal,
  familyOf,
  instanceTags,
  isMixedGroup,
  isTemplateProblem,
  type Made,
  ownerTags,
  ownsDerived,
  roleNameOf,
  standardHooks,
  type TemplateReads,
  templateData,
  templateFactsOf,
  templateTags,
} from '../nodegroup/index.ts';

export interface CreationObservation {
  readonly group: NodeGroup;
  /** eks: hooks notify EKS' own topic, as in article 001. */
  readonly compat: 'eks' | 'native';
  readonly cluster: ClusterAccess | undefined;
  readonly subnets: readonly Subnet[];
  /** Objects with the names that Drover derives; their tags show the owner. */
  readonly profile: InstanceProfile | undefined;
  readonly template: LaunchTemplate | undefined;
  /** Absent: the template exists. */
  readonly reads?: TemplateReads;
  /** Ids of the source security groups of remote access that exist. */
  readonly sources: readonly string[];
  /** The security group of remote access that has this group's tag. */
  readonly securityGroup: SecurityGroup | undefined;
}

export interface CreationDecision {
  readonly plan: GroupPlan;
  /** Absent: the Auto Scaling group is not created yet. */
  readonly made?: Made;
}

const issueOf = (
  code: string,
  message: string,
  resourceIds: readonly string[] = [],
): HealthIssue => ({ code, message, resourceIds });

/** Windows nodes have no IPv6 addresses, so none could ever run a pod. */
const windowsIssue = ({ group, cluster }: CreationObservation): HealthIssue | undefined => {
  const { amiType, clusterName } = group.spec;
  if (familyOf(amiType)?.bootstrap !== 'powershell') return undefined;
  if (cluster?.serviceCidr?.includes(':') !== true) return undefined;
  const message =
    `Windows nodes have no IPv6 addresses, and the services of cluster ${clusterName} have ` +
    `${cluster.serviceCidr}: nothing is launched. Use a cluster of the IPv4 family.`;
  return issueOf('NodeCreationFailure', message, [clusterName]);
};

const missingIssue = (
  [code, noun]: readonly [code: string, noun: string],
  named: readonly string[],
  found: readonly string[],
): HealthIssue | undefined => {
  const missing = named.filter((id) => !found.includes(id));
  if (missing.length === 0) return undefined;
  return issueOf(code, `The ${noun} '${missing.join(', ')}' does not exist`, missing);
};

const profileIssue = ({ group, profile }: CreationObservation): HealthIssue | undefined => {
  if (profile === undefined) return undefined;
  const { name, roles } = profile;
  const code = 'IamInstanceProfileNotFound';
  if (!ownsDerived(group, profile)) {
    return issueOf(code, `Instance profile ${name} exists and is not this node group's.`, [name]);
  }
  const roleName = roleNameOf(group);
  const [other] = roles;
  if (other === undefined || roles.includes(roleName)) return undefined;
  return issueOf(code, `Instance profile ${name} has the role ${other}, not ${roleName}.`, [name]);
};

const remoteSources = ({ spec }: NodeGroup): readonly string[] =>
  spec.remoteAccess?.ec2SshKey === undefined ? [] : (spec.remoteAccess.sourceSecurityGroups ?? []);

/** Why the group cannot be created, apart from issues of its launch template. */
const partsIssue = (observation: CreationObservation): HealthIssue | undefined => {
  const { group, subnets, sources } = observation;
  const subnetIds = subnets.map(({ id }) => id);
  return (
    windowsIssue(observation) ??
    missingIssue(['Ec2SubnetNotFound', 'subnet ID'], group.spec.subnets, subnetIds) ??
    profileIssue(observation) ??
    missingIssue(['Ec2SecurityGroupNotFound', 'security group'], remoteSources(group), sources)
  );
};

const profileSteps = ({ group, profile }: CreationObservation): readonly GroupStep[] => {
  const roleName = roleNameOf(group);
  if (profile?.roles.includes(roleName) === true) return [];
  const name = launchTemplateNameOf(group);
  return [{ kind: 'EnsureProfile', profile: { name, roleName, tags: templateTags(group) } }];
};

const sshPort = 22;
const anywhere = '0.0.0.0/0';

/**
 * The security group with which EKS opens port 22 of a group's nodes. Without source groups EKS
 * opens the port to all addresses.
 */
const remoteAccessSteps = (observation: CreationObservation): readonly GroupStep[] => {
  const { group, subnets, securityGroup } = observation;
  if (group.spec.remoteAccess?.ec2SshKey === undefined) return [];
  if (securityGroup === undefined) {
    const made = {
      name: remoteAccessGroupNameOf(group),
      description: 'Security group for all nodes in the nodeGroup to allow SSH access',
      vpcId: subnets[0]?.vpcId ?? '',
      tags: templateTags(group),
    };
    return [{ kind: 'CreateSecurityGroup', securityGroup: made }];
  }
  const groups = remoteSources(group);
  const rule = { port: sshPort, groups, cidrs: groups.length === 0 ? [anywhere] : [] };
  return [{ kind: 'AllowIngress', id: securityGroup.id, rule }];
};

type TemplatePart =
  | { readonly issue: HealthIssue }
  | { readonly steps: readonly GroupStep[]; readonly made: Made };

/** The EKS API refuses these at once, but kubectl can write them into the spec. */
const sourceIssue = ({ spec }: NodeGroup, { source }: TemplateReads): HealthIssue | undefined => {
  const { launchTemplate: asked } = spec;
  if (asked === undefined || source === undefined) return undefined;
  const { id, version } = asked;
  const refusal = creationRefusal(spec, { id, version, data: source.data });
  return refusal && issueOf('Ec2LaunchTemplateInvalidConfiguration', refusal.message, [id]);
};

const newTemplate = (group: NodeGroup, reads: TemplateReads): TemplatePart => {
  const read = templateFactsOf(group, reads);
  if (read.kind === 'refused') return read;
  const issue = sourceIssue(group, reads);
  if (issue !== undefined) return { issue };
  const data = templateData(read.facts);
  if (isTemplateProblem(data)) return { issue: issueOf(data.code, data.message) };
  const { name } = read.facts;
  const step = { kind: 'CreateTemplate', name, tags: templateTags(group), data } as const;
  return { steps: [step], made: read.made };
};

const templatePart = ({ group, template, reads }: CreationObservation): TemplatePart => {
  if (template === undefined) {
    return reads === undefined ? { steps: [], made: {} } : newTemplate(group, reads);
  }
  const { name, id, data } = template;
  if (!ownsDerived(group, template)) {
    const message = `Launch template ${name} exists and is not this node group's.`;
    return { issue: issueOf('Ec2LaunchTemplateInvalidConfiguration', message, [id]) };
  }
  const imageId = typeof data.ImageId === 'string' ? data.ImageId : undefined;
  return { steps: [], made: defined({ imageId }) };
};

/** The SNS topic of EKS' lifecycle hooks, in EKS' own account in each region (article 001). */
const eksTopic = (region: string): string =>
  `arn:aws:sns:${region}:346952985317:eks-asg-lifecycle-hook-topic`;

const createStep = ({ group, subnets, compat }: CreationObservation): GroupStep => {
  const { minSize, maxSize, desired } = group.spec.scaling;
  const zone = subnets[0]?.availabilityZone ?? '';
  const target = compat === 'eks' ? eksTopic(zone.replace(/[a-z]$/, '')) : undefined;
  return {
    kind: 'CreateGroup',
    launchTemplate: launchTemplateNameOf(group),
    group: {
      name: autoScalingGroupNameOf(group),
      minSize,
      maxSize,
      desiredCapacity: desired ?? minSize,
      subnets: group.spec.subnets,
      ...(isMixedGroup(group) ? { instanceTypes: group.spec.instanceTypes } : {}),
      spot: group.spec.capacityType === 'SPOT',
      tags: instanceTags(group),
      ownTags: ownerTags(group),
      hooks: standardHooks(target),
    },
  };
};

export const decideCreation = (observation: CreationObservation): CreationDecision => {
  const { group } = observation;
  const subject = group.metadata.name;
  const refuse = (refusal: HealthIssue): CreationDecision => ({
    plan: { subject, steps: [], waitingOn: [], refusal },
  });
  const issue = partsIssue(observation);
  if (issue !== undefined) return refuse(issue);
  const template = templatePart(observation);
  if ('issue' in template) return refuse(template.issue);
  const remote = remoteAccessSteps(observation);
  const before: readonly GroupStep[] = [
    { kind: 'AuthorizeRole', role: group.spec.nodeRole },
    ...profileSteps(observation),
    ...remote,
  ];
  const [opened] = remote;
  // The template contains the security group's id, which the next observation has.
  if (opened?.kind === 'CreateSecurityGroup') {
    const { name } = opened.securityGroup;
    return { plan: { subject, steps: before, waitingOn: [{ kind: 'securityGroup', name }] } };
  }
  const steps = [...before, ...template.steps, createStep(observation)];
  const { launchTemplate } = group.spec;
  return {
    plan: { subject, steps, waitingOn: [] },
    made: { ...template.made, ...defined({ launchTemplate }) },
  };
};
