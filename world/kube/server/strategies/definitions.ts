// CustomResourceDefinitions: what the server checks and sets. They are established at once;
// custom-kinds.ts serves the kinds that they define.
import type { JsonObject } from '../../../../src/api/json.ts';
import { objectOr } from '../../../../src/api/json.ts';
import type { Strategy } from '../definition.ts';
import {
  finalizersOf,
  metadataOf,
  objectsOf,
  type Stored,
  specOf,
  textOf,
  withMetadata,
} from '../objects.ts';
import {
  type FieldError,
  immutableField,
  invalidValue,
  requiredValue,
  unsupportedValue,
} from '../status.ts';

export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

const namesOf = (crd: JsonObject): JsonObject => objectOr(specOf(crd).names);

function withNames(crd: JsonObject): JsonObject {
  const spec = specOf(crd);
  const names = namesOf(crd);
  const kind = textOf(names.kind) ?? '';
  return {
    ...crd,
    spec: {
      ...spec,
      conversion: spec.conversion ?? { strategy: 'None' },
      names: {
        ...names,
        singular: names.singular ?? kind.toLowerCase(),
        listKind: names.listKind ?? `${kind}List`,
      },
    },
  };
}

function validateVersions(crd: JsonObject): readonly FieldError[] {
  const versions = objectsOf(specOf(crd).versions);
  const errors: FieldError[] = [];
  if (versions.length === 0) errors.push(requiredValue('spec.versions'));
  const stored = versions.filter((version) => version.storage === true);
  if (versions.length > 0 && stored.length !== 1) {
    const message = 'must have exactly one version marked as storage version';
    errors.push(invalidValue('spec.versions', versions, message));
  }
  for (const [index, version] of versions.entries()) {
    const at = `spec.versions[${index}]`;
    if (objectOr(version.schema).openAPIV3Schema === undefined) {
      const field = `${at}.schema.openAPIV3Schema`;
      errors.push(requiredValue(field, 'schemas are required'));
    }
    if (typeof version.served !== 'boolean') errors.push(requiredValue(`${at}.served`));
  }
  return errors;
}

function validateDefinition(crd: JsonObject): readonly FieldError[] {
  const spec = specOf(crd);
  const names = namesOf(crd);
  const name = textOf(metadataOf(crd).name) ?? '';
  const errors: FieldError[] = [];
  for (const field of ['plural', 'kind']) {
    if ((textOf(names[field]) ?? '') === '') errors.push(requiredValue(`spec.names.${field}`));
  }
  if ((textOf(spec.group) ?? '') === '') errors.push(requiredValue('spec.group'));
  if (name !== `${textOf(names.plural) ?? ''}.${textOf(spec.group) ?? ''}`) {
    const message = 'must be spec.names.plural+"."+spec.group';
    errors.push(invalidValue('metadata.name', name, message));
  }
  const scopes = ['Cluster', 'Namespaced'];
  if (spec.scope === undefined) errors.push(requiredValue('spec.scope'));
  else if (!scopes.includes(textOf(spec.scope) ?? '')) {
    errors.push(unsupportedValue('spec.scope', spec.scope, scopes));
  }
  return [...errors, ...validateVersions(crd)];
}

const accepted = (type: string, reason: string, message: string, time: string): JsonObject => ({
  type,
  status: 'True',
  lastTransitionTime: time,
  reason,
  message,
});

export const definitionStrategy: Strategy = {
  prepareForCreate: (crd) => {
    const finalizers = [...new Set([...finalizersOf(crd), cleanupFinalizer])];
    return withMetadata(withNames(crd), { finalizers });
  },
  prepareForUpdate: withNames,
  initialStatus: (crd, { time }) => ({
    conditions: [
      accepted('NamesAccepted', 'NoConflicts', 'no conflicts found', time),
      accepted('Established', 'InitialNamesAccepted', 'the initial names have been accepted', time),
    ],
    acceptedNames: namesOf(crd),
    storedVersions: objectsOf(specOf(crd).versions)
      .filter((version) => version.storage === true)
      .map((version) => version.name ?? ''),
  }),
  validate: validateDefinition,
  validateUpdate: (next: JsonObject, old: Stored) => {
    const errors: FieldError[] = [];
    for (const field of ['group', 'scope']) {
      const after = specOf(next)[field];
      if (after !== specOf(old)[field]) errors.push(immutableField(`spec.${field}`, after));
    }
    for (const field of ['plural', 'kind']) {
      const after = namesOf(next)[field];
      if (after !== namesOf(old)[field]) {
        errors.push(immutableField(`spec.names.${field}`, after));
      }
    }
    return errors;
  },
};
