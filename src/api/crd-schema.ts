// Building blocks for structural schemas of CustomResourceDefinitions: every text, list and map has
// a bound. Knows none of our objects.
import type { JsonObject } from './json.ts';

export type Schema = JsonObject;

export const text = (maxLength = 253): Schema => ({ type: 'string', maxLength });
export const longText: Schema = text(4096);
export const time: Schema = { type: 'string', format: 'date-time' };
export const boolean: Schema = { type: 'boolean' };
export const count: Schema = { type: 'integer', format: 'int32', minimum: 0 };
export const positive: Schema = { ...count, minimum: 1 };
export const oneOf = (values: readonly string[]): Schema => ({ type: 'string', enum: [...values] });
export const listOf = (items: Schema, maxItems: number): Schema => ({
  type: 'array',
  items,
  maxItems,
});
export const mapOf = (values: Schema, maxProperties: number): Schema => ({
  type: 'object',
  additionalProperties: values,
  maxProperties,
});
export const object = (
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[] = [],
): Schema => ({
  type: 'object',
  properties,
  ...(required.length === 0 ? {} : { required: [...required] }),
});

/** Like metav1.LabelSelector. */
export const labelSelector: Schema = object({
  matchLabels: mapOf(text(63), 16),
  matchExpressions: listOf(
    object(
      {
        key: text(317),
        operator: oneOf(['In', 'NotIn', 'Exists', 'DoesNotExist']),
        values: listOf(text(63), 16),
      },
      ['key', 'operator'],
    ),
    16,
  ),
});

export const generation: Schema = { type: 'integer', format: 'int64', minimum: 0 };

/** Like metav1.Condition, but with our types' optional fields. */
export const conditions: Schema = {
  ...listOf(
    object(
      {
        type: text(316),
        status: oneOf(['True', 'False', 'Unknown']),
        reason: longText,
        message: text(32768),
        lastTransitionTime: time,
        lastHeartbeatTime: time,
        observedGeneration: { type: 'integer', format: 'int64', minimum: 0 },
      },
      ['type', 'status'],
    ),
    16,
  ),
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
};

/**
 * Reserved by Kubernetes and EKS, as CEL patterns; a name that only ends like one (x.kubernetes.io)
 * is allowed.
 */
const reservedPrefixes = ['kubernetes[.]io', 'k8s[.]io', 'eks[.]amazonaws[.]com'];

/** Kubernetes' rule for a label value; the API server's own message describes a violation. */
const labelValue = '^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$';

const labelPrefix = '[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/';
/** Kubernetes' rule for the key of a label or taint; [.] because CEL would unescape \\. */
const labelKey = `^(${labelPrefix})?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`;

/** Labels for nodes. A schema has no pattern for keys, so a CEL rule checks them. */
export const nodeLabels: Schema = {
  ...mapOf({ ...text(63), pattern: labelValue }, 50),
  'x-kubernetes-validations': [
    {
      rule: `self.all(key, key.matches('${labelKey}'))`,
      message:
        "a label's key is an optional DNS name and '/', then at most 63 alphanumeric characters, " +
        "'-', '_' or '.', with an alphanumeric one at both ends",
    },
    {
      rule: `self.all(key, !key.matches('^(${reservedPrefixes.join('|')})/'))`,
      message:
        'labels with the prefixes kubernetes.io/, k8s.io/ and eks.amazonaws.com/ are reserved',
    },
  ],
};

export const taint: Schema = object(
  {
    key: { ...text(317), pattern: labelKey },
    value: { ...text(63), pattern: labelValue },
    effect: oneOf(['NoSchedule', 'PreferNoSchedule', 'NoExecute']),
    timeAdded: time,
  },
  ['key', 'effect'],
);
