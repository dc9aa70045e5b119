// EC2 launch templates: finds them by name or id, creates them and further versions.
import { defined } from '../api/defined.ts';
import { isObject, objectOr } from '../api/json.ts';
import type { CloudApi } from '../ports/index.ts';
import type { AwsCalls } from './calls.ts';
import { createTemplateRequest } from './requests.ts';
import { maybeText, objects, tagsOf, textOf } from './values.ts';

const versionOf = (number: unknown): string => (typeof number === 'number' ? String(number) : '');

const service = 'ec2';

export const templateCalls = (
  calls: AwsCalls,
): Pick<
  CloudApi,
  | 'addLaunchTemplateVersion'
  | 'createLaunchTemplate'
  | 'deleteLaunchTemplate'
  | 'describeLaunchTemplate'
  | 'findLaunchTemplate'
> => ({
  describeLaunchTemplate: async ({ id, version }, options = {}) => {
    const input = { LaunchTemplateId: id, Versions: [version] };
    const output = await calls.send(service, 'DescribeLaunchTemplateVersions', input, options);
    const data = objects(output.LaunchTemplateVersions)[0]?.LaunchTemplateData;
    if (!isObject(data)) return undefined;
    const { InstanceType, ImageId } = data;
    return defined({ instanceType: maybeText(InstanceType), imageId: maybeText(ImageId) });
  },
  findLaunchTemplate: async ({ id, name, version }, options = {}) => {
    const listing = defined({
      LaunchTemplateIds: id === undefined ? undefined : [id],
      LaunchTemplateNames: name === undefined ? undefined : [name],
    });
    const listed = await calls.maybe(service, 'DescribeLaunchTemplates', listing, options);
    const template = objects(listed?.LaunchTemplates)[0];
    const templateId = maybeText(template?.LaunchTemplateId);
    if (template === undefined || templateId === undefined) return undefined;
    const input = { LaunchTemplateId: templateId, Versions: [version] };
    const output = await calls.maybe(service, 'DescribeLaunchTemplateVersions', input, options);
    const row = objects(output?.LaunchTemplateVersions)[0];
    if (row === undefined) return undefined;
    return {
      id: templateId,
      name: textOf(template.LaunchTemplateName),
      version: versionOf(row.VersionNumber),
      tags: tagsOf(template.Tags),
      data: objectOr(row.LaunchTemplateData),
    };
  },
  createLaunchTemplate: async (template, options = {}) => {
    await calls.send(service, 'CreateLaunchTemplate', createTemplateRequest(template), options);
  },
  addLaunchTemplateVersion: async ({ id, source, data }, options = {}) => {
    const input = {
      LaunchTemplateId: id,
      LaunchTemplateData: data,
      ...defined({ SourceVersion: source }),
    };
    const output = await calls.send(service, 'CreateLaunchTemplateVersion', input, options);
    return versionOf(objectOr(output.LaunchTemplateVersion).VersionNumber);
  },
  deleteLaunchTemplate: async (name, options = {}) => {
    const input = { LaunchTemplateName: name };
    return (await calls.maybe(service, 'DeleteLaunchTemplate', input, options)) !== undefined;
  },
});
