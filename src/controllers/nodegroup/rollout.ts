// A version update of a node group, run inside the group's pass: notes it, makes the template, asks
// core/update what comes next, writes that down and then does it. Knows no phase but the first.
import { formatTime } from '../../api/brand.ts';
import { defaultDrainTimeoutSeconds } from '../../api/causes.ts';
import type { Node } from '../../api/kube.ts';
import { clientTokenAnnotation, type HealthIssue, type NodeGroup } from '../../api/nodegroup.ts';
import type {
  NodeGroupUpdate,
  NodeGroupUpdateStatus,
  Revision,
  UpdateStrategy,
} from '../../api/nodegroup-update.ts';
import { bounded, versionComplaint } from '../../core/scaling/index.ts';
import {
  decideUpdate,
  eksSurge,
  fail,
  hasGroupLabels,
  isOfRevision,
  maxUnavailableOf,
  outdatedTaint,
  ownSurge,
  shieldOf,
  type UpdateDecision,
  type UpdateInstance,
  type UpdateSurge,
} from '../../core/update/index.ts';
import type { ScalingGroup } from '../../ports/index.ts';
import { mergePatchBetween } from '../../runtime/index.ts';
import { isReady, nodeOfInstance } from '../informers.ts';
import type { Made } from './create.ts';
import { mustLead, type NodeGroupDeps } from './deps.ts';
import { Impossible } from './impossible.ts';
import { netDesired, noSurge } from './request.ts';
import { loadsOf } from './rollout-pods.ts';
import { runSteps } from './rollout-steps.ts';
import { makeTarget, useTemplate } from './rollout-template.ts';
import { countedOf } from './scale-in.ts';
import { issueOfRefusal } from './trouble.ts';
import { applyUpdate, changed, rollBack, writeUpdate } from './updates.ts';
import { writeSpec } from './write.ts';

export interface RolloutInput {
  readonly group: NodeGroup;
  readonly scaling: ScalingGroup;
  readonly update: NodeGroupUpdate;
  readonly issues: readonly HealthIssue[];
  readonly signal: AbortSignal;
}

/** What the pass has to do for it: tell of the surge and of what the group is now, then `act`. */
export interface Rollout {
  readonly surge: UpdateSurge;
  readonly made?: Made;
  /** It waits for nobody but a person: a look now and then will do. */
  readonly rests?: boolean;
  readonly act: () => Promise<void>;
}

/** What was made through EKS is updated as EKS does it, unless somebody says otherwise. */
const strategyOf = (group: NodeGroup, update: NodeGroupUpdate): UpdateStrategy => {
  const ofGroup = group.metadata.annotations?.[clientTokenAnnotation] === undefined;
  const byDefault = ofGroup ? 'SURGE' : 'DEFAULT';
  return update.spec.strategy ?? group.spec.updateConfig?.updateStrategy ?? byDefault;
};

/** The status as others have it now. */
const statusOf = ({ updates }: NodeGroupDeps, update: NodeGroupUpdate): NodeGroupUpdate =>
  updates.get(update.metadata.name) ?? update;

/**
 * What an update asks for is put into the spec, and its journal begins. Undefined: the group is gone. A
 * version update waits for a scale-in that is under way, and for its Auto Scaling group.
 */
export const beginUpdate = (
  deps: NodeGroupDeps,
  input: Omit<RolloutInput, 'issues' | 'scaling'> & { readonly scaling: ScalingGroup | undefined },
): Promise<NodeGroup | undefined> => {
  const { group, scaling, update, signal } = input;
  if (update.spec.type === 'ConfigUpdate') return applyUpdate(deps, group, update, signal);
  const waits = scaling === undefined || group.status?.scaleIn !== undefined;
  if (waits || update.status?.phase !== undefined) return Promise.resolve(group);
  return beginRollout(deps, { ...input, scaling });
};

const beginRollout = async (
  deps: NodeGroupDeps,
  { group, scaling, update, signal }: Omit<RolloutInput, 'issues'>,
): Promise<NodeGroup | undefined> => {
  const difference = mergePatchBetween(group.spec, changed(group.spec, update.spec));
  const written =
    difference === undefined ? group : await writeSpec(deps, group, difference, signal);
  if (written === undefined) return undefined;
  const { status: known, metadata } = written;
  const now = formatTime(deps.clock.now());
  const use = scaling.launchTemplate;
  const { version, releaseVersion, imageId, requestedRevision } = known ?? {};
  const { minSize, maxSize } = written.spec.scaling;
  const status: NodeGroupUpdateStatus = {
    status: 'InProgress',
    phase: 'Preparing',
    phases: [{ phase: 'Preparing', at: now }],
    startedAt: now,
    ...(metadata.generation === undefined ? {} : { generation: metadata.generation }),
    strategy: strategyOf(written, update),
    from: {
      version: version ?? requestedRevision?.version ?? group.spec.version,
      ...(releaseVersion === undefined ? {} : { releaseVersion }),
      imageId: imageId ?? '',
      templateVersion: use?.version ?? '',
      ...(requestedRevision?.launchTemplate && {
        launchTemplate: requestedRevision.launchTemplate,
      }),
    },
    original: { minSize, maxSize, desired: netDesired(written, scaling) },
  };
  await writeUpdate(deps, update, status, signal);
  return written;
};

