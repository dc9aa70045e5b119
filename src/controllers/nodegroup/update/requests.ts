// Requests for version updates: a changed spec becomes one NodeGroupUpdate; an update that is
// rolled back is followed by another. Carries none of them out.

import type { ScalingGroup } from '../../../api/cloud.ts';
import { defined } from '../../../api/defined.ts';
import { resourceTypes } from '../../../api/kube.ts';
import { newUpdate } from '../../../api/new-update.ts';
import type { NodeGroup, NodeGroupStatus } from '../../../api/nodegroup.ts';
import {
  byGenerationAnnotation,
  type NodeGroupUpdate,
  type NodeGroupUpdateSpec,
  turnAnnotation,
} from '../../../api/nodegroup-update.ts';
import { versionParams } from '../../../core/nodegroup/index.ts';
import {
  failedRequestOf,
  inTurn,
  isRequestedBy,
  revisionAsked,
  rollbackNameOf,
  sameRevisionAsked,
  turnAfter,
  updateNameOf,
} from '../../../core/update/index.ts';
import { KubeError } from '../../../ports/index.ts';
import type { NodeGroupDeps } from '../deps.ts';

/** The revision that the spec is recorded to request: from the first pass, or from an update. */
export const requestedRevision = (
  deps: Pick<NodeGroupDeps, 'updates'>,
  { metadata, spec, status }: NodeGroup,
): NodeGroupStatus['requestedRevision'] => {
  const known = status?.requestedRevision;
  const begun = allBegun(deps, metadata.name);
  const last = begun.at(-1);
  // Ignores an update that was cancelled while it waited; the one before it counts.
  const worked = begun.findLast(({ status: its }) => its?.target !== undefined);
  // Compared by request, not by generation, which may have changed before this was written.
  const isOf = (one: NodeGroupUpdate | undefined): boolean =>
    one !== undefined && isRequestedBy(one, spec);
  const isBegun = isOf(last) || (last?.status?.target === undefined && isOf(worked));
  return known === undefined || isBegun ? revisionAsked(spec) : known;
};

/**
 * The user's template from which the derived one in use was created. `before`: as of the start of
 * that update.
 */
export const templateSource = (
  deps: Pick<NodeGroupDeps, 'updates'>,
  { metadata, spec, status }: NodeGroup,
  before?: NodeGroupUpdate,
): NodeGroup['spec']['launchTemplate'] => {
  const begun = allBegun(deps, metadata.name);
  const until = begun.findIndex((one) => one.metadata.name === before?.metadata.name);
  const used = (until < 0 ? begun : begun.slice(0, until)).findLast(
    (one) => one.status?.target !== undefined && one.status.restored === undefined,
  );
  if (used?.status?.target !== undefined) return used.status.target.launchTemplate;
  const asked = status?.requestedRevision ?? spec;
  return status?.launchTemplate ?? asked.launchTemplate;
};

/** Version updates that have begun, oldest first. */
const allBegun = (
  { updates }: Pick<NodeGroupDeps, 'updates'>,
  groupName: string,
): readonly NodeGroupUpdate[] =>
  updates
    .list()
    .filter(
      ({ spec, status }) =>
        spec.nodeGroup === groupName &&
        spec.type === 'VersionUpdate' &&
        status?.startedAt !== undefined,
    )
    .toSorted(inTurn);

/**
 * Creates an update for a revision in the spec that is not recorded yet. Each request has one
 * object, however often it is tried and whichever client makes it. A request that failed and was
 * rolled back is not repeated until it changes. A group that does not exist yet is created from its
 * spec, without an update.
 */
export const requestBySpec = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  scaling: ScalingGroup | undefined,
  signal: AbortSignal,
): Promise<void> => {
  if (scaling === undefined) return;
  const { metadata, spec, status } = group;
  const known = status === undefined ? undefined : requestedRevision(deps, group);
  if (known === undefined || sameRevisionAsked(known, spec)) return;
  const updates = deps.updates.list();
  if (failedRequestOf(updates, group) !== undefined) return;
  const change = revisionAsked(spec);
  const name = updateNameOf(group, { change }, updates);
  const annotations = { [byGenerationAnnotation]: String(metadata.generation ?? 0) };
  await createVersionUpdate(deps, metadata, { name, annotations, spec: { change }, signal });
};

interface NewUpdate {
  readonly name: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec: Pick<
    NodeGroupUpdateSpec,
    'action' | 'force' | 'strategy' | 'reason' | 'policies'
  > & {
    readonly change: ReturnType<typeof revisionAsked>;
  };
  readonly signal: AbortSignal;
}

/** Idempotent: an existing object of that name is this request. */
const createVersionUpdate = async (
  deps: Pick<NodeGroupDeps, 'kube'>,
  group: NodeGroup['metadata'],
  { name, spec, annotations, signal }: NewUpdate,
): Promise<void> => {
  const params = versionParams(spec.change);
  const object = newUpdate({
    name,
    owner: group,
    annotations: { ...annotations },
    spec: { nodeGroup: group.name, type: 'VersionUpdate', params, ...spec },
  });
  try {
    await deps.kube.create(resourceTypes.nodegroupupdates, object, { signal });
  } catch (error) {
    if (!(error instanceof KubeError && error.code === 'AlreadyExists')) throw error;
  }
};

/** Creates the rollback of an update that was aborted with RollBack or whose new nodes failed. */
export const rollBack = async (
  deps: NodeGroupDeps,
  { metadata }: NodeGroup,
  update: NodeGroupUpdate,
  signal: AbortSignal,
): Promise<void> => {
  const { spec, status } = update;
  const isAsked = spec.abort === 'RollBack' || status?.goesBack !== undefined;
  if (!isAsked || status?.from === undefined) return;
  const { force, policies } = spec;
  const { strategy, from, goesBack = 'it was aborted' } = status;
  await createVersionUpdate(deps, metadata, {
    name: rollbackNameOf(update),
    annotations: { [turnAnnotation]: turnAfter(update) },
    spec: {
      change: revisionAsked(from),
      action: 'Rollback',
      reason: `update ${update.metadata.name}: ${goesBack}`,
      ...defined({ policies, force, strategy }),
    },
    signal,
  });
};
