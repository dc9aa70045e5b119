// Parts of requests about machines that creating and updating a group share: a launch template by
// id or name, and an image release. Refuses with EKS' messages; changes nothing.

import type { InstanceTypeFacts, LaunchTemplate } from '../api/cloud.ts';
import { defined } from '../api/defined.ts';
import { type AwsInput, optionalStructure, optionalText, texts } from '../aws-wire/index.ts';
import {
  type Refusal,
  releaseAmong,
  releaseComplaint,
  releaseImages,
  templateRefusal,
  typesTwice,
} from '../core/nodegroup/index.ts';
import {
  type EksFaceOptions,
  invalid,
  invalidRequest,
  type NamedGroup,
  refusal,
} from './context.ts';

/** Throws the refusal, if there is one. */
export const refuse = (refused: Refusal | undefined, named: NamedGroup): void => {
  if (refused !== undefined) throw refusal(refused.code)(refused.message, named);
};

/** Undefined when the request names no template. */
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
  const asked = { ...defined({ id, name }) };
  const template = await cloud.findLaunchTemplate({ ...asked, version });
  if (template === undefined) {
    const message = `Launch template ${id ?? name} version ${version} could not be found.`;
    throw invalidRequest(message, named);
  }
  return template;
};

/** Refuses settings that EKS does not allow in the template, or in both template and request. */
export const checkTemplate = (
  template: LaunchTemplate,
  input: AwsInput,
  named: NamedGroup,
): void => {
  const { data } = template;
  refuse(templateRefusal(template), named);
  if ('diskSize' in input) {
    throw invalid('Disk size must be specified within the launch template.', named);
  }
  if ('remoteAccess' in input) {
    throw invalid('Remote access configuration cannot be specified with a launch template.', named);
  }
  if ('InstanceType' in data && texts(input, 'instanceTypes').length > 0) {
    throw invalid(typesTwice, named);
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

/** The requested release, or the newest one. */
export const needRelease = async (
  { cloud }: Pick<EksFaceOptions, 'cloud'>,
  asked: Parameters<typeof releaseImages>[0],
  named: NamedGroup,
): Promise<string> => {
  const pattern = releaseImages(asked);
  if (pattern === undefined) {
    const message = `AMI Type ${asked.amiType} is only supported for kubernetes versions 1.32 or earlier`;
    throw invalid(message, named);
  }
  const found = releaseAmong(asked, await cloud.describeImages(pattern));
  if (found === undefined) throw invalid(releaseComplaint(asked), named);
  return found;
};
