// Label selectors with the semantics of the API server (apimachinery labels.Requirement.Matches).
// Parses no text and knows no kind.
import type { LabelSelector } from './kube.ts';

type Labels = Readonly<Record<string, string>>;

export interface Requirement {
  readonly key: string;
  /**
   * Gt and Lt occur only in node selectors and in query text. An unknown operator never matches.
   */
  readonly operator: string;
  readonly values?: readonly string[];
}

/** Whether a label with this value fulfils the requirement; undefined: the label does not exist. */
export const requirementHolds = (
  { operator, values = [] }: Requirement,
  value: string | undefined,
): boolean => {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      // An absent key satisfies NotIn.
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

export const labelOf = (labels: Labels, key: string): string | undefined =>
  Object.hasOwn(labels, key) ? labels[key] : undefined;

/** An absent selector selects nothing, an empty one everything (policy/v1). */
export const selectorMatches = (
  selector:
    | (Pick<LabelSelector, 'matchLabels'> & { readonly matchExpressions?: readonly Requirement[] })
    | undefined,
  labels: Labels = {},
): boolean => {
  if (selector === undefined) return false;
  const { matchLabels = {}, matchExpressions = [] } = selector;
  for (const key of Object.keys(matchLabels)) {
    if (labelOf(labels, key) !== matchLabels[key]) return false;
  }
  return matchExpressions.every((one) => requirementHolds(one, labelOf(labels, one.key)));
};
