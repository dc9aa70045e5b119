// Label selectors as text for a list of the API server. Never parses one.
import type { LabelSelector } from '../../api/kube.ts';

type Expression = NonNullable<LabelSelector['matchExpressions']>[number];

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
