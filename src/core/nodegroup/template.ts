// The launch template that EKS derives for a node group, from its spec and the user's own template.
// Rules: EKS user guide, "launch-templates"; reference aws-api 6. Pure.
import { defined } from '../../api/defined.ts';
import { isObject, type JsonObject, jsonEqual, objectOr } from '../../api/json.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import { maxPodsOf } from '../../formats/index.ts';
import { familyOf } from './images.ts';
import { bootstrapUserData, type ClusterFacts } from './user-data.ts';

export interface TypeFacts {
  readonly name: string;
  readonly interfaces: number;
  readonly addressesPerInterface: number;
}

export interface TemplateFacts {
  readonly group: NodeGroup;
  readonly name: string;
  /** Data of the user's template; undefined without one. */
  readonly source: JsonObject | undefined;
  readonly imageId: string;
  readonly types: readonly TypeFacts[];
  readonly securityGroups: readonly string[];
  readonly cluster: ClusterFacts;
}

export const defaultInstanceType = 't3.medium';
const defaultDiskGiB = 20;
const windowsDiskGiB = 50;

/** The labels of article 002: EKS' own and those of the spec. */
export const nodeLabels = (
  { metadata, spec }: NodeGroup,
  imageId: string,
): Readonly<Record<string, string>> => {
  const { launchTemplate } = spec;
  return {
    ...(launchTemplate === undefined
      ? {}
      : { 'eks.amazonaws.com/sourceLaunchTemplateVersion': launchTemplate.version }),
    ...spec.labels,
    'eks.amazonaws.com/nodegroup-image': imageId,
    'eks.amazonaws.com/capacityType': spec.capacityType,
    'eks.amazonaws.com/nodegroup': metadata.name,
    ...(launchTemplate === undefined
      ? {}
      : { 'eks.amazonaws.com/sourceLaunchTemplateId': launchTemplate.id }),
  };
};

/** The minimum over all types, since one launch template serves them all. */
const maxPodsOfTypes = (types: readonly TypeFacts[]): number | undefined =>
  types.length === 0 ? undefined : Math.min(...types.map(maxPodsOf));

/** Undefined: not base64. */
const decode = (base64: string): string | undefined => {
  try {
    const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
    return new TextDecoder().decode(bytes);
  } catch {
    return undefined;
  }
};

const encode = (text: string): string => {
  let binary = '';
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte);
  return btoa(binary);
};

const textIn = (data: JsonObject | undefined, name: string): string | undefined => {
  const value = data?.[name];
  return typeof value === 'string' ? value : undefined;
};

/** User data, decoded; the raw text if it is not base64. */
export const userDataOf = (data: JsonObject): string => {
  const text = textIn(data, 'UserData') ?? '';
  return decode(text) ?? text;
};

export interface TemplateProblem {
  readonly code: string;
  readonly message: string;
}

/** User data for new nodes in clear text; the template contains it in base64. */
export const userDataFor = (facts: TemplateFacts): string | TemplateProblem => {
  const { group, source, imageId, types, cluster } = facts;
  const base64 = textIn(source, 'UserData');
  const theirs = base64 === undefined ? undefined : decode(base64);
  if (base64 !== undefined && theirs === undefined) {
    const { id, version } = group.spec.launchTemplate ?? {};
    return {
      code: 'Ec2LaunchTemplateInvalidConfiguration',
      message: `User data of launch template ${id} version ${version} is not base64.`,
    };
  }
  // A template with an image brings its own bootstrap: EKS merges nothing.
  if (textIn(source, 'ImageId') !== undefined) return theirs ?? '';
  const family = familyOf(group.spec.amiType);
  if (family === undefined) {
    return { code: 'AmiIdNotFound', message: `no bootstrap known for ${group.spec.amiType}` };
  }
  const written = bootstrapUserData({
    family,
    clusterName: group.spec.clusterName,
    labels: nodeLabels(group, imageId),
    taints: group.spec.taints ?? [],
    maxPods: maxPodsOfTypes(types),
    cluster,
    userParts: theirs,
  });
  return written.kind === 'ok' ? written.text : written;
};

