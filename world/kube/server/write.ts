// Create and update of any kind: decode, default, prepare, validate, store. PUT, PATCH and the
// status subresource share one update path, so that every rule applies to all of them.
import { isObject, type Json, type JsonObject } from '../../../src/api/json.ts';
import type { SentBody, UserInfo } from '../../contracts.ts';
import type { Kernel } from '../../kernel/index.ts';
import { isPending } from '../patch/index.ts';
import { admitNamespace } from './admission.ts';
import { apiVersionOf, type ResourceDefinition, type WriteContext } from './definition.ts';
import { managersOfNew, shareEqual, withManagers } from './managers.ts';
import {
  carriedMetadata,
  freshMetadata,
  validateMetadata,
  validateMetadataUpdate,
  withGeneration,
} from './metadata.ts';
import { refuseTooLarge } from './object-size.ts';
import {
  finalizersOf,
  kubeTime,
  metadataOf,
  type Stored,
  specOf,
  textOf,
  withFields,
  withMetadata,
} from './objects.ts';
import type { Admission } from './policy-match.ts';
import {
  checkedFields,
  createDefaults,
  type FieldValidation,
  type PatchSource,
  schemaErrors,
  updateDefaults,
} from './schemas.ts';
import {
  alreadyExists,
  badRequest,
  conflict,
  invalid,
  invalidValue,
  modifiedMessage,
  notFound,
  otherNamespace,
} from './status.ts';
import { objectKey, type Store } from './store.ts';
import { prepareSubresource, type Subresource, subresourceErrors } from './subresource-writes.ts';

export interface WriteOptions {
  readonly user: UserInfo;
  readonly dryRun: boolean;
  readonly fieldValidation: FieldValidation;
  /** In-world clients send the world's own objects, whose fields are not checked again. */
  readonly trusted: boolean;
  /** The body as received; undefined within the process, where size is not checked. */
  readonly sent: SentBody | undefined;
  /** The manager of the fields that this write sets. */
  readonly manager: string;
  /** Collects messages for Warning headers. */
  readonly warnings: string[];
}

export interface Target {
  readonly definition: ResourceDefinition;
  readonly namespace: string | undefined;
  readonly name: string;
}

export interface UpdateRequest extends Target {
  readonly subresource: Subresource | undefined;
  /**
   * Computes the new object from the stored one; PUT ignores the argument. Already field-checked.
   */
  readonly change: (old: Stored) => JsonObject;
  /** PATCH with an unchanged resourceVersion and PUT without one are both unconditional. */
  readonly verb: 'update' | 'patch' | 'apply';
  /** The subresource recorded in managedFields, when it is not `subresource`. */
  readonly through?: string;
  /** The objects passed to admission, when they are not those of the resource. */
  readonly shownAs?: (
    next: Stored,
    old: Stored,
  ) => Pick<Admission, 'object' | 'oldObject' | 'objectKind'>;
}

export interface WriterOptions {
  readonly kernel: Kernel;
  readonly store: Store;
  readonly serviceCidr: string;
  /** False: pods get no token volume. */
  readonly accountVolumes: boolean;
  /** Throws the refusals of policies and quotas; called last, before anything is stored. */
  readonly admit: (admission: Admission) => void;
  /** False: new objects have no managedFields until the first apply. */
  readonly tracksManagers: boolean;
}

