// UpdateNodegroupVersion: which version, release and launch template version the group is to have, after
// everything that EKS refuses at once has been refused. The controller carries it out.
import type { NodeGroup } from '../api/nodegroup.ts';
import type {
  NodeGroupChange,
  NodeGroupUpdate,
  NodeGroupUpdateSpec,
} from '../api/nodegroup-update.ts';
import {
  customImageComplaint,
  sameTemplateComplaint,
  versionComplaint,
} from '../core/scaling/index.ts';
import type { LaunchTemplate } from '../ports/index.ts';
import {
  type AwsCallContext,
  type AwsInput,
  optionalFlag,
  optionalStructure,
  optionalText,
} from '../wire/index.ts';
import {
  type Cluster,
  complain,
  type EksFaceOptions,
  invalid,
  invalidRequest,
  type NamedGroup,
} from './context.ts';
import { misfitComplaint, needRelease, needTypes, readTemplate } from './machines.ts';
import { recordUpdate } from './record-update.ts';

/** The template's version in `input`, of the template that the group has. */
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
  const asked = { ...(id === undefined ? {} : { id }), ...(name === undefined ? {} : { name }) };
  const complaint = sameTemplateComplaint(now, asked);
  // Both and neither is a mistake of its own, which reading it tells.
  if (now === undefined || (id === undefined) !== (name === undefined)) complain(complaint, named);
  const template = await readTemplate(options, input, named);
  // Where only its name was given, the template of that name must be the group's.
  complain(sameTemplateComplaint(now, { id: template?.id ?? '' }), named);
  return template;
};

const namedOf = ({ spec, metadata }: NodeGroup): NamedGroup => ({
  clusterName: spec.clusterName,
  nodegroupName: metadata.name,
});

/** What a version of the group's template must have, and must not have, beside what all of them must. */
const checkVersion = async (
  options: EksFaceOptions,
  group: NodeGroup,
  { id, version, data }: LaunchTemplate,
): Promise<void> => {
  const { spec } = group;
  const named = namedOf(group);
  const isCustom = spec.amiType === 'CUSTOM';
  const which = `Launch template ${id} version ${version}`;
  if (isCustom !== 'ImageId' in data) {
    throw invalid(
      isCustom
        ? `${which} should specify an image id, since your nodegroup is configured to use a custom AMI.`
        : 'You cannot specify an image id within the launch template, since your nodegroup is configured to use an EKS optimized AMI.',
      named,
    );
  }
  // Nothing is merged into the user data of an image of one's own: without it no node would join.
  if (isCustom && !('UserData' in data)) {
    throw invalidRequest(
      `${which} has an image id and no user data: its nodes could not join the cluster. Add user data that bootstraps them.`,
      named,
    );
  }
  const type = typeof data.InstanceType === 'string' ? data.InstanceType : undefined;
  if (type !== undefined && spec.instanceTypes.length > 0) {
    throw invalid(
      'Instance types must be specified either in the launch template or in the API request.',
      named,
    );
  }
  if (type === undefined && spec.instanceTypes.length === 0) {
    throw invalidRequest(`${which} should specify an instance type: the group has none.`, named);
  }
  const types = type === undefined ? [] : await needTypes(options, [type], named);
  complain(misfitComplaint(spec.amiType, types), named);
};

const readChange = async (
  options: EksFaceOptions,
  around: { readonly group: NodeGroup; readonly cluster: Cluster },
  input: AwsInput,
): Promise<NodeGroupChange> => {
  const { group, cluster } = around;
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
  if (template !== undefined) await checkVersion(options, group, template);
  const wanted = { amiType: spec.amiType, version, release: asked.releaseVersion };
  return {
    ...(isCustom ? {} : { version, releaseVersion: await needRelease(options, wanted, named) }),
    ...(template === undefined
      ? {}
      : { launchTemplate: { id: template.id, name: template.name, version: template.version } }),
  };
};

const paramsOf = (change: NodeGroupChange): NodeGroupUpdateSpec['params'] => {
  const { version, releaseVersion, launchTemplate } = change;
  const all: readonly (readonly [string, string | undefined])[] = [
    ['Version', version],
    ['ReleaseVersion', releaseVersion],
    ['LaunchTemplateName', launchTemplate?.name],
    ['LaunchTemplateVersion', launchTemplate?.version],
  ];
  return all.flatMap(([type, value]) => (value === undefined ? [] : [{ type, value }]));
};

export const updateNodegroupVersion = (
  options: EksFaceOptions,
  input: AwsInput,
  ctx: AwsCallContext,
): Promise<NodeGroupUpdate> =>
  recordUpdate(options, input, ctx, async (around) => {
    const change = await readChange(options, around, input);
    return {
      type: 'VersionUpdate',
      action: 'Update',
      // Who asks through EKS gets EKS' own, unless the group says otherwise.
      strategy: around.group.spec.updateConfig?.updateStrategy ?? 'DEFAULT',
      ...(optionalFlag(input, 'force') === true ? { force: true } : {}),
      params: paramsOf(change),
      change,
    };
  });
