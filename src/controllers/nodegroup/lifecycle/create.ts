// Creates instance profile, launch template and Auto Scaling group of a new node group. Each call
// may repeat one of a process that crashed, so existing objects are found by name and tag.

import type { LaunchTemplate, NewGroup, Subnet } from '../../../api/cloud.ts';
import { defined } from '../../../api/defined.ts';
import type { JsonObject } from '../../../api/json.ts';
import {
  autoScalingGroupNameOf,
  launchTemplateNameOf,
  type NodeGroup,
  type NodeGroupStatus,
} from '../../../api/nodegroup.ts';
import {
  creationRefusal,
  defaultInstanceType,
  familyOf,
  imagePattern,
  instanceTags,
  isMixedGroup,
  isTemplateProblem,
  newestImage,
  ownerTags,
  ownsDerived,
  releaseAmong,
  releaseComplaint,
  releaseOf,
  roleNameOf,
  standardHooks,
  type TemplateFacts,
  templateData,
  templateTags,
} from '../../../core/nodegroup/index.ts';
import type { NodeGroupDeps } from '../deps.ts';
import { Impossible } from '../impossible.ts';
import { ensureRemoteAccess, findRemoteAccess } from '../nodes/remote-access.ts';
import { issueOfRefusal } from '../own-issues.ts';
import { checkWindows } from '../update/windows.ts';

export type Made = Pick<
  NodeGroupStatus,
  'imageId' | 'releaseVersion' | 'version' | 'launchTemplate'
>;

const textIn = (data: JsonObject | undefined, name: string): string | undefined => {
  const value = data?.[name];
  return typeof value === 'string' ? value : undefined;
};

const chooseImage = async (
  { cloud }: Pick<NodeGroupDeps, 'cloud'>,
  group: NodeGroup,
  signal: AbortSignal,
): Promise<Required<Pick<Made, 'imageId' | 'releaseVersion'>>> => {
  const { amiType, version } = group.spec;
  const family = familyOf(amiType);
  if (family === undefined) {
    throw new Impossible('AmiIdNotFound', `This version of Drover has no image for ${amiType}.`);
  }
  const wanted = group.spec.releaseVersion ?? group.status?.releaseVersion;
  const imagesOf = (release: string | undefined) =>
    cloud.describeImages(imagePattern(family, version, release), { signal });
  const asked = { amiType, version, release: wanted };
  const images = await imagesOf(wanted);
  const image = newestImage(images);
  if (image === undefined || releaseAmong(asked, images) === undefined) {
    const newest = wanted === undefined ? undefined : newestImage(await imagesOf(undefined));
    const there =
      newest === undefined
        ? `There is no image of ${amiType} for it.`
        : `The newest of ${amiType} is ${releaseOf(family, newest, version)}.`;
    throw new Impossible('AmiIdNotFound', `${releaseComplaint(asked)} ${there}`);
  }
  return { imageId: image.id, releaseVersion: releaseOf(family, image, version) };
};

/** All input of the derived template. Throws Impossible, CloudError. */
export const templateFacts = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  signal: AbortSignal,
  imageId?: string,
): Promise<TemplateFacts & { readonly made: Made }> => {
  const { cloud } = deps;
  const { launchTemplate, clusterName, instanceTypes } = group.spec;
  const source =
    launchTemplate === undefined
      ? undefined
      : await cloud.findLaunchTemplate(
          { id: launchTemplate.id, version: launchTemplate.version },
          { signal },
        );
  if (launchTemplate !== undefined && source === undefined) {
    const { id, version } = launchTemplate;
    const message = `Launch template ${id} version ${version} could not be found.`;
    throw new Impossible('Ec2LaunchTemplateNotFound', message, [id]);
  }
  const own = imageId ?? textIn(source?.data, 'ImageId');
  const made = own === undefined ? await chooseImage(deps, group, signal) : { imageId: own };
  const sourceType = textIn(source?.data, 'InstanceType');
  const names = sourceType === undefined ? [...instanceTypes] : [sourceType];
  if (names.length === 0) names.push(defaultInstanceType);
  const types = await cloud.describeInstanceTypes(names, { signal });
  const unknown = names.find((name) => !types.some((type) => type.name === name));
  if (unknown !== undefined) {
    const message = `The following supplied instance types do not exist: [${unknown}]`;
    throw new Impossible('Ec2InstanceTypeDoesNotExist', message, [unknown]);
  }
  const known = await cloud.describeCluster(clusterName, { signal });
  const { securityGroupId, ...access } = known ?? {};
  const remoteAccess = await findRemoteAccess(deps, group, signal);
  return {
    group,
    name: launchTemplateNameOf(group),
    source: source?.data,
    imageId: made.imageId,
    types,
    securityGroups: [securityGroupId, remoteAccess?.id].filter((id) => id !== undefined),
    cluster: access,
    made,
  };
};

