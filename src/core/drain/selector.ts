// Label selectors as a PodDisruptionBudget uses them: a missing selector selects nothing, an empty
// one every pod of the namespace (policy/v1). Writes selector strings, never parses them.
import type { LabelSelector } from '../../api/kube.ts';

type Labels = Readonly<Record<string, string>>;
type Expression = NonNullable<LabelSelector['matchExpressions']>[number];

const expressionMatches = (expression: Expression, labels: Labels): boolean => {
  const value = Object.hasOwn(labels, expression.key) ? labels[expression.key] : undefined;
  const values = expression.values ?? [];
  switch (expression.operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      // An absent key satisfies NotIn (apimachinery labels.Requirement.Matches).
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      return false;
  }
};

export const selectorMatches = (
  selector: LabelSelector | undefined,
  labels: Labels | undefined,
): boolean => {
  if (selector === undefined) return false;
  const own = labels ?? {};
  const pairs = Object.entries(selector.matchLabels ?? {});
  return (
    pairs.every(([key, value]) => Object.hasOwn(own, key) && own[key] === value) &&
    (selector.matchExpressions ?? []).every((expression) => expressionMatches(expression, own))
  );
};

const expressionText = ({ key, operator, values = [] }: Expression): string => {
  switch (operator) {
    case 'In':
      return `${key} in (${values.join(',')})`;
    case 'NotIn':
      return `${key} notin (${values.join(',')})`;
    case 'Exists':
      return key;
    case 'DoesNotExist':
      return `!${key}`;
  }
};

/** For a list's `labelSelector`; an empty one selects every pod of the namespace there, too. */
export const selectorText = ({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string =>
  [
    ...Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`),
    ...matchExpressions.map(expressionText),
  ].join(',');
