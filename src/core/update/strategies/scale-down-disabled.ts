// The cluster autoscaler's scale-down-disabled annotation on the nodes of a group that is updated:
// empty new nodes and emptied old ones are what an autoscaler looks for. Set while the update runs;
// a user's value is restored. Pure.

import type { Node } from '../../../api/kube.ts';
import type { UpdatePhase } from '../../../api/nodegroup-update.ts';
import type { UpdateStep } from '../../../api/plan.ts';
import type { UpdateDecision, UpdateObservation } from '../observation.ts';
import type { Herd } from '../records/nodes.ts';

/**
 * Cluster autoscaler FAQ, "How can I prevent Cluster Autoscaler from scaling down a particular
 * node": `true` alone.
 */
export const autoscalerAnnotation = 'cluster-autoscaler.kubernetes.io/scale-down-disabled';
/** Beside the first, where the update set it: the name of the update. */
export const shieldAnnotation = 'drover.dev/scale-down-disabled-by';
/** The value that the first had before, where it had one. */
export const shieldedBeforeAnnotation = 'drover.dev/scale-down-disabled-before';

/** Whose annotation keeps the autoscaler away; undefined: it may take the node. */
export const shieldOf = ({ metadata }: Node): 'ours' | 'theirs' | undefined => {
  const { annotations = {} } = metadata;
  if (annotations[shieldAnnotation] !== undefined) return 'ours';
  return annotations[autoscalerAnnotation] === 'true' ? 'theirs' : undefined;
};

/** The annotations that shield a node for this update, as a merge patch. */
export const shieldPatch = (
  { metadata }: Node,
  updateName: string,
): Readonly<Record<string, string>> => {
  const before = metadata.annotations?.[autoscalerAnnotation];
  return {
    [autoscalerAnnotation]: 'true',
    [shieldAnnotation]: updateName,
    ...(before === undefined ? {} : { [shieldedBeforeAnnotation]: before }),
  };
};

/** As they were, as a merge patch; a value that users set meanwhile stays. */
export const unshieldPatch = ({ metadata }: Node): Readonly<Record<string, string | null>> => {
  const { annotations = {} } = metadata;
  const isOurs = annotations[autoscalerAnnotation] === 'true';
  const before = annotations[shieldedBeforeAnnotation] ?? null;
  return {
    ...(isOurs ? { [autoscalerAnnotation]: before } : {}),
    [shieldAnnotation]: null,
    [shieldedBeforeAnnotation]: null,
  };
};

/** One step for each node that the autoscaler may still take. */
const shieldSteps = ({ old, fresh }: Herd): readonly UpdateStep[] =>
  [...old, ...fresh].flatMap(({ instance }): readonly UpdateStep[] =>
    instance.nodeName === undefined || instance.shield !== undefined
      ? []
      : [{ kind: 'Shield', nodeName: instance.nodeName }],
  );

/** One step for each node whose annotation is the update's. */
export const unshieldSteps = ({ old, fresh }: Herd): readonly UpdateStep[] =>
  [...old, ...fresh].flatMap(({ instance }): readonly UpdateStep[] =>
    instance.nodeName !== undefined && instance.shield === 'ours'
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

/**
 * The decision with the autoscaler kept from every node of the group until the phase in which all
 * is set back.
 */
export const withShields = (
  { status }: UpdateObservation,
  herd: Herd,
  decided: UpdateDecision,
): UpdateDecision => {
  const { phase = 'Preparing' } = status;
  if (!shielded.has(phase) || decided.change?.phase === 'Restoring') return decided;
  // EKS' strategies end without that phase.
  const marks = decided.end === undefined ? shieldSteps(herd) : unshieldSteps(herd);
  return marks.length === 0 ? decided : { ...decided, steps: [...marks, ...decided.steps] };
};
