// The plan of the release of a node group with policy Retain: cancels Drover's drains, restores
// what an update or a delete changed, removes hooks and tags, and lets the object go. Terminates no
// instance and deletes no Auto Scaling group. Pure.
import type { LifecycleHook, ScalingGroup } from '../../api/cloud.ts';
import { isRefuted } from '../../api/confirmation.ts';
import type { NodeDisruption } from '../../api/disruption.ts';
import type { Node } from '../../api/kube.ts';
import type { NodeRepair } from '../../api/node-repair.ts';
import { launchTemplateNameOf, type NodeGroup } from '../../api/nodegroup.ts';
import type { GroupPlan, GroupStep, GroupWaiting } from '../../api/plan.ts';
import {
  installedHooks,
  isOwnScaleIn,
  mappedRoleOf,
  ownershipOf,
  releasedTags,
  waitsInHook,
} from '../nodegroup/index.ts';
import { isOpenRepair } from '../repair/index.ts';
import { isZoneShift } from '../termination/index.ts';
import { outdatedTaint, restoreScaleDownPatch, scaleDownDisabledBy } from '../update/index.ts';
import { suspendedByDelete } from './deletion.ts';
import { suspendedOf } from './members.ts';
import { type DerivedParts, derivedSteps } from './removal.ts';
import { noSurge } from './requests.ts';
import { setSizes, withdrawalsOf } from './scale-in.ts';

/** The facts that need no read of the cloud beyond the group. */
export interface ReleaseFacts {
  readonly group: NodeGroup;
  readonly scaling: ScalingGroup;
  readonly disruptions: readonly NodeDisruption[];
  readonly repairs: readonly NodeRepair[];
  /** Nodes of the group's instances. */
  readonly nodes: readonly Node[];
}

export interface ReleaseObservation extends ReleaseFacts {
  /** Absent: not read, since the release waits. */
  readonly hooks?: readonly LifecycleHook[];
  readonly derived?: DerivedParts;
}

/** Causes of this group's scale-ins, updates and zone shifts; an operator's own drains continue. */
const isOwnCause = (
  { spec }: NodeDisruption,
  cause: NodeDisruption['spec']['causes'][number],
  group: string,
): boolean =>
  isOwnScaleIn(cause, group) ||
  (spec.nodeGroup === group &&
    (isZoneShift(cause) || (cause.kind === 'Update' && cause.cancelledAt === undefined)));

const withdrawals = (facts: ReleaseFacts) =>
  withdrawalsOf(facts, (record, cause) => isOwnCause(record, cause, facts.group.metadata.name));

/** The number of records with cancelled drains that are not undone, after this plan's steps. */
const undoing = (facts: ReleaseFacts): number => {
  const { group, scaling, disruptions } = facts;
  const withdrawn = new Map(withdrawals(facts).map((one) => [one.disruption, one.causeIds]));
  const members = new Set(scaling.instances.map(({ instanceId }) => instanceId));
  return disruptions.filter((record) => {
    const { metadata, spec, status } = record;
    // A drain that was only requested has no phase.
    const isOpen = status?.phase !== 'Ended';
    const cancelled = withdrawn.get(metadata.name) ?? [];
    const isCancelled = spec.causes.every(
      (cause) =>
        cause.cancelledAt !== undefined || isRefuted(cause) || cancelled.includes(cause.id),
    );
    const isMember = spec.nodeGroup === group.metadata.name && members.has(metadata.name);
    return isMember && isOpen && isCancelled;
  }).length;
};

/**
 * Restores the spec's values after changes by an update, or by a delete that began under policy
 * Delete.
 */
const restoreSteps = ({ group, scaling }: ReleaseFacts): readonly GroupStep[] => {
  const { spec, status } = group;
  const { updating, surge, scaleIn } = status ?? {};
  if (updating === undefined && surge === undefined && scaleIn?.target !== 0) return [];
  const suspended = new Set(suspendedOf(scaling));
  const ours = [...(updating?.suspends ?? []), ...(scaleIn?.target === 0 ? suspendedByDelete : [])];
  const processes = ours.filter((one) => suspended.has(one));
  const minSize = Math.min(spec.scaling.minSize, scaling.desiredCapacity);
  const maxSize = Math.max(spec.scaling.maxSize, scaling.desiredCapacity);
  const isSame = minSize === scaling.minSize && maxSize === scaling.maxSize;
  return [
    ...(processes.length === 0
      ? []
      : [{ kind: 'ResumeProcesses', autoScalingGroupName: scaling.name, processes } as const]),
    ...(isSame ? [] : [setSizes(scaling, { minSize, maxSize })]),
  ];
};

