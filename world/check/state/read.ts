// Reads fields of foreign JSON, and compiles label selectors, for the oracles' model of the
// cluster. Never throws: a missing field reads as empty or undefined.
import { parseTime } from '../../../src/api/brand.ts';
import { isObject, type JsonObject, objectOr } from '../../../src/api/json.ts';

/** Microseconds, as every `at` of a trace. */
export const microsPerSecond = 1_000_000;
export const microsPerMinute = 60 * microsPerSecond;

const none: readonly never[] = [];

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

export const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' ? value : undefined;

export const objectsOf = (value: unknown): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : none;

export const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : none;

/** An RFC 3339 time in microseconds since the epoch. */
export const timeOf = (value: unknown): number | undefined => {
  const ms = parseTime(typeof value === 'string' ? value : undefined);
  return ms === undefined ? undefined : ms * 1000;
};

/** Status of a condition; empty if the condition does not exist. */
export const conditionStatus = (status: JsonObject, type: string): string => {
  const { conditions } = status;
  if (!Array.isArray(conditions)) return '';
  for (const condition of conditions) {
    if (isObject(condition) && condition.type === type) return textOf(condition.status);
  }
  return '';
};

/** Deleted and without finalizers: an audit log shows no later event of the object. */
export const isReleased = (object: JsonObject): boolean => {
  const { deletionTimestamp, finalizers } = objectOr(object.metadata);
  return deletionTimestamp !== undefined && textsOf(finalizers).length === 0;
};

export const keyOf = (namespace: string | undefined, name: string | undefined): string =>
  namespace === undefined || namespace === '' ? (name ?? '') : `${namespace}/${name ?? ''}`;

export type LabelMatch = (labels: JsonObject) => boolean;

const expressionMatch = (expression: JsonObject): LabelMatch => {
  const key = textOf(expression.key);
  const values = new Set(textsOf(expression.values));
  switch (expression.operator) {
    case 'In':
      return (labels) => values.has(textOf(labels[key])) && labels[key] !== undefined;
    case 'NotIn':
      return (labels) => labels[key] === undefined || !values.has(textOf(labels[key]));
    case 'Exists':
      return (labels) => labels[key] !== undefined;
    case 'DoesNotExist':
      return (labels) => labels[key] === undefined;
    default:
      return () => false;
  }
};

/**
 * Selects as policy/v1 does: an empty selector selects every pod of its namespace, a missing one
 * none.
 */
export const selectorMatch = (selector: unknown): LabelMatch => {
  if (!isObject(selector)) return () => false;
  const wanted = Object.entries(objectOr(selector.matchLabels));
  const expressions = objectsOf(selector.matchExpressions).map(expressionMatch);
  return (labels) =>
    wanted.every(([key, value]) => labels[key] === value) &&
    expressions.every((matches) => matches(labels));
};
