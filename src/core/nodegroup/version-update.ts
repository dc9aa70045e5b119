// EKS' rules for the version, release and launch template that a node group is updated to, in EKS'
// words where they are known. Pure: whoever asks reads cluster, images and templates.
import type { JsonObject } from '../../api/json.ts';
import type { NodeGroupSpec } from '../../api/nodegroup.ts';
import type { NodeGroupChange, NodeGroupUpdateSpec } from '../../api/nodegroup-update.ts';
import { familyOf } from './images.ts';
import type { Complaint } from './validate.ts';

/**
 * EKS takes the version that the group has, or the cluster's: anything above, below or between, and
 * what is no version at all, is one mistake to it.
 */
export const versionComplaint = (
  version: string,
  known: { readonly cluster: string; readonly group: string },
): Complaint =>
  version === known.cluster || version === known.group
    ? undefined
    : 'Nodegroup Kubernetes version should be equal to Cluster kubernetes version ' +
      `${known.cluster} or NodeGroup kubernetes version ${known.group}`;

/** Where the launch template has the image, it has the version. */
export const customImageComplaint = (asked: {
  readonly version: string | undefined;
  readonly releaseVersion: string | undefined;
  readonly hasTemplate: boolean;
}): Complaint => {
  const refused = (field: string): string =>
    `You cannot specify the field ${field} when using custom AMIs.`;
  if (asked.version !== undefined) return refused('kubernetesVersion');
  if (asked.releaseVersion !== undefined) return refused('releaseVersion');
  return asked.hasTemplate
    ? undefined
    : "Launch template details can't be null for Custom ami type node group";
};

type TemplateRef = NonNullable<NodeGroupSpec['launchTemplate']>;

/** A group keeps the launch template it was made with, or has none for good. */
export const sameTemplateComplaint = (
  now: TemplateRef | undefined,
  asked: { readonly id?: string; readonly name?: string },
): Complaint => {
  if (now === undefined) {
    return (
      'You cannot specify a launch template: the node group was not created with one. Create ' +
      'a new node group with the launch template.'
    );
  }
  const isSame =
    asked.id === undefined
      ? now.name === undefined || now.name === asked.name
      : now.id === asked.id;
  return isSame
    ? undefined
    : `Launch template ${asked.id ?? asked.name} is not the one that the node group was ` +
        `created with: ${now.id}. Only its version can be changed.`;
};

/** EKS has a code for a request that is wrong by itself, and one for what it leads to. */
export interface Refusal {
  readonly code: 'InvalidParameterException' | 'InvalidRequestException';
  readonly message: string;
}

export interface TemplateVersion {
  readonly id: string;
  readonly version: string;
  /** In EC2's member names. */
  readonly data: JsonObject;
}

/** What may not stand in a node group's template (EKS user guide, "launch-templates"). */
export const templateRefusal = ({ id, data }: TemplateVersion): Refusal | undefined => {
  const refuse = (what: string): Refusal => ({
    code: 'InvalidRequestException',
    message: `Launch template ${id} should not specify ${what}`,
  });
  if ('IamInstanceProfile' in data) {
    return refuse(
      'an instance profile. The noderole in your request will be used to construct an ' +
        'instance profile.',
    );
  }
  if ('HibernationOptions' in data || 'InstanceMarketOptions' in data) {
    return refuse('hibernation options or a Spot instances request.');
  }
  if (JSON.stringify(data.NetworkInterfaces ?? []).includes('"SubnetId"')) {
    return refuse('a subnet. The subnets in your request will be used.');
  }
  return undefined;
};

export const typesTwice =
  'Instance types must be specified either in the launch template or in the API request.';

type TemplateUser = Pick<NodeGroupSpec, 'amiType' | 'autoScalingGroupName'>;

/** What no node group can be made from, whoever asks. */
export const madeRefusal = (
  { amiType, autoScalingGroupName }: TemplateUser,
  template: TemplateVersion,
): Refusal | undefined => {
  const { id, version, data } = template;
  const isCustom = amiType === 'CUSTOM';
  const which = `Launch template ${id} version ${version}`;
  // An adopted group starts its instances from the operator's template as it is. EKS' rules are
  // about templates that EKS completes with a role, subnets and user data.
  if (isCustom && autoScalingGroupName !== undefined) {
    if ('ImageId' in data) return undefined;
    const message = `${which} should specify an image id: Auto Scaling starts instances from it as it is.`;
    return { code: 'InvalidParameterException', message };
  }
  if (isCustom !== 'ImageId' in data) {
    const message = isCustom
      ? `${which} should specify an image id, since your nodegroup is configured to use a ` +
        'custom AMI.'
      : 'You cannot specify an image id within the launch template, since your nodegroup is ' +
        'configured to use an EKS optimized AMI.';
    return { code: 'InvalidParameterException', message };
  }
  // Nothing is merged into the user data of an image of one's own: without it no node would join.
  if (isCustom && !('UserData' in data)) {
    const message =
      `${which} has an image id and no user data: its nodes could not join the cluster. Add ` +
      'user data that bootstraps them.';
    return { code: 'InvalidRequestException', message };
  }
  return templateRefusal(template);
};

/** What a group is not created with, whoever asks: EKS takes types once. */
export const creationRefusal = (
  spec: Pick<NodeGroupSpec, 'instanceTypes'>,
  template: TemplateVersion,
): Refusal | undefined => {
  const isTwice = 'InstanceType' in template.data && spec.instanceTypes.length > 0;
  const twice = { code: 'InvalidParameterException', message: typesTwice } as const;
  return templateRefusal(template) ?? (isTwice ? twice : undefined);
};

/**
 * What another version of the group's own template must have, and must not, besides. A group whose
 * version in use (`before`) has types in both places, or in neither, goes on so.
 */
export const versionRefusal = (
  spec: TemplateUser & Pick<NodeGroupSpec, 'instanceTypes'>,
  template: TemplateVersion,
  before: TemplateVersion | undefined,
): Refusal | undefined => {
  const { id, version, data } = template;
  const made = madeRefusal(spec, template);
  const goesOn = before !== undefined && 'InstanceType' in before.data === 'InstanceType' in data;
  if (made !== undefined || goesOn || spec.autoScalingGroupName !== undefined) return made;
  const refused = creationRefusal(spec, template);
  if (refused !== undefined) return refused;
  if ('InstanceType' in data || spec.instanceTypes.length > 0) return undefined;
  const message =
    `Launch template ${id} version ${version} should specify an instance type: the group has ` +
    'none of its own.';
  return { code: 'InvalidRequestException', message };
};

/** Types that images of this kind do not run on. */
export const misfitComplaint = (
  amiType: string,
  types: readonly { readonly name: string; readonly architectures: readonly string[] }[],
): Complaint => {
  const family = familyOf(amiType);
  const misfits = types.filter(
    ({ architectures }) => family !== undefined && !architectures.includes(family.architecture),
  );
  const list = misfits.map(({ name }) => name).join(', ');
  return misfits.length === 0
    ? undefined
    : `[${list}] is not a valid instance type for requested amiType ${amiType}`;
};

/** As EKS tells them; the template by its name. */
export const versionParams = (change: NodeGroupChange): NodeGroupUpdateSpec['params'] => {
  const { version, releaseVersion, launchTemplate } = change;
  const all: readonly (readonly [string, string | undefined])[] = [
    ['Version', version],
    ['ReleaseVersion', releaseVersion],
    ['LaunchTemplateName', launchTemplate?.name],
    ['LaunchTemplateVersion', launchTemplate?.version],
  ];
  return all.flatMap(([type, value]) => (value === undefined ? [] : [{ type, value }]));
};
