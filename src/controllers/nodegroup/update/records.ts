// Updates of a node group: one at a time, oldest first. Reads and writes the objects; does not
// decide their content.
import { formatTime } from '../../../api/brand.ts';
import type { JsonObject } from '../../../api/json.ts';
import { resourceTypes } from '../../../api/kube.ts';
import type { NodeGroup } from '../../../api/nodegroup.ts';
import {
  type NodeGroupUpdate,
  type NodeGroupUpdateStatus,
  updateFinalizer,
  updateStatusOf,
} from '../../../api/nodegroup-update.ts';
import { inTurn, openInTurn, sentences, wrongApprovals } from '../../../core/update/index.ts';
import { mergePatchBetween } from '../../../runtime/index.ts';
import type { NodeGroupDeps } from '../deps.ts';
import { journalUpdate } from '../events.ts';
import { tell } from '../kube-events.ts';

/** The update in progress or next; undefined: none. */
export const openUpdate = (
  { updates }: Pick<NodeGroupDeps, 'updates'>,
  group: Pick<NodeGroup, 'metadata' | 'status'>,
): NodeGroupUpdate | undefined => openInTurn(updates.list(), group)[0];

/** Number of ended updates kept per group, for lookups and to match client tokens. */
const keptUpdates = 20;

/** Deletes the oldest ended updates beyond `keptUpdates`. */
export const pruneUpdates = async (
  deps: NodeGroupDeps,
  groupName: string,
  signal: AbortSignal,
): Promise<void> => {
  const ended = deps.updates
    .list()
    .filter((one) => one.spec.nodeGroup === groupName && updateStatusOf(one) !== 'InProgress')
    .toSorted(inTurn);
  for (const { metadata } of ended.slice(0, -keptUpdates)) {
    const { name, uid } = metadata;
    await deps.kube.delete(resourceTypes.nodegroupupdates, { name }, { uid, signal });
  }
};

const patchFinalizers = async (
  deps: NodeGroupDeps,
  { metadata: { name, resourceVersion } }: NodeGroupUpdate,
  finalizers: readonly string[],
  signal: AbortSignal,
): Promise<void> => {
  const body: JsonObject = { metadata: { resourceVersion, finalizers } };
  const type = resourceTypes.nodegroupupdates;
  const found = await deps.kube.patch(type, { name }, { type: 'merge', body }, { signal });
  if (found.kind === 'gone') return;
  await deps.updates.observedAtLeast(found.object.metadata.resourceVersion, signal);
};

/**
 * Adds the finalizer before the first effect, so that a deletion waits until everything is
 * restored.
 */
export const holdUpdate = async (
  deps: NodeGroupDeps,
  update: NodeGroupUpdate,
  signal: AbortSignal,
): Promise<void> => {
  const { finalizers = [], deletionTimestamp } = update.metadata;
  if (finalizers.includes(updateFinalizer) || deletionTimestamp !== undefined) return;
  await patchFinalizers(deps, update, [...finalizers, updateFinalizer], signal);
};

/**
 * Releases ended updates, except the one still in the group's status (`noted`), which would be
 * recreated. If the Auto Scaling group is gone, all updates that are being deleted are released,
 * too.
 */
export const releaseUpdates = async (
  deps: NodeGroupDeps,
  groupName: string,
  { isGroupGone, noted }: { readonly isGroupGone: boolean; readonly noted?: string | undefined },
  signal: AbortSignal,
): Promise<void> => {
  for (const update of deps.updates.list()) {
    const { finalizers = [], deletionTimestamp } = update.metadata;
    if (update.spec.nodeGroup !== groupName || !finalizers.includes(updateFinalizer)) continue;
    const isMoot = isGroupGone && deletionTimestamp !== undefined;
    if (!isGroupGone && update.metadata.name === noted) continue;
    if (updateStatusOf(update) === 'InProgress' && !isMoot) continue;
    const others = finalizers.filter((one) => one !== updateFinalizer);
    await patchFinalizers(deps, update, others, signal);
  }
};

/** An ended update has no ETA and no holds. */
const settled = (status: NodeGroupUpdateStatus): NodeGroupUpdateStatus => {
  if (status.status === 'InProgress') return status;
  const { holds: _over, held: _kinds, waitingSince: _nobody, progress, ...rest } = status;
  if (progress === undefined) return rest;
  const { eta: _past, ...counts } = progress;
  return { ...rest, progress: counts };
};

/** All hold kinds in one value, since a kubectl column shows only one. */
const withHeld = ({ held: _before, ...status }: NodeGroupUpdateStatus): NodeGroupUpdateStatus => {
  const kinds = [...new Set((status.holds ?? []).map(({ kind }) => kind))];
  return kinds.length === 0 ? status : { ...status, held: kinds.join(',') };
};

export const writeUpdate = async (
  deps: NodeGroupDeps,
  update: NodeGroupUpdate,
  asked: NodeGroupUpdateStatus,
  signal: AbortSignal,
): Promise<void> => {
  const status = withHeld(settled(asked));
  const { name, resourceVersion } = update.metadata;
  const difference = mergePatchBetween(update.status, status);
  if (difference === undefined) return;
  const body: JsonObject = { metadata: { resourceVersion }, status: difference };
  const type = resourceTypes.nodegroupupdates;
  const patch = { type: 'merge', body, subresource: 'status' } as const;
  const found = await deps.kube.patch<NodeGroupUpdate>(type, { name }, patch, { signal });
  if (found.kind === 'gone') return;
  await deps.updates.observedAtLeast(found.object.metadata.resourceVersion, signal);
  if (update.status?.status !== status.status) journalUpdate(deps.journal, update, status);
  for (const message of wrongApprovals(update.status?.holds, status.holds)) {
    await tell(deps, update, { reason: 'NotApproved', type: 'Warning', message }, signal);
  }
};

/**
 * EKS refuses such a request with this message; here the object can be written whatever state the
 * group is in.
 */
const whyNot = ({ metadata, status }: NodeGroup): string => {
  if (metadata.deletionTimestamp !== undefined)
    return `Node group ${metadata.name} is being deleted.`;
  const found = sentences((status?.health ?? []).map(({ code, message }) => `${code}: ${message}`));
  return (
    'Nodegroup cannot be updated as it is currently not in Active State: it could not be created ' +
    `(${found}). Correct its spec, and it is tried again, or delete it.`
  );
};

/** The group is being deleted or could not be created: the update is not carried out. */
export const failUpdate = (
  deps: NodeGroupDeps,
  group: NodeGroup,
  update: NodeGroupUpdate,
  signal: AbortSignal,
): Promise<void> => {
  const error = {
    code: 'OperationNotPermitted',
    message: whyNot(group),
    resourceIds: [group.metadata.name],
  };
  const endedAt = formatTime(deps.clock.now());
  const { status: known } = update;
  // Fields that no longer apply: holds, probes and hooks.
  const {
    holds: _h,
    failingProbes: _p,
    hooks: _r,
    waitingSince: _w,
    missing: _m,
    message,
    ...begun
  } = known ?? {};
  // The message about the update it waited for is irrelevant after its end.
  const isBegun = message !== undefined && known?.phase !== 'Pending';
  const before = { ...begun, ...(isBegun ? { message } : {}) };
  const phase = 'Ended' as const;
  const phases = [...(known?.phases ?? []), { phase, at: endedAt }];
  const ended = { phase, phases, status: 'Failed', endedAt, errors: [error] } as const;
  const status = { ...before, ...ended };
  return writeUpdate(deps, update, status, signal);
};
