// Field managers after each write: decides which part of a write counts for which path (main
// resource, status, scale). world/kube/patch computes the field sets.
import { isObject, type Json, type JsonObject, setOwn } from '../../../src/api/json.ts';
import type { ApiRequest } from '../../contracts.ts';
import {
  type FieldSet,
  givenManagedFields,
  leafSet,
  type ManagedKind,
  trackUpdate,
} from '../patch/index.ts';
import { values } from '../schema/index.ts';
import type { ResourceDefinition } from './definition.ts';
import { metadataOf, objectsOf, type Stored, withFields, withMetadata } from './objects.ts';

const maximumManagerLength = 128;

/** The fieldManager parameter, else the user agent up to its first slash. */
export function managerOf({ query, userAgent }: Pick<ApiRequest, 'query' | 'userAgent'>): string {
  const given = query.get('fieldManager');
  if (given !== null && given !== '') return given;
  return (userAgent.split('/', 1)[0] ?? '').slice(0, maximumManagerLength);
}

const statusOnly: FieldSet = { 'f:status': leafSet };
const ignoredByStatus: Readonly<Record<ResourceDefinition['statusMetadata'], FieldSet>> = {
  labels: { 'f:spec': leafSet },
  annotations: { 'f:metadata': { 'f:labels': leafSet }, 'f:spec': leafSet },
  none: { 'f:metadata': leafSet, 'f:spec': leafSet },
};

const mainKinds = new WeakMap<ResourceDefinition, ManagedKind>();
const statusKinds = new WeakMap<ResourceDefinition, ManagedKind>();

/** Writes of the main resource never change status, those through status never change spec. */
export function managedKind(
  definition: ResourceDefinition,
  subresource: string | undefined,
): ManagedKind {
  const kinds = subresource === 'status' ? statusKinds : mainKinds;
  const known = kinds.get(definition);
  if (known !== undefined) return known;
  const { group, version, kind, custom } = definition;
  const ofMain = definition.hasStatus ? statusOnly : undefined;
  const ignored = subresource === 'status' ? ignoredByStatus[definition.statusMetadata] : ofMain;
  const made = { gvk: { group, version, kind }, custom, ignored };
  kinds.set(definition, made);
  return made;
}

interface TrackedWrite {
  readonly manager: string;
  readonly time: string;
}

/** managedFields of an object about to be created; `object` is decoded and has its defaults. */
export function managersOfNew(
  definition: ResourceDefinition,
  object: JsonObject,
  { manager, time }: TrackedWrite,
): Json | undefined {
  // The server, not the client, sets the finalizer of every namespace.
  const own = definition.kind === 'Namespace' ? withFields(object, { spec: undefined }) : object;
  const as = { manager, subresource: undefined, time };
  const kind = managedKind(definition, undefined);
  return trackUpdate(kind, { before: undefined, after: own }, undefined, as);
}

interface Versions {
  /** As sent by the client. */
  readonly given: JsonObject;
  /** The part that counts as written by the client. */
  readonly meant: JsonObject;
  /** As it will be stored; `old` itself when nothing changes. */
  readonly next: JsonObject;
  readonly old: Stored;
}

/** The object to store with updated managedFields; `old` when nothing changes. */
export function withManagers(
  write: TrackedWrite & {
    readonly definition: ResourceDefinition;
    readonly subresource: string | undefined;
    readonly through?: string;
    readonly verb: 'update' | 'patch' | 'apply';
  },
  { given: asGiven, meant, next, old }: Versions,
): JsonObject {
  const live = metadataOf(old).managedFields;
  const told = metadataOf(asGiven).managedFields;
  const viaSubresource = write.subresource !== undefined || write.through !== undefined;
  let managedFields: Json | undefined = told;
  if (write.verb !== 'apply') {
    if (next === old && (told === live || told === undefined || viaSubresource)) return next;
    const given = viaSubresource ? live : givenManagedFields(told, live);
    const base = given === live || isSound(given) ? given : live;
    const as = {
      manager: write.manager,
      subresource: write.through ?? write.subresource,
      time: write.time,
    };
    const kind = managedKind(write.definition, write.subresource);
    managedFields = trackUpdate(kind, { before: old, after: meant }, base, as);
    return managedFields === live ? next : withMetadata(next, { managedFields });
  }
  if (values.deepEqual(managedFields, live)) return next;
  return withMetadata(next, { managedFields });
}

/** A list that the server could not have written counts as absent. */
const isSound = (given: Json | undefined): boolean =>
  objectsOf(given).every(
    ({ operation, fieldsType, fieldsV1 }) =>
      (operation === 'Apply' || operation === 'Update') &&
      fieldsType === 'FieldsV1' &&
      (fieldsV1 === undefined || isObject(fieldsV1)),
  );

/** Reuses unchanged top-level parts of `old`; returns `old` itself when all are equal. */
export function shareEqual(next: JsonObject, old: Stored): JsonObject {
  const shared: Record<string, Json | undefined> = {};
  let changed = Object.keys(old).some((key) => old[key] !== undefined && next[key] === undefined);
  for (const key of Object.keys(next)) {
    const value = next[key];
    if (value === undefined) continue;
    const same = values.deepEqual(value, old[key]);
    if (!same) changed = true;
    setOwn(shared, key, same ? old[key] : value);
  }
  return changed ? shared : old;
}
