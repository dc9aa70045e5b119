// EC2 launch templates as the port sees them: found by name or id, made, given further versions.

import type { LaunchTemplateVersion, RequestLaunchTemplateData } from '@aws-sdk/client-ec2';
import type { LaunchTemplate } from '../../api/cloud.ts';
import { defined } from '../../api/defined.ts';
import type { JsonObject } from '../../api/json.ts';
import { type CloudApi, createTemplateRequest } from '../../ports/index.ts';
import { type Clients, call, tagsOf } from './clients.ts';
import { orAbsent } from './errors.ts';

/** Template data has no dates and no bytes: what the SDK gives is JSON already. */
const dataOf = (version: LaunchTemplateVersion): JsonObject =>
  JSON.parse(JSON.stringify(version.LaunchTemplateData ?? {})) as JsonObject;

const requestData = (data: JsonObject): RequestLaunchTemplateData =>
  data as RequestLaunchTemplateData;

export const templateCalls = (
  clients: Clients,
): Pick<
  CloudApi,
  | 'findLaunchTemplate'
  | 'createLaunchTemplate'
  | 'addLaunchTemplateVersion'
  | 'deleteLaunchTemplate'
> => ({
  findLaunchTemplate: async ({ id, name, version }, options = {}) => {
    const { sdk, client } = await clients.ec2();
    const listing = new sdk.DescribeLaunchTemplatesCommand({
      ...(id === undefined ? {} : { LaunchTemplateIds: [id] }),
      ...(name === undefined ? {} : { LaunchTemplateNames: [name] }),
    });
    const listed = await orAbsent(
      call('DescribeLaunchTemplates', options, (http) => client.send(listing, http)),
    );
    const template = listed?.LaunchTemplates?.[0];
    if (template?.LaunchTemplateId === undefined) return undefined;
    const { LaunchTemplateId } = template;
    const command = new sdk.DescribeLaunchTemplateVersionsCommand({
      LaunchTemplateId,
      Versions: [version],
    });
    const output = await orAbsent(
      call('DescribeLaunchTemplateVersions', options, (http) => client.send(command, http)),
    );
    const row = output?.LaunchTemplateVersions?.[0];
    if (row === undefined) return undefined;
    return {
      id: LaunchTemplateId,
      name: template.LaunchTemplateName ?? '',
      version: String(row.VersionNumber ?? ''),
      tags: tagsOf(template.Tags),
      data: dataOf(row),
    } satisfies LaunchTemplate;
  },
  createLaunchTemplate: async (template, options = {}) => {
    const { sdk, client } = await clients.ec2();
    const request = createTemplateRequest(template);
    const command = new sdk.CreateLaunchTemplateCommand({
      LaunchTemplateName: request.LaunchTemplateName,
      LaunchTemplateData: requestData(request.LaunchTemplateData),
      TagSpecifications: [
        { ResourceType: 'launch-template', Tags: request.TagSpecifications[0]?.Tags ?? [] },
      ],
    });
    await call('CreateLaunchTemplate', options, (http) => client.send(command, http));
  },
  addLaunchTemplateVersion: async ({ id, source, data }, options = {}) => {
    const { sdk, client } = await clients.ec2();
    const command = new sdk.CreateLaunchTemplateVersionCommand({
      LaunchTemplateId: id,
      ...defined({ SourceVersion: source }),
      LaunchTemplateData: requestData(data),
    });
    const output = await call('CreateLaunchTemplateVersion', options, (http) =>
      client.send(command, http),
    );
    return String(output.LaunchTemplateVersion?.VersionNumber ?? '');
  },
  deleteLaunchTemplate: async (name, options = {}) => {
    const { sdk, client } = await clients.ec2();
    const command = new sdk.DeleteLaunchTemplateCommand({ LaunchTemplateName: name });
    const done = await orAbsent(
      call('DeleteLaunchTemplate', options, (http) => client.send(command, http)),
    );
    return done !== undefined;
  },
});
