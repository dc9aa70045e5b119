// The verbs of a resource path: dispatches a parsed request and returns the result in the requested
// form. Contains no rules of its own.
import type { Json, JsonObject } from '../../../src/api/json.ts';
import { isObject } from '../../../src/api/json.ts';
import type { ApiRequest, ApiResponse } from '../../contracts.ts';
import type { Kernel } from '../../kernel/index.ts';
import { patchTypeOf } from '../patch/index.ts';
import { bindPod } from './binding.ts';
import type { ResourceDefinition } from './definition.ts';
import {
  checkCollectionOptions,
  type DeleteOptions,
  type Deleter,
  type Deletion,
  dryRunOf,
  parseDeleteOptions,
} from './deletion.ts';
import type { Evictor } from './eviction.ts';
import { candidates, listPage, selectionFor } from './list.ts';
import type { Stored } from './objects.ts';
import { patched, patchSource } from './patched.ts';
import { podLog } from './pod-log.ts';
import type { Admission } from './policy-match.ts';
import {
  includeOf,
  listKindOf,
  type Printer,
  type Shape,
  shapeOf,
  shown,
  tableOf,
} from './representation.ts';
import type { ResourcePath } from './request-path.ts';
import { builtInScale, type ScalePaths, scaled, scaleOf } from './scale.ts';
import { serverSideApply } from './server-side-apply.ts';
import {
  badRequest,
  methodNotAllowed,
  noSuchResource,
  notFound,
  notImplemented,
  success,
} from './status.ts';
import { objectKey, type Store } from './store.ts';
import type { Subresource } from './subresource-writes.ts';
import type { Tokens } from './tokens.ts';
import type { Watches } from './watch.ts';
import { fromStored, type WriteOptions, type Writer } from './write.ts';
import { writeOptionsOf } from './write-options.ts';

export interface Parts {
  readonly kernel: Kernel;
  readonly store: Store;
  readonly writer: Writer;
  readonly deleter: Deleter;
  readonly evictor: Evictor;
  /** Throws the refusals of policies and quotas. */
  readonly admit: (admission: Admission) => void;
  readonly watches: Watches;
  readonly tokens: Tokens;
  readonly printerOf: (definition: ResourceDefinition) => Printer;
  readonly scalePathsOf: (definition: ResourceDefinition) => ScalePaths | undefined;
}

export interface Call {
  readonly request: ApiRequest;
  readonly path: ResourcePath;
  readonly definition: ResourceDefinition;
  readonly trusted: boolean;
  readonly warnings: string[];
}

const object = (body: JsonObject, status = 200): ApiResponse => ({ kind: 'object', status, body });

const writeOptions = (call: Call): WriteOptions => writeOptionsOf(call.request, call);

export class Resources {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  handle(call: Call): ApiResponse {
    const { path, request } = call;
    if (path.name === undefined) return this.#collection(call);
    if (path.subresource !== undefined) return this.#subresource(call, path.name, path.subresource);
    switch (request.method) {
      case 'GET':
        return this.#get(call, path.name);
      case 'PUT':
        return this.#put(call, path.name, undefined);
      case 'PATCH':
        return this.#patch(call, path.name, undefined);
      case 'DELETE':
        return this.#delete(call, path.name);
      case 'POST':
        throw methodNotAllowed(call.definition, 'create');
    }
  }

