// Kinds that are nearly plain storage: ConfigMaps and Secrets with their immutable field, budgets,
// leases, volumes, storage classes.
import { type Json, type JsonObject, objectOr } from '../../../../src/api/json.ts';
import { values } from '../../schema/index.ts';
import type { Strategy, WriteContext } from '../definition.ts';
import { limitClaim } from '../limit-ranges.ts';
import { metadataOf, numberOf, type Stored, specOf, withFields, withMetadata } from '../objects.ts';
import { type FieldError, forbiddenValue, immutableField, invalidValue } from '../status.ts';

function immutableData(fields: readonly string[]) {
  return (next: JsonObject, old: Stored): readonly FieldError[] => {
    if (old.immutable !== true) return [];
    const message = 'field is immutable when `immutable` is set';
    return fields
      .filter((field) => !values.deepEqual(next[field], old[field]))
      .map((field) => forbiddenValue(field, message));
  };
}

/** Valid keys, which volumes use as file names: apimachinery's IsConfigMapKey. */
const keyRules: readonly { readonly holds: (key: string) => boolean; readonly words: string }[] = [
  { holds: (key) => key.length <= 253, words: 'must be no more than 253 characters' },
  {
    holds: (key) => /^[-._a-zA-Z0-9]+$/.test(key),
    words:
      "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. " +
      "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is " +
      "'[-._a-zA-Z0-9]+')",
  },
  { holds: (key) => key !== '.', words: "must not be '.'" },
  { holds: (key) => key !== '..', words: "must not be '..'" },
  { holds: (key) => key === '..' || !key.startsWith('..'), words: "must not start with '..'" },
];

/** Total of all values, decoded. */
const maxDataBytes = 1024 * 1024;

const textBytes = (value: Json): number => new TextEncoder().encode(String(value)).length;
const base64Bytes = (value: Json): number =>
  Math.floor((String(value).replaceAll('=', '').length * 3) / 4);

const keyErrors = (at: string, key: string): readonly FieldError[] =>
  keyRules.filter(({ holds }) => !holds(key)).map(({ words }) => invalidValue(at, key, words));

const tooMuchData = (field: string): FieldError => {
  const body = `Too long: may not be more than ${maxDataBytes} bytes`;
  return { type: 'FieldValueTooLong', field, body };
};

function validateConfigMap(map: JsonObject): readonly FieldError[] {
  const errors: FieldError[] = [];
  const binary = objectOr(map.binaryData);
  let size = 0;
  for (const [key, value = ''] of Object.entries(objectOr(map.data))) {
    const at = `data[${key}]`;
    errors.push(...keyErrors(at, key));
    const isTwice = Object.hasOwn(binary, key);
    if (isTwice) errors.push(invalidValue(at, key, 'duplicate of key present in binaryData'));
    size += textBytes(value);
  }
  for (const [key, value = ''] of Object.entries(binary)) {
    errors.push(...keyErrors(`binaryData[${key}]`, key));
    size += base64Bytes(value);
  }
  return size > maxDataBytes ? [...errors, tooMuchData('[]')] : errors;
}

function validateSecret(secret: JsonObject): readonly FieldError[] {
  const errors: FieldError[] = [];
  let size = 0;
  for (const [key, value = ''] of Object.entries(objectOr(secret.data))) {
    errors.push(...keyErrors(`data[${key}]`, key));
    size += base64Bytes(value);
  }
  return size > maxDataBytes ? [...errors, tooMuchData('data')] : errors;
}

export const configMapStrategy: Strategy = {
  validate: validateConfigMap,
  validateUpdate: immutableData(['data', 'binaryData', 'immutable']),
};

/** Byte by byte: a Secret may have more bytes than a call may have arguments. */
const base64 = (text: string): string => {
  let binary = '';
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte);
  return btoa(binary);
};

/** stringData is write-only: it is encoded and merged into data. */
function foldStringData(secret: JsonObject): JsonObject {
  const typed = secret.type === undefined ? { ...secret, type: 'Opaque' } : secret;
  const plain = objectOr(typed.stringData);
  if (typed.stringData === undefined) return typed;
  const data: Record<string, Json | undefined> = { ...objectOr(typed.data) };
  for (const [key, value] of Object.entries(plain)) data[key] = base64(String(value));
  return withFields(typed, { stringData: undefined, data });
}

