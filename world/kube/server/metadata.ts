// Metadata rules of all kinds (apimachinery's ValidateObjectMeta, apiserver's rest.BeforeCreate and
// BeforeUpdate): names, labels, fields that the server sets, immutable fields.
import { isObject, type Json, type JsonObject, objectOr } from '../../../src/api/json.ts';
import { nameSuffix, uuid } from '../../kernel/index.ts';
import { values } from '../schema/index.ts';
import type { NameRule, ResourceDefinition, WriteContext } from './definition.ts';
import {
  listOf,
  metadataOf,
  objectsOf,
  type Stored,
  textOf,
  textsOf,
  withFields,
  withMetadata,
} from './objects.ts';
import { isLabelKey, isLabelValue } from './selectors.ts';
import {
  type FieldError,
  failure,
  forbiddenValue,
  immutableField,
  invalidValue,
  requiredValue,
} from './status.ts';
import { labelMessage } from './strategies/pods.ts';

const subdomain = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
const subdomainMessage =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' " +
  "or '.', " +
  "and must start and end with an alphanumeric character (e.g. 'example.com', regex used for " +
  "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const label = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;
const label1035 = /^[a-z](?:[-a-z0-9]*[a-z0-9])?$/;
const label1035Message =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an " +
  "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', " +
  "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

/** Total of all keys and values, in bytes; non-ASCII text counts by characters. */
const maxAnnotations = 256 * 1024;

/** Why `name` is not allowed, or undefined. */
function nameTrouble(rule: NameRule, name: string): string | undefined {
  switch (rule) {
    case 'subdomain':
      if (name.length > 253) return 'must be no more than 253 characters';
      return subdomain.test(name) ? undefined : subdomainMessage;
    case 'label':
      if (name.length > 63) return 'must be no more than 63 characters';
      return label.test(name) ? undefined : labelMessage;
    case 'label1035':
      if (name.length > 63) return 'must be no more than 63 characters';
      return label1035.test(name) ? undefined : label1035Message;
    case 'path':
      if (name === '.' || name === '..') return `may not be '${name}'`;
      if (name.includes('/')) return "may not contain '/'";
      return name.includes('%') ? "may not contain '%'" : undefined;
  }
}

function mapTrouble(metadata: JsonObject): readonly FieldError[] {
  const errors: FieldError[] = [];
  const keyMessage =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end " +
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for " +
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
  const valueMessage =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' " +
    "or '.', " +
    "and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or " +
    "'12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
  for (const [key, value] of Object.entries(objectOr(metadata.labels))) {
    if (!isLabelKey(key)) errors.push(invalidValue('metadata.labels', key, keyMessage));
    else if (!isLabelValue(String(value))) {
      errors.push(invalidValue('metadata.labels', value ?? '', valueMessage));
    }
  }
  let size = 0;
  for (const [key, value] of Object.entries(objectOr(metadata.annotations))) {
    if (!isLabelKey(key.toLowerCase())) {
      errors.push(invalidValue('metadata.annotations', key, keyMessage));
    }
    size += key.length + String(value).length;
  }
  if (size > maxAnnotations) {
    const body = `Too long: may not be more than ${maxAnnotations} bytes`;
    errors.push({ type: 'FieldValueTooLong', field: 'metadata.annotations', body });
  }
  return errors;
}

const standardFinalizers = ['orphan', 'foregroundDeletion', 'kubernetes'];

function referenceTrouble(metadata: JsonObject): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, owner] of objectsOf(metadata.ownerReferences).entries()) {
    for (const field of ['apiVersion', 'kind', 'name', 'uid']) {
      if ((textOf(owner[field]) ?? '') === '') {
        const at = `metadata.ownerReferences[${index}].${field}`;
        errors.push(invalidValue(at, owner[field] ?? '', `${field} must not be empty`));
      }
    }
  }
  const controllers = objectsOf(metadata.ownerReferences).filter(
    (owner) => owner.controller === true,
  );
  if (controllers.length > 1) {
    const message = 'Only one reference can have Controller set to true.';
    errors.push(invalidValue('metadata.ownerReferences', controllers, message));
  }
  for (const [index, finalizer] of textsOf(metadata.finalizers).entries()) {
    const at = `metadata.finalizers[${index}]`;
    if (!isLabelKey(finalizer)) {
      errors.push(invalidValue(at, finalizer, 'name part must consist of alphanumeric characters'));
    } else if (!finalizer.includes('/') && !standardFinalizers.includes(finalizer)) {
      if (!finalizer.includes('.')) {
        const message = 'name is neither a standard finalizer name nor is it fully qualified';
        errors.push(invalidValue(at, finalizer, message));
      }
    }
  }
  return errors;
}

export function validateMetadata(
  definition: ResourceDefinition,
  object: JsonObject,
): readonly FieldError[] {
  const metadata = metadataOf(object);
  const name = textOf(metadata.name) ?? '';
  const errors: FieldError[] = [];
  if (name === '') {
    errors.push(requiredValue('metadata.name', 'name or generateName is required'));
  } else {
    const trouble = nameTrouble(definition.nameRule, name);
    if (trouble !== undefined) errors.push(invalidValue('metadata.name', name, trouble));
  }
  return [...errors, ...mapTrouble(metadata), ...referenceTrouble(metadata)];
}