const diskOf = (source: JsonObject | undefined, { spec }: NodeGroup): JsonObject => {
  if (Array.isArray(source?.BlockDeviceMappings)) return {};
  const family = familyOf(spec.amiType);
  const Ebs = {
    VolumeSize:
      spec.diskSizeGiB ?? (family?.bootstrap === 'powershell' ? windowsDiskGiB : defaultDiskGiB),
    VolumeType: 'gp3',
    DeleteOnTermination: true,
  };
  return { BlockDeviceMappings: [{ DeviceName: family?.dataDevice ?? '/dev/xvda', Ebs }] };
};

const groupsOf = (source: JsonObject | undefined, ours: readonly string[]): JsonObject => {
  const interfaces = source?.NetworkInterfaces;
  const inInterface =
    Array.isArray(interfaces) && interfaces.some((one) => isObject(one) && 'Groups' in one);
  if (source?.SecurityGroupIds !== undefined || inInterface || ours.length === 0) return {};
  return { SecurityGroupIds: [...ours] };
};

/** Data of the derived template, or why it cannot be derived. */
export const templateData = (facts: TemplateFacts): JsonObject | TemplateProblem => {
  const { group, name, source, imageId, securityGroups } = facts;
  const { spec } = group;
  const userData = userDataFor(facts);
  if (typeof userData !== 'string') return userData;
  const [only, ...more] = spec.instanceTypes;
  const isMixed = isMixedGroup(group);
  const instanceType = textIn(source, 'InstanceType') ?? only ?? defaultInstanceType;
  return {
    ...source,
    ImageId: imageId,
    ...(isMixed && more.length > 0 ? {} : { InstanceType: instanceType }),
    ...defined({ KeyName: spec.remoteAccess?.ec2SshKey }),
    ...groupsOf(source, securityGroups),
    IamInstanceProfile: { Name: name },
    ...diskOf(source, group),
    ...('MetadataOptions' in objectOr(source)
      ? {}
      : { MetadataOptions: { HttpTokens: 'required', HttpPutResponseHopLimit: 2 } }),
    ...(userData === '' ? {} : { UserData: encode(userData) }),
    ...(spec.capacityType === 'SPOT' && !isMixed
      ? { InstanceMarketOptions: { MarketType: 'spot' } }
      : {}),
  };
};

/**
 * Whether the group's derived template already has the data for new nodes. Then an update creates
 * no further version, and instances launched from this one are up to date.
 */
export const sameTemplateData = (latest: JsonObject, made: JsonObject): boolean =>
  jsonEqual(latest, made);

/**
 * The same for a template with its own image and user data, to which Drover adds no cluster facts.
 */
export const sameOwnTemplate = (
  group: NodeGroup,
  { inUse, asked }: { readonly inUse: JsonObject; readonly asked: JsonObject },
): boolean => {
  const dataOf = (source: JsonObject): JsonObject | TemplateProblem =>
    templateData({
      group,
      name: '',
      source,
      imageId: textIn(source, 'ImageId') ?? '',
      types: [],
      securityGroups: [],
      cluster: {},
    });
  const [before, after] = [dataOf(inUse), dataOf(asked)];
  const isData = !isTemplateProblem(before) && !isTemplateProblem(after);
  return isData && sameTemplateData(before, after);
};

/**
 * Several types need a mixed instances policy; a single Spot type, too, for its allocation
 * strategy.
 */
export const isMixedGroup = ({ spec }: NodeGroup): boolean =>
  spec.instanceTypes.length > 1 || (spec.capacityType === 'SPOT' && spec.instanceTypes.length > 0);

export const encodedUserData = (userData: string): JsonObject => ({ UserData: encode(userData) });

export const isTemplateProblem = (data: JsonObject | TemplateProblem): data is TemplateProblem =>
  typeof data.code === 'string' && typeof data.message === 'string';
