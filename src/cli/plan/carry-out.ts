// An update by a plan that was saved: what it asks for, whether it still holds, what of it is recorded. Reads
// only; the update itself is recorded by whoever asks.
import type { NodeGroup } from '../../api/nodegroup.ts';
import type { NodeGroupUpdateSpec } from '../../api/nodegroup-update.ts';
import { snapshotHash } from '../../core/update/plan/index.ts';
import { type CliContext, CommandError, exitCodes } from '../context.ts';
import type { Asked } from '../update/request.ts';
import { type PlanFile, parsePlan } from './file.ts';
import { ownGroup } from './group.ts';
import { readSnapshot, type Sources } from './snapshot.ts';

interface OtherFlags {
  readonly kubernetesVersion?: string;
  readonly releaseVersion?: string;
  readonly launchTemplateVersion?: string;
  readonly strategy?: string;
}

/** Throws CommandError: no plan, a blocked one, or flags that would be another plan. */
export const readPlan = async (
  context: CliContext,
  path: string,
  flags: OtherFlags,
): Promise<PlanFile> => {
  const { kubernetesVersion, releaseVersion, launchTemplateVersion, strategy } = flags;
  const given = [kubernetesVersion, releaseVersion, launchTemplateVersion, strategy];
  if (given.some((flag) => flag !== undefined)) {
    throw new CommandError(
      exitCodes.usage,
      '--plan says what the group is to become: leave version, release, template and strategy out',
    );
  }
  const plan = parsePlan(path, await context.readFile(path));
  if (plan.managedBy === 'eks') {
    throw new CommandError(
      exitCodes.refused,
      `${path} is of a group that EKS manages: \`aws eks update-nodegroup-version\` updates it`,
    );
  }
  if (plan.verdict === 'blocked') {
    throw new CommandError(
      exitCodes.refused,
      `${path} is blocked: plan again with --waive for what is to be accepted`,
    );
  }
  return plan;
};

/** The release that was planned, though a newer one may have come out since. */
export const askedBy = ({ to, request }: PlanFile): Asked => ({
  version: to.releaseVersion === undefined ? request.version : to.version,
  releaseVersion: to.releaseVersion,
  templateVersion: request.templateVersion,
});

/** Throws CommandError when what the plan rests on is no longer so. */
export const refuseStale = async (
  sources: Sources,
  group: NodeGroup,
  plan: PlanFile,
): Promise<void> => {
  const { name } = group.metadata;
  if (plan.group !== name) {
    throw new CommandError(
      exitCodes.refused,
      `the plan is of node group ${plan.group}, not ${name}`,
    );
  }
  const found = await ownGroup(sources.kube, name, undefined);
  const snapshot = await readSnapshot(sources, found, { ...plan.request, ...askedBy(plan) });
  const hash = snapshotHash(snapshot);
  if (hash === plan.hash) return;
  throw new CommandError(
    exitCodes.refused,
    `the plan of ${plan.plannedAt} is stale (${plan.hash}, now ${hash}): nodes, pods, budgets, sizes ` +
      `or updateConfig of ${name} are not what it was made for. \`drover plan update ${name}\` makes a new one`,
  );
};

/** What the update says of its plan. */
export const recordedOf = (
  plan: PlanFile,
): Pick<NodeGroupUpdateSpec, 'planHash' | 'predicted' | 'waivers' | 'strategy' | 'policies'> => ({
  planHash: plan.hash,
  predicted: {
    p50Seconds: Math.round(plan.minutes.p50 * 60),
    p90Seconds: Math.round(plan.minutes.p90 * 60),
  },
  ...(plan.waivers.length === 0 ? {} : { waivers: plan.waivers }),
  ...(plan.request.strategy === undefined ? {} : { strategy: plan.request.strategy }),
  ...(plan.request.policies === undefined ? {} : { policies: plan.request.policies }),
});
