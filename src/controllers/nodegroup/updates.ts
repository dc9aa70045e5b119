// Updates of a node group: one at a time, oldest first. The change of a configuration is put into the spec
// once, and its update ends when the group's status says that it was carried out or given up.
import { formatTime } from '../../api/brand.ts';
import type { JsonObject } from '../../api/json.ts';
import { resourceTypes, type Taint } from '../../api/kube.ts';
import type { NodeGroup, NodeGroupSpec, NodeGroupStatus } from '../../api/nodegroup.ts';
import {
  type NodeGroupChange,
  type NodeGroupUpdate,
  type NodeGroupUpdateSpec,
  type NodeGroupUpdateStatus,
  updateStatusOf,
} from '../../api/nodegroup-update.ts';
import {
  revisionAsked,
  sameRevisionAsked,
  type UpdateSurge,
  withRevision,
} from '../../core/update/index.ts';
import { KubeError, type ScalingGroup } from '../../ports/index.ts';
import { mergePatchBetween } from '../../runtime/index.ts';
import { mustLead, type NodeGroupDeps } from './deps.ts';
import { journalUpdate } from './events.ts';
import { netDesired, noSurge } from './request.ts';
import { writeSpec } from './write.ts';

/** The one that is under way or next; undefined when none is. */
export const openUpdate = (
  { updates }: Pick<NodeGroupDeps, 'updates'>,
  groupName: string,
): NodeGroupUpdate | undefined =>
  updates
    .list()
    .filter((one) => one.spec.nodeGroup === groupName && updateStatusOf(one) === 'InProgress')
    .toSorted(
      (a, b) =>
        a.metadata.creationTimestamp.localeCompare(b.metadata.creationTimestamp) ||
        a.metadata.name.localeCompare(b.metadata.name),
    )[0];

/** What the revision in the spec asks for, where that was taken note of: with the first look, or with an update. */
export const requestedRevision = (
  deps: Pick<NodeGroupDeps, 'updates'>,
  { metadata, spec, status }: NodeGroup,
): NodeGroupStatus['requestedRevision'] => {
  const known = status?.requestedRevision;
  const begun = lastBegun(deps, metadata.name)?.spec.change;
  // By what it asks for, not by the generation: that may have moved before this was written.
  const isBegun = begun !== undefined && sameRevisionAsked(withRevision(spec, begun), spec);
  return known === undefined || isBegun ? revisionAsked(spec) : known;
};

/** The newest version update that has begun, whatever became of it. */
const lastBegun = (
  { updates }: Pick<NodeGroupDeps, 'updates'>,
  groupName: string,
): NodeGroupUpdate | undefined =>
  updates
    .list()
    .filter(
      ({ spec, status }) =>
        spec.nodeGroup === groupName &&
        spec.type === 'VersionUpdate' &&
        status?.startedAt !== undefined,
    )
    .toSorted((a, b) => (a.status?.startedAt ?? '').localeCompare(b.status?.startedAt ?? ''))
    .at(-1);

/**
 * A revision in the spec that nobody has taken note of becomes an update of that generation. One object per
 * generation, however often it is tried.
 */
export const requestBySpec = async (
  deps: NodeGroupDeps,
  { metadata, spec, status }: NodeGroup,
  signal: AbortSignal,
): Promise<void> => {
  const known = status?.requestedRevision;
  if (known === undefined || sameRevisionAsked(known, spec)) return;
  const name = `${metadata.name}-${metadata.generation ?? 0}`;
  const change = revisionAsked(spec);
  await createVersionUpdate(deps, metadata, { name, spec: { change }, signal });
};

interface NewUpdate {
  readonly name: string;
  readonly spec: Pick<NodeGroupUpdateSpec, 'action' | 'force' | 'strategy'> & {
    readonly change: ReturnType<typeof revisionAsked>;
  };
  readonly signal: AbortSignal;
}

