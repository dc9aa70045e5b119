// Runs the steps of a plan that adopt, create, delete or release a node group. A repeated step
// changes nothing or, as for a security group that exists, fails until the next pass reads what the
// first one did. Decides nothing.

import {
  type CreationStep,
  isCreationStep,
  type LifecycleStep,
} from '../../../api/lifecycle-steps.ts';
import type { NodeGroup } from '../../../api/nodegroup.ts';
import { ownsDerived, waitsInHook } from '../../../core/nodegroup/index.ts';
import type { NodeGroupDeps } from '../deps.ts';
import { journalReleased, journalRemoved } from '../events.ts';
import { tell } from '../kube-events.ts';
import { askedFor } from '../memory.ts';
import { removeRemoteAccess } from '../nodes/remote-access.ts';
import { issueOfRefusal } from '../own-issues.ts';
import type { PassInput } from '../pass-input.ts';
import { removeFinalizer } from '../write.ts';

type StepOf<K extends LifecycleStep['kind']> = Extract<LifecycleStep, { kind: K }>;

export type LifecycleContext = Pick<PassInput, 'memory' | 'roles' | 'signal'> & {
  readonly group: NodeGroup;
};

/** The group is read just before, since the removal ends the wait of instances in the hook. */
const removeHook = async (
  { cloud }: NodeGroupDeps,
  { autoScalingGroupName: name, hook }: StepOf<'RemoveHook'>,
  signal: AbortSignal,
): Promise<'done' | 'stale'> => {
  const [now] = await cloud.describeGroups([name], { signal });
  const isBusy = (now?.instances ?? []).some(({ lifecycleState }) =>
    waitsInHook(lifecycleState, hook.transition),
  );
  if (isBusy) return 'stale';
  await cloud.removeHook(name, hook.name, { signal });
  return 'done';
};

/** Read just before, since the profile of another owner that appeared meanwhile must stay. */
const ensureProfile = async (
  { cloud }: NodeGroupDeps,
  { group, signal }: LifecycleContext,
  { profile }: StepOf<'EnsureProfile'>,
): Promise<'done' | 'stale'> => {
  const now = await cloud.findInstanceProfile(profile.name, { signal });
  if (now !== undefined && !ownsDerived(group, now)) return 'stale';
  await cloud.ensureInstanceProfile(profile, { signal });
  return 'done';
};

const createGroup = async (
  { cloud }: NodeGroupDeps,
  { memory, signal }: LifecycleContext,
  { group, launchTemplate: name }: StepOf<'CreateGroup'>,
): Promise<'done'> => {
  const template = await cloud.findLaunchTemplate({ name, version: '$Latest' }, { signal });
  if (template === undefined) throw new Error(`launch template ${name} cannot be seen yet`);
  const { id, version } = template;
  const takeBack = askedFor(memory);
  try {
    await cloud.createGroup({ ...group, launchTemplate: { id, version } }, { signal });
  } catch (error) {
    if (issueOfRefusal(error, group.name) !== undefined) takeBack();
    throw error;
  }
  return 'done';
};

const installHook = async (
  { cloud, journal }: NodeGroupDeps,
  { group, signal }: LifecycleContext,
  { autoScalingGroupName, hook }: StepOf<'InstallHook'>,
): Promise<'done'> => {
  await cloud.installHook(autoScalingGroupName, hook, { signal });
  const facts = { hook: hook.name, autoScalingGroup: autoScalingGroupName };
  journal.record({ type: 'nodegroup:hook:installed', subject: group.metadata.name, facts });
  return 'done';
};

const endGroup = async (
  deps: NodeGroupDeps,
  { group, roles, signal }: LifecycleContext,
): Promise<'gone'> => {
  const letGo = async (): Promise<void> => {
    await removeFinalizer(deps, group, signal);
  };
  await roles.release(group, letGo, signal);
  journalRemoved(deps.journal, group);
  return 'gone';
};

const endRelease = async (
  deps: NodeGroupDeps,
  { group, signal }: LifecycleContext,
  { message }: StepOf<'EndRelease'>,
): Promise<'gone'> => {
  if ((await removeFinalizer(deps, group, signal)) === undefined) return 'gone';
  journalReleased(deps.journal, group);
  await tell(deps, group, { reason: 'Released', type: 'Normal', message }, signal);
  return 'gone';
};

const creationStep = async (
  deps: NodeGroupDeps,
  context: LifecycleContext,
  step: CreationStep,
): Promise<'done' | 'stale'> => {
  const { cloud, clock } = deps;
  const { group, memory, roles, signal } = context;
  switch (step.kind) {
    case 'TagGroup':
      await cloud.tagGroup(step.autoScalingGroupName, step.tags, { signal });
      memory.markedAt = clock.now();
      return 'done';
    case 'AuthorizeRole':
      await roles.admit(group, signal);
      return 'done';
    case 'EnsureProfile':
      return ensureProfile(deps, context, step);
    case 'CreateSecurityGroup':
      await cloud.createSecurityGroup(step.securityGroup, { signal });
      return 'done';
    case 'AllowIngress':
      await cloud.allowIngress(step.id, step.rule, { signal });
      return 'done';
    case 'CreateTemplate': {
      const { name, tags, data } = step;
      await cloud.createLaunchTemplate({ name, tags, data }, { signal });
      return 'done';
    }
    case 'CreateGroup':
      return createGroup(deps, context, step);
    case 'InstallHook':
      return installHook(deps, context, step);
  }
};

/** `stale`: its precondition does not hold. Throws Impossible, CloudError, KubeError. */
export const lifecycleStep = async (
  deps: NodeGroupDeps,
  context: LifecycleContext,
  step: LifecycleStep,
): Promise<'done' | 'stale' | 'gone'> => {
  if (isCreationStep(step)) return creationStep(deps, context, step);
  const { cloud } = deps;
  const { group, memory, roles, signal } = context;
  switch (step.kind) {
    case 'ResumeProcesses': {
      const { autoScalingGroupName: name, processes } = step;
      await cloud.setProcesses({ name, processes, suspended: false }, { signal });
      return 'done';
    }
    case 'RemoveHook':
      return removeHook(deps, step, signal);
    case 'UntagGroup':
      await cloud.untagGroup(step.autoScalingGroupName, step.keys, { signal });
      return 'done';
    case 'DeleteGroup':
      await cloud.deleteGroup(step.autoScalingGroupName, { signal });
      memory.absence = 'deleted';
      return 'done';
    case 'DeleteTemplate':
      await cloud.deleteLaunchTemplate(step.name, { signal });
      return 'done';
    case 'DeleteProfile':
      await cloud.deleteInstanceProfile(step.name, { signal });
      return 'done';
    case 'DeleteSecurityGroup':
      await removeRemoteAccess(deps, step, signal);
      return 'done';
    case 'DisownRole':
      await roles.leaveToOwner(group, signal);
      return 'done';
    case 'EndGroup':
      return endGroup(deps, context);
    case 'EndRelease':
      return endRelease(deps, context, step);
  }
};
