// Writes a configuration change into the spec once; the update ends when the group's status shows
// that it was carried out or given up.

import { formatTime } from '../../../api/brand.ts';
import { defined } from '../../../api/defined.ts';
import type { Taint } from '../../../api/kube.ts';
import type { NodeGroup, NodeGroupSpec, UpdateConfig } from '../../../api/nodegroup.ts';
import type {
  NodeGroupChange,
  NodeGroupUpdate,
  NodeGroupUpdateSpec,
} from '../../../api/nodegroup-update.ts';
import { withRevision } from '../../../core/update/index.ts';
import { mergePatchBetween } from '../../../runtime/index.ts';
import type { NodeGroupDeps } from '../deps.ts';
import { writeSpec } from '../write.ts';
import { writeUpdate } from './records.ts';

const sameTaint = (a: Taint, b: Taint): boolean => a.key === b.key && a.effect === b.effect;

/** The spec with the change applied; idempotent. */
export const changed = (
  spec: NodeGroupSpec,
  { type, change }: Pick<NodeGroupUpdateSpec, 'type' | 'change'>,
): NodeGroupSpec =>
  type === 'VersionUpdate' ? withRevision(spec, change) : configured(spec, change);

/**
 * EKS knows three of its fields. The other fields stay, unless the change chooses one of EKS'
 * strategies.
 */
const updateConfigWith = (before: UpdateConfig | undefined, change: UpdateConfig): UpdateConfig => {
  const { maxUnavailable: _number, maxUnavailablePercentage: _share, ...rest } = before ?? {};
  if (change.updateStrategy === undefined) return { ...rest, ...change };
  // Pacing applies to every strategy; policies and hooks do not.
  const { drain, maxQuarantined, rollback, capacity, blueGreen, hooks, updateStrategy, ...pacing } =
    rest;
  return { ...pacing, ...change };
};

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
      ...defined({ minSize, maxSize, desired }),
    },
    ...(spec.labels === undefined && labels.length === 0
      ? {}
      : { labels: Object.fromEntries(labels) }),
    ...(spec.taints === undefined && taints.length === 0 ? {} : { taints }),
    ...(change.updateConfig === undefined
      ? {}
      : { updateConfig: updateConfigWith(spec.updateConfig, change.updateConfig) }),
    ...defined({ nodeRepairConfig: change.nodeRepairConfig }),
  };
};

/** Writes a new update into the spec. Returns the group after the write. */
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

/** Ends the update if the group's status shows its end. */
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