/**
 * Metadata of an object about to be created: sets system fields, drops the client's values of them.
 */
export function freshMetadata(
  definition: ResourceDefinition,
  object: JsonObject,
  context: WriteContext,
  namespace: string | undefined,
): JsonObject {
  const given = metadataOf(object);
  if (given.resourceVersion !== undefined && given.resourceVersion !== '') {
    throw failure(500, undefined, 'resourceVersion should not be set on objects to be created');
  }
  const prefix = textOf(given.generateName) ?? '';
  const name = textOf(given.name) ?? '';
  const generated =
    name === '' && prefix !== '' ? prefix.slice(0, 58) + nameSuffix(context.random) : name;
  return withFields(given, {
    name: generated === '' ? undefined : generated,
    generateName: prefix === '' ? undefined : prefix,
    namespace: definition.namespaced ? namespace : undefined,
    uid: uuid(context.random),
    resourceVersion: undefined,
    generation: definition.generation === 'none' ? undefined : 1,
    creationTimestamp: context.time,
    deletionTimestamp: undefined,
    deletionGracePeriodSeconds: undefined,
    selfLink: undefined,
    managedFields: undefined,
    labels: emptyToUndefined(given.labels),
    annotations: emptyToUndefined(given.annotations),
    finalizers: listOf(given.finalizers).length === 0 ? undefined : given.finalizers,
    ownerReferences: listOf(given.ownerReferences).length === 0 ? undefined : given.ownerReferences,
  });
}

const emptyToUndefined = (value: Json | undefined): Json | undefined =>
  isObject(value) && Object.keys(value).length > 0 ? value : undefined;

/** Copies from the stored object what a client may omit in an update. */
export function carriedMetadata(given: JsonObject, old: Stored): JsonObject {
  const before = metadataOf(old);
  const next: Record<string, Json | undefined> = { ...given };
  if (next.uid === undefined || next.uid === '') next.uid = before.uid;
  if (next.creationTimestamp === undefined || next.creationTimestamp === null) {
    next.creationTimestamp = before.creationTimestamp;
  }
  if (before.deletionTimestamp !== undefined) {
    next.deletionTimestamp = before.deletionTimestamp;
    next.deletionGracePeriodSeconds ??= before.deletionGracePeriodSeconds;
  }
  if (before.namespace !== undefined) next.namespace ??= before.namespace;
  next.generateName = before.generateName;
  next.generation = before.generation;
  next.resourceVersion = before.resourceVersion;
  next.labels = emptyToUndefined(next.labels);
  next.annotations = emptyToUndefined(next.annotations);
  if (listOf(next.finalizers).length === 0) next.finalizers = undefined;
  if (listOf(next.ownerReferences).length === 0) next.ownerReferences = undefined;
  // Managers are computed once the rest of the write is known.
  next.managedFields = before.managedFields;
  next.selfLink = undefined;
  const kept: Record<string, Json> = {};
  for (const key of Object.keys(next)) {
    const value = next[key];
    if (value !== undefined && value !== null) kept[key] = value;
  }
  return values.deepEqual(kept, before) ? before : kept;
}

const immutable = [
  'name',
  'namespace',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const;

export function validateMetadataUpdate(next: JsonObject, old: Stored): readonly FieldError[] {
  const after = metadataOf(next);
  const before = metadataOf(old);
  if (after === before) return [];
  const errors: FieldError[] = [];
  if (before.deletionTimestamp !== undefined) {
    const known = textsOf(before.finalizers);
    const added = textsOf(after.finalizers).filter((finalizer) => !known.includes(finalizer));
    if (added.length > 0) {
      const list = added.map((finalizer) => `"${finalizer}"`).join(', ');
      const message =
        'no new finalizers can be added if the object is being deleted, ' +
        `found new finalizers []string{${list}}`;
      errors.push(forbiddenValue('metadata.finalizers', message));
    }
  }
  for (const field of immutable) {
    if (!values.deepEqual(after[field], before[field])) {
      errors.push(immutableField(`metadata.${field}`, after[field]));
    }
  }
  return errors;
}

/** Raises the generation by one when fields that the kind's controller acts on have changed. */
export function withGeneration(
  definition: ResourceDefinition,
  next: JsonObject,
  old: Stored,
): JsonObject {
  const before = old.metadata.generation;
  if (definition.generation === 'none' || before === undefined) return next;
  const changed =
    definition.generation === 'content'
      ? !values.deepEqual(contentOf(definition, next), contentOf(definition, old))
      : !values.deepEqual(next.spec, old.spec) ||
        (definition.generation === 'annotations' &&
          !values.deepEqual(metadataOf(next).annotations, metadataOf(old).annotations));
  return changed ? withMetadata(next, { generation: before + 1 }) : next;
}

const contentOf = (definition: ResourceDefinition, object: JsonObject): JsonObject =>
  withFields(object, {
    metadata: undefined,
    ...(definition.hasStatus ? { status: undefined } : {}),
  });
