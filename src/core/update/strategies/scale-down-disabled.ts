// The cluster autoscaler's scale-down-disabled annotation on the nodes of a group under update. An
// autoscaler would remove empty new nodes and drained old ones. The annotation is set while the
// update runs; a user's value is restored. Pure.

import type { Node } from '../../../api/kube.ts';
import type { UpdatePhase } from '../../../api/nodegroup-update.ts';
import type { UpdateStep } from '../../../api/plan.ts';
import type { UpdateDecision, UpdateObservation } from '../observation.ts';
import type { GroupNodes } from '../records/nodes.ts';

/**
 * Cluster autoscaler FAQ, "How can I prevent Cluster Autoscaler from scaling down a particular
 * node": only the value `true` counts.
 */
export const autoscalerAnnotation = 'cluster-autoscaler.kubernetes.io/scale-down-disabled';
/** Marks the annotation as set by an update; the value is the name of the update. */
export const scaleDownOwnerAnnotation = 'drover.dev/scale-down-disabled-by';
/** The value that the annotation had before the update, if any. */
export const scaleDownBeforeAnnotation = 'drover.dev/scale-down-disabled-before';

/**
 * The actor that set the annotation: the update or a user. Undefined: the autoscaler may remove the
 * node.
 */
export const scaleDownDisabledBy = ({ metadata }: Node): 'ours' | 'theirs' | undefined => {
  const { annotations = {} } = metadata;
  if (annotations[scaleDownOwnerAnnotation] !== undefined) return 'ours';
  return annotations[autoscalerAnnotation] === 'true' ? 'theirs' : undefined;
};

/** Merge patch that sets the annotation on a node for this update. */
export const disableScaleDownPatch = (
  { metadata }: Node,
  updateName: string,
): Readonly<Record<string, string>> => {
  const before = metadata.annotations?.[autoscalerAnnotation];
  return {
    [autoscalerAnnotation]: 'true',
    [scaleDownOwnerAnnotation]: updateName,
    ...(before === undefined ? {} : { [scaleDownBeforeAnnotation]: before }),
  };
};

/** Merge patch that restores the annotation; a value that a user set meanwhile stays. */
export const restoreScaleDownPatch = ({
  metadata,
}: Node): Readonly<Record<string, string | null>> => {
  const { annotations = {} } = metadata;
  const isOurs = annotations[autoscalerAnnotation] === 'true';
  const before = annotations[scaleDownBeforeAnnotation] ?? null;
  return {
    ...(isOurs ? { [autoscalerAnnotation]: before } : {}),
    [scaleDownOwnerAnnotation]: null,
    [scaleDownBeforeAnnotation]: null,
  };
};

/** One step for each node without the annotation. */
const disableScaleDownSteps = ({ old, fresh }: GroupNodes): readonly UpdateStep[] =>
  [...old, ...fresh].flatMap(({ instance }): readonly UpdateStep[] =>
    instance.nodeName === undefined || instance.scaleDownDisabled !== undefined
      ? []
      : [{ kind: 'Shield', nodeName: instance.nodeName }],
  );

/** One step for each node whose annotation the update has set. */
export const restoreScaleDownSteps = ({ old, fresh }: GroupNodes): readonly UpdateStep[] =>
  [...old, ...fresh].flatMap(({ instance }): readonly UpdateStep[] =>
    instance.nodeName !== undefined && instance.scaleDownDisabled === 'ours'
      ? [{ kind: 'Unshield', nodeName: instance.nodeName }]
      : [],
  );

const shielded: ReadonlySet<UpdatePhase> = new Set([
  'ScalingUp',
  'Marking',
  'Rolling',
  'Soaking',
  'ScalingDown',
]);

/** Adds the steps that set the annotation in every phase before Restoring, which removes it. */
export const withScaleDownDisabled = (
  { status }: UpdateObservation,
  groupNodes: GroupNodes,
  decided: UpdateDecision,
): UpdateDecision => {
  const { phase = 'Preparing' } = status;
  if (!shielded.has(phase) || decided.change?.phase === 'Restoring') return decided;
  // EKS' strategies end without phase Restoring, so their end removes it.
  const marks =
    decided.end === undefined
      ? disableScaleDownSteps(groupNodes)
      : restoreScaleDownSteps(groupNodes);
  return marks.length === 0 ? decided : { ...decided, steps: [...marks, ...decided.steps] };
};
