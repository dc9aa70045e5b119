// Launch templates and instance profiles of the world as the CloudApi port sees them, in virtual
// time.

import type { InstanceProfile, LaunchTemplate, LaunchTemplateFacts } from '../../api/cloud.ts';
import { defined } from '../../api/defined.ts';
import { isObject, type JsonObject, objectOr } from '../../api/json.ts';
import { type CloudApi, createProfileRequest, createTemplateRequest } from '../../ports/index.ts';
import type { CloudCalls, Options } from './cloud-calls.ts';
import { numberOf, objects, tagsOf, textOf, toProfile } from './cloud-values.ts';

type Templates = Pick<
  CloudApi,
  | 'describeLaunchTemplate'
  | 'findLaunchTemplate'
  | 'createLaunchTemplate'
  | 'addLaunchTemplateVersion'
  | 'deleteLaunchTemplate'
  | 'findInstanceProfile'
  | 'ensureInstanceProfile'
  | 'deleteInstanceProfile'
>;

export class SimTemplates implements Templates {
  readonly #calls: CloudCalls;
  constructor(calls: CloudCalls) {
    this.#calls = calls;
  }

  async describeLaunchTemplate(
    template: { readonly id: string; readonly version: string },
    options: Options = {},
  ): Promise<LaunchTemplateFacts | undefined> {
    const input = { LaunchTemplateId: template.id, Versions: [template.version] };
    const output = await this.#calls.send('ec2', 'DescribeLaunchTemplateVersions', input, options);
    const data = objects(output.LaunchTemplateVersions)[0]?.LaunchTemplateData;
    if (!isObject(data)) return undefined;
    return {
      ...(typeof data.InstanceType === 'string' ? { instanceType: data.InstanceType } : {}),
      ...(typeof data.ImageId === 'string' ? { imageId: data.ImageId } : {}),
    };
  }

  async findLaunchTemplate(
    template: { readonly name?: string; readonly id?: string; readonly version: string },
    options: Options = {},
  ): Promise<LaunchTemplate | undefined> {
    const { id, name, version } = template;
    // A filter answers with what exists; a name that does not exist is an error.
    const filters = [
      ...(name === undefined ? [] : [{ Name: 'launch-template-name', Values: [name] }]),
    ];
    const [found] = await this.#calls
      .all(
        'ec2',
        'DescribeLaunchTemplates',
        { Filters: filters },
        'LaunchTemplates',
        options,
        (one) => one,
      )
      .then((all) => all.filter((one) => id === undefined || one.LaunchTemplateId === id));
    if (found === undefined) return undefined;
    const input = { LaunchTemplateId: textOf(found.LaunchTemplateId), Versions: [version] };
    const output = await this.#calls.maybe('ec2', 'DescribeLaunchTemplateVersions', input, options);
    const row = objects(output?.LaunchTemplateVersions)[0];
    if (row === undefined) return undefined;
    return {
      id: textOf(found.LaunchTemplateId),
      name: textOf(found.LaunchTemplateName),
      version: String(numberOf(row.VersionNumber)),
      tags: tagsOf(found.Tags),
      data: objectOr(row.LaunchTemplateData),
    };
  }

  async createLaunchTemplate(
    template: Pick<LaunchTemplate, 'name' | 'tags' | 'data'>,
    options: Options = {},
  ): Promise<void> {
    await this.#calls.send('ec2', 'CreateLaunchTemplate', createTemplateRequest(template), options);
  }

  async addLaunchTemplateVersion(
    template: { readonly id: string; readonly source?: string; readonly data: JsonObject },
    options: Options = {},
  ): Promise<string> {
    const { id: LaunchTemplateId, source: SourceVersion, data: LaunchTemplateData } = template;
    const input = {
      LaunchTemplateId,
      LaunchTemplateData,
      ...defined({ SourceVersion }),
    };
    const output = await this.#calls.send('ec2', 'CreateLaunchTemplateVersion', input, options);
    return String(numberOf(objectOr(output.LaunchTemplateVersion).VersionNumber));
  }

  async deleteLaunchTemplate(name: string, options: Options = {}): Promise<boolean> {
    const input = { LaunchTemplateName: name };
    return (await this.#calls.maybe('ec2', 'DeleteLaunchTemplate', input, options)) !== undefined;
  }

  async findInstanceProfile(
    name: string,
    options: Options = {},
  ): Promise<InstanceProfile | undefined> {
    const input = { InstanceProfileName: name };
    const output = await this.#calls.maybe('iam', 'GetInstanceProfile', input, options);
    return output === undefined ? undefined : toProfile(objectOr(output.InstanceProfile));
  }

  async ensureInstanceProfile(
    profile: Parameters<CloudApi['ensureInstanceProfile']>[0],
    options: Options = {},
  ): Promise<void> {
    const input = { InstanceProfileName: profile.name };
    let known = await this.findInstanceProfile(profile.name, options);
    if (known === undefined) {
      const request = createProfileRequest(profile);
      const made = await this.#calls.send('iam', 'CreateInstanceProfile', request, options);
      known = toProfile(objectOr(made.InstanceProfile));
    }
    if (known.roles.includes(profile.roleName)) return;
    const adding = { ...input, RoleName: profile.roleName };
    await this.#calls.send('iam', 'AddRoleToInstanceProfile', adding, options);
  }

  async deleteInstanceProfile(name: string, options: Options = {}): Promise<boolean> {
    const input = { InstanceProfileName: name };
    const known = await this.findInstanceProfile(name, options);
    for (const RoleName of known?.roles ?? []) {
      const removing = { ...input, RoleName };
      await this.#calls.maybe('iam', 'RemoveRoleFromInstanceProfile', removing, options);
    }
    return (await this.#calls.maybe('iam', 'DeleteInstanceProfile', input, options)) !== undefined;
  }
}
