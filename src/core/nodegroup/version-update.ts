// EKS' rules for the version, release and launch template of an update, with EKS' messages where
// they are known. Pure: the caller reads cluster, images and templates.
import type { JsonObject } from '../../api/json.ts';
import type { NodeGroupSpec } from '../../api/nodegroup.ts';
import type { NodeGroupChange, NodeGroupUpdateSpec } from '../../api/nodegroup-update.ts';
import { familyOf } from './images.ts';
import type { Complaint } from './validate.ts';

/**
 * EKS accepts the version of the group or of the cluster. Every other value, above, below, between
 * or not a version, gets the same error.
 */
export const versionComplaint = (
  version: string,
  known: { readonly cluster: string; readonly group: string },
): Complaint =>
  version === known.cluster || version === known.group
    ? undefined
    : 'Nodegroup Kubernetes version should be equal to Cluster kubernetes version ' +
      `${known.cluster} or NodeGroup kubernetes version ${known.group}`;

/** A launch template with an image determines the version. */
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

/** A group keeps the launch template it was created with, or none. */
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

/**
 * A request that EKS refuses. The code distinguishes an invalid parameter from one that the group
 * or template does not allow.
 */
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

/** Fields that a node group's template must not have (EKS user guide, "launch-templates"). */
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

/** Why no node group can be created from or updated to the template. */
export const madeRefusal = (
  { amiType, autoScalingGroupName }: TemplateUser,
  template: TemplateVersion,
): Refusal | undefined => {
  const { id, version, data } = template;
  const isCustom = amiType === 'CUSTOM';
  const which = `Launch template ${id} version ${version}`;
  // An adopted group launches instances from the operator's template as it is. EKS' rules are about
  // templates that EKS completes with a role, subnets and user data.
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
  // Nothing is merged into the user data of a custom AMI, so without user data no node would join.
  if (isCustom && !('UserData' in data)) {
    const message =
      `${which} has an image id and no user data: its nodes could not join the cluster. Add ` +
      'user data that bootstraps them.';
    return { code: 'InvalidRequestException', message };
  }
  return templateRefusal(template);
};

/**
 * Why a group cannot be created with the template: EKS accepts instance types in one place only.
 */
export const creationRefusal = (
  spec: Pick<NodeGroupSpec, 'instanceTypes'>,
  template: TemplateVersion,
): Refusal | undefined => {
  const isTwice = 'InstanceType' in template.data && spec.instanceTypes.length > 0;
  const twice = { code: 'InvalidParameterException', message: typesTwice } as const;
  return templateRefusal(template) ?? (isTwice ? twice : undefined);
};

/**
 * Further rules for another version of the group's own template. If the version in use (`before`)
 * has types in both places, or in neither, the group may keep that.
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

/** Instance types that cannot run images of this AMI type. */
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

/** As EKS lists them; the template by its name. */
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
