// What an update's new nodes are made of: a further version of the derived launch template, and the group
// that uses it. Each call may be one that an earlier process made and did not live to see.
import type { JsonObject } from '../../api/json.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import type { Revision } from '../../api/nodegroup-update.ts';
import { isTemplateProblem, ownsDerived, templateData } from '../../core/scaling/index.ts';
import type { ScalingGroup } from '../../ports/index.ts';
import { mergePatchBetween } from '../../runtime/index.ts';
import { templateFacts } from './create.ts';
import { mustLead, type NodeGroupDeps } from './deps.ts';
import { Impossible } from './impossible.ts';

/** The revision that the spec asks for now, with its template version made. Throws Impossible, CloudError. */
export const makeTarget = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  scaling: ScalingGroup,
  signal: AbortSignal,
): Promise<Revision> => {
  const { cloud } = deps;
  const use = scaling.launchTemplate;
  const latest =
    use === undefined
      ? undefined
      : await cloud.findLaunchTemplate({ id: use.id, version: '$Latest' }, { signal });
  if (use === undefined || latest === undefined || !ownsDerived(group, latest)) {
    const what = use === undefined ? 'no launch template' : `launch template ${use.name}`;
    throw new Impossible(
      'Ec2LaunchTemplateVersionMismatch',
      `Auto Scaling group ${scaling.name} uses ${what}, which was not derived for node group ${group.metadata.name}: nothing can be put into it. Give the group a template of its own, or make another node group.`,
      [scaling.name],
    );
  }
  // What the status knows is the release that is to be left.
  const { status: _left, ...asked } = group;
  const facts = await templateFacts(deps, asked, signal);
  const data = templateData(facts);
  if (isTemplateProblem(data)) throw new Impossible(data.code, data.message);
  let { version: templateVersion } = latest;
  if (mergePatchBetween(latest.data, data as JsonObject) !== undefined) {
    mustLead(deps);
    templateVersion = await cloud.addLaunchTemplateVersion({ id: use.id, data }, { signal });
  }
  const { version, launchTemplate } = group.spec;
  const { releaseVersion } = facts.made;
  return {
    version,
    ...(releaseVersion === undefined ? {} : { releaseVersion }),
    imageId: facts.imageId,
    templateVersion,
    ...(launchTemplate === undefined ? {} : { launchTemplate }),
  };
};

export const useTemplate = async (
  deps: NodeGroupDeps,
  scaling: ScalingGroup,
  version: string,
  signal: AbortSignal,
): Promise<void> => {
  const { id } = scaling.launchTemplate ?? {};
  if (id === undefined) return;
  mustLead(deps);
  const types = scaling.instanceTypes === undefined ? {} : { instanceTypes: scaling.instanceTypes };
  const change = { name: scaling.name, launchTemplate: { id, version }, ...types };
  await deps.cloud.updateGroup(change, { signal });
};

/** A further version that is what the one before the update was: later ones are always newer. */
export const restoreTemplate = async (
  deps: NodeGroupDeps,
  scaling: ScalingGroup,
  from: Revision,
  signal: AbortSignal,
): Promise<void> => {
  const { id } = scaling.launchTemplate ?? {};
  if (id === undefined) return;
  mustLead(deps);
  const data = from.imageId === '' ? {} : { ImageId: from.imageId };
  const source = from.templateVersion;
  const version = await deps.cloud.addLaunchTemplateVersion({ id, source, data }, { signal });
  await useTemplate(deps, scaling, version, signal);
};