/** Once: one of that name that is there already is it. */
const createVersionUpdate = async (
  deps: Pick<NodeGroupDeps, 'kube' | 'isLeader'>,
  group: NodeGroup['metadata'],
  { name, spec, signal }: NewUpdate,
): Promise<void> => {
  const { version, releaseVersion, launchTemplate } = spec.change;
  const params = [
    { type: 'Version', value: version },
    ...(releaseVersion === undefined ? [] : [{ type: 'ReleaseVersion', value: releaseVersion }]),
    ...(launchTemplate === undefined
      ? []
      : [{ type: 'LaunchTemplateVersion', value: launchTemplate.version }]),
  ];
  const apiVersion = 'drover.dev/v1alpha1';
  const owner = { apiVersion, kind: 'NodeGroup', name: group.name, uid: group.uid };
  const whole = { nodeGroup: group.name, type: 'VersionUpdate', params, ...spec };
  const object: JsonObject = {
    apiVersion,
    kind: 'NodeGroupUpdate',
    metadata: { name, ownerReferences: [owner] },
    spec: JSON.parse(JSON.stringify(whole)) as JsonObject,
  };
  mustLead(deps);
  try {
    await deps.kube.create(resourceTypes.nodegroupupdates, object, { signal });
  } catch (error) {
    if (!(error instanceof KubeError && error.code === 'AlreadyExists')) throw error;
  }
};

/** An update that was aborted so is followed by one that takes back what it has done. */
export const rollBack = async (
  deps: NodeGroupDeps,
  { metadata }: NodeGroup,
  { metadata: { name }, spec, status }: NodeGroupUpdate,
  signal: AbortSignal,
): Promise<void> => {
  if (spec.abort !== 'RollBack' || status?.from === undefined) return;
  const { force } = spec;
  const { strategy, from } = status;
  await createVersionUpdate(deps, metadata, {
    name: `${name}-rollback`,
    spec: {
      change: revisionAsked(from),
      action: 'Rollback',
      ...(force === undefined ? {} : { force }),
      ...(strategy === undefined ? {} : { strategy }),
    },
    signal,
  });
};

/** New nodes that the last update could not take back; fewer when people ask for more by now. */
export const leftoverSurge = (
  { updates }: Pick<NodeGroupDeps, 'updates'>,
  group: NodeGroup,
  scaling: ScalingGroup,
): UpdateSurge => {
  const last = updates
    .list()
    .filter(({ spec, status }) => spec.nodeGroup === group.metadata.name && status?.target)
    .toSorted((a, b) => (a.status?.startedAt ?? '').localeCompare(b.status?.startedAt ?? ''))
    .at(-1);
  const { status, leftover = 0 } = last?.status ?? {};
  if (status === 'InProgress' || leftover === 0) return noSurge;
  const more = Math.max(0, scaling.desiredCapacity - netDesired(group, scaling));
  const count = Math.min(leftover, more);
  return { desired: count, maxSize: count };
};

/** How many ended updates of a group are kept, to be looked up and told apart by their tokens. */
const keptUpdates = 20;

/** Deletes the oldest of those that have ended, where there are more than are kept. */
export const pruneUpdates = async (
  deps: NodeGroupDeps,
  groupName: string,
  signal: AbortSignal,
): Promise<void> => {
  const endedAt = ({ status }: NodeGroupUpdate): string => status?.endedAt ?? '';
  const ended = deps.updates
    .list()
    .filter((one) => one.spec.nodeGroup === groupName && updateStatusOf(one) !== 'InProgress')
    .toSorted((a, b) => endedAt(b).localeCompare(endedAt(a)));
  for (const { metadata } of ended.slice(keptUpdates)) {
    const { name, uid } = metadata;
    mustLead(deps);
    await deps.kube.delete(resourceTypes.nodegroupupdates, { name }, { uid, signal });
  }
};

const sameTaint = (a: Taint, b: Taint): boolean => a.key === b.key && a.effect === b.effect;

/** The spec with the change in it; changing it twice gives the same. */
export const changed = (
  spec: NodeGroupSpec,
  { type, change }: Pick<NodeGroupUpdateSpec, 'type' | 'change'>,
): NodeGroupSpec =>
  type === 'VersionUpdate' ? withRevision(spec, change) : configured(spec, change);

const configured = (spec: NodeGroupSpec, change: NodeGroupChange): NodeGroupSpec => {
  const { scaling, addLabels, removeLabels = [], addTaints = [], removeTaints = [] } = change;
  const { minSize, maxSize, desired } = scaling ?? {};
  const labels = Object.entries({ ...spec.labels, ...addLabels }).filter(
    ([key]) => !removeLabels.includes(key),
  );
  const replaced = [...addTaints, ...removeTaints];
  const taints = [
    ...(spec.taints ?? []).filter((taint) => !replaced.some((one) => sameTaint(one, taint))),
    ...addTaints,
  ];
  return {
    ...spec,
    scaling: {
      ...spec.scaling,
      ...(minSize === undefined ? {} : { minSize }),
      ...(maxSize === undefined ? {} : { maxSize }),
      ...(desired === undefined ? {} : { desired }),
    },
    ...(spec.labels === undefined && labels.length === 0
      ? {}
      : { labels: Object.fromEntries(labels) }),
    ...(spec.taints === undefined && taints.length === 0 ? {} : { taints }),
    ...(change.updateConfig === undefined ? {} : { updateConfig: change.updateConfig }),
    ...(change.nodeRepairConfig === undefined ? {} : { nodeRepairConfig: change.nodeRepairConfig }),
  };
};

