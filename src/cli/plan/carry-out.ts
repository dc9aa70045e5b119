// Starts an update from a saved plan: what it requests, whether the plan is still current, and what
// the update records about it. Reads only; the caller records the update.
import { defined } from '../../api/defined.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import type { NodeGroupUpdateSpec } from '../../api/nodegroup-update.ts';
import type { UpdatePolicies } from '../../api/update-policy.ts';
import { type PlanBasis, snapshotBasis } from '../../core/update/plan/index.ts';
import { type CliContext, CommandError, exitCodes } from '../context.ts';
import type { Asked } from '../update/request.ts';
import { blockedText } from './blocked.ts';
import { type PlanFile, parsePlan } from './file.ts';
import { ownGroup } from './group.ts';
import { readSnapshot, type Sources } from './snapshot.ts';

interface OtherFlags {
  readonly force: boolean;
  readonly replaceEqual: boolean;
  readonly policies: UpdatePolicies | undefined;
  readonly kubernetesVersion?: string;
  readonly releaseVersion?: string;
  readonly launchTemplateVersion?: string;
  readonly strategy?: string;
}

/** Throws CommandError: not a plan, a blocked plan, or flags that would lead to another plan. */
export const readPlan = async (
  context: Pick<CliContext, 'readFile'>,
  path: string,
  flags: OtherFlags,
): Promise<PlanFile> => {
  const { kubernetesVersion, releaseVersion, launchTemplateVersion, strategy, policies } = flags;
  const given = [kubernetesVersion, releaseVersion, launchTemplateVersion, strategy, policies];
  if (given.some((flag) => flag !== undefined)) {
    throw new CommandError(
      exitCodes.usage,
      '--plan says what the group is to become and how: leave version, release, template, ' +
        'strategy and policies out, ' +
        'or plan with them',
    );
  }
  const plan = parsePlan(path, await context.readFile(path));
  if (flags.force && !plan.request.force) {
    throw new CommandError(
      exitCodes.usage,
      `${path} is of an update without --force: leave it out, or plan with it`,
    );
  }
  if (flags.replaceEqual && plan.request.replaceEqual !== true) {
    throw new CommandError(
      exitCodes.usage,
      `${path} is of an update without --replace-equal: leave it out, or plan with it`,
    );
  }
  if (plan.managedBy === 'eks') {
    throw new CommandError(
      exitCodes.refused,
      `${path} is of a group that EKS manages: \`aws eks update-nodegroup-version\` updates it`,
    );
  }
  if (plan.verdict === 'blocked') {
    throw new CommandError(
      exitCodes.refused,
      `${path} is a plan that is blocked ${blockedText(plan)}. Then plan again`,
    );
  }
  return plan;
};

/** The planned release, even if a newer one has been published since. */
export const askedBy = ({ to, request }: PlanFile): Asked => ({
  version: to.releaseVersion === undefined ? request.version : to.version,
  releaseVersion: to.releaseVersion,
  templateVersion: request.templateVersion,
});

const partText: Readonly<Record<keyof PlanBasis, string>> = {
  settings: 'settings (sizes, target, strategy, policies, updateConfig, drain, labels or taints)',
  nodes: 'old nodes',
  pods: 'pods on old nodes',
  budgets: 'budgets',
};

/**
 * The part that differs. Other nodes have other pods, so then the pods are not reported in
 * addition.
 */
export const staleText = (before: PlanBasis, now: PlanBasis): string => {
  const parts = (['settings', 'nodes', 'pods', 'budgets'] as const).filter(
    (part) => before[part] !== now[part],
  );
  const told = parts.filter((part) => part !== 'pods' || !parts.includes('nodes'));
  return told.map((part) => partText[part]).join(' and ');
};

/** Throws CommandError when the basis of the plan has changed. */
export const refuseStale = async (
  sources: Sources,
  group: NodeGroup,
  plan: PlanFile,
): Promise<void> => {
  const { name } = group.metadata;
  const { clusterName } = group.spec;
  if (plan.group !== name || plan.cluster !== clusterName) {
    throw new CommandError(
      exitCodes.refused,
      `the plan is of node group ${plan.group} in cluster ${plan.cluster}, not of ${name} ` +
        `in ${clusterName}`,
    );
  }
  const found = await ownGroup(sources.kube, name, undefined);
  const snapshot = await readSnapshot(sources, found, { ...plan.request, ...askedBy(plan) });
  const { hash, basis } = snapshotBasis(snapshot);
  if (hash === plan.hash) return;
  throw new CommandError(
    exitCodes.refused,
    `the plan of ${plan.plannedAt} is stale (${plan.hash}, now ${hash}): ` +
      `${staleText(plan.basis, basis)} ` +
      `of ${name} are not what it was made for. \`drover plan update ${name}\` makes a new one`,
  );
};

/** What the update records about its plan. */
export const recordedOf = (
  plan: PlanFile,
): Pick<
  NodeGroupUpdateSpec,
  'planHash' | 'predicted' | 'waivers' | 'strategy' | 'policies' | 'replaceEqual'
> => ({
  planHash: plan.hash,
  predicted: {
    p50Seconds: Math.round(plan.minutes.p50 * 60),
    p90Seconds: Math.round(plan.minutes.p90 * 60),
  },
  ...(plan.waivers.length === 0 ? {} : { waivers: plan.waivers }),
  ...defined({ strategy: plan.request.strategy }),
  ...(plan.request.replaceEqual === true ? { replaceEqual: true } : {}),
  ...defined({ policies: plan.request.policies }),
});
