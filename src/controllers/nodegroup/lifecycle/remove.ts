// Deletes a node group once its nodes are drained and terminated: Auto Scaling group, launch
// template, instance profile, role in aws-auth, finalizer, in this order. Never touches objects
// with another owner's tags.
import { formatTime } from '../../../api/brand.ts';
import type { NodeRepair } from '../../../api/node-repair.ts';
import {
  autoScalingGroupNameOf,
  launchTemplateNameOf,
  type NodeGroup,
  type NodeGroupStatus,
} from '../../../api/nodegroup.ts';
import { isEmpty } from '../../../core/group-plan/index.ts';
import { ownershipOf, ownsDerived } from '../../../core/nodegroup/index.ts';
import type { NodeGroupDeps } from '../deps.ts';
import { journalRemoved } from '../events.ts';
import { Impossible } from '../impossible.ts';
import { mayStand } from '../memory.ts';
import { removeRemoteAccess } from '../nodes/remote-access.ts';
import type { PassInput } from '../pass-input.ts';
import { removeFinalizer } from '../write.ts';

type Failure = NonNullable<NodeGroupStatus['failure']>;
type RemoveContext = Pick<PassInput, 'memory' | 'roles' | 'signal'>;

/** The template that Drover derived, found through the group that uses it or by its name. */
const removeTemplate = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  signal: AbortSignal,
): Promise<void> => {
  const { cloud } = deps;
  const name = launchTemplateNameOf(group);
  const template = await cloud.findLaunchTemplate({ name, version: '$Latest' }, { signal });
  if (template === undefined || !ownsDerived(group, template)) return;
  await cloud.deleteLaunchTemplate(template.name, { signal });
};

const removeProfile = async (
  { cloud }: NodeGroupDeps,
  group: NodeGroup,
  signal: AbortSignal,
): Promise<void> => {
  const name = launchTemplateNameOf(group);
  const profile = await cloud.findInstanceProfile(name, { signal });
  if (profile === undefined || !ownsDerived(group, profile)) return;
  await cloud.deleteInstanceProfile(name, { signal });
};

/**
 * Deletes the launch template and instance profile that Drover derived. Throws CloudError while
 * they are in use.
 */
export const removeDerived = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  signal: AbortSignal,
): Promise<void> => {
  await removeTemplate(deps, group, signal);
  await removeProfile(deps, group, signal);
};

const isQuarantineOf = ({ spec, status }: NodeRepair, { metadata }: NodeGroup): boolean =>
  spec.nodeGroup === metadata.name && status?.phase === 'Quarantined';

/**
 * Deletes what remains of a group without instances, bypassing every cache. True if the object may
 * be deleted. Throws Impossible while a part is in use.
 */
const removeRest = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  { memory, roles, signal }: RemoveContext,
): Promise<boolean> => {
  const { cloud } = deps;
  const name = autoScalingGroupNameOf(group);
  // The NodeRepair is needed until EC2 has been asked to terminate the detached instance.
  if (deps.repairs.list().some((repair) => isQuarantineOf(repair, group))) return false;
  const [scaling] = await cloud.describeGroups([name], { signal });
  if (mayStand(memory, group, scaling, deps.clock.now())) return false;
  const isOwn = scaling === undefined || ownershipOf(group, scaling.tags).kind === 'own';
  if (scaling !== undefined && isOwn) {
    if (!isEmpty(scaling)) return false;
    await cloud.deleteGroup(name, { signal });
    memory.absence = 'deleted';
  }
  // The template and profile of an adopted group belong to the owner of the group.
  if (isOwn || group.spec.autoScalingGroupName === undefined) {
    await removeDerived(deps, group, signal);
  }
  await removeRemoteAccess(deps, group, signal);
  const letGo = async (): Promise<void> => {
    await removeFinalizer(deps, group, signal);
  };
  await roles.release(group, letGo, signal);
  journalRemoved(deps.journal, group);
  return true;
};

/** Security groups stay in use for a while after their instance is terminated. */
const inUseToldMs = 60_000;
const inUseAgainMs = 10_000;
const leftAgainMs = 1_000;

export type Rest =
  | { readonly kind: 'gone' }
  | { readonly kind: 'left'; readonly againMs: number; readonly failure?: Failure };

/** Like removeRest; parts that stay in use for long are reported, and their deletion is retried. */
export const endRest = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  context: RemoveContext,
): Promise<Rest> => {
  const { memory } = context;
  const now = deps.clock.now();
  try {
    const isGone = await removeRest(deps, group, context);
    return isGone ? { kind: 'gone' } : { kind: 'left', againMs: leftAgainMs };
  } catch (error) {
    if (!(error instanceof Impossible)) throw error;
    const { issue } = error;
    memory.inUseSince ??= now;
    const told = group.status?.failure;
    const known = told?.code === issue.code ? told : undefined;
    if (known === undefined && now - memory.inUseSince < inUseToldMs) {
      return { kind: 'left', againMs: inUseAgainMs };
    }
    const { generation = 0 } = group.metadata;
    const failure = { ...issue, generation, at: known?.at ?? formatTime(now) };
    return { kind: 'left', againMs: inUseAgainMs, failure };
  }
};
