// Label selectors, node selector terms, taints and tolerations. Pure decisions; upstream:
// apimachinery/pkg/labels, component-helpers/scheduling/corev1 (Kubernetes 1.32).
import type {
  Labels,
  NodeTerm,
  Requirement,
  Selector,
  TaintView,
  TolerationView,
} from './types.ts';

const requirementHolds = (requirement: Requirement, labels: Labels): boolean => {
  const value = Object.hasOwn(labels, requirement.key) ? labels[requirement.key] : undefined;
  const values = requirement.values ?? [];
  switch (requirement.operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return value !== undefined && Number(value) > Number(values[0]);
    case 'Lt':
      return value !== undefined && Number(value) < Number(values[0]);
    default:
      return false;
  }
};

/** An absent selector matches nothing, an empty one everything. */
export const selects = (selector: Selector | undefined, labels: Labels = {}): boolean => {
  if (selector === undefined) return false;
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) {
    if (labels[key] !== value) return false;
  }
  return (selector.matchExpressions ?? []).every((one) => requirementHolds(one, labels));
};

/** Plain key-value selectors of Services and nodeSelector. */
export const hasAll = (wanted: Labels | undefined, labels: Labels = {}): boolean => {
  for (const key in wanted) if (labels[key] !== wanted[key]) return false;
  return true;
};

/** Terms are ORed; within a term everything must hold; an empty term matches nothing. */
export const nodeTermsMatch = (
  terms: readonly NodeTerm[],
  node: { readonly name: string; readonly labels: Labels },
): boolean =>
  terms.some((term) => {
    const expressions = term.matchExpressions ?? [];
    const fields = term.matchFields ?? [];
    if (expressions.length + fields.length === 0) return false;
    return (
      expressions.every((one) => requirementHolds(one, node.labels)) &&
      fields.every((one) => requirementHolds(one, { 'metadata.name': node.name }))
    );
  });

export const tolerates = (toleration: TolerationView, taint: TaintView): boolean => {
  if (toleration.effect && toleration.effect !== taint.effect) return false;
  if (toleration.key && toleration.key !== taint.key) return false;
  if (toleration.operator === 'Exists') return true;
  // Without a key only Exists is valid, and Equal is the default operator.
  return toleration.key !== undefined && (toleration.value ?? '') === (taint.value ?? '');
};

/** The first taint of `effects` that nothing tolerates, or undefined. */
export const untolerated = (
  taints: readonly TaintView[],
  tolerations: readonly TolerationView[],
  effects: readonly string[],
): TaintView | undefined =>
  taints.find(
    (taint) => effects.includes(taint.effect) && !tolerations.some((one) => tolerates(one, taint)),
  );
