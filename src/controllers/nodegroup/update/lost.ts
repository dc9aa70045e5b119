// An update whose object vanished while it ran, because its finalizer was removed by hand. The
// group's status records what it did; the object is recreated as aborted, so that everything is
// restored as for any aborted update. Decides nothing.

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
import { reportQueue } from './queue.ts';
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
 * Recreates the update that the group's status names, if it does not exist. If it exists after all,
 * outside this process' cache, it stays as it is.
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

/** True: the update was recreated, and its restore begins. */
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
    // With this phase recorded, blue/green knows that a rollback without new nodes is impossible.
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

/** The version update or change in progress; releases those that have ended. */
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
  if (open !== undefined) await reportQueue(deps, group, open, signal);
  return open;
};

/** The update has ended: this pass removes it from the status, the next one releases it. */
export const isStale = ({ status }: NodeGroup, open: NodeGroupUpdate | undefined): boolean =>
  status?.updating !== undefined && status.updating.name !== open?.metadata.name;
