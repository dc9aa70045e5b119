// Prepares a version update before its first effect: its target, surge and maxUnavailable. A
// request that is impossible ends the update here, with nothing changed.
import { formatTime } from '../../../api/brand.ts';
import type { NodeGroup } from '../../../api/nodegroup.ts';
import {
  isOwnStrategy,
  type NodeGroupUpdate,
  type Revision,
  type UpdateStrategy,
} from '../../../api/nodegroup-update.ts';
import { suspendedOf } from '../../../core/group-plan/index.ts';
import {
  bounded,
  madeRefusal,
  versionComplaint,
  versionRefusal,
} from '../../../core/nodegroup/index.ts';
import {
  eksSurge,
  evenSurge,
  maxUnavailableOf,
  ownSurge,
  policyComplaint,
} from '../../../core/update/index.ts';
import type { NodeGroupDeps } from '../deps.ts';
import { Impossible } from '../impossible.ts';
import { issueOfRefusal } from '../own-issues.ts';
import { instancesOf, type StepInput, statusOf } from './input.ts';
import { findSkippedTypes } from './instance-types.ts';
import { writeUpdate } from './records.ts';
import { makeTarget } from './template.ts';

/** `wanted`: the desired size without the update's part. */
type PrepareInput = StepInput & { readonly wanted: number };

const zonesOf = async (
  { cloud }: NodeGroupDeps,
  group: NodeGroup,
  signal: AbortSignal,
): Promise<readonly string[]> => {
  const subnets = await cloud.describeSubnets(group.spec.subnets, { signal });
  return [...new Set(subnets.map(({ availabilityZone }) => availabilityZone))];
};

const surgeOf = async (
  deps: NodeGroupDeps,
  { group, scaling, signal }: PrepareInput,
  strategy: UpdateStrategy | undefined,
  target: Revision,
  { desired, maxUnavailable }: { readonly desired: number; readonly maxUnavailable: number },
): Promise<number> => {
  if (strategy === 'MINIMAL' || desired === 0) return 0;
  const counted = instancesOf(deps, group, scaling, target).filter(({ isCounted }) => isCounted);
  const old = counted.filter(({ isTarget }) => !isTarget).map(({ zone }) => zone);
  if (old.length === 0) return 0;
  // All new nodes are launched before the first drain.
  if (strategy === 'BLUE_GREEN') return old.length;
  const zones = await zonesOf(deps, group, signal);
  if (strategy !== 'SURGE') return eksSurge(zones.length, maxUnavailable);
  const fresh = counted.filter(({ isTarget }) => isTarget).map(({ zone }) => zone);
  const most = ownSurge(old.length, new Set(old).size, maxUnavailable);
  return evenSurge(most, { zones, old, fresh });
};

const skippedOf = (deps: NodeGroupDeps, input: PrepareInput, target: Revision) => {
  const { group, scaling, signal } = input;
  const old = instancesOf(deps, group, scaling, target).filter(
    ({ isCounted, isTarget }) => isCounted && !isTarget,
  );
  return findSkippedTypes(deps, { group, scaling }, old, signal);
};

/** Rebalancing zones during an update would terminate new nodes (reference updates 3.1, 7). */
const disturbing = ['AZRebalance'] as const;

/** EKS and the CLI refuse these at once, but the spec can still request them. Throws Impossible. */
const checkVersion = async (
  { cloud }: NodeGroupDeps,
  group: NodeGroup,
  { spec, status }: NodeGroupUpdate,
  signal: AbortSignal,
): Promise<void> => {
  const from = status?.from?.version;
  if (spec.action === 'Rollback' || from === undefined) return;
  const cluster = (await cloud.describeCluster(group.spec.clusterName, { signal }))?.version;
  const known = { cluster: cluster ?? group.spec.version, group: from };
  const complaint = versionComplaint(group.spec.version, known);
  if (complaint !== undefined) throw new Impossible('OperationNotPermitted', complaint);
};

/**
 * The same for a launch template version that the spec requests and that is not in use yet. Throws
 * Impossible.
 */
const checkTemplate = async (
  { cloud }: NodeGroupDeps,
  { spec }: NodeGroup,
  { spec: { action }, status }: NodeGroupUpdate,
  signal: AbortSignal,
): Promise<void> => {
  const { launchTemplate: asked } = spec;
  const isKnown = asked?.version === status?.from?.launchTemplate?.version;
  if (asked === undefined || isKnown || action === 'Rollback') return;
  const { id, version } = asked;
  const find = (one: string) => cloud.findLaunchTemplate({ id, version: one }, { signal });
  const [template, before] = await Promise.all([
    find(version),
    find(status?.from?.launchTemplate?.version ?? version),
  ]);
  if (template === undefined) return;
  // If the version in use was deleted, it is unknown how the group was created.
  const refusal =
    before === undefined ? madeRefusal(spec, template) : versionRefusal(spec, template, before);
  if (refusal === undefined) return;
  throw new Impossible('Ec2LaunchTemplateInvalidConfiguration', refusal.message, [id]);
};

/** Determines target, surge and maxUnavailable before the first effect. */
const prepare = async (deps: NodeGroupDeps, input: PrepareInput): Promise<void> => {
  const { group, scaling, signal } = input;
  const update = statusOf(deps, input.update);
  const { status } = update;
  if (status?.phase !== 'Preparing') return;
  await checkVersion(deps, group, update, signal);
  await checkTemplate(deps, group, update, signal);
  const complaint = policyComplaint(group.spec, update.spec, status.strategy);
  if (complaint !== undefined) throw new Impossible('OperationNotPermitted', complaint);
  const replaceEqual = update.spec.replaceEqual === true;
  const target = await makeTarget(deps, group, { scaling, replaceEqual }, signal);
  const desired = input.wanted;
  const maxUnavailable = maxUnavailableOf(group.spec.updateConfig, desired);
  const surge = await surgeOf(deps, input, status.strategy, target, { desired, maxUnavailable });
  const isOwn = isOwnStrategy(status.strategy);
  const held = isOwn ? ('Rolling' as const) : ('Marking' as const);
  const phase = surge > 0 ? ('ScalingUp' as const) : held;
  const phases = [...(status.phases ?? []), { phase, at: formatTime(deps.clock.now()) }];
  const running = disturbing.filter((one) => !suspendedOf(scaling).includes(one));
  const term = deps.epoch === undefined ? {} : { suspendedIn: deps.epoch };
  const suspends = isOwn && surge > 0 ? { suspends: running, ...term } : {};
  const skipped = isOwn ? await skippedOf(deps, input, target) : [];
  const types = skipped.length === 0 ? {} : { skippedTypes: skipped };
  const next = { ...status, target, maxUnavailable, surge, phase, phases, ...suspends, ...types };
  await writeUpdate(deps, update, next, signal);
};

/** An error that retrying cannot fix ends the update before any change. */
export const prepareOrFail = async (deps: NodeGroupDeps, input: PrepareInput): Promise<void> => {
  try {
    await prepare(deps, input);
  } catch (error) {
    const issue = issueOfRefusal(error, input.scaling.name);
    if (issue === undefined) throw error;
    const update = statusOf(deps, input.update);
    const endedAt = formatTime(deps.clock.now());
    const before = update.status ?? { status: 'InProgress' };
    const failed = { status: 'Failed', phase: 'Ended', endedAt, errors: bounded([issue]) } as const;
    const next = { ...before, ...failed, message: issue.message };
    await writeUpdate(deps, update, next, input.signal);
  }
};
