// Who manages the fields of an object, as each write leaves it: decides which part of a write
// counts for which path (main resource, status, scale) and hands the sets themselves to the patch
// room.
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

/** The fieldManager parameter, else what stands before the slash of the user agent. */
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

/** Writes of the main resource never touch status, those through status never spec. */
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
  // The finalizer that every namespace is given is no wish of the client.
  const own = definition.kind === 'Namespace' ? withFields(object, { spec: undefined }) : object;
  const as = { manager, subresource: undefined, time };
  const kind = managedKind(definition, undefined);
  return trackUpdate(kind, { before: undefined, after: own }, undefined, as);
}

interface Versions {
  /** As the client gave it. */
  readonly given: JsonObject;
  /** What of it counts as written by the client. */
  readonly meant: JsonObject;
  /** As it will be stored; `old` itself when nothing changes. */
  readonly next: JsonObject;
  readonly old: Stored;
}

/** The object to store with its managedFields brought up to date; `old` when nothing changes. */
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

/** A list that the server could not have written counts as none given. */
const isSound = (given: Json | undefined): boolean =>
  objectsOf(given).every(
    ({ operation, fieldsType, fieldsV1 }) =>
      (operation === 'Apply' || operation === 'Update') &&
      fieldsType === 'FieldsV1' &&
      (fieldsV1 === undefined || isObject(fieldsV1)),
  );

/** Top-level parts that did not change are the old ones again; all equal gives `old` itself. */
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
