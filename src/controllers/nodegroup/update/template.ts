// What an update's new nodes are made of: a further version of the derived launch template, and the
// group that uses it. Each call may be one that an earlier process made and did not live to see.

import type { ScalingGroup } from '../../../api/cloud.ts';
import { defined } from '../../../api/defined.ts';
import type { JsonObject } from '../../../api/json.ts';
import type { NodeGroup } from '../../../api/nodegroup.ts';
import type { Revision } from '../../../api/nodegroup-update.ts';
import {
  isHighest,
  isTemplateProblem,
  overridesComplaint,
  ownsDerived,
  sameTemplateData,
  templateData,
} from '../../../core/nodegroup/index.ts';
import type { NodeGroupDeps } from '../deps.ts';
import { Impossible } from '../impossible.ts';
import { templateFacts } from '../lifecycle/create.ts';
import { labelled, laterVersion } from '../nodes/labels.ts';
import { type StepInput, willAct } from './input.ts';
import { writeUpdate } from './records.ts';

/**
 * The revision that the spec asks for now, with its template version made. `replaceEqual`: also
 * where the latest has the same content; a crash may then leave one that nothing uses. Throws
 * Impossible, CloudError.
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
    return operatorsTarget(deps, group, { scaling, replaceEqual }, signal);
  }
  // What the status knows is the release that is to be left.
  const { status: _left, ...asked } = group;
  const facts = await templateFacts(deps, asked, signal);
  const data = templateData(facts);
  if (isTemplateProblem(data)) throw new Impossible(data.code, data.message);
  let { version: templateVersion } = latest;
  if (replaceEqual || !sameTemplateData(latest.data, data)) {
    templateVersion = await cloud.addLaunchTemplateVersion({ id: use.id, data }, { signal });
  }
  const { version, launchTemplate } = group.spec;
  const { releaseVersion } = facts.made;
  return {
    version,
    ...defined({ releaseVersion }),
    imageId: facts.imageId,
    templateVersion,
    ...defined({ launchTemplate }),
  };
};

/**
 * The revision where the Auto Scaling group uses a template that its operator made: only an adopted
 * group does, and only another version of that template can be asked for. New nodes are known by a
 * higher version number, so a version below that of a node is copied into a new one. Throws
 * Impossible, CloudError.
 */
const operatorsTarget = async (
  deps: NodeGroupDeps,
  { metadata, spec }: NodeGroup,
  { scaling, replaceEqual }: { readonly scaling: ScalingGroup; readonly replaceEqual: boolean },
  signal: AbortSignal,
): Promise<Revision> => {
  const { name, launchTemplate: use } = scaling;
  const { launchTemplate: asked } = spec;
  if (use === undefined || asked === undefined || asked.id !== use.id) {
    const what = use === undefined ? 'no launch template' : `launch template ${use.name}`;
    throw new Impossible(
      'Ec2LaunchTemplateVersionMismatch',
      `Auto Scaling group ${name} uses ${what}, which was not derived for node group ` +
        `${metadata.name}: it can only be updated to another version of that template. Ask ` +
        'for one (spec.launchTemplate), or make another node group.',
      [name],
    );
  }
  const complaint = overridesComplaint(scaling);
  if (complaint !== undefined) throw new Impossible('OperationNotPermitted', complaint, [name]);
  const found = await deps.cloud.findLaunchTemplate(asked, { signal });
  if (found === undefined) {
    const message =
      `Launch template ${asked.id} has no version ${asked.version}. Ask for one that \`aws ` +
      `ec2 describe-launch-template-versions --launch-template-id ${asked.id}\` lists.`;
    throw new Impossible('Ec2LaunchTemplateNotFound', message, [asked.id]);
  }
  const { id, data } = found;
  let { version: templateVersion } = found;
  if (replaceEqual || !isHighest(templateVersion, scaling)) {
    templateVersion = await deps.cloud.addLaunchTemplateVersion({ id, data }, { signal });
  }
  const imageId = String(data.ImageId ?? '');
  return { version: spec.version, imageId, templateVersion, launchTemplate: asked };
};

interface Used {
  readonly version: string;
  /** Absent: the instance types that it chooses among stay. */
  readonly overrides?: ScalingGroup['overrides'];
}

export const useTemplate = async (
  deps: NodeGroupDeps,
  input: Pick<StepInput, 'scaling' | 'memory' | 'signal'>,
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
 * A version that is what the one before the update was, with the labels that the spec has by now:
 * later ones are always newer. Noted in the update before it is used: from then on it is not the
 * target's.
 */
export const restoreTemplate = async (deps: NodeGroupDeps, input: StepInput): Promise<void> => {
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
  const latest = await find('$Latest');
  const isDerived = latest !== undefined && ownsDerived(group, latest);
  // Labels are put into templates of ours only.
  const data = isDerived
    ? await asBefore(deps, group, { data: source, before: update }, signal)
    : source;
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