export class Writer {
  readonly #options: WriterOptions;
  readonly #store: Store;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#store = options.store;
  }

  context(user: UserInfo): WriteContext {
    const now = this.#options.kernel.now();
    return {
      now,
      time: kubeTime(now),
      random: this.#options.kernel.random('kube'),
      user,
      store: this.#store,
      serviceCidr: this.#options.serviceCidr,
      accountVolumes: this.#options.accountVolumes,
    };
  }

  create(
    definition: ResourceDefinition,
    namespace: string | undefined,
    body: Json | undefined,
    options: WriteOptions,
    managers?: { readonly managedFields: Json | undefined },
  ): Stored {
    const decoded = this.decode(definition, body, options);
    const given = metadataOf(decoded);
    if (definition.namespaced) {
      const named = textOf(given.namespace) ?? '';
      if (named !== '' && named !== namespace) throw badRequest(otherNamespace);
      admitNamespace(this.#store, definition, namespace ?? '', textOf(given.name) ?? '');
    }
    const context = this.context(options.user);
    const fresh = freshMetadata(definition, decoded, context, namespace);
    let object = createDefaults(definition, withFields(decoded, { metadata: fresh }));
    const of = { ...options, time: context.time };
    const tracked = this.#options.tracksManagers
      ? managersOfNew(definition, object, of)
      : undefined;
    object = withMetadata(object, { managedFields: managers ? managers.managedFields : tracked });
    const { strategy } = definition;
    // Kubelets register nodes with their status; every other kind starts with an empty one.
    if (definition.hasStatus && strategy.keepsStatus !== true) {
      const status = definition.custom === undefined ? {} : undefined;
      object = withFields(object, { status });
    }
    if (strategy.prepareForCreate !== undefined) {
      object = strategy.prepareForCreate(object, context);
    }
    if (strategy.initialStatus !== undefined) {
      object = { ...object, status: strategy.initialStatus(object, context) };
    }
    const errors = [
      ...validateMetadata(definition, object),
      ...(strategy.validateCreate?.(object) ?? []),
      ...(strategy.validate?.(object, context) ?? []),
      ...schemaErrors(definition, object, undefined),
    ];
    const name = textOf(metadataOf(object).name) ?? '';
    if (errors.length > 0) throw invalid(definition, name, errors);
    this.#options.admit({
      ...options,
      definition,
      subresource: undefined,
      operation: 'CREATE',
      namespace,
      name,
      object,
      oldObject: undefined,
    });
    return this.#insert(definition, object, { key: objectKey(namespace, name), name }, options);
  }

  #insert(
    definition: ResourceDefinition,
    object: JsonObject,
    { key, name }: { readonly key: string; readonly name: string },
    options: WriteOptions,
  ): Stored {
    const { storage } = definition;
    const existing = this.#store.get(storage, key);
    if (existing !== undefined) {
      const dying = existing.metadata.deletionTimestamp !== undefined;
      throw alreadyExists(definition, name, dying ? 'object is being deleted: ' : '');
    }
    const stored = toStored(definition, object);
    if (options.dryRun) return fromStored(definition, stored as Stored);
    if (options.sent !== undefined) refuseTooLarge(stored);
    const saved = this.#store.put(storage, stored, key);
    return fromStored(definition, saved);
  }

  /** For admission, an eviction is the creation of an object. */
  admitSubresource(definition: ResourceDefinition, namespace: string, name: string): void {
    admitNamespace(this.#store, definition, namespace, name);
  }

  /** Field checks of a body or of a patched object; the result has no unknown fields. */
  decode(
    definition: ResourceDefinition,
    body: Json | undefined,
    options: WriteOptions,
    patch?: PatchSource,
  ): JsonObject {
    if (!isObject(body)) throw badRequest('the body of the request must be an object');
    const typed = withTypeMeta(definition, body);
    if (options.trusted) return typed;
    // Pending managedFields are not JSON yet and come from the server itself.
    const { managedFields } = metadataOf(typed);
    if (!isPending(managedFields)) return checkedFields(definition, typed, options, patch);
    const bare = withMetadata(typed, { managedFields: undefined });
    const checked = checkedFields(definition, bare, options, patch);
    return withMetadata(checked, { managedFields });
  }

  /**
   * Undefined `object`: the update removed the last finalizer of a terminating object, now deleted.
   */
  update(request: UpdateRequest, options: WriteOptions): { object: Stored; deleted: boolean } {
    const { definition, namespace, name } = request;
    const key = objectKey(namespace, name);
    const stored = this.#store.get(definition.storage, key);
    if (stored === undefined) throw notFound(definition, name);
    const old = fromStored(definition, stored);
    const given = withTypeMeta(definition, request.change(old));
    checkNames(request, metadataOf(given));
    this.#checkVersion(request, old, given);
    const context = this.context(options.user);
    const carried = carriedMetadata(metadataOf(given), old);
    const { next, meant } = this.#prepared(
      request,
      withFields(given, { metadata: carried }),
      old,
      context,
    );
    const errors = [
      ...(carried === metadataOf(old) ? [] : validateMetadata(definition, next)),
      ...validateMetadataUpdate(next, old),
      ...(request.subresource === undefined
        ? [
            ...(definition.strategy.validate?.(next, context) ?? []),
            ...(definition.strategy.validateUpdate?.(next, old) ?? []),
          ]
        : subresourceErrors(request.subresource, next, old)),
      ...schemaErrors(definition, next, old),
    ];
    if (errors.length > 0) throw invalid(definition, name, errors);
    const write = { ...request, manager: options.manager, time: context.time };
    const shared = withManagers(write, { given, meant, next: shareEqual(next, old), old });
    this.#options.admit({
      ...options,
      definition,
      subresource: request.through ?? request.subresource,
      operation: 'UPDATE',
      namespace,
      name,
      object: shared,
      oldObject: old,
      ...request.shownAs?.(shared as Stored, old),
    });
    return this.#commit({ definition, key }, shared, old, options);
  }

  /** The object to store, and the part of it that the client wrote. */
  #prepared(
    { definition, subresource }: UpdateRequest,
    given: JsonObject,
    old: Stored,
    context: WriteContext,
  ): { readonly next: JsonObject; readonly meant: JsonObject } {
    if (subresource !== undefined) {
      const next = prepareSubresource(definition, subresource, given, old, context.time);
      return { next, meant: next };
    }
    const meant = updateDefaults(definition, given, old);
    return { next: this.#prepareMain(definition, meant, old, context), meant };
  }

  #checkVersion(request: UpdateRequest, old: Stored, given: JsonObject): void {
    const { definition, name } = request;
    const version = textOf(metadataOf(given).resourceVersion) ?? '';
    const uid = textOf(metadataOf(given).uid) ?? '';
    if (request.verb === 'update' && uid !== '' && uid !== old.metadata.uid) {
      const why =
        'StorageError: invalid object, Code: 4, Key: ' +
        `/registry/${definition.resource}/${objectKey(request.namespace, name)}, ` +
        'ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ' +
        `${uid}, UID in object meta: ${old.metadata.uid}`;
      throw conflict(definition, name, why);
    }
    if (version === '' && request.verb === 'update' && !definition.unconditionalUpdate) {
      const message = 'must be specified for an update';
      const error = { ...invalidValue('metadata.resourceVersion', 0, message) };
      throw invalid({ group: definition.group, kind: definition.resource }, name, [
        { ...error, body: `Invalid value: 0x0: ${message}` },
      ]);
    }
    if (version !== '' && version !== old.metadata.resourceVersion) {
      throw conflict(definition, name, modifiedMessage);
    }
  }

  #prepareMain(
    definition: ResourceDefinition,
    meant: JsonObject,
    old: Stored,
    context: WriteContext,
  ): JsonObject {
    let next = meant;
    if (definition.hasStatus) next = withFields(next, { status: old.status });
    if (definition.strategy.prepareForUpdate !== undefined) {
      next = definition.strategy.prepareForUpdate(next, old, context);
    }
    return withGeneration(definition, next, old);
  }

  /** Stores a prepared object in place of `old`; no-op when it is `old` itself. */
  #commit(
    { definition, key }: { readonly definition: ResourceDefinition; readonly key: string },
    shared: JsonObject,
    old: Stored,
    { dryRun, sent }: WriteOptions,
  ): { object: Stored; deleted: boolean } {
    if (isReleased(shared, old)) {
      if (dryRun) return { object: shared as Stored, deleted: true };
      const stored = toStored(definition, shared);
      const last = this.#store.remove(definition.storage, key, stored);
      return { object: fromStored(definition, last ?? old), deleted: true };
    }
    // Like etcd3's GuaranteedUpdate: a write that changes nothing creates no new revision.
    if (shared === old || dryRun) return { object: shared as Stored, deleted: false };
    const stored = toStored(definition, shared);
    if (sent !== undefined) refuseTooLarge(stored);
    const saved = this.#store.put(definition.storage, stored, key);
    return { object: fromStored(definition, saved), deleted: false };
  }
}

