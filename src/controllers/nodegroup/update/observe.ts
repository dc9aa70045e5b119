// Gathers the input of a version update's decision for one pass: its status, the group's instances,
// hooks and probes. Also reads the pods of nodes that may be drained next. Writes nothing.
import type { ScalingGroup } from '../../../api/cloud.ts';
import type { NodeGroupUpdate, Revision, UpdatePace } from '../../../api/nodegroup-update.ts';
import type { HookTime } from '../../../api/update-hooks.ts';
import { noSurge, suspendedOf } from '../../../core/group-plan/index.ts';
import {
  hookCalls,
  inTurn,
  nodesToRead,
  policiesOf,
  shortagesOf,
  surgeWithout,
  type UpdateObservation,
} from '../../../core/update/index.ts';
import type { NodeGroupDeps } from '../deps.ts';
import { lookAtActivities } from '../nodes/activities.ts';
import { lookAtHooks } from './hooks.ts';
import { instancesOf, type RolloutInput, statusOf } from './input.ts';
import { instanceTypeFacts } from './instance-types.ts';
import { paceOf } from './pacing.ts';
import { lookAtGate } from './pods.ts';

/**
 * Label changes create later versions, which also have the target revision; the version that
 * restores the group does not.
 */
const usesTarget = (
  { templateVersion }: Revision,
  restored: string | undefined,
  { launchTemplate }: ScalingGroup,
): boolean => {
  const inUse = Number(launchTemplate?.version);
  return inUse >= Number(templateVersion) && !(inUse >= Number(restored));
};

/** Number of earlier updates used for the pace. */
const maxHistory = 5;

/**
 * The pace of the group's earlier updates with the same strategy and maxUnavailable, newest first.
 */
const paceHistory = (
  { updates }: Pick<NodeGroupDeps, 'updates'>,
  { metadata, spec, status }: NodeGroupUpdate,
): readonly (readonly UpdatePace[])[] =>
  updates
    .list()
    .filter(
      (one) =>
        one.metadata.name !== metadata.name &&
        one.spec.nodeGroup === spec.nodeGroup &&
        one.status?.strategy === status?.strategy &&
        one.status?.maxUnavailable === status?.maxUnavailable,
    )
    .toSorted((a, b) => inTurn(b, a))
    .slice(0, maxHistory)
    .flatMap((one) => (one.status?.pace === undefined ? [] : [one.status.pace]));

const hookHistory = (
  { updates }: Pick<NodeGroupDeps, 'updates'>,
  { metadata, spec }: NodeGroupUpdate,
): readonly HookTime[] =>
  updates
    .list()
    .filter((one) => one.metadata.name !== metadata.name && one.spec.nodeGroup === spec.nodeGroup)
    .flatMap(({ status }) => status?.hookTimes ?? []);

/** The observation without the reads about nodes and hooks. */
const look = async (deps: NodeGroupDeps, input: RolloutInput, update: NodeGroupUpdate) => {
  const { group, scaling, health } = input;
  const { status } = update;
  if (status?.target === undefined) return undefined;
  const policies = policiesOf(group.spec, update.spec, status.strategy);
  const { hooks } = group.spec.updateConfig ?? {};
  return {
    update,
    status,
    target: status.target,
    groupName: group.metadata.name,
    desired: input.wanted,
    surge: surgeWithout(group.status?.surge ?? noSurge, input.taken, status),
    actualDesired: scaling.desiredCapacity,
    suspended: (status.suspends ?? []).filter((one) => suspendedOf(scaling).includes(one)),
    usesTarget: usesTarget(status.target, status.restored, scaling),
    instances: instancesOf(deps, group, scaling, status.target, status.restored),
    issues: health.issues,
    launches: health.launches,
    unjoined: health.unjoined,
    drainTimeoutMs: policies.drainTimeoutMs,
    policies,
    history: paceHistory(deps, update),
    ...(await paceOf(deps, input, update)),
    ...instanceTypeFacts(group, scaling, status),
    ...(hooks === undefined ? {} : { hooks, hookHistory: hookHistory(deps, update) }),
    now: deps.clock.now(),
  };
};

/** Adds the pods of nodes that may be drained next; no others are read. */
const weighed = async (
  deps: NodeGroupDeps,
  { scaling, memory, signal }: RolloutInput,
  observation: UpdateObservation,
): Promise<UpdateObservation> => {
  const nodes = nodesToRead(observation);
  if (nodes.length === 0) return observation;
  const gate = await lookAtGate(deps, nodes, memory.gate, signal);
  memory.gate = gate;
  const instances = observation.instances.map((one) => ({
    ...one,
    ...gate.found.get(one.nodeName ?? ''),
  }));
  // Blue/green has all its new nodes at this point.
  const launches =
    observation.status.strategy === 'SURGE'
      ? { shortages: shortagesOf(await lookAtActivities(deps, { scaling, memory }, signal)) }
      : {};
  return { ...observation, instances, ...launches, podsReadUntil: gate.nextAt };
};

/** The input of the next decision about the update; undefined while it has no target. */
export const observeUpdate = async (
  deps: NodeGroupDeps,
  input: RolloutInput,
): Promise<UpdateObservation | undefined> => {
  const update = statusOf(deps, input.update);
  const seen = await look(deps, input, update);
  if (seen === undefined) return undefined;
  const calls = hookCalls(seen);
  const hookRuns = await lookAtHooks(deps, input.memory, { update, calls }, input.signal);
  return weighed(deps, input, { ...seen, hookRuns });
};