const zonesOf = async (
  { cloud }: NodeGroupDeps,
  group: NodeGroup,
  signal: AbortSignal,
): Promise<number> => {
  const subnets = await cloud.describeSubnets(group.spec.subnets, { signal });
  return new Set(subnets.map(({ availabilityZone }) => availabilityZone)).size;
};

const surgeOf = async (
  deps: NodeGroupDeps,
  { group, scaling, signal }: RolloutInput,
  strategy: UpdateStrategy | undefined,
  target: Revision,
  { desired, maxUnavailable }: { readonly desired: number; readonly maxUnavailable: number },
): Promise<number> => {
  if (strategy === 'MINIMAL' || desired === 0) return 0;
  const old = instancesOf(deps, group, scaling, target).filter(
    ({ isCounted, isTarget }) => isCounted && !isTarget,
  );
  if (old.length === 0) return 0;
  if (strategy !== 'SURGE') return eksSurge(await zonesOf(deps, group, signal), maxUnavailable);
  return ownSurge(old.length, new Set(old.map(({ zone }) => zone)).size, maxUnavailable);
};

const suspendedOf = ({ suspendedProcesses = [] }: ScalingGroup): readonly string[] =>
  suspendedProcesses;

/** Moving instances between zones in the middle of an update would end new ones (reference updates 3.1, 7). */
const disturbing = ['AZRebalance'] as const;

/** The target, the surge and how many may be out of service: all of it before the first effect. */
/** What EKS and the command line refuse at once can still be asked for in the spec. Throws Impossible. */
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

const prepare = async (deps: NodeGroupDeps, input: RolloutInput): Promise<void> => {
  const { group, scaling, signal } = input;
  const update = statusOf(deps, input.update);
  const { status } = update;
  if (status?.phase !== 'Preparing') return;
  await checkVersion(deps, group, update, signal);
  const target = await makeTarget(deps, group, scaling, signal);
  const desired = netDesired(group, scaling);
  const maxUnavailable = maxUnavailableOf(group.spec.updateConfig, desired);
  const surge = await surgeOf(deps, input, status.strategy, target, { desired, maxUnavailable });
  const held = status.strategy === 'SURGE' ? ('Rolling' as const) : ('Marking' as const);
  const phase = surge > 0 ? ('ScalingUp' as const) : held;
  const phases = [...(status.phases ?? []), { phase, at: formatTime(deps.clock.now()) }];
  const running = disturbing.filter((one) => !suspendedOf(scaling).includes(one));
  const suspends = status.strategy === 'SURGE' && surge > 0 ? { suspends: running } : {};
  const next = { ...status, target, maxUnavailable, surge, phase, phases, ...suspends };
  await writeUpdate(deps, update, next, signal);
};

