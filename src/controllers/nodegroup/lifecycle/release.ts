// The release of a node group whose policy is Retain: drains that Drover asked for are cancelled,
// what an update suspended or enlarged is set back, hooks and tags of Drover are removed. Ends no
// instance and deletes no group.
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
import type { NodeGroupDeps } from '../deps.ts';
import { journalReleased } from '../events.ts';
import type { PassInput } from '../pass-input.ts';
import { withdrawCauses } from '../size/drains.ts';
import { tell } from '../tell.ts';
import { removeFinalizer } from '../write.ts';
import { clearNodes } from './release-nodes.ts';
import { removeDerived } from './remove.ts';

/** Causes of scale-ins and updates of this group: an operator's own drains go on. */
const isOwnCause = (
  { spec }: NodeDisruption,
  cause: NodeDisruption['spec']['causes'][number],
  group: string,
): boolean =>
  isOwnScaleIn(cause, group) ||
  (cause.kind === 'Update' && cause.cancelledAt === undefined && spec.nodeGroup === group);

/**
 * What an update, or a delete that began under policy Delete, has changed of the group: back to the
 * spec.
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

/** Records of this group whose cancelled drains are not undone yet. */
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

/** False: instances wait in one of them, and removing it would end their wait at once. */
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

/** A release ends no instance, an update's surplus included: the message says how large that is. */
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

/** What keeps the group from being let go now, a sentence. Throws CloudError, KubeError. */
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
  // A removed hook ends the wait of whatever is in it: looked at just before.
  const [now] = await deps.cloud.describeGroups([scaling.name], { signal });
  const busy = await removeHooks(deps, group, now ?? scaling, signal);
  return busy.length === 0
    ? undefined
    : `Instances wait in ${busy.join(', ')}: Drover drains them first.`;
};

/**
 * One pass; true when the NodeGroup is gone. Remembers what it waits for. Throws CloudError,
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
    await deps.cloud.untagGroup(scaling.name, releasedTags(scaling.tags), { signal });
  }
  // Instances start from the derived template and profile where the group uses it: both stay then.
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
