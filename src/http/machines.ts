// What a request says about machines that creating a group and updating it have in common: a launch
// template by id or name, and a release of the images. Refuses in EKS' words; changes nothing.
import {
  type Complaint,
  familyOf,
  hasImages,
  imagePattern,
  newestImage,
  releaseOf,
} from '../core/scaling/index.ts';
import type { InstanceTypeFacts, LaunchTemplate } from '../ports/index.ts';
import { type AwsInput, optionalStructure, optionalText, texts } from '../wire/index.ts';
import { type EksFaceOptions, invalid, invalidRequest, type NamedGroup } from './context.ts';

/** Undefined where the request names none. */
export const readTemplate = async (
  { cloud }: EksFaceOptions,
  input: AwsInput,
  named: NamedGroup,
): Promise<LaunchTemplate | undefined> => {
  const given = optionalStructure(input, 'launchTemplate');
  if (given === undefined) return undefined;
  const [id, name] = [optionalText(given, 'id'), optionalText(given, 'name')];
  if ((id === undefined) === (name === undefined)) {
    throw invalid(
      'Either provide launch template ID or launch template name in the request.',
      named,
    );
  }
  const version = optionalText(given, 'version') ?? '$Default';
  const asked = { ...(id === undefined ? {} : { id }), ...(name === undefined ? {} : { name }) };
  const template = await cloud.findLaunchTemplate({ ...asked, version });
  if (template === undefined) {
    const message = `Launch template ${id ?? name} version ${version} could not be found.`;
    throw invalidRequest(message, named);
  }
  checkTemplate(template, named);
  return template;
};

/** What may not stand in a node group's template (EKS user guide, "launch-templates"). */
const checkTemplate = ({ id, data }: LaunchTemplate, named: NamedGroup): void => {
  const refuse = (message: string) => invalidRequest(message, named);
  if ('IamInstanceProfile' in data) {
    throw refuse(
      `Launch template ${id} should not specify an instance profile. The noderole in your request will be used to construct an instance profile.`,
    );
  }
  if ('HibernationOptions' in data || 'InstanceMarketOptions' in data) {
    throw refuse(
      `Launch template ${id} should not specify hibernation options or a Spot instances request.`,
    );
  }
  if (JSON.stringify(data.NetworkInterfaces ?? []).includes('"SubnetId"')) {
    throw refuse(
      `Launch template ${id} should not specify a subnet. The subnets in your request will be used.`,
    );
  }
};

/** What a template has must not be said beside it when a group is created. */
export const checkBesideTemplate = (
  { data }: LaunchTemplate,
  input: AwsInput,
  named: NamedGroup,
): void => {
  if ('diskSize' in input) {
    throw invalid('Disk size must be specified within the launch template.', named);
  }
  if ('remoteAccess' in input) {
    throw invalid('Remote access configuration cannot be specified with a launch template.', named);
  }
  if ('InstanceType' in data && texts(input, 'instanceTypes').length > 0) {
    throw invalid(
      'Instance types must be specified either in the launch template or in the API request.',
      named,
    );
  }
};

export const needTypes = async (
  { cloud }: Pick<EksFaceOptions, 'cloud'>,
  names: readonly string[],
  named: NamedGroup,
): Promise<readonly InstanceTypeFacts[]> => {
  const types = await cloud.describeInstanceTypes(names);
  const unknown = names.filter((name) => !types.some((type) => type.name === name));
  if (unknown.length === 0) return types;
  const list = unknown.join(', ');
  throw invalid(`The following supplied instance types do not exist: [${list}]`, named);
};

/** Types that images of this kind do not run on. */
export const misfitComplaint = (
  amiType: string,
  types: readonly InstanceTypeFacts[],
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

/** The release that is asked for, or the newest one. */
export const needRelease = async (
  { cloud }: Pick<EksFaceOptions, 'cloud'>,
  asked: {
    readonly amiType: string;
    readonly version: string;
    readonly release: string | undefined;
  },
  named: NamedGroup,
): Promise<string> => {
  const { amiType, version, release } = asked;
  const family = familyOf(amiType);
  if (family === undefined || !hasImages(amiType, version)) {
    const message = `AMI Type ${amiType} is only supported for kubernetes versions 1.32 or earlier`;
    throw invalid(message, named);
  }
  const image = newestImage(await cloud.describeImages(imagePattern(family, version, release)));
  const found = image === undefined ? undefined : releaseOf(family, image, version);
  if (found !== undefined && (release === undefined || found === release)) return found;
  const message = `Requested release version ${release ?? 'latest'} is not valid for kubernetes version ${version}.`;
  throw invalid(message, named);
};
