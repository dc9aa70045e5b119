// What an update's new nodes are made of: a further version of the derived launch template, and the group
// that uses it. Each call may be one that an earlier process made and did not live to see.
import type { JsonObject } from '../../api/json.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import type { Revision } from '../../api/nodegroup-update.ts';
import {
  isTemplateProblem,
  ownsDerived,
  sameTemplateData,
  templateData,
} from '../../core/scaling/index.ts';
import type { ScalingGroup } from '../../ports/index.ts';
import { templateFacts } from './create.ts';
import { mustLead, type NodeGroupDeps } from './deps.ts';
import { Impossible } from './impossible.ts';
import { labelled, laterVersion } from './labels.ts';
import { type RolloutInput, willAct } from './rollout-input.ts';
import { writeUpdate } from './updates.ts';

/**
 * The revision that the spec asks for now, with its template version made. `replaceEqual`: also where the latest has the
 * same content; a crash may then leave one that nothing uses. Throws Impossible, CloudError.
 */
export const makeTarget = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  { scaling, replaceEqual }: { readonly scaling: ScalingGroup; readonly replaceEqual: boolean },
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
  if (replaceEqual || !sameTemplateData(latest.data, data)) {
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

interface Used {
  readonly version: string;
  /** Absent: the instance types that it chooses among stay. */
  readonly overrides?: ScalingGroup['overrides'];
}

export const useTemplate = async (
  deps: NodeGroupDeps,
  input: Pick<RolloutInput, 'scaling' | 'memory' | 'signal'>,
  { version, overrides = input.scaling.overrides }: Used,
): Promise<void> => {
  const { scaling, signal } = input;
  const { id } = scaling.launchTemplate ?? {};
  if (id === undefined) return;
  willAct(deps, input);
  const types = overrides === undefined ? {} : { overrides };
  const change = { name: scaling.name, launchTemplate: { id, version }, ...types };
  await deps.cloud.updateGroup(change, { signal });
};

/**
 * A version that is what the one before the update was, with the labels that the spec has by now: later ones
 * are always newer. Noted in the update before it is used: from then on it is not the target's.
 */
export const restoreTemplate = async (
  deps: NodeGroupDeps,
  input: Omit<RolloutInput, 'health'>,
): Promise<void> => {
  const { group, scaling, update, signal } = input;
  const { id, version: inUse = '' } = scaling.launchTemplate ?? {};
  const { status } = update;
  if (id === undefined || status?.from === undefined) return;
  const { templateVersion, imageId } = status.from;
  const find = (version: string) => deps.cloud.findLaunchTemplate({ id, version }, { signal });
  // Somebody may have deleted it: then the image at least is known.
  const source = (await find(templateVersion))?.data ?? {
    ...(await find(inUse))?.data,
    ImageId: imageId,
  };
  const data = await asBefore(deps, group, { data: source, before: update }, signal);
  const restored = await laterVersion(deps, { id, after: inUse, data }, signal);
  await writeUpdate(deps, update, { ...status, restored }, signal);
  await useTemplate(deps, input, { version: restored });
};

/** With the labels of now; as it was where these cannot be told any more. */
const asBefore = async (
  ...[deps, group, made, signal]: Parameters<typeof labelled>
): Promise<JsonObject> => {
  try {
    return (await labelled(deps, group, made, signal)) ?? made.data;
  } catch (error) {
    if (error instanceof Impossible) return made.data;
    throw error;
  }
};
