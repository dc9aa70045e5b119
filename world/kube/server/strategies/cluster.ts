// Nodes, namespaces and priority classes: the fields that the server sets, and the immutable ones.
import type { JsonObject } from '../../../../src/api/json.ts';
import { values } from '../../schema/index.ts';
import type { Strategy } from '../definition.ts';
import {
  labelsOf,
  metadataOf,
  objectsOf,
  type Stored,
  specOf,
  textOf,
  withFields,
  withMetadata,
} from '../objects.ts';
import { isLabelKey, isLabelValue } from '../selectors.ts';
import {
  duplicateValue,
  type FieldError,
  forbiddenValue,
  invalidValue,
  requiredValue,
  unsupportedValue,
} from '../status.ts';

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

function validateTaints(node: JsonObject): readonly FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, taint] of objectsOf(specOf(node).taints).entries()) {
    const at = `metadata.taints[${index}]`;
    const key = textOf(taint.key) ?? '';
    const value = textOf(taint.value) ?? '';
    const effect = textOf(taint.effect) ?? '';
    if (key === '' || !isLabelKey(key)) {
      errors.push(invalidValue(`${at}.key`, key, 'name part must be non-empty and a valid name'));
    }
    if (!isLabelValue(value)) {
      errors.push(invalidValue(`${at}.value`, value, 'a valid label is required'));
    }
    if (effect === '') errors.push(requiredValue(`${at}.effect`));
    else if (!effects.includes(effect)) {
      errors.push(unsupportedValue(`${at}.effect`, effect, effects));
    }
    const pair = `${key}:${effect}`;
    if (seen.has(pair)) errors.push(duplicateValue(at, taint));
    seen.add(pair);
  }
  return errors;
}

const setOnce =
  (field: string, message: string) =>
  (next: JsonObject, old: Stored): readonly FieldError[] => {
    const before = specOf(old)[field];
    if (before === undefined || before === '') return [];
    return values.deepEqual(specOf(next)[field], before)
      ? []
      : [forbiddenValue(`spec.${field}`, message)];
  };

const providerIdKept = setOnce(
  'providerID',
  'node updates may not change providerID except from "" to valid',
);
const podCidrKept = setOnce(
  'podCIDR',
  'node updates may not change podCIDR except from "" to valid',
);

const notReady = 'node.kubernetes.io/not-ready';

export const nodeStrategy: Strategy = {
  keepsStatus: true,
  // TaintNodesByCondition admission: a new node is tainted until its kubelet reports ready.
  prepareForCreate: (node) => {
    const spec = specOf(node);
    const taints = objectsOf(spec.taints);
    if (taints.some((taint) => taint.key === notReady && taint.effect === 'NoSchedule')) {
      return node;
    }
    return {
      ...node,
      spec: { ...spec, taints: [...taints, { key: notReady, effect: 'NoSchedule' }] },
    };
  },
  validate: validateTaints,
  validateUpdate: (next, old) => [...providerIdKept(next, old), ...podCidrKept(next, old)],
};

export const namespaceStrategy: Strategy = {
  prepareForCreate: (namespace) => {
    const labels = {
      ...labelsOf(namespace),
      'kubernetes.io/metadata.name': metadataOf(namespace).name,
    };
    const spec = specOf(namespace);
    const finalizers = spec.finalizers ?? ['kubernetes'];
    return { ...withMetadata(namespace, { labels }), spec: { ...spec, finalizers } };
  },
  initialStatus: () => ({ phase: 'Active' }),
  // Finalizers of the content can be changed only through /finalize.
  prepareForUpdate: (next, old) => ({
    ...next,
    spec: withFields(specOf(next), { finalizers: specOf(old).finalizers }),
  }),
};

export const priorityClassStrategy: Strategy = {
  prepareForCreate: (priorityClass) =>
    priorityClass.preemptionPolicy === undefined
      ? { ...priorityClass, preemptionPolicy: 'PreemptLowerPriority' }
      : priorityClass,
  validateUpdate: (next, old) =>
    (next.value ?? 0) === (old.value ?? 0)
      ? []
      : [forbiddenValue('value', 'may not be changed in an update.')],
};
