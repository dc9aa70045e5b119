// What a write through /status, /finalize, /approval or /ephemeralcontainers may change; the rest
// of the object stays as stored. Labels through /status are written, as measured on a real control
// plane.
import { isObject, type Json, type JsonObject } from '../../../src/api/json.ts';
import type { ResourceDefinition } from './definition.ts';
import { metadataOf, type Stored, specOf, withFields } from './objects.ts';
import { updateDefaults } from './schemas.ts';
import type { FieldError } from './status.ts';
import { validateEphemeralContainers } from './strategies/ephemeral-containers.ts';

export type Subresource = 'status' | 'finalize' | 'approval' | 'ephemeralcontainers';

/** Restores from the stored object the metadata that a write through /status may not change. */
function statusMetadata(definition: ResourceDefinition, next: JsonObject, old: Stored): JsonObject {
  const before = metadataOf(old);
  if (definition.statusMetadata === 'none') return before;
  const after = metadataOf(next);
  if (after === before) return before;
  return withFields(after, {
    labels: definition.statusMetadata === 'labels' ? after.labels : before.labels,
    ownerReferences: before.ownerReferences,
    deletionTimestamp: before.deletionTimestamp,
    deletionGracePeriodSeconds: before.deletionGracePeriodSeconds,
  });
}

/** The stored object with the fields that this subresource may change taken from `next`. */
export function prepareSubresource(
  definition: ResourceDefinition,
  subresource: Subresource,
  next: JsonObject,
  old: Stored,
  time: string,
): JsonObject {
  switch (subresource) {
    case 'status': {
      const metadata = statusMetadata(definition, next, old);
      return withFields(old, { metadata, status: keptApproval(definition, next, old) });
    }
    case 'finalize': {
      const finalizers = specOf(next).finalizers;
      return withFields(old, { spec: withFields(specOf(old), { finalizers }) });
    }
    case 'approval':
      return withFields(old, { status: approvalStatus(next, old, time) });
    case 'ephemeralcontainers': {
      const { ephemeralContainers } = specOf(updateDefaults(definition, next, old));
      return withFields(old, { spec: withFields(specOf(old), { ephemeralContainers }) });
    }
  }
}

/** Validation errors of a write through a subresource. */
export const subresourceErrors = (
  subresource: Subresource,
  next: JsonObject,
  old: Stored,
): readonly FieldError[] =>
  subresource === 'ephemeralcontainers' ? validateEphemeralContainers(next, old) : [];

/** Approval conditions of a certificate request can be written only through /approval. */
function keptApproval(
  definition: ResourceDefinition,
  next: JsonObject,
  old: Stored,
): Json | undefined {
  if (definition.kind !== 'CertificateSigningRequest') return next.status;
  const status = isObject(next.status) ? next.status : {};
  const others = conditionsOf(next).filter((condition) => !isApproval(condition));
  const conditions = [...conditionsOf(old).filter(isApproval), ...others];
  return withFields(status, { conditions: conditions.length === 0 ? undefined : conditions });
}

/** Conditions of any type may be written through /approval; the rest of the status stays. */
function approvalStatus(next: JsonObject, old: Stored, time: string): Json {
  const before = isObject(old.status) ? old.status : {};
  const known = new Map(conditionsOf(old).map((condition) => [condition.type, condition]));
  const conditions = conditionsOf(next).map((condition) => {
    const was = known.get(condition.type);
    const since = was?.status === condition.status ? was?.lastTransitionTime : undefined;
    return {
      ...condition,
      lastUpdateTime: condition.lastUpdateTime ?? time,
      lastTransitionTime: condition.lastTransitionTime ?? since ?? time,
    };
  });
  return withFields(before, { conditions: conditions.length === 0 ? undefined : conditions });
}

const isApproval = (condition: JsonObject): boolean =>
  condition.type === 'Approved' || condition.type === 'Denied';
const conditionsOf = (object: JsonObject): readonly JsonObject[] => {
  const status = object.status;
  const conditions = isObject(status) ? status.conditions : undefined;
  return Array.isArray(conditions) ? conditions.filter(isObject) : [];
};
