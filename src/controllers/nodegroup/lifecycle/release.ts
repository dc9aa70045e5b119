// The release of a node group with policy Retain: cancels Drover's drains, restores what an update
// suspended or enlarged, removes Drover's hooks and tags. Terminates no instance and deletes no
// Auto Scaling group.
import type { LifecycleHook, ScalingGroup } from '../../../api/cloud.ts';
import { isRefuted } from '../../../api/confirmation.ts';
import type { NodeDisruption } from '../../../api/disruption.ts';
import { launchTemplateNameOf, type NodeGroup } from '../../../api/nodegroup.ts';
import { suspendedByDelete, suspendedOf } from '../../../core/group-plan/index.ts';
import {
  installedHooks,
  isOwnScaleIn,
  ownershipOf,
  releasedTags,
  waitsInHook,
} from '../../../core/nodegroup/index.ts';
import { isOpenRepair } from '../../../core/repair/index.ts';
import { isZoneShift } from '../../../core/termination/index.ts';
import type { NodeGroupDeps } from '../deps.ts';
import { journalReleased } from '../events.ts';
import { tell } from '../kube-events.ts';
import type { PassInput } from '../pass-input.ts';
import { withdrawCauses } from '../size/drains.ts';
import { removeFinalizer } from '../write.ts';
import { clearNodes } from './release-nodes.ts';
import { removeDerived } from './remove.ts';

/** Causes of this group's scale-ins, updates and zone shifts; an operator's own drains continue. */
const isOwnCause = (
  { spec }: NodeDisruption,
  cause: NodeDisruption['spec']['causes'][number],
  group: string,
): boolean =>
  isOwnScaleIn(cause, group) ||
  (spec.nodeGroup === group &&
    (isZoneShift(cause) || (cause.kind === 'Update' && cause.cancelledAt === undefined)));

/**
 * Restores the spec's values after changes by an update, or by a delete that began under policy
 * Delete.
 */
const restoreGroup = async (
  deps: NodeGroupDeps,
  { spec, status }: NodeGroup,
  scaling: ScalingGroup,
  signal: AbortSignal,
): Promise<void> => {
  const { updating, surge, scaleIn } = status ?? {};
  if (updating === undefined && surge === undefined && scaleIn?.target !== 0) return;
  const { name, desiredCapacity } = scaling;
  const suspended = new Set(suspendedOf(scaling));
  const ours = [...(updating?.suspends ?? []), ...(scaleIn?.target === 0 ? suspendedByDelete : [])];
  const processes = ours.filter((one) => suspended.has(one));
  if (processes.length > 0) {
    await deps.cloud.setProcesses({ name, processes, suspended: false }, { signal });
  }
  const minSize = Math.min(spec.scaling.minSize, desiredCapacity);
  const maxSize = Math.max(spec.scaling.maxSize, desiredCapacity);
  if (minSize === scaling.minSize && maxSize === scaling.maxSize) return;
  await deps.cloud.updateGroup({ name, minSize, maxSize }, { signal });
};

/** Number of this group's records with a cancelled drain that is not undone yet. */
const undoing = (
  { disruptions }: Pick<NodeGroupDeps, 'disruptions'>,
  group: string,
  scaling: ScalingGroup,
): number => {
  const members = new Set(scaling.instances.map(({ instanceId }) => instanceId));
  return disruptions.list().filter(({ metadata, spec, status }) => {
    const isOpen = status?.phase !== undefined && status.phase !== 'Ended';
    const isCancelled = spec.causes.every(
      (cause) => cause.cancelledAt !== undefined || isRefuted(cause),
    );
    return spec.nodeGroup === group && members.has(metadata.name) && isOpen && isCancelled;
  }).length;
};

/**
 * Returns hooks that were not removed because instances wait in them; removal would end the wait at
 * once.
 */
const removeHooks = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  scaling: ScalingGroup,
  signal: AbortSignal,
): Promise<readonly string[]> => {
  const { cloud } = deps;
  const found = await cloud.describeHooks(scaling.name, { signal });
  const busy: string[] = [];
  const isBusy = ({ transition }: LifecycleHook): boolean =>
    scaling.instances.some(({ lifecycleState }) => waitsInHook(lifecycleState, transition));
  for (const hook of installedHooks(group, found)) {
    if (isBusy(hook)) busy.push(hook.name);
    else {
      await cloud.removeHook(scaling.name, hook.name, { signal });
    }
  }
  return busy;
};

/**
 * A release terminates no instance, not even an update's surplus: the message says how large that
 * is.
 */
const releasedText = ({ status }: NodeGroup, { name, instances }: ScalingGroup): string => {
  const text =
    `Auto Scaling group ${name} stays with its ${instances.length} instances; Drover no ` +
    'longer drains them';
  const surplus = status?.surge?.desired ?? 0;
  if (surplus === 0) return text;
  return (
    `${text}. ${surplus} of them are surplus of an update that did not end: drain them and ` +
    'reduce the desired capacity'
  );
};

/** A sentence about what delays the release; undefined: nothing. Throws CloudError, KubeError. */
const releaseStep = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  scaling: ScalingGroup,
  signal: AbortSignal,
): Promise<string | undefined> => {
  const { name } = group.metadata;
  const isDone = (record: NodeDisruption, cause: NodeDisruption['spec']['causes'][number]) =>
    isOwnCause(record, cause, name);
  await withdrawCauses(deps, { scaling, isDone }, signal);
  await restoreGroup(deps, group, scaling, signal);
  await clearNodes(deps, scaling, signal);
  const cancelled = undoing(deps, name, scaling);
  if (cancelled > 0) return `${cancelled} cancelled drains are being undone.`;
  // Without the NodeGroup its NodeRepairs are deleted, so the repair controller ends them first.
  const repairs = deps.repairs
    .list()
    .filter((repair) => repair.spec.nodeGroup === name && isOpenRepair(repair)).length;
  if (repairs > 0) return `${repairs} node repairs are being ended.`;
  // Removing a hook ends the wait of instances in it, so the group is read just before.
  const [now] = await deps.cloud.describeGroups([scaling.name], { signal });
  const busy = await removeHooks(deps, group, now ?? scaling, signal);
  return busy.length === 0
    ? undefined
    : `Instances wait in ${busy.join(', ')}: Drover drains them first.`;
};

/**
 * One pass; returns true if the NodeGroup is gone. Remembers what it waits for. Throws CloudError,
 * KubeError.
 */
export const releaseGroup = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  scaling: ScalingGroup,
  { memory, roles, signal }: Pick<PassInput, 'memory' | 'roles' | 'signal'>,
): Promise<boolean> => {
  memory.releasing = await releaseStep(deps, group, scaling, signal);
  if (memory.releasing !== undefined) return false;
  if (ownershipOf(group, scaling.tags).kind === 'own') {
    const tags = releasedTags(group, scaling.tags);
    await deps.cloud.untagGroup(scaling.name, tags, { signal });
  }
  // If the group uses the derived template and profile, instances launch from them: both stay.
  if (scaling.launchTemplate?.name !== launchTemplateNameOf(group)) {
    await removeDerived(deps, group, signal);
  }
  await roles.leaveToOwner(group, signal);
  if ((await removeFinalizer(deps, group, signal)) === undefined) return true;
  journalReleased(deps.journal, group);
  const told = {
    reason: 'Released',
    type: 'Normal',
    message: releasedText(group, scaling),
  } as const;
  await tell(deps, group, told, signal);
  return true;
};
