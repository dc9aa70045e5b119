// Begins an update: writes its request into the group's spec, and starts its status. Touches
// nothing in the cloud.

import { formatTime } from '../../../api/brand.ts';
import type { ScalingGroup } from '../../../api/cloud.ts';
import { defined } from '../../../api/defined.ts';
import type { JsonObject } from '../../../api/json.ts';
import type { NodeGroup, NodeGroupSpec } from '../../../api/nodegroup.ts';
import {
  byGenerationAnnotation,
  type NodeGroupUpdate,
  type NodeGroupUpdateStatus,
} from '../../../api/nodegroup-update.ts';
import { netDesired } from '../../../core/group-plan/index.ts';
import { versionBefore } from '../../../core/nodegroup/index.ts';
import { strategyOf } from '../../../core/update/index.ts';
import { mergePatchBetween } from '../../../runtime/index.ts';
import type { NodeGroupDeps } from '../deps.ts';
import { wasSeen } from '../memory.ts';
import { writeSpec } from '../write.ts';
import { applyUpdate, changed } from './config-update.ts';
import { cancelled, heldBack } from './hold.ts';
import { type RolloutInput, statusOf } from './input.ts';
import { resumeLost } from './lost.ts';
import { failUpdate, holdUpdate, writeUpdate } from './records.ts';

type BeginInput = Omit<RolloutInput, 'health' | 'memory' | 'taken' | 'wanted'>;

/**
 * A group that could not be created has nothing to update: its spec must be corrected, and it is
 * created from that. An update requested by the spec itself is not refused.
 */
const isRefused = (group: NodeGroup, { metadata }: NodeGroupUpdate): boolean =>
  group.status?.state === 'CREATE_FAILED' &&
  !wasSeen(group) &&
  metadata.annotations?.[byGenerationAnnotation] === undefined;

/**
 * Writes the update's request into the spec and starts its status. Undefined: the group is gone. A
 * version update waits for a scale-in in progress and for its Auto Scaling group.
 */
export const beginUpdate = async (
  deps: NodeGroupDeps,
  input: Omit<BeginInput, 'scaling'> & { readonly scaling: ScalingGroup | undefined },
): Promise<NodeGroup | undefined> => {
  const { group, scaling, update, signal } = input;
  if (await resumeLost(deps, { group, scaling }, update, signal)) return group;
  if (await cancelled(deps, group, update, signal)) return group;
  const isBegun = update.status?.phase !== undefined && update.status.phase !== 'Pending';
  if (scaling === undefined && !isBegun && isRefused(group, update)) {
    await failUpdate(deps, group, update, signal);
    return group;
  }
  if (update.spec.type === 'ConfigUpdate') return applyUpdate(deps, group, update, signal);
  if (scaling === undefined || isBegun) return group;
  if (await heldBack(deps, group, update, signal)) return group;
  if (group.status?.scaleIn !== undefined) return group;
  return beginRollout(deps, { ...input, scaling });
};

/**
 * If an adopted group does not state its template, the new version is written together with the
 * template's id.
 */
const specDifference = (group: NodeGroup, after: NodeGroupSpec): JsonObject | undefined => {
  const difference = mergePatchBetween(group.spec, after);
  const { launchTemplate } = after;
  const isStated = (group.stated ?? group.spec).launchTemplate !== undefined;
  if (difference?.launchTemplate === undefined || isStated || launchTemplate === undefined) {
    return difference;
  }
  return { ...difference, launchTemplate: { ...launchTemplate } };
};

const beginRollout = async (
  deps: NodeGroupDeps,
  { group, scaling, update, signal }: BeginInput,
): Promise<NodeGroup | undefined> => {
  const difference = specDifference(group, changed(group.spec, update.spec));
  const written =
    difference === undefined ? group : await writeSpec(deps, group, difference, signal);
  if (written === undefined) return undefined;
  const { status: known, metadata } = written;
  const now = formatTime(deps.clock.now());
  const { version, releaseVersion, imageId, requestedRevision } = known ?? {};
  const launchTemplate = known?.launchTemplate ?? requestedRevision?.launchTemplate;
  const { minSize, maxSize } = written.spec.scaling;
  const status: NodeGroupUpdateStatus = {
    status: 'InProgress',
    phase: 'Preparing',
    phases: [...(update.status?.phases ?? []), { phase: 'Preparing', at: now }],
    startedAt: now,
    ...defined({ generation: metadata.generation }),
    strategy: update.spec.strategy ?? strategyOf(written),
    from: {
      version: version ?? requestedRevision?.version ?? group.spec.version,
      ...defined({ releaseVersion }),
      imageId: imageId ?? '',
      templateVersion: versionBefore(scaling),
      ...defined({ launchTemplate }),
    },
    original: { minSize, maxSize, desired: netDesired(written, scaling) },
  };
  await holdUpdate(deps, update, signal);
  await writeUpdate(deps, statusOf(deps, update), status, signal);
  return written;
};