/** The template names the profile, so it is created first. Throws Impossible, CloudError. */
const ensureProfile = async (
  { cloud }: NodeGroupDeps,
  group: NodeGroup,
  signal: AbortSignal,
): Promise<void> => {
  const name = launchTemplateNameOf(group);
  const roleName = roleNameOf(group);
  const known = await cloud.findInstanceProfile(name, { signal });
  if (known !== undefined && !ownsDerived(group, known)) {
    const message = `Instance profile ${name} exists and is not this node group's.`;
    throw new Impossible('IamInstanceProfileNotFound', message, [name]);
  }
  if (known?.roles.includes(roleName)) return;
  if (known?.roles[0] !== undefined) {
    const message = `Instance profile ${name} has the role ${known.roles[0]}, not ${roleName}.`;
    throw new Impossible('IamInstanceProfileNotFound', message, [name]);
  }
  const profile = { name, roleName, tags: templateTags(group) };
  await cloud.ensureInstanceProfile(profile, { signal });
};

/**
 * The EKS API refuses these at once, but kubectl can write them into the spec. Throws Impossible.
 */
const checkSource = ({ spec }: NodeGroup, { source }: Pick<TemplateFacts, 'source'>): void => {
  const { launchTemplate: asked } = spec;
  if (asked === undefined || source === undefined) return;
  const refusal = creationRefusal(spec, { id: asked.id, version: asked.version, data: source });
  if (refusal === undefined) return;
  throw new Impossible('Ec2LaunchTemplateInvalidConfiguration', refusal.message, [asked.id]);
};

/** The group's derived template, created if it does not exist. Throws Impossible, CloudError. */
const ensureTemplate = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  signal: AbortSignal,
): Promise<{ readonly template: LaunchTemplate; readonly made: Made }> => {
  const { cloud } = deps;
  const name = launchTemplateNameOf(group);
  const find = () => cloud.findLaunchTemplate({ name, version: '$Latest' }, { signal });
  const known = await find();
  if (known !== undefined) {
    if (!ownsDerived(group, known)) {
      const message = `Launch template ${name} exists and is not this node group's.`;
      throw new Impossible('Ec2LaunchTemplateInvalidConfiguration', message, [known.id]);
    }
    const imageId = textIn(known.data, 'ImageId');
    return { template: known, made: imageId === undefined ? {} : { imageId } };
  }
  const facts = await templateFacts(deps, group, signal);
  checkSource(group, facts);
  const data = templateData(facts);
  if (isTemplateProblem(data)) throw new Impossible(data.code, data.message);
  await cloud.createLaunchTemplate({ name, tags: templateTags(group), data }, { signal });
  const template = await find();
  if (template === undefined) throw new Error(`launch template ${name} cannot be seen yet`);
  return { template, made: facts.made };
};

/** The topic of article 001, in EKS' account in each region. */
const eksTopic = (region: string): string =>
  `arn:aws:sns:${region}:346952985317:eks-asg-lifecycle-hook-topic`;

const checkSubnets = async (
  { cloud }: NodeGroupDeps,
  group: NodeGroup,
  signal: AbortSignal,
): Promise<readonly Subnet[]> => {
  const { subnets: ids } = group.spec;
  const subnets = await cloud.describeSubnets(ids, { signal });
  const missing = ids.filter((id) => !subnets.some((subnet) => subnet.id === id));
  if (missing.length === 0) return subnets;
  const message = `The subnet ID '${missing.join(', ')}' does not exist`;
  throw new Impossible('Ec2SubnetNotFound', message, missing);
};

/**
 * Called just before the Auto Scaling group is requested. The caller calls the result if AWS
 * refused the request for good.
 */
type Asks = () => () => void;

/** Creates the missing parts of a group that was never complete. Throws Impossible, CloudError. */
export const createGroup = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  { asks, signal }: { readonly asks: Asks; readonly signal: AbortSignal },
): Promise<Made> => {
  await checkWindows(deps, group, signal);
  const subnets = await checkSubnets(deps, group, signal);
  await ensureProfile(deps, group, signal);
  await ensureRemoteAccess(deps, group, subnets[0]?.vpcId ?? '', signal);
  const { template, made } = await ensureTemplate(deps, group, signal);
  const { minSize, maxSize, desired } = group.spec.scaling;
  const zone = subnets[0]?.availabilityZone ?? '';
  const target = deps.compat === 'eks' ? eksTopic(zone.replace(/[a-z]$/, '')) : undefined;
  const wanted: NewGroup = {
    name: autoScalingGroupNameOf(group),
    minSize,
    maxSize,
    desiredCapacity: desired ?? minSize,
    subnets: group.spec.subnets,
    launchTemplate: { id: template.id, version: template.version },
    ...(isMixedGroup(group) ? { instanceTypes: group.spec.instanceTypes } : {}),
    spot: group.spec.capacityType === 'SPOT',
    tags: instanceTags(group),
    ownTags: ownerTags(group),
    hooks: standardHooks(target),
  };
  const takeBack = asks();
  try {
    await deps.cloud.createGroup(wanted, { signal });
  } catch (error) {
    if (issueOfRefusal(error, wanted.name) !== undefined) takeBack();
    throw error;
  }
  const { launchTemplate } = group.spec;
  return { ...made, ...defined({ launchTemplate }) };
};
