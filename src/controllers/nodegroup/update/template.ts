// The template of an update's new nodes: creates a further version of the derived launch template
// and lets the group use it. Each call may repeat one of a process that crashed.

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
 * The revision that the spec requests, with its template version created. `replaceEqual`: creates
 * one even if the latest has the same content; a crash may then leave an unused version. Throws
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
  // The status has the old release, which must not be used here.
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
    ...(replaceEqual ? { replaceEqual } : {}),
    ...defined({ launchTemplate }),
  };
};

/**
 * The revision if the Auto Scaling group uses a template created by its operator. That is so only
 * for an adopted group, which can request only other versions of that template. New nodes are
 * identified by a higher version number, so a version below that of a node is copied into a new
 * one. Throws Impossible, CloudError.
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
  const equal = replaceEqual ? { replaceEqual } : {};
  return { version: spec.version, imageId, templateVersion, launchTemplate: asked, ...equal };
};

interface Used {
  readonly version: string;
  /** Absent: its instance types stay. */
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
 * Creates a new version equal to the one before the update, with the spec's current labels. It
 * cannot reuse the old version: higher numbers identify newer nodes. The version is recorded before
 * it is used, since instances from it on are not of the target.
 */
export const restoreTemplate = async (deps: NodeGroupDeps, input: StepInput): Promise<void> => {
  const { group, scaling, update, signal } = input;
  const { id, version: inUse = '' } = scaling.launchTemplate ?? {};
  const { status } = update;
  if (id === undefined || status?.from === undefined) return;
  const { templateVersion, imageId } = status.from;
  const find = (version: string) => deps.cloud.findLaunchTemplate({ id, version }, { signal });
  // The version may have been deleted; then at least the image is known.
  const source = (await find(templateVersion))?.data ?? {
    ...(await find(inUse))?.data,
    ImageId: imageId,
  };
  const latest = await find('$Latest');
  const isDerived = latest !== undefined && ownsDerived(group, latest);
  // Labels are added to Drover's own templates only.
  const data = isDerived
    ? await asBefore(deps, group, { data: source, before: update }, signal)
    : source;
  const restored = await laterVersion(deps, { id, after: inUse, data }, signal);
  await writeUpdate(deps, update, { ...status, restored }, signal);
  await useTemplate(deps, input, { version: restored });
};

/** With the current labels; unchanged if these cannot be determined. */
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