export const secretStrategy: Strategy = {
  prepareForCreate: foldStringData,
  prepareForUpdate: foldStringData,
  validate: validateSecret,
  validateUpdate: (next, old) => [
    ...(next.type === old.type ? [] : [immutableField('type', next.type)]),
    ...immutableData(['data', 'immutable'])(next, old),
  ],
};

/** policy/v1's ValidatePodDisruptionBudgetSpec. */
function validateBudget(budget: JsonObject): readonly FieldError[] {
  const spec = specOf(budget);
  const errors: FieldError[] = [];
  if (spec.minAvailable !== undefined && spec.maxUnavailable !== undefined) {
    errors.push(invalidValue('spec', spec, 'minAvailable and maxUnavailable cannot be both set'));
  }
  for (const field of ['minAvailable', 'maxUnavailable']) {
    const value = spec[field];
    if (typeof value === 'number' && value < 0) {
      errors.push(invalidValue(`spec.${field}`, value, 'must be greater than or equal to 0'));
    }
    if (typeof value === 'string' && !/^[0-9]+%$/.test(value)) {
      const message =
        "a valid percent string must be a numeric string followed by an ending '%' (e.g. " +
        "'1%',  or " +
        "'93%', regex used for validation is '[0-9]+%')";
      errors.push(invalidValue(`spec.${field}`, value, message));
    } else if (typeof value === 'string' && Number.parseInt(value, 10) > 100) {
      errors.push(invalidValue(`spec.${field}`, value, 'must not be greater than 100%'));
    }
  }
  return errors;
}

export const budgetStrategy: Strategy = {
  validate: validateBudget,
  initialStatus: () => ({
    currentHealthy: 0,
    desiredHealthy: 0,
    disruptionsAllowed: 0,
    expectedPods: 0,
  }),
};

export const leaseStrategy: Strategy = {
  validate: (lease) => {
    const spec = specOf(lease);
    const duration = numberOf(spec.leaseDurationSeconds);
    const transitions = numberOf(spec.leaseTransitions);
    const errors: FieldError[] = [];
    if (duration !== undefined && duration <= 0) {
      errors.push(invalidValue('spec.leaseDurationSeconds', duration, 'must be greater than 0'));
    }
    if (transitions !== undefined && transitions < 0) {
      const message = 'must be greater than or equal to 0';
      errors.push(invalidValue('spec.leaseTransitions', transitions, message));
    }
    return errors;
  },
};

export const storageClassStrategy: Strategy = {
  prepareForCreate: (object) => ({
    ...object,
    reclaimPolicy: object.reclaimPolicy ?? 'Delete',
    volumeBindingMode: object.volumeBindingMode ?? 'Immediate',
  }),
  validateUpdate: (next, old) =>
    ['provisioner', 'parameters', 'reclaimPolicy', 'volumeBindingMode']
      .filter((field) => !values.deepEqual(next[field], old[field]))
      .map((field) => forbiddenValue(field, 'updates to this field are forbidden.')),
};

/** StorageObjectInUseProtection admission: the finalizer keeps objects that are in use. */
const withFinalizer = (object: JsonObject, finalizer: string): JsonObject => {
  const finalizers = metadataOf(object).finalizers;
  const present = Array.isArray(finalizers) ? finalizers : [];
  return present.includes(finalizer)
    ? object
    : withMetadata(object, { finalizers: [...present, finalizer] });
};

const storageClasses = { group: 'storage.k8s.io', resource: 'storageclasses' };
const defaultClass = 'storageclass.kubernetes.io/is-default-class';

/** DefaultStorageClass admission: a claim without a class gets the default one. */
function withDefaultClass(claim: JsonObject, { store }: WriteContext): JsonObject {
  const spec = specOf(claim);
  if (spec.storageClassName !== undefined) return claim;
  const standard = store
    .list(storageClasses)
    .find((one) => objectOr(metadataOf(one).annotations)[defaultClass] === 'true');
  if (standard === undefined) return claim;
  return { ...claim, spec: { ...spec, storageClassName: standard.metadata.name } };
}

export const volumeStrategy: Strategy = {
  initialStatus: () => ({ phase: 'Pending' }),
  prepareForCreate: (volume) => withFinalizer(volume, 'kubernetes.io/pv-protection'),
};

export const claimStrategy: Strategy = {
  initialStatus: () => ({ phase: 'Pending' }),
  prepareForCreate: (claim, context) => {
    limitClaim(context.store, claim);
    return withDefaultClass(withFinalizer(claim, 'kubernetes.io/pvc-protection'), context);
  },
};
