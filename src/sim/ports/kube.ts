// The KubeApi port over the world's API server in the same process: the same requests, answers and
// audit records as over HTTP, in virtual time. Never reads the world's store directly.

import type {
  ApiRequest,
  ApiResponse,
  UserInfo,
  WatchFrame,
  WorldKube,
} from '../../../world/contracts.ts';
import type { EpochMs } from '../../api/brand.ts';
import { defined } from '../../api/defined.ts';
import { type Json, type JsonObject, objectOr } from '../../api/json.ts';
import type { KubeObject, ResourceType } from '../../api/kube.ts';
import {
  type DateReader,
  type Found,
  type KubeApi,
  KubeError,
  type KubeErrorCode,
  kubeErrorFrom,
  type ListOptions,
  type ObjectName,
  type PatchType,
  type WatchEvent,
  type WatchStart,
  type WriteOptions,
} from '../../ports/index.ts';
import type { Network } from './network.ts';
import { WatchQueue } from './watch-queue.ts';

export interface Identity {
  readonly user: UserInfo;
  readonly userAgent: string;
}

const collectionPath = (type: ResourceType, namespace: string | undefined): string => {
  const root = type.group === '' ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`;
  const scope = type.namespaced && namespace !== undefined ? `/namespaces/${namespace}` : '';
  return `${root}${scope}/${type.resource}`;
};

const objectPath = (type: ResourceType, name: ObjectName, subresource?: string): string => {
  const tail = subresource === undefined ? '' : `/${subresource}`;
  return `${collectionPath(type, name.namespace)}/${name.name}${tail}`;
};

const patchContentTypes: Readonly<Record<PatchType, string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
};

const listQuery = (options: ListOptions): URLSearchParams => {
  const query = new URLSearchParams();
  if (options.labelSelector !== undefined) query.set('labelSelector', options.labelSelector);
  if (options.fieldSelector !== undefined) query.set('fieldSelector', options.fieldSelector);
  if (options.resourceVersion !== undefined) query.set('resourceVersion', options.resourceVersion);
  return query;
};

const writeQuery = (options: WriteOptions): URLSearchParams => {
  const query = new URLSearchParams();
  if (options.fieldManager !== undefined) query.set('fieldManager', options.fieldManager);
  if (options.dryRun === true) query.set('dryRun', 'All');
  return query;
};

const toWatchEvent = <T>(frame: WatchFrame): WatchEvent<T> => {
  if (frame.type === 'BOOKMARK') {
    const { resourceVersion, annotations } = objectOr(frame.object.metadata);
    const endsInitial = objectOr(annotations)['k8s.io/initial-events-end'] === 'true';
    return {
      type: 'BOOKMARK',
      resourceVersion: String(resourceVersion ?? ''),
      ...(endsInitial ? { endsInitial } : {}),
    };
  }
  if (frame.type === 'ERROR') {
    throw kubeErrorFrom('watch', Number(frame.object.code ?? 500), frame.object);
  }
  return { type: frame.type, object: frame.object as JsonObject as T };
};

/** Trusts that the server's answer has the kind that the caller requested. */
const typed = <T extends KubeObject>(body: JsonObject): T => {
  const object: KubeObject = body as JsonObject & KubeObject;
  return object as T;
};

/** As over HTTP: whole seconds. */
const dateHeader = (now: EpochMs): string => new Date(now).toUTCString();

interface Call {
  readonly verb: string;
  readonly resource: string;
  readonly request: Omit<ApiRequest, 'user' | 'userAgent' | 'sourceIp' | 'accept'>;
}

export class SimKubeApi implements KubeApi {
  readonly #kube: WorldKube;
  readonly #network: Network;
  readonly #identity: Identity;
  readonly #dates: DateReader;
  readonly #now: () => EpochMs;
  constructor(options: {
    readonly kube: WorldKube;
    readonly network: Network;
    readonly identity: Identity;
    /** Receives the Date header of each answer. */
    readonly dates: DateReader;
    /** The server's time. */
    readonly now: () => EpochMs;
  }) {
    this.#kube = options.kube;
    this.#network = options.network;
    this.#identity = options.identity;
    this.#dates = options.dates;
    this.#now = options.now;
  }

  async get<T extends KubeObject>(
    type: ResourceType,
    name: ObjectName,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<Found<T>> {
    const request = this.#request('GET', objectPath(type, name), new URLSearchParams());
    return this.#found<T>({ verb: 'get', resource: type.resource, request }, options.signal);
  }

  async list<T extends KubeObject>(
    type: ResourceType,
    options: ListOptions & { readonly trim?: (item: T) => T } = {},
  ): Promise<{ readonly items: readonly T[]; readonly resourceVersion: string }> {
    const { trim = (item: T) => item } = options;
    const path = collectionPath(type, options.namespace);
    const request = this.#request('GET', path, listQuery(options));
    const body = await this.#send(
      { verb: 'list', resource: type.resource, request },
      options.signal,
    );
    const metadata = body.metadata as JsonObject | undefined;
    return {
      items: (Array.isArray(body.items) ? body.items : []).map((item: JsonObject) =>
        trim(typed<T>(item)),
      ),
      resourceVersion: String(metadata?.resourceVersion ?? ''),
    };
  }

  async *watch<T extends KubeObject>(
    type: ResourceType,
    options: Omit<ListOptions, 'resourceVersion'> & WatchStart,
  ): AsyncIterable<WatchEvent<T>> {
    const { signal } = options;
    const isInitial = 'sendInitialEvents' in options;
    if (!isInitial && this.#network.faults.watchExpired(type.resource)) {
      await this.#network.call(() => undefined, signal);
      throw new KubeError('Expired', `watch ${type.resource}: too old resource version`);
    }
    const query = listQuery(options);
    query.set('watch', 'true');
    if (isInitial) {
      query.set('sendInitialEvents', 'true');
      query.set('resourceVersionMatch', 'NotOlderThan');
    }
    query.set('allowWatchBookmarks', 'true');
    const request = this.#request('GET', collectionPath(type, options.namespace), query);
    const call: Call = { verb: 'watch', resource: type.resource, request };
    const answer = await this.#network.call(() => this.#serve(call), signal);
    if (answer.kind !== 'watch') throw this.#errorOf(call, answer);
    const queue = new WatchQueue(this.#network, type.resource);
    const stop = answer.open({ frame: (frame) => queue.push(frame), end: () => queue.end() });
    try {
      for await (const frame of queue.frames(signal)) yield toWatchEvent<T>(frame);
    } finally {
      stop();
    }
  }

  async create<T extends KubeObject>(
    type: ResourceType,
    object: JsonObject,
    options: WriteOptions & { readonly namespace?: string } = {},
  ): Promise<T> {
    const path = collectionPath(type, options.namespace);
    const request = this.#request('POST', path, writeQuery(options), object);
    const body = await this.#send(
      { verb: 'create', resource: type.resource, request },
      options.signal,
    );
    return typed<T>(body);
  }

  async patch<T extends KubeObject>(
    type: ResourceType,
    name: ObjectName,
    patch: { readonly type: PatchType; readonly body: Json; readonly subresource?: string },
    options: WriteOptions = {},
  ): Promise<Found<T>> {
    const path = objectPath(type, name, patch.subresource);
    const request = {
      ...this.#request('PATCH', path, writeQuery(options), patch.body),
      contentType: patchContentTypes[patch.type],
    };
    return this.#found<T>({ verb: 'patch', resource: type.resource, request }, options.signal);
  }

  async delete(
    type: ResourceType,
    name: ObjectName,
    options: WriteOptions & {
      readonly uid?: string;
      readonly resourceVersion?: string;
      readonly gracePeriodSeconds?: number;
      readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
    } = {},
  ): Promise<{ readonly kind: 'deleted' | 'gone' }> {
    const { uid, resourceVersion, gracePeriodSeconds, propagationPolicy } = options;
    const body: JsonObject = {
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      // An API server ignores the query of a DELETE that has a body, so the body repeats it.
      ...(options.dryRun === true ? { dryRun: ['All'] } : {}),
      ...defined({ gracePeriodSeconds, propagationPolicy }),
      ...(uid === undefined && resourceVersion === undefined
        ? {}
        : {
            preconditions: {
              ...defined({ uid, resourceVersion }),
            },
          }),
    };
    const request = this.#request('DELETE', objectPath(type, name), writeQuery(options), body);
    const found = await this.#found(
      { verb: 'delete', resource: type.resource, request },
      options.signal,
    );
    return { kind: found.kind === 'gone' ? 'gone' : 'deleted' };
  }

  async evict(
    pod: { readonly namespace: string; readonly name: string; readonly uid: string },
    options: WriteOptions & { readonly gracePeriodSeconds?: number } = {},
  ): Promise<{ readonly kind: 'evicted' | 'gone' }> {
    const body: JsonObject = {
      kind: 'Eviction',
      apiVersion: 'policy/v1',
      metadata: { name: pod.name, namespace: pod.namespace },
      deleteOptions: {
        preconditions: { uid: pod.uid },
        ...defined({ gracePeriodSeconds: options.gracePeriodSeconds }),
      },
    };
    const path = `/api/v1/namespaces/${pod.namespace}/pods/${pod.name}/eviction`;
    const request = this.#request('POST', path, writeQuery(options), body);
    const found = await this.#found(
      { verb: 'create', resource: 'pods/eviction', request },
      options.signal,
    );
    return { kind: found.kind === 'gone' ? 'gone' : 'evicted' };
  }

  #request(
    method: ApiRequest['method'],
    path: string,
    query: URLSearchParams,
    body?: Json,
  ): Call['request'] {
    return {
      method,
      path,
      query,
      contentType: 'application/json',
      ...defined({ body }),
    };
  }

  #serve(call: Call): ApiResponse {
    return this.#kube.handle({
      ...call.request,
      ...this.#identity,
      accept: 'application/json',
      sourceIp: '127.0.0.1',
    });
  }

  async #send(call: Call, signal: AbortSignal | undefined): Promise<JsonObject> {
    const { faults } = this.#network;
    const fate = faults.kubeCall(call);
    if (fate.kind === 'refused') {
      await this.#network.call(() => undefined, signal);
      throw new KubeError(fate.code as KubeErrorCode, `${call.verb} ${call.resource}: injected`);
    }
    const answered = this.#dates.sent();
    let date: string | undefined;
    const answer = await this.#network.call(() => {
      const served = this.#serve(call);
      date = dateHeader(this.#now());
      const writes = call.request.method !== 'GET' && !call.request.query.has('dryRun');
      if (writes && served.kind === 'object' && served.status < 300) {
        const { verb, resource, request } = call;
        faults.afterWrite({ verb, resource, body: request.body });
      }
      return served;
    }, signal);
    if (fate.kind === 'lost') {
      throw new KubeError('Unreachable', `${call.verb} ${call.resource}: the answer was lost`);
    }
    answered(date);
    if (answer.kind === 'object' && answer.status < 300) return answer.body;
    throw this.#errorOf(call, answer);
  }

  async #found<T extends KubeObject>(
    call: Call,
    signal: AbortSignal | undefined,
  ): Promise<Found<T>> {
    try {
      const body = await this.#send(call, signal);
      return { kind: 'found', object: typed<T>(body) };
    } catch (error) {
      if (error instanceof KubeError && error.code === 'NotFound') return { kind: 'gone' };
      throw error;
    }
  }

  #errorOf(call: Call, answer: ApiResponse): Error {
    const what = `${call.verb} ${call.request.path}`;
    if (answer.kind !== 'object')
      return new KubeError('ServerError', `${what}: no object came back`);
    return kubeErrorFrom(what, answer.status, answer.body);
  }
}