const toStored = (definition: ResourceDefinition, object: JsonObject): JsonObject =>
  definition.storage.toStored?.(object) ?? object;
export const fromStored = (definition: ResourceDefinition, object: Stored): Stored =>
  definition.storage.fromStored?.(object) ?? object;

/** Sets kind and apiVersion; refuses a body with others. */
function withTypeMeta(definition: ResourceDefinition, body: JsonObject): JsonObject {
  const apiVersion = apiVersionOf(definition);
  const { kind } = definition;
  if (body.kind === kind && body.apiVersion === apiVersion) return body;
  const givenVersion = textOf(body.apiVersion) ?? '';
  const givenKind = textOf(body.kind) ?? '';
  if (givenVersion !== '' && givenVersion !== apiVersion) {
    throw badRequest(
      `the API version in the data (${givenVersion}) does not match ` +
        `the expected API version (${apiVersion})`,
    );
  }
  if (givenKind !== '' && givenKind !== kind) {
    const version = definition.version;
    throw badRequest(
      `${givenKind} in version "${version}" cannot be handled as a ${kind}: ` +
        `no kind "${givenKind}" is registered for the resource ${definition.resource}`,
    );
  }
  return { apiVersion, kind, ...withFields(body, { apiVersion: undefined, kind: undefined }) };
}

function checkNames(request: Target, metadata: JsonObject): void {
  const name = textOf(metadata.name) ?? '';
  if (name !== request.name) {
    throw badRequest(
      `the name of the object (${name}) does not match the name on the URL (${request.name})`,
    );
  }
  const namespace = textOf(metadata.namespace) ?? '';
  if (request.namespace !== undefined && namespace !== '' && namespace !== request.namespace) {
    throw badRequest(
      `the namespace of the object (${namespace}) does not match ` +
        `the namespace on the request (${request.namespace})`,
    );
  }
}

/** The update itself removes a terminating object without finalizers and remaining grace period. */
function isReleased(next: JsonObject, old: Stored): boolean {
  if (old.metadata.deletionTimestamp === undefined) return false;
  if ((old.metadata.deletionGracePeriodSeconds ?? 0) !== 0) return false;
  if (finalizersOf(next).length > 0) return false;
  const remaining = specOf(next).finalizers;
  return old.kind !== 'Namespace' || !Array.isArray(remaining) || remaining.length === 0;
}