/**
 * Removes an update's taint and scale-down-disabled annotation. The controller of drains undoes
 * drains and cordons.
 */
const clearSteps = (nodes: readonly Node[]): readonly GroupStep[] =>
  nodes.flatMap((node): readonly GroupStep[] => {
    const { name, uid, resourceVersion } = node.metadata;
    const before = node.spec.taints ?? [];
    const taints = before.filter(({ key }) => key !== outdatedTaint);
    const isTainted = taints.length < before.length;
    const isShielded = scaleDownDisabledBy(node) === 'ours';
    if (!isTainted && !isShielded) return [];
    const annotations = isShielded ? restoreScaleDownPatch(node) : {};
    // With the resourceVersion it is safe to replace the whole list of taints.
    const body = {
      metadata: { uid, resourceVersion, annotations },
      ...(isTainted ? { spec: { taints: taints.map((one) => ({ ...one })) } } : {}),
    };
    const why = 'the group is released';
    return [{ kind: 'PatchNode', node: name, uid, resourceVersion, patch: 'merge', body, why }];
  });

/** Undefined: hooks and tags can be removed. */
export const releaseWaits = (facts: ReleaseFacts): GroupWaiting | undefined => {
  const drains = undoing(facts);
  if (drains > 0) return { kind: 'undoing', drains };
  // Without the NodeGroup its NodeRepairs are deleted, so the repair controller ends them first.
  const { name } = facts.group.metadata;
  const repairs = facts.repairs.filter((one) => one.spec.nodeGroup === name && isOpenRepair(one));
  return repairs.length === 0 ? undefined : { kind: 'repairs', repairs: repairs.length };
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

/**
 * If the group uses the derived template, it launches instances from it, so template and instance
 * profile stay.
 */
export const usesDerived = (group: NodeGroup, { launchTemplate }: ScalingGroup): boolean =>
  launchTemplate?.name === launchTemplateNameOf(group);

const endSteps = ({ group, scaling, derived }: ReleaseObservation): readonly GroupStep[] => {
  const isOwn = ownershipOf(group, scaling.tags).kind === 'own';
  const keys = isOwn ? releasedTags(group, scaling.tags) : [];
  return [
    ...(isOwn ? [{ kind: 'UntagGroup', autoScalingGroupName: scaling.name, keys } as const] : []),
    ...(derived === undefined ? [] : derivedSteps(group, derived)),
    { kind: 'DisownRole', role: mappedRoleOf(group) },
    { kind: 'EndRelease', message: releasedText(group, scaling) },
  ];
};

/** Hooks in which instances wait stay, since a removal would end the wait at once. */
const hookSteps = ({ group, scaling, hooks = [] }: ReleaseObservation) => {
  const isBusy = ({ transition }: LifecycleHook): boolean =>
    scaling.instances.some(({ lifecycleState }) => waitsInHook(lifecycleState, transition));
  const own = installedHooks(group, hooks);
  const steps = own
    .filter((hook) => !isBusy(hook))
    .map(({ name, transition }): GroupStep => {
      const hook = { name, transition };
      return { kind: 'RemoveHook', autoScalingGroupName: scaling.name, hook };
    });
  return { steps, busy: own.filter(isBusy).map(({ name }) => name) };
};

const laterSteps = (
  observation: ReleaseObservation,
): { readonly steps: readonly GroupStep[]; readonly waitingOn: readonly GroupWaiting[] } => {
  const waits = releaseWaits(observation);
  if (waits !== undefined) return { steps: [], waitingOn: [waits] };
  if (observation.hooks === undefined) return { steps: [], waitingOn: [] };
  const { steps, busy } = hookSteps(observation);
  return busy.length > 0
    ? { steps, waitingOn: [{ kind: 'hooks', hooks: busy }] }
    : { steps: [...steps, ...endSteps(observation)], waitingOn: [] };
};

export const decideRelease = (observation: ReleaseObservation): GroupPlan => {
  const { group, scaling, nodes } = observation;
  const { name } = group.metadata;
  const { updating, scaleIn, surge = noSurge } = group.status ?? {};
  const { steps, waitingOn } = laterSteps(observation);
  const target = scaling.desiredCapacity;
  const record = { target, surge, scaleIn, updating, failure: undefined, releasing: waitingOn };
  return {
    subject: name,
    steps: [
      { kind: 'WriteGroupStatus', group: name, record },
      ...withdrawals(observation),
      ...restoreSteps(observation),
      ...clearSteps(nodes),
      ...steps,
    ],
    waitingOn,
  };
};
