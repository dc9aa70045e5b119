// Whether a pod may be scheduled to a node by taints, node selector and required node affinity.
// Upstream: nodeaffinity and tainttoleration of the scheduler (Kubernetes 1.32). Pure.
import type { Taint, Toleration } from '../../../api/kube.ts';
import { labelOf, requirementHolds } from '../../../api/selectors.ts';
import type { FullPod, NodeRequirement, NodeSelector } from '../../../api/workloads.ts';

export type Labels = Readonly<Record<string, string>>;

export interface Place {
  readonly name: string;
  readonly labels: Labels;
  readonly taints: readonly Taint[];
}

const tolerates = (toleration: Toleration, taint: Taint): boolean => {
  const { key = '', operator = 'Equal', value = '', effect = '' } = toleration;
  if (effect !== '' && effect !== taint.effect) return false;
  if (key === '') return operator === 'Exists';
  if (key !== taint.key) return false;
  return operator === 'Exists' || value === (taint.value ?? '');
};

const repelling = (taint: Taint): boolean => taint.effect !== 'PreferNoSchedule';

export const untolerated = (pod: FullPod, taints: readonly Taint[]): readonly Taint[] =>
  taints.filter(
    (taint) =>
      repelling(taint) && !(pod.spec.tolerations ?? []).some((one) => tolerates(one, taint)),
  );

const cordon: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

/** The toleration that lets a pod be scheduled to a cordoned node. */
export const cordonToleration = ({ spec }: FullPod): Toleration | undefined =>
  spec.tolerations?.find((one) => tolerates(one, cordon));

const meets = (requirement: NodeRequirement, labels: Labels): boolean =>
  requirementHolds(requirement, labelOf(labels, requirement.key));

/** Terms are ORed; a term without requirements matches nothing. */
export const selectorPicks = (selector: NodeSelector, place: Place): boolean =>
  selector.nodeSelectorTerms.some((term) => {
    const expressions = term.matchExpressions ?? [];
    const fields = term.matchFields ?? [];
    if (expressions.length + fields.length === 0) return false;
    return (
      expressions.every((one) => meets(one, place.labels)) &&
      fields.every((one) => meets(one, { 'metadata.name': place.name }))
    );
  });

/** Why the pod cannot be scheduled there, one phrase per reason; empty if it can. */
export const refusals = (pod: FullPod, place: Place): readonly string[] => {
  const { nodeSelector, affinity } = pod.spec;
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  // Most pods may be scheduled anywhere.
  if (nodeSelector === undefined && required === undefined && place.taints.length === 0) return [];
  const missing = Object.entries(nodeSelector ?? {}).filter(
    ([key, value]) => place.labels[key] !== value,
  );
  return [
    ...untolerated(pod, place.taints).map(
      ({ key, value = '', effect }) => `taint ${key}${value === '' ? '' : `=${value}`}:${effect}`,
    ),
    ...missing.map(([key, value]) => `node selector ${key}=${value}`),
    ...(required === undefined || selectorPicks(required, place) ? [] : ['required node affinity']),
  ];
};