/** What nothing mends ends the update before anything was done. */
const prepareOrFail = async (deps: NodeGroupDeps, input: RolloutInput): Promise<void> => {
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

const instancesOf = (
  deps: NodeGroupDeps,
  group: NodeGroup,
  scaling: ScalingGroup,
  target: Revision,
): readonly UpdateInstance[] => {
  const counted = new Set(countedOf(scaling));
  const isCustom = group.spec.amiType === 'CUSTOM';
  const labels = { group: group.metadata.name, imageId: target.imageId, isCustom };
  return scaling.instances.map((instance) => {
    const { instanceId } = instance;
    const node = nodeOfInstance(deps.nodes, instanceId);
    const disruption = deps.disruptions.get(instanceId);
    return {
      instanceId,
      zone: instance.availabilityZone,
      isCounted: counted.has(instance),
      isTarget: isOfRevision(target, instance.launchTemplateVersion, node),
      isReady: node !== undefined && isReady(node) && instance.lifecycleState === 'InService',
      isLabelled: node !== undefined && hasGroupLabels(node, labels),
      ...shieldFields(node),
      isDiscouraged: node?.spec.taints?.some(({ key }) => key === outdatedTaint) ?? false,
      ...(node === undefined ? {} : { nodeName: node.metadata.name }),
      ...(disruption === undefined ? {} : { disruption }),
    };
  });
};

const shieldFields = (node: Node | undefined): Pick<UpdateInstance, 'shield'> => {
  const shield = node && shieldOf(node);
  return shield === undefined ? {} : { shield };
};

const decide = async (
  deps: NodeGroupDeps,
  input: RolloutInput,
): Promise<UpdateDecision | undefined> => {
  const { group, scaling, issues } = input;
  const update = statusOf(deps, input.update);
  const { status } = update;
  if (status?.target === undefined) return undefined;
  const seconds = group.spec.drain?.timeoutSeconds ?? defaultDrainTimeoutSeconds;
  const observation = {
    update,
    status,
    target: status.target,
    groupName: group.metadata.name,
    desired: netDesired(group, scaling),
    surge: group.status?.surge ?? noSurge,
    actualDesired: scaling.desiredCapacity,
    suspended: (status.suspends ?? []).filter((one) => suspendedOf(scaling).includes(one)),
    usesTarget: scaling.launchTemplate?.version === status.target.templateVersion,
    instances: instancesOf(deps, group, scaling, status.target),
    issues,
    drainTimeoutMs: seconds * 1000,
    now: deps.clock.now(),
  };
  const decided = decideUpdate(observation);
  const begins = decided.steps.some(({ kind }) => kind === 'Replace' || kind === 'Retire');
  if (!begins || status.phase !== 'Rolling') return decided;
  // Pods are only looked at where a drain is about to begin.
  const loads = await loadsOf(deps, observation.instances, input.signal);
  const instances = observation.instances.map((one) => ({
    ...one,
    ...loads.get(one.nodeName ?? ''),
  }));
  return decideUpdate({ ...observation, instances });
};

const isUnderWay = ({ status }: NodeGroupUpdate): boolean =>
  status?.phase !== 'Restoring' && status?.ending === undefined;

const suspend = async (
  deps: NodeGroupDeps,
  { scaling, signal }: RolloutInput,
  { status }: NodeGroupUpdate,
): Promise<void> => {
  const processes = (status?.suspends ?? []).filter((one) => !suspendedOf(scaling).includes(one));
  if (processes.length === 0 || status?.phase === 'ScalingDown') return;
  mustLead(deps);
  const { name } = scaling;
  await deps.cloud.setProcesses({ name, processes, suspended: true }, { signal });
};

/** Nothing is started from the older version any more, before anything more is. True: that was to do. */
const setUp = async (
  deps: NodeGroupDeps,
  input: RolloutInput,
  update: NodeGroupUpdate,
  { templateVersion }: Revision,
): Promise<boolean> => {
  const { scaling, signal } = input;
  // What is no number ($Default) says nothing of what is started.
  if (!(Number(scaling.launchTemplate?.version) >= Number(templateVersion))) {
    await useTemplate(deps, scaling, templateVersion, signal);
    return true;
  }
  await suspend(deps, input, update);
  return false;
};

/** What AWS refuses for good (an image that is not there, a permission) ends the update with its words. */
const setUpOrFail = async (
  deps: NodeGroupDeps,
  input: RolloutInput,
  update: NodeGroupUpdate,
  target: Revision,
): Promise<boolean> => {
  const { status } = update;
  try {
    return await setUp(deps, input, update, target);
  } catch (error) {
    const issue = issueOfRefusal(error, input.scaling.name);
    if (issue === undefined || status === undefined) throw error;
    const change = fail({ status, now: deps.clock.now() }, [issue]);
    const next = { ...status, ...change } as NodeGroupUpdateStatus;
    await writeUpdate(deps, update, next, input.signal);
    return true;
  }
};

/** One step on. Undefined when no version update is under way, or nothing of it is to do in this pass. */
export const rollOut = async (
  deps: NodeGroupDeps,
  {
    update: asked,
    ...around
  }: Omit<RolloutInput, 'update'> & { readonly update: NodeGroupUpdate | undefined },
): Promise<Rollout | undefined> => {
  const update = asked && statusOf(deps, asked);
  if (update?.spec.type !== 'VersionUpdate' || update.status?.phase === undefined) return undefined;
  const input = { ...around, update };
  await prepareOrFail(deps, input);
  const { group, signal } = input;
  const before = statusOf(deps, input.update);
  const target = before.status?.target;
  if (target === undefined || before.status?.status !== 'InProgress') return undefined;
  if (isUnderWay(before) && (await setUpOrFail(deps, input, before, target))) {
    return { surge: group.status?.surge ?? noSurge, act: async () => {} };
  }
  const decision = await decide(deps, input);
  if (decision === undefined) return undefined;
  const { change, steps, end, surge } = decision;
  if (change !== undefined) {
    const next = { ...before.status, ...change } as NodeGroupUpdateStatus;
    await writeUpdate(deps, before, next, signal);
  }
  // Stopped when the last old node had gone already: all there is is of the target.
  const { total = 0, done = 0 } = { ...before.status.progress, ...change?.progress };
  const isDone = end?.status === 'Successful' || (end !== undefined && total > 0 && done === total);
  const { version, releaseVersion, imageId } = target;
  const made = { version, imageId, ...(releaseVersion === undefined ? {} : { releaseVersion }) };
  return {
    surge,
    ...(isDone ? { made } : {}),
    rests: update.spec.paused === true && change === undefined && steps.length === 0,
    act: async () => {
      const update = statusOf(deps, input.update);
      await runSteps(deps, { ...input, update }, steps);
      if (end === undefined || update.status === undefined) return;
      await rollBack(deps, group, update, signal);
      mustLead(deps);
      const endedAt = formatTime(deps.clock.now());
      const phases = [...(update.status.phases ?? []), { phase: 'Ended' as const, at: endedAt }];
      const ended = { ...update.status, ...end, phase: 'Ended' as const, phases, endedAt };
      await writeUpdate(deps, update, ended, signal);
    },
  };
};
