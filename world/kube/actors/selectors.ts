// Node selectors and their terms, taints and tolerations. Pure decisions; upstream:
// apimachinery/pkg/labels, component-helpers/scheduling/corev1 (Kubernetes 1.32).
import { labelOf, requirementHolds } from '../../../src/api/selectors.ts';
import type { Labels, NodeTerm, TaintView, TolerationView } from './types.ts';

/** Equality selectors, as in Services and nodeSelector. */
export const hasAll = (wanted: Labels | undefined, labels: Labels = {}): boolean => {
  for (const key in wanted) if (labels[key] !== wanted[key]) return false;
  return true;
};

/** Terms are ORed; all requirements of a term are ANDed; an empty term matches nothing. */
export const nodeTermsMatch = (
  terms: readonly NodeTerm[],
  node: { readonly name: string; readonly labels: Labels },
): boolean =>
  terms.some((term) => {
    const expressions = term.matchExpressions ?? [];
    const fields = term.matchFields ?? [];
    if (expressions.length + fields.length === 0) return false;
    return (
      expressions.every((one) => requirementHolds(one, labelOf(node.labels, one.key))) &&
      fields.every((one) =>
        requirementHolds(one, one.key === 'metadata.name' ? node.name : undefined),
      )
    );
  });

export const tolerates = (toleration: TolerationView, taint: TaintView): boolean => {
  if (toleration.effect && toleration.effect !== taint.effect) return false;
  if (toleration.key && toleration.key !== taint.key) return false;
  if (toleration.operator === 'Exists') return true;
  // Without a key only Exists is valid, and Equal is the default operator.
  return toleration.key !== undefined && (toleration.value ?? '') === (taint.value ?? '');
};

/** The first taint with one of `effects` that is not tolerated, or undefined. */
export const untolerated = (
  taints: readonly TaintView[],
  tolerations: readonly TolerationView[],
  effects: readonly string[],
): TaintView | undefined =>
  taints.find(
    (taint) => effects.includes(taint.effect) && !tolerations.some((one) => tolerates(one, taint)),
  );