export const writeUpdate = async (
  deps: NodeGroupDeps,
  update: NodeGroupUpdate,
  status: NodeGroupUpdateStatus,
  signal: AbortSignal,
): Promise<void> => {
  mustLead(deps);
  const { name, resourceVersion } = update.metadata;
  const difference = mergePatchBetween(update.status, status);
  if (difference === undefined) return;
  const body: JsonObject = { metadata: { resourceVersion }, status: difference };
  const type = resourceTypes.nodegroupupdates;
  const patch = { type: 'merge', body, subresource: 'status' } as const;
  const found = await deps.kube.patch<NodeGroupUpdate>(type, { name }, patch, { signal });
  if (found.kind === 'gone') return;
  await deps.updates.observedAtLeast(found.object.metadata.resourceVersion, signal);
  if (update.status?.status !== status.status) journalUpdate(deps.journal, update, status.status);
};

/** Puts an update that nobody has looked at into the spec. The group as it is then. */
export const applyUpdate = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  update: NodeGroupUpdate,
  signal: AbortSignal,
): Promise<NodeGroup | undefined> => {
  if (update.status?.phase === 'Applied') return group;
  const difference = mergePatchBetween(group.spec, changed(group.spec, update.spec));
  const written =
    difference === undefined ? group : await writeSpec(deps, group, difference, signal);
  if (written === undefined) return undefined;
  const { generation } = written.metadata;
  const at = generation === undefined ? {} : { generation };
  await writeUpdate(deps, update, { status: 'InProgress', phase: 'Applied', ...at }, signal);
  return written;
};

const changesNodes = (change: NodeGroupChange): boolean =>
  [change.addLabels, change.removeLabels, change.addTaints, change.removeTaints].some(
    (part) => part !== undefined && Object.keys(part).length > 0,
  );

/** Ends the update when the group's status has its end; otherwise nothing. */
export const endUpdate = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  update: NodeGroupUpdate,
  signal: AbortSignal,
): Promise<void> => {
  const { status } = group;
  const since = deps.updates.get(update.metadata.name)?.status;
  if (status === undefined || since?.phase !== 'Applied') return;
  if ((status.observedGeneration ?? 0) < (since.generation ?? 0)) return;
  const endedAt = formatTime(deps.clock.now());
  const current = deps.updates.get(update.metadata.name) ?? update;
  const { failure } = status;
  if (failure !== undefined && failure.generation >= (since.generation ?? 0)) {
    const { code, message, resourceIds } = failure;
    const errors = [{ code, message, resourceIds }];
    await writeUpdate(deps, current, { ...since, status: 'Failed', endedAt, errors }, signal);
    return;
  }
  const { minSize, maxSize, desired } = group.spec.scaling;
  const isInTemplate = (status.templateGeneration ?? 0) >= (since.generation ?? 0);
  if (changesNodes(update.spec.change) && !isInTemplate) return;
  const isThere =
    status.scaleIn === undefined &&
    status.minSize === minSize &&
    status.maxSize === maxSize &&
    (desired === undefined || status.desired === desired);
  if (!isThere) return;
  await writeUpdate(deps, current, { ...since, status: 'Successful', endedAt }, signal);
};

/** The group is being deleted: nothing of an update is done any more. */
export const failUpdate = (
  deps: NodeGroupDeps,
  group: NodeGroup,
  update: NodeGroupUpdate,
  signal: AbortSignal,
): Promise<void> => {
  const error = {
    code: 'OperationNotPermitted',
    message: `Node group ${group.metadata.name} is being deleted.`,
    resourceIds: [group.metadata.name],
  };
  const endedAt = formatTime(deps.clock.now());
  const status = { ...update.status, status: 'Failed', endedAt, errors: [error] } as const;
  return writeUpdate(deps, update, status, signal);
};
