// Gathers the input of a node group's plan for one pass. Pure functions of core decide which nodes
// must be read. Writes nothing.
import type { ScalingGroup } from '../../api/cloud.ts';
import { defined } from '../../api/defined.ts';
import type { HealthIssue, NodeGroup } from '../../api/nodegroup.ts';
import type { NodeGroupUpdate } from '../../api/nodegroup-update.ts';
import {
  type GroupObservation,
  instancesToLeave,
  instancesToRead,
  type RolloutFacts,
  sizesAsked,
} from '../../core/group-plan/index.ts';
import { leftSince } from '../../core/nodegroup/index.ts';
import type { NodeGroupDeps } from './deps.ts';
import { nodeNamesOf } from './nodes/names.ts';
import { type Health, observeHealth } from './nodes/observe.ts';
import type { PassMemory } from './pass-input.ts';
import { candidatesOf } from './size/candidates.ts';
import { leftOf } from './size/left.ts';
import { statusOf } from './update/input.ts';
import { narrowed } from './update/instance-types.ts';
import { observeUpdate } from './update/observe.ts';

interface ObserveInput {
  readonly group: NodeGroup;
  readonly scaling: ScalingGroup;
  readonly update: NodeGroupUpdate | undefined;
  readonly memory: PassMemory;
  readonly signal: AbortSignal;
}

export interface Observed {
  readonly observation: GroupObservation;
  readonly issues: readonly HealthIssue[];
}

/** The current state of the informers. */
const snapshot = (
  deps: NodeGroupDeps,
  { group, scaling, update, memory }: ObserveInput,
): Omit<GroupObservation, 'left'> => ({
  group,
  scaling,
  updates: deps.updates.list(),
  disruptions: deps.disruptions.list(),
  nodeNames: nodeNamesOf(deps, scaling),
  ...defined({ update: update && statusOf(deps, update) }),
  ...defined({ resumedFor: memory.lateCall.resumedFor, epoch: deps.epoch }),
  now: deps.clock.now(),
});

/** For a version update that has a target and has not ended; undefined: none is in progress. */
const rolloutFacts = async (
  deps: NodeGroupDeps,
  input: ObserveInput,
  seen: GroupObservation,
  health: Health,
): Promise<RolloutFacts | undefined> => {
  const { update } = seen;
  const { group, scaling, memory } = input;
  memory.isMoving = false;
  if (update?.spec.type !== 'VersionUpdate') return undefined;
  const { phase, status, target, ending } = update.status ?? {};
  const isOpen = status === 'InProgress' && phase !== undefined && phase !== 'Preparing';
  if (!isOpen || target === undefined || update.status === undefined) return undefined;
  const { wanted, settled } = sizesAsked(seen).seen;
  const known = { health, wanted, taken: settled.taken };
  const observation = await observeUpdate(deps, { ...input, update, ...known });
  if (observation === undefined) return undefined;
  const isUnderWay = phase !== 'Restoring' && ending === undefined;
  const overrides = isUnderWay ? narrowed(group, scaling, update.status) : undefined;
  return {
    observation,
    ...defined({ overrides, noting: memory.noting }),
    isStuck: memory.trouble.has('update'),
    isProbed: (group.spec.updateConfig?.probes ?? []).length > 0,
  };
};

/** For a group that is not being deleted. Throws CloudError, KubeError. */
export const observeGroup = async (deps: NodeGroupDeps, input: ObserveInput): Promise<Observed> => {
  const { group, scaling, update, memory, signal } = input;
  const health = await observeHealth(deps, group, { scaling, memory }, signal);
  // Read first, so that a user's change of size is not taken for the update's.
  const left = await leftOf(deps, group, scaling, { update, memory: memory.left }, signal);
  const seen = { ...snapshot(deps, input), left };
  const rollout = await rolloutFacts(deps, input, seen, health);
  const { open, missing } = instancesToRead({ ...seen, ...defined({ rollout }) });
  const candidates = missing > 0 ? await candidatesOf(deps, open, missing, signal) : undefined;
  const observation = {
    ...snapshot(deps, input),
    left,
    ...defined({ rollout, candidates, healthNextAt: health.nextAt }),
  };
  return { observation, issues: health.issues };
};

/** For a group that is being deleted and has instances. Throws CloudError. */
export const observeLeaving = async (
  deps: NodeGroupDeps,
  input: Omit<ObserveInput, 'update'>,
): Promise<GroupObservation> => {
  const whole = { ...input, update: undefined };
  const left = leftSince(input.group.status?.surge);
  const { open, missing } = instancesToLeave({ ...snapshot(deps, whole), left });
  const { signal } = input;
  const candidates = missing > 0 ? await candidatesOf(deps, open, open.length, signal) : undefined;
  return { ...snapshot(deps, whole), left, ...defined({ candidates }) };
};
