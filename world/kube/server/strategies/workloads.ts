// Deployments, ReplicaSets, DaemonSets, StatefulSets: immutable selectors that match their
// template, non-negative counts, the mutable fields of a StatefulSet.
import { type JsonObject, objectOr } from '../../../../src/api/json.ts';
import { values } from '../../schema/index.ts';
import type { Strategy } from '../definition.ts';
import { labelsOf, numberOf, type Stored, specOf, withFields } from '../objects.ts';
import { isEmptySelector, labelSelectorMatcher } from '../selectors.ts';
import {
  type FieldError,
  forbiddenValue,
  immutableField,
  invalidValue,
  requiredValue,
  unsupportedValue,
} from '../status.ts';
import { validatePodSpec } from './pods.ts';

const notNegative = (spec: JsonObject, field: string): readonly FieldError[] => {
  const value = numberOf(spec[field]);
  if (value === undefined || value >= 0) return [];
  return [invalidValue(`spec.${field}`, value, 'must be greater than or equal to 0')];
};

function validateWorkload(object: JsonObject): readonly FieldError[] {
  const spec = specOf(object);
  const template = objectOr(spec.template);
  const errors: FieldError[] = [];
  errors.push(...notNegative(spec, 'replicas'), ...notNegative(spec, 'minReadySeconds'));
  if (spec.selector === undefined || spec.selector === null) {
    errors.push(requiredValue('spec.selector'));
  } else if (isEmptySelector(spec.selector)) {
    const message = 'empty selector is invalid for deployment';
    errors.push(invalidValue('spec.selector', spec.selector, message));
  } else if (!labelSelectorMatcher(spec.selector)(labelsOf(template))) {
    const message = '`selector` does not match template `labels`';
    errors.push(invalidValue('spec.template.metadata.labels', labelsOf(template), message));
  }
  const podSpec = specOf(template);
  errors.push(...validatePodSpec(podSpec, 'spec.template.spec'));
  const policy = podSpec.restartPolicy;
  if (policy !== undefined && policy !== 'Always') {
    errors.push(unsupportedValue('spec.template.spec.restartPolicy', policy, ['Always']));
  }
  return errors;
}

const selectorKept = (next: JsonObject, old: Stored): readonly FieldError[] => {
  const after = specOf(next).selector;
  return values.deepEqual(after, specOf(old).selector)
    ? []
    : [immutableField('spec.selector', after)];
};

const workloadStrategy: Strategy = { validate: validateWorkload, validateUpdate: selectorKept };

export const deploymentStrategy: Strategy = {
  ...workloadStrategy,
  validate: (object) => [...validateWorkload(object), ...rolloutMoves(specOf(object))],
};

function rolloutMoves(spec: JsonObject): readonly FieldError[] {
  const rolling = objectOr(objectOr(spec.strategy).rollingUpdate);
  const isZero = (value: unknown): boolean => value === 0 || value === '0%' || value === '0';
  if (!isZero(rolling.maxSurge) || !isZero(rolling.maxUnavailable)) return [];
  const field = 'spec.strategy.rollingUpdate.maxUnavailable';
  return [invalidValue(field, rolling.maxUnavailable, 'may not be 0 when `maxSurge` is 0')];
}

export const replicaSetStrategy: Strategy = {
  ...workloadStrategy,
  initialStatus: () => ({ replicas: 0 }),
};
export const daemonSetStrategy: Strategy = {
  ...workloadStrategy,
  initialStatus: () => ({
    currentNumberScheduled: 0,
    desiredNumberScheduled: 0,
    numberMisscheduled: 0,
    numberReady: 0,
  }),
};

const statefulSetMutable = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
] as const;

export const statefulSetStrategy: Strategy = {
  initialStatus: () => ({ availableReplicas: 0, replicas: 0 }),
  validate: validateWorkload,
  validateUpdate: (next, old) => {
    const drop = Object.fromEntries(statefulSetMutable.map((field) => [field, undefined]));
    const same = values.deepEqual(withFields(specOf(next), drop), withFields(specOf(old), drop));
    if (same) return [];
    const message =
      "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', " +
      "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and " +
      "'minReadySeconds' are forbidden";
    return [forbiddenValue('spec', message)];
  },
};
