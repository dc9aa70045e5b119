// UpdateNodegroupVersion: the requested version, release and launch template version, after all of
// EKS' immediate checks. The controller carries them out.

import type { LaunchTemplate } from '../api/cloud.ts';
import { defined } from '../api/defined.ts';
import type { NodeGroup } from '../api/nodegroup.ts';
import type { NodeGroupChange, NodeGroupUpdate } from '../api/nodegroup-update.ts';
import {
  type AwsCallContext,
  type AwsInput,
  optionalFlag,
  optionalStructure,
  optionalText,
} from '../aws-wire/index.ts';
import {
  customImageComplaint,
  misfitComplaint,
  sameTemplateComplaint,
  versionComplaint,
  versionParams,
  versionRefusal,
} from '../core/nodegroup/index.ts';
import { type Cluster, complain, type EksFaceOptions, type NamedGroup } from './context.ts';
import { needRelease, needTypes, readTemplate, refuse } from './machines.ts';
import { recordUpdate } from './record-update.ts';

/** The launch template version that the group currently uses. */
const templateInUse = async (
  { cloud }: EksFaceOptions,
  { spec, status }: NodeGroup,
): Promise<LaunchTemplate | undefined> => {
  const { id, version } = status?.launchTemplate ?? spec.launchTemplate ?? {};
  return id === undefined || version === undefined
    ? undefined
    : await cloud.findLaunchTemplate({ id, version });
};

const readOwnTemplate = async (
  options: EksFaceOptions,
  group: NodeGroup,
  input: AwsInput,
): Promise<LaunchTemplate | undefined> => {
  const named = namedOf(group);
  const given = optionalStructure(input, 'launchTemplate');
  if (given === undefined) return undefined;
  const [id, name] = [optionalText(given, 'id'), optionalText(given, 'name')];
  const now = group.spec.launchTemplate;
  const asked = { ...defined({ id, name }) };
  const complaint = sameTemplateComplaint(now, asked);
  // Giving both or neither is another error, which `readTemplate` reports.
  if (now === undefined || (id === undefined) !== (name === undefined)) complain(complaint, named);
  const template = await readTemplate(options, input, named);
  // When only a name was given, its template must be the group's.
  complain(sameTemplateComplaint(now, { id: template?.id ?? '' }), named);
  return template;
};

const namedOf = ({ spec, metadata }: NodeGroup): NamedGroup => ({
  clusterName: spec.clusterName,
  nodegroupName: metadata.name,
});

const readChange = async (
  options: EksFaceOptions,
  context: { readonly group: NodeGroup; readonly cluster: Cluster },
  input: AwsInput,
): Promise<NodeGroupChange> => {
  const { group, cluster } = context;
  const { spec, status } = group;
  const named = namedOf(group);
  const asked = {
    version: optionalText(input, 'version'),
    releaseVersion: optionalText(input, 'releaseVersion'),
  };
  const isCustom = spec.amiType === 'CUSTOM';
  if (isCustom) {
    complain(customImageComplaint({ ...asked, hasTemplate: 'launchTemplate' in input }), named);
  }
  const now = status?.version ?? spec.version;
  const version = asked.version ?? now;
  complain(versionComplaint(version, { cluster: cluster.version, group: now }), named);
  const template = await readOwnTemplate(options, group, input);
  const inUse = template && (await templateInUse(options, group));
  refuse(template && versionRefusal(spec, template, inUse), named);
  const type = template?.data.InstanceType;
  const types = typeof type === 'string' ? await needTypes(options, [type], named) : [];
  complain(misfitComplaint(spec.amiType, types), named);
  const wanted = { amiType: spec.amiType, version, release: asked.releaseVersion };
  return {
    ...(isCustom ? {} : { version, releaseVersion: await needRelease(options, wanted, named) }),
    ...(template === undefined
      ? {}
      : { launchTemplate: { id: template.id, name: template.name, version: template.version } }),
  };
};

export const updateNodegroupVersion = (
  options: EksFaceOptions,
  input: AwsInput,
  ctx: AwsCallContext,
): Promise<NodeGroupUpdate> =>
  recordUpdate(options, input, ctx, async (context) => {
    const change = await readChange(options, context, input);
    return {
      type: 'VersionUpdate',
      action: 'Update',
      // Requests through EKS use EKS' own strategy, unless the group names another.
      strategy: context.group.spec.updateConfig?.updateStrategy ?? 'DEFAULT',
      ...(optionalFlag(input, 'force') === true ? { force: true } : {}),
      params: versionParams(change),
      change,
    };
  });