  #collection(call: Call): ApiResponse {
    const { definition, request, path } = call;
    const { method, query } = request;
    const needsNamespace = definition.namespaced && path.namespace === undefined;
    switch (method) {
      case 'GET':
        return isWatch(query) ? this.#watch(call) : this.#list(call);
      case 'POST':
        if (needsNamespace) throw methodNotAllowed(definition, 'create');
        return this.#create(call);
      case 'DELETE':
        if (needsNamespace || !definition.verbs.includes('deletecollection')) {
          throw methodNotAllowed(definition, 'deletecollection');
        }
        return this.#deleteCollection(call);
      case 'PUT':
        throw methodNotAllowed(definition, 'update');
      case 'PATCH':
        throw methodNotAllowed(definition, 'patch');
    }
  }

  #show(call: Call, shape: Shape, stored: JsonObject): JsonObject {
    return shown(shape, stored, () => this.#parts.printerOf(call.definition), this.#table(call));
  }

  #table(call: Call) {
    const nowMs = Math.floor(this.#parts.kernel.now() / 1000);
    return { include: includeOf(call.request.query), nowMs };
  }

  #find(call: Call, name: string): Stored {
    const { definition, path } = call;
    const key = objectKey(path.namespace, name);
    const stored = this.#parts.store.get(definition.storage, key);
    if (stored === undefined) throw notFound(definition, name);
    return fromStored(definition, stored);
  }

  #get(call: Call, name: string): ApiResponse {
    const shape = shapeOf(call.request.accept);
    return object(this.#show(call, shape, this.#find(call, name)));
  }

  #list(call: Call): ApiResponse {
    const { definition, path, request } = call;
    const shape = shapeOf(request.accept);
    const page = listPage(this.#parts.store, definition, path.namespace, request.query);
    const items = page.items.map((item) => fromStored(definition, item));
    if (shape.kind === 'table') {
      const table = { ...this.#table(call), version: shape.version };
      return object(tableOf(this.#parts.printerOf(definition), items, page.metadata, table));
    }
    const shownItems =
      shape.kind === 'object' ? items : items.map((item) => this.#show(call, shape, item));
    return object({
      ...listKindOf(definition, shape),
      metadata: page.metadata,
      items: shownItems,
    });
  }

  #watch(call: Call): ApiResponse {
    const shape = shapeOf(call.request.accept);
    const open = this.#parts.watches.open({
      definition: call.definition,
      namespace: call.path.namespace,
      query: call.request.query,
      show: (stored) => this.#show(call, shape, stored),
    });
    return { kind: 'watch', open };
  }

  #create(call: Call): ApiResponse {
    const { definition, path, request } = call;
    const shape = shapeOf(request.accept);
    const namespace = path.namespace;
    const options = writeOptions(call);
    const created = this.#parts.writer.create(definition, namespace, request.body, options);
    return object(this.#show(call, shape, created), 201);
  }

  #put(call: Call, name: string, subresource: Subresource | undefined): ApiResponse {
    const { definition, path, request } = call;
    const shape = shapeOf(request.accept);
    const { writer, store } = this.#parts;
    const options = writeOptions(call);
    const missing = store.get(definition.storage, objectKey(path.namespace, name)) === undefined;
    if (missing && definition.createOnUpdate && subresource === undefined) {
      const created = writer.create(definition, path.namespace, request.body, options);
      return object(this.#show(call, shape, created), 201);
    }
    const decoded = writer.decode(definition, request.body, options);
    const target = { definition, namespace: path.namespace, name, subresource };
    const { object: saved } = writer.update(
      { ...target, verb: 'update', change: () => decoded },
      options,
    );
    return object(this.#show(call, shape, saved));
  }

  #patch(call: Call, name: string, subresource: Subresource | undefined): ApiResponse {
    const { definition, path, request } = call;
    const shape = shapeOf(request.accept);
    const { writer } = this.#parts;
    const options = writeOptions(call);
    if (patchTypeOf(request.contentType) === 'apply') return this.#apply(call, name, subresource);
    const apply = (old: JsonObject): JsonObject =>
      writer.decode(definition, patched(call, definition, old), options, patchSource(request));
    const target = { definition, namespace: path.namespace, name, subresource };
    const { object: saved } = writer.update({ ...target, verb: 'patch', change: apply }, options);
    return object(this.#show(call, shape, saved));
  }

  #apply(call: Call, name: string, subresource: Subresource | undefined): ApiResponse {
    const { definition, path, request } = call;
    const shape = shapeOf(request.accept);
    const options = writeOptions(call);
    const target = { definition, namespace: path.namespace, name, subresource };
    const { store, kernel } = this.#parts;
    const apply = { target, body: request.body, query: request.query, options };
    const { saved, created } = serverSideApply(this.#parts.writer, store, apply, kernel.now());
    return object(this.#show(call, shape, saved), created ? 201 : 200);
  }

  #delete(call: Call, name: string): ApiResponse {
    const { definition, path, request } = call;
    const options = parseDeleteOptions(request.body, request.query);
    const target = { definition, namespace: path.namespace, name };
    this.#admitDelete(call, this.#find(call, name), options);
    const deletion = this.#parts.deleter.delete(target, options);
    const code = !deletion.gone && options.orphanDependents === false ? 202 : 200;
    return object(deletedBody(call, deletion, shapeOf(request.accept), this), code);
  }

  #admitDelete(call: Call, oldObject: Stored, options: DeleteOptions): void {
    this.#parts.admit({
      ...call,
      subresource: undefined,
      operation: 'DELETE',
      namespace: call.path.namespace,
      name: oldObject.metadata.name,
      object: undefined,
      oldObject,
      user: call.request.user,
      dryRun: options.dryRun,
    });
  }

  /** Admission of a POST to a pod's subresource, which precedes the check that the pod exists. */
  #admitPosted(call: Call, name: string, kind: { group: string; kind: string }): void {
    const { body, user, query } = call.request;
    this.#parts.admit({
      ...call,
      subresource: call.path.subresource,
      operation: 'CREATE',
      namespace: call.path.namespace,
      name,
      object: isObject(body) ? body : undefined,
      objectKind: { ...kind, version: 'v1' },
      oldObject: undefined,
      user,
      dryRun: dryRunOf(query.getAll('dryRun')),
    });
  }

  /** The deleted object in the requested form, for `deletedBody`. */
  showDeleted(call: Call, shape: Shape, stored: Stored): JsonObject {
    return this.#show(call, shape, stored);
  }

  #deleteCollection(call: Call): ApiResponse {
    const { definition, path, request } = call;
    const { store, deleter } = this.#parts;
    const options: DeleteOptions = parseDeleteOptions(request.body, request.query);
    checkCollectionOptions(options);
    const selection = selectionFor(definition, request.query);
    const items: Stored[] = [];
    for (const stored of candidates(store, definition, path.namespace, selection)) {
      if (selection.matches !== undefined && !selection.matches(stored)) continue;
      const { name, namespace } = stored.metadata;
      this.#admitDelete(call, stored, options);
      items.push(deleter.delete({ definition, namespace, name }, options).object);
    }
    return object({
      ...listKindOf(definition, { kind: 'object' }),
      metadata: { resourceVersion: String(store.revision) },
      items,
    });
  }

  #subresource(call: Call, name: string, subresource: string): ApiResponse {
    const { definition, request } = call;
    const known = definition.subresources.some(
      (candidate) => candidate.name === (subresource.split('/', 1)[0] ?? ''),
    );
    if (!known) throw noSuchResource();
    switch (subresource) {
      case 'status':
      case 'finalize':
      case 'approval':
      case 'ephemeralcontainers':
        if (request.method === 'GET') return this.#get(call, name);
        if (request.method === 'PUT') return this.#put(call, name, subresource);
        if (request.method === 'PATCH') return this.#patch(call, name, subresource);
        throw methodNotAllowed(definition, request.method.toLowerCase());
      case 'scale':
        return this.#scale(call, name);
      case 'eviction':
        return this.#evict(call, name);
      case 'binding':
        return this.#bind(call, name);
      case 'token':
        return this.#token(call, name);
      case 'log':
        return podLog(this.#find(call, name), request.query);
      default:
        this.#find(call, name);
        throw notImplemented(`${definition.resource}/${subresource}`);
    }
  }

  #token(call: Call, name: string): ApiResponse {
    const account = this.#find(call, name);
    const { request } = call;
    if (request.method === 'POST') {
      this.#admitPosted(call, name, { group: 'authentication.k8s.io', kind: 'TokenRequest' });
    }
    return object(this.#parts.tokens.issue(account, request), 201);
  }

  #scale(call: Call, name: string): ApiResponse {
    const { definition, path, request } = call;
    const paths = this.#parts.scalePathsOf(definition) ?? builtInScale;
    const current = this.#find(call, name);
    if (request.method === 'GET') return object(scaleOf(current, paths));
    const { writer } = this.#parts;
    const options = writeOptions(call);
    const before = scaleOf(current, paths);
    const isPatch = request.method === 'PATCH';
    if (!isPatch && request.method !== 'PUT') throw methodNotAllowed(definition, 'scale');
    const scaleKind = { ...definition, group: 'autoscaling', version: 'v1', kind: 'Scale' };
    const wanted: Json | undefined = isPatch ? patched(call, scaleKind, before) : request.body;
    if (!isObject(wanted)) throw badRequest('the body of the request must be a Scale');
    const change = (old: Stored): JsonObject => scaled(definition, old, wanted, paths);
    const target = { definition, namespace: path.namespace, name, subresource: undefined };
    const shownAs = (next: Stored, old: Stored) => ({
      object: scaleOf(next, paths),
      oldObject: scaleOf(old, paths),
      objectKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
    });
    const update = { ...target, verb: 'patch', through: 'scale', change, shownAs } as const;
    const { object: saved } = writer.update(update, options);
    return object(scaleOf(saved, paths));
  }

  #evict(call: Call, name: string): ApiResponse {
    if (call.request.method !== 'POST') throw methodNotAllowed(call.definition, 'eviction');
    const { body, query } = call.request;
    const namespace = call.path.namespace ?? '';
    this.#parts.writer.admitSubresource(call.definition, namespace, name);
    this.#admitPosted(call, name, { group: 'policy', kind: 'Eviction' });
    this.#parts.evictor.evict({ pods: call.definition, namespace, name, body, query });
    return object({ ...success(), code: 201 }, 201);
  }

  #bind(call: Call, name: string): ApiResponse {
    if (call.request.method !== 'POST') throw methodNotAllowed(call.definition, 'binding');
    const { kernel, store } = this.#parts;
    const { body, query } = call.request;
    const namespace = call.path.namespace ?? '';
    const dryRun = dryRunOf(query.getAll('dryRun'));
    this.#admitPosted(call, name, { group: '', kind: 'Binding' });
    bindPod(kernel, store, { pods: call.definition, namespace, name, body, dryRun });
    return object({ ...success(), code: 201 }, 201);
  }
}

export const isWatch = (query: URLSearchParams): boolean =>
  query.get('watch') === 'true' || query.get('watch') === '1';

function deletedBody(call: Call, deletion: Deletion, shape: Shape, shower: Resources): JsonObject {
  const { definition } = call;
  const { name, uid } = deletion.object.metadata;
  if (!deletion.gone || definition.returnsDeleted) {
    return shower.showDeleted(call, shape, deletion.object);
  }
  const group = definition.group === '' ? {} : { group: definition.group };
  return {
    ...success(),
    details: { name, ...group, kind: definition.resource, uid },
  };
}
