// Label selectors as text for a list call to the API server. Never parses one.
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

/** For the `labelSelector` of a list; an empty one selects every pod, as in a budget. */
export const selectorText = ({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string =>
  [
    ...Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`),
    ...matchExpressions.map(expressionText),
  ].join(',');
