// Writes to NodeGroups. Each has the resourceVersion that it is based on, so that no concurrent
// change is overwritten. An unchanged status is not written.
import { completeNodeGroup } from '../../api/adopted.ts';
import type { JsonObject } from '../../api/json.ts';
import { resourceTypes } from '../../api/kube.ts';
import {
  followedAnnotation,
  type NodeGroup,
  type NodeGroupScaling,
  type NodeGroupStatus,
  nodeGroupFinalizer,
} from '../../api/nodegroup.ts';
import { mergePatchBetween } from '../../runtime/index.ts';
import type { NodeGroupDeps } from './deps.ts';

type WriteDeps = Pick<NodeGroupDeps, 'kube'>;
const type = resourceTypes.nodegroups;

const patch = async (
  deps: WriteDeps,
  group: NodeGroup,
  what: {
    readonly metadata?: JsonObject;
    readonly spec?: JsonObject;
    readonly status?: JsonObject;
  },
  signal: AbortSignal,
): Promise<NodeGroup | undefined> => {
  const { name, resourceVersion } = group.metadata;
  const body = { ...what, metadata: { ...what.metadata, resourceVersion } };
  const subresource = what.status === undefined ? {} : { subresource: 'status' };
  const options = { type: 'merge', body, ...subresource } as const;
  const found = await deps.kube.patch<NodeGroup>(type, { name }, options, { signal });
  return found.kind === 'found' ? completeNodeGroup(found.object) : undefined;
};

/**
 * Added before anything is created in the cloud, and removed when nothing of the group remains
 * there.
 */
export const addFinalizer = (deps: WriteDeps, group: NodeGroup, signal: AbortSignal) => {
  const finalizers = [...(group.metadata.finalizers ?? []), nodeGroupFinalizer];
  return patch(deps, group, { metadata: { finalizers } }, signal);
};

export const removeFinalizer = (deps: WriteDeps, group: NodeGroup, signal: AbortSignal) => {
  const all = group.metadata.finalizers ?? [];
  const finalizers = all.filter((name) => name !== nodeGroupFinalizer);
  return patch(deps, group, { metadata: { finalizers } }, signal);
};

/** Writes sizes back to the spec, marked with the generation that this write produces. */
export const writeBack = (
  deps: WriteDeps,
  group: NodeGroup,
  scaling: NodeGroupScaling,
  signal: AbortSignal,
) => {
  const next = String((group.metadata.generation ?? 0) + 1);
  const metadata = { annotations: { [followedAnnotation]: next } };
  return patch(deps, group, { metadata, spec: { scaling: { ...scaling } } }, signal);
};

export const writeSpec = (
  deps: WriteDeps,
  group: NodeGroup,
  spec: JsonObject,
  signal: AbortSignal,
) => patch(deps, group, { spec }, signal);

/** The group after the write; the same object if there was nothing to write. */
export const writeStatus = async (
  deps: WriteDeps,
  group: NodeGroup,
  status: NodeGroupStatus,
  signal: AbortSignal,
): Promise<NodeGroup | undefined> => {
  const difference = mergePatchBetween(group.status, status);
  if (difference === undefined) return group;
  return patch(deps, group, { status: difference }, signal);
};
