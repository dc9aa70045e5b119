// Shared by the parts of a version update: its input, its cached status, and the group's instances
// in core/update's form. Decides nothing.

import type { ScalingGroup } from '../../../api/cloud.ts';
import { isReady } from '../../../api/conditions.ts';
import { defined } from '../../../api/defined.ts';
import type { Node } from '../../../api/kube.ts';
import type { NodeGroup } from '../../../api/nodegroup.ts';
import type { NodeGroupUpdate, Revision } from '../../../api/nodegroup-update.ts';
import { quarantineLabel } from '../../../api/update-policy.ts';
import { countedOf } from '../../../core/group-plan/index.ts';
import {
  hasGroupLabels,
  isOfRevision,
  outdatedTaint,
  scaleDownDisabledBy,
  type UpdateInstance,
} from '../../../core/update/index.ts';
import { nodeOfInstance } from '../../informers.ts';
import type { NodeGroupDeps } from '../deps.ts';
import type { Health } from '../nodes/observe.ts';
import type { PassMemory } from '../pass-input.ts';

export interface RolloutInput {
  readonly group: NodeGroup;
  readonly scaling: ScalingGroup;
  readonly update: NodeGroupUpdate;
  readonly health: Health;
  /** The desired size without the update's part. */
  readonly wanted: number;
  /** How many surplus instances other actors have terminated since the last pass. */
  readonly taken: number;
  readonly memory: PassMemory;
  readonly signal: AbortSignal;
}

/** The input of an update's steps. */
export type StepInput = Omit<RolloutInput, 'health' | 'wanted' | 'taken'>;

/**
 * Called just before an effect in the cloud. Even if the answer is lost, the next read is then
 * newer than the effect.
 */
export const willAct = (deps: NodeGroupDeps, { memory }: Pick<RolloutInput, 'memory'>): void => {
  memory.actedAt = deps.clock.now();
};

/** The update with its cached status. */
export const statusOf = ({ updates }: NodeGroupDeps, update: NodeGroupUpdate): NodeGroupUpdate =>
  updates.get(update.metadata.name) ?? update;

export const instancesOf = (
  deps: NodeGroupDeps,
  group: NodeGroup,
  scaling: ScalingGroup,
  target: Revision,
  restored?: string,
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
      instanceType: instance.instanceType,
      isCounted: counted.has(instance),
      isTarget: isOfRevision(target, { version: instance.launchTemplateVersion, restored }, node),
      isReady: node !== undefined && isReady(node) && instance.lifecycleState === 'InService',
      isLabelled: node !== undefined && hasGroupLabels(node, labels),
      ...notReadyFields(node),
      ...scaleDownFields(node),
      ...discouragedFields(node),
      isQuarantined: node?.metadata.labels?.[quarantineLabel] !== undefined,
      isProtected: instance.protectedFromScaleIn,
      ...(node === undefined ? {} : { nodeName: node.metadata.name }),
      ...defined({ disruption }),
    };
  });
};

const notReadyFields = (
  node: Node | undefined,
): Pick<UpdateInstance, 'notReadySince' | 'notReadyWhy'> => {
  if (node === undefined || isReady(node)) return {};
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
  const told = [ready?.reason, ready?.message].filter(Boolean).join(': ');
  const status = ready === undefined ? 'no status' : `Ready=${ready.status}`;
  return {
    notReadySince: ready?.lastTransitionTime ?? node.metadata.creationTimestamp,
    notReadyWhy: told === '' ? `its kubelet posts ${status}` : told,
  };
};

const discouragedFields = (node: Node | undefined) => {
  const taint = node?.spec.taints?.find(({ key }) => key === outdatedTaint);
  return { hasOutdatedTaint: taint !== undefined, isClosed: taint?.effect === 'NoSchedule' };
};

const scaleDownFields = (node: Node | undefined): Pick<UpdateInstance, 'scaleDownDisabled'> => {
  const scaleDownDisabled = node && scaleDownDisabledBy(node);
  return scaleDownDisabled === undefined ? {} : { scaleDownDisabled };
};
