// An update whose object vanished while it ran (its finalizer was taken off by hand): what it did
// stands in the group's status, and the object is made once more, stopped, so that all of it is set
// back the way every stopped update is. Decides nothing.

import { formatTime } from '../../../api/brand.ts';
import type { ScalingGroup } from '../../../api/cloud.ts';
import { defined } from '../../../api/defined.ts';
import { resourceTypes } from '../../../api/kube.ts';
import { newUpdate } from '../../../api/new-update.ts';
import type { NodeGroup, UpdateNote } from '../../../api/nodegroup.ts';
import {
  type NodeGroupUpdate,
  type NodeGroupUpdateStatus,
  turnAnnotation,
  updateFinalizer,
} from '../../../api/nodegroup-update.ts';
import { ownCause, updateCauseId } from '../../../core/update/index.ts';
import { KubeError } from '../../../ports/index.ts';
import type { NodeGroupDeps } from '../deps.ts';
import { instancesOf } from './input.ts';
import { tellQueue } from './queue.ts';
import { openUpdate, releaseUpdates, writeUpdate } from './records.ts';

const oldOf = (
  deps: NodeGroupDeps,
  group: NodeGroup,
  scaling: ScalingGroup,
  { target, restored }: Pick<UpdateNote, 'target' | 'restored'>,
) =>
  instancesOf(deps, group, scaling, target, restored).filter(
    ({ isCounted, isTarget }) => isCounted && !isTarget,
  );

const isThere = (deps: NodeGroupDeps, name: string): boolean =>
  deps.updates.list().some(({ metadata }) => metadata.name === name);

/**
 * The update that the group's status names is made once more where it is no more. One that is there
 * after all, and that this process has not heard of yet, stays as it is.
 */
const reviveLost = async (
  deps: NodeGroupDeps,
  { metadata, status }: NodeGroup,
  signal: AbortSignal,
): Promise<void> => {
  const { updating } = status ?? {};
  if (updating === undefined || isThere(deps, updating.name)) return;
  const { turn } = updating;
  const object = newUpdate({
    name: updating.name,
    owner: metadata,
    ...(turn === undefined ? {} : { annotations: { [turnAnnotation]: turn } }),
    finalizers: [updateFinalizer],
    spec: {
      nodeGroup: metadata.name,
      type: 'VersionUpdate',
      params: [],
      change: {},
      strategy: updating.strategy,
      abort: 'Stop',
    },
  });
  try {
    const made = await deps.kube.create(resourceTypes.nodegroupupdates, object, { signal });
    await deps.updates.observedAtLeast(made.metadata.resourceVersion, signal);
  } catch (error) {
    if (!(error instanceof KubeError && error.code === 'AlreadyExists')) throw error;
  }
};

const goesForGood = (deps: NodeGroupDeps, name: string, instanceId: string): boolean => {
  const known = deps.disruptions.get(instanceId);
  return ownCause(known, updateCauseId(name))?.followUp === 'Terminate';
};

/** True: it is the one that was made once more, and is being set back from now on. */
export const resumeLost = async (
  deps: NodeGroupDeps,
  { group, scaling }: { readonly group: NodeGroup; readonly scaling: ScalingGroup | undefined },
  update: NodeGroupUpdate,
  signal: AbortSignal,
): Promise<boolean> => {
  const { updating } = group.status ?? {};
  const { name } = update.metadata;
  if (updating?.name !== name || update.status?.phase !== undefined) return false;
  if (scaling === undefined) return true;
  const { nodes, skippedTypes, restored, ...known } = updating;
  const old = oldOf(deps, group, scaling, updating);
  const done = Math.max(0, nodes - old.length);
  const goes = done > 0 || old.some(({ instanceId }) => goesForGood(deps, name, instanceId));
  const at = formatTime(deps.clock.now());
  const { name: _, turn: __, ...journal } = known;
  const status: NodeGroupUpdateStatus = {
    ...journal,
    status: 'InProgress',
    phase: 'Restoring',
    // By it blue/green knows that there is no way back any more.
    phases: [...(goes ? [{ phase: 'ScalingDown' as const, at }] : []), { phase: 'Restoring', at }],
    startedAt: at,
    ...defined({ restored }),
    ...(skippedTypes === undefined
      ? {}
      : { skippedTypes: skippedTypes.map((type) => ({ type, message: 'left out by it' })) }),
    progress: { total: nodes, done, draining: 0, failed: 0 },
    ending: 'Cancelled',
    message: 'its object was deleted while it ran: what it had begun is set back',
  };
  await writeUpdate(deps, update, status, signal);
  return true;
};

/** The version update or change that is open now, those that have ended let go. */
export const tendUpdates = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  isGroupGone: boolean,
  signal: AbortSignal,
): Promise<NodeGroupUpdate | undefined> => {
  const { name } = group.metadata;
  if (!isGroupGone) await reviveLost(deps, group, signal);
  const noted = group.status?.updating?.name;
  await releaseUpdates(deps, name, { isGroupGone, noted }, signal);
  const open = openUpdate(deps, group);
  if (open !== undefined) await tellQueue(deps, group, open, signal);
  return open;
};

/** It has ended: told of no more by this pass, it is let go by the next. */
export const isStale = ({ status }: NodeGroup, open: NodeGroupUpdate | undefined): boolean =>
  status?.updating !== undefined && status.updating.name !== open?.metadata.name;
