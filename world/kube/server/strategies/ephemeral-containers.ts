// Ephemeral containers (`kubectl debug`): can be added to an existing pod, never changed or
// removed. Upstream: ValidatePodEphemeralContainersUpdate (pkg/apis/core/validation, 1.32).
import type { JsonObject } from '../../../../src/api/json.ts';
import { values } from '../../schema/index.ts';
import { objectsOf, type Stored, specOf, textOf } from '../objects.ts';
import {
  duplicateValue,
  type FieldError,
  forbiddenValue,
  notFoundValue,
  requiredValue,
} from '../status.ts';

const path = 'spec.ephemeralContainers';

/** Fields of a container that an ephemeral one may not set. */
const neverSet = [
  'ports',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
  'resources',
  'resizePolicy',
];

const isSet = (container: JsonObject, field: string): boolean => {
  const value = container[field];
  if (Array.isArray(value)) return value.length > 0;
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
};

function shapeErrors(container: JsonObject, at: string, others: readonly string[]): FieldError[] {
  const errors: FieldError[] = [];
  const name = textOf(container.name) ?? '';
  if (name === '') errors.push(requiredValue(`${at}.name`));
  if ((textOf(container.image) ?? '') === '') errors.push(requiredValue(`${at}.image`));
  for (const field of neverSet) {
    if (!isSet(container, field)) continue;
    errors.push(forbiddenValue(`${at}.${field}`, 'cannot be set for an Ephemeral Container'));
  }
  const target = textOf(container.targetContainerName) ?? '';
  if (target !== '' && !others.includes(target)) {
    errors.push(notFoundValue(`${at}.targetContainerName`, target));
  }
  return errors;
}

export function validateEphemeralContainers(next: JsonObject, old: Stored): readonly FieldError[] {
  const errors: FieldError[] = [];
  const [spec, before] = [specOf(next), objectsOf(specOf(old).ephemeralContainers)];
  const others = ['containers', 'initContainers'].flatMap((list) =>
    objectsOf(spec[list]).map((container) => textOf(container.name) ?? ''),
  );
  const wanted = objectsOf(spec.ephemeralContainers);
  const seen = new Set(others);
  for (const [index, container] of wanted.entries()) {
    errors.push(...shapeErrors(container, `${path}[${index}]`, others));
    const name = textOf(container.name) ?? '';
    if (seen.has(name)) errors.push(duplicateValue(`${path}[${index}].name`, name));
    seen.add(name);
  }
  for (const container of before) {
    const name = textOf(container.name) ?? '';
    const after = wanted.find((one) => one.name === container.name);
    const existing = `existing ephemeral containers "${name}" may not be`;
    if (after === undefined) errors.push(forbiddenValue(path, `${existing} removed\n`));
    else if (!values.deepEqual(after, container)) {
      errors.push(forbiddenValue(path, `${existing} changed\n`));
    }
  }
  return errors;
}
