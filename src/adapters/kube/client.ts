// The KubeApi port over HTTP, for any cluster including the served world. Sends requests and parses
// answers; never caches, retries or trims (informers and callers do).

import { randomInt } from 'node:crypto';
import { defined } from '../../api/defined.ts';
import { isObject, type Json, type JsonObject } from '../../api/json.ts';
import type { KubeObject, ResourceType } from '../../api/kube.ts';
import {
  type DateReader,
  type Found,
  type KubeApi,
  KubeError,
  kubeErrorFrom,
  type ListOptions,
  type ObjectName,
  type PatchType,
  type WatchEvent,
  type WatchStart,
  type WriteOptions,
} from '../../ports/index.ts';
import { type HttpAnswer, type HttpCall, type KubeTransport, readText } from './http-call.ts';
import { ListSplitter } from './items.ts';
import type { ClusterAccess, UserAccess } from './kubeconfig.ts';
import { LightTransport } from './light-transport.ts';
import { LineSplitter, LineTooLongError } from './lines.ts';
import {
  collectionPath,
  objectPath,
  type Query,
  selectors,
  watchStart,
  withQuery,
  writeQuery,
} from './paths.ts';
import { Transport } from './transport.ts';
import { typed, versionOf, watchEvent, wireMetadata } from './wire.ts';

export interface KubeClientOptions {
  readonly cluster: ClusterAccess;
  readonly user: UserAccess;
  readonly userAgent: string;
  /** Receives the Date header of each answer. */
  readonly dates?: DateReader;
  /** For a process with few calls at once: uses node:https instead of undici. */
  readonly isLight?: boolean;
  /** Items per page; default 500, as kubectl. */
  readonly pageSize?: number;
  /**
   * A watch without any data for this long counts as dead; default three times the minute after
   * which API servers send a bookmark.
   */
  readonly watchIdleMs?: number;
}

export interface KubeClient extends KubeApi {
  /** Ends all calls and watches in progress. */
  close(): Promise<void>;
}

type DeleteOptions = Parameters<KubeApi['delete']>[2];

const patchContentTypes: Readonly<Record<PatchType, string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
};

const defaultPageSize = 500;
const defaultWatchIdleMs = 180_000;
/**
 * As in client-go: the server closes a watch after 5 to 10 minutes, at random to spread reconnects.
 */
const watchSeconds = { least: 300, most: 600 } as const;
/**
 * After this many expired continue tokens a list is read without pages, as in client-go's pager.
 */
const maxListRestarts = 2;

const apiVersionOf = (type: ResourceType): string =>
  type.group === '' ? type.version : `${type.group}/${type.version}`;

const preconditions = (uid: string | undefined, resourceVersion: string | undefined): JsonObject =>
  uid === undefined && resourceVersion === undefined
    ? {}
    : {
        preconditions: {
          ...defined({ uid, resourceVersion }),
        },
      };

const deleteBody = (options: NonNullable<DeleteOptions>): JsonObject => ({
  kind: 'DeleteOptions',
  apiVersion: 'v1',
  ...preconditions(options.uid, options.resourceVersion),
  ...defined({
    gracePeriodSeconds: options.gracePeriodSeconds,
    propagationPolicy: options.propagationPolicy,
  }),
  // In the body: with a body present the server ignores the query.
  ...(options.dryRun === true ? { dryRun: ['All'] } : {}),
});

/** An answer from elsewhere (a proxy's page, for example) is quoted, not trusted. */
const parseObject = (text: string): JsonObject => {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // Reported below.
  }
  return { message: `not an API answer: ${text.slice(0, 200)}` };
};

const errorFrom = async (what: string, answer: HttpAnswer): Promise<KubeError> =>
  kubeErrorFrom(what, answer.status, parseObject(await readText(answer)), answer.retryAfter);

interface Page {
  readonly resourceVersion: string;
  readonly next: string | undefined;
}

class HttpKubeClient implements KubeClient {
  readonly #transport: KubeTransport;
  readonly #pageSize: number;
  readonly #watchIdleMs: number;

  constructor(options: KubeClientOptions) {
    const isLight = options.isLight === true && options.cluster.proxyUrl === undefined;
    this.#transport = isLight ? new LightTransport(options) : new Transport(options);
    this.#pageSize = options.pageSize ?? defaultPageSize;
    this.#watchIdleMs = options.watchIdleMs ?? defaultWatchIdleMs;
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  async get<T extends KubeObject>(
    type: ResourceType,
    name: ObjectName,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<Found<T>> {
    const path = objectPath(type, name);
    return this.#found<T>({ lane: 'requests', method: 'GET', path, signal: options.signal });
  }

  async list<T extends KubeObject>(
    type: ResourceType,
    options: ListOptions & { readonly trim?: (item: T) => T } = {},
  ): Promise<{ readonly items: readonly T[]; readonly resourceVersion: string }> {
    for (let restarts = 0; ; restarts += 1) {
      const limit = restarts <= maxListRestarts ? String(this.#pageSize) : undefined;
      try {
        return await this.#listPages<T>(type, options, limit);
      } catch (error) {
        const expired = error instanceof KubeError && error.code === 'Expired';
        if (!expired || limit === undefined) throw error;
      }
    }
  }

  async *watch<T extends KubeObject>(
    type: ResourceType,
    options: Omit<ListOptions, 'resourceVersion'> & WatchStart,
  ): AsyncGenerator<WatchEvent<T>> {
    const path = withQuery(collectionPath(type, options.namespace), [
      ['watch', 'true'],
      ['allowWatchBookmarks', 'true'],
      ...watchStart(options),
      ['timeoutSeconds', String(randomInt(watchSeconds.least, watchSeconds.most))],
      ...selectors(options),
    ]);
    const what = `watch ${path}`;
    const answer = await this.#transport.send({
      lane: 'watches',
      method: 'GET',
      path,
      signal: options.signal,
      idleTimeoutMs: this.#watchIdleMs,
    });
    if (answer.status !== 200) throw await errorFrom(what, answer);
    const lines = new LineSplitter();
    try {
      // Holds at most one chunk's lines: the stream is not read while they are processed.
      for await (const chunk of answer.chunks) {
        for (const line of lines.push(chunk)) yield watchEvent<T>(what, line);
      }
      if (lines.rest.trim() !== '') {
        throw new KubeError('Unreachable', `${what}: cut off inside an event`);
      }
    } catch (error) {
      if (error instanceof LineTooLongError) {
        throw new KubeError('ServerError', `${what}: ${error.message}`, { cause: error });
      }
      throw error;
    } finally {
      answer.discard();
    }
  }

  async create<T extends KubeObject>(
    type: ResourceType,
    object: JsonObject,
    options: WriteOptions & { readonly namespace?: string } = {},
  ): Promise<T> {
    const inObject = wireMetadata(object).namespace;
    const namespace = options.namespace ?? (typeof inObject === 'string' ? inObject : undefined);
    const call = {
      lane: 'requests',
      method: 'POST',
      path: withQuery(collectionPath(type, namespace), writeQuery(options)),
      body: JSON.stringify({ apiVersion: apiVersionOf(type), kind: type.kind, ...object }),
      signal: options.signal,
    } as const;
    return typed<T>(await this.#object(call));
  }

  async patch<T extends KubeObject>(
    type: ResourceType,
    name: ObjectName,
    patch: { readonly type: PatchType; readonly body: Json; readonly subresource?: string },
    options: WriteOptions = {},
  ): Promise<Found<T>> {
    const path = withQuery(objectPath(type, name, patch.subresource), writeQuery(options));
    return this.#found<T>({
      lane: 'requests',
      method: 'PATCH',
      path,
      body: JSON.stringify(patch.body),
      contentType: patchContentTypes[patch.type],
      signal: options.signal,
    });
  }

  async delete(
    type: ResourceType,
    name: ObjectName,
    options: NonNullable<DeleteOptions> = {},
  ): Promise<{ readonly kind: 'deleted' | 'gone' }> {
    const found = await this.#found({
      lane: 'requests',
      method: 'DELETE',
      path: objectPath(type, name),
      body: JSON.stringify(deleteBody(options)),
      signal: options.signal,
    });
    return { kind: found.kind === 'gone' ? 'gone' : 'deleted' };
  }

  async evict(
    pod: { readonly namespace: string; readonly name: string; readonly uid: string },
    options: WriteOptions & { readonly gracePeriodSeconds?: number } = {},
  ): Promise<{ readonly kind: 'evicted' | 'gone' }> {
    const { gracePeriodSeconds } = options;
    const namespace = encodeURIComponent(pod.namespace);
    const path = `/api/v1/namespaces/${namespace}/pods/${encodeURIComponent(pod.name)}/eviction`;
    const eviction: JsonObject = {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: pod.name, namespace: pod.namespace },
      deleteOptions: {
        ...preconditions(pod.uid, undefined),
        ...defined({ gracePeriodSeconds }),
      },
    };
    const found = await this.#found({
      lane: 'requests',
      method: 'POST',
      path: withQuery(path, writeQuery(options)),
      body: JSON.stringify(eviction),
      signal: options.signal,
    });
    return { kind: found.kind === 'gone' ? 'gone' : 'evicted' };
  }

  async #listPages<T extends KubeObject>(
    type: ResourceType,
    options: ListOptions & { readonly trim?: (item: T) => T },
    limit: string | undefined,
  ): Promise<{ readonly items: readonly T[]; readonly resourceVersion: string }> {
    const path = collectionPath(type, options.namespace);
    const items: T[] = [];
    let resourceVersion: string | undefined;
    let next: string | undefined;
    do {
      const query: Query = [
        ...selectors(options),
        ['limit', limit],
        // A continue token contains its version; sending both is refused.
        next === undefined ? ['resourceVersion', options.resourceVersion] : ['continue', next],
      ];
      const page = await this.#page(withQuery(path, query), options.signal, (item) => {
        // Items of built-in lists have no apiVersion and kind.
        const object = typed<T>({ apiVersion: apiVersionOf(type), kind: type.kind, ...item });
        items.push(options.trim === undefined ? object : options.trim(object));
      });
      resourceVersion ??= page.resourceVersion;
      next = page.next;
    } while (next !== undefined);
    return { items, resourceVersion };
  }

  async #page(
    path: string,
    signal: AbortSignal | undefined,
    take: (item: JsonObject) => void,
  ): Promise<Page> {
    const answer = await this.#transport.send({ lane: 'requests', method: 'GET', path, signal });
    const what = `list ${path}`;
    if (answer.status !== 200) throw await errorFrom(what, answer);
    const splitter = new ListSplitter();
    try {
      for await (const chunk of answer.chunks) {
        for (const item of splitter.push(chunk)) take(item);
      }
      const list = splitter.end();
      const next = wireMetadata(list).continue;
      return {
        resourceVersion: versionOf(list),
        next: typeof next === 'string' && next !== '' ? next : undefined,
      };
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      throw new KubeError('ServerError', `${what}: ${error.message}`, { cause: error });
    } finally {
      answer.discard();
    }
  }

  async #found<T extends KubeObject>(call: HttpCall): Promise<Found<T>> {
    const answer = await this.#transport.send(call);
    if (answer.status === 404) {
      await readText(answer); // otherwise the connection could not be reused
      return { kind: 'gone' };
    }
    return { kind: 'found', object: typed<T>(await this.#read(call, answer)) };
  }

  async #object(call: HttpCall): Promise<JsonObject> {
    return this.#read(call, await this.#transport.send(call));
  }

  async #read(call: HttpCall, answer: HttpAnswer): Promise<JsonObject> {
    const what = `${call.method} ${call.path}`;
    if (answer.status < 200 || answer.status > 299) throw await errorFrom(what, answer);
    const text = await readText(answer);
    try {
      const value: unknown = JSON.parse(text);
      if (isObject(value)) return value;
    } catch {
      // Reported below.
    }
    throw new KubeError('ServerError', `${what}: not an API answer: ${text.slice(0, 200)}`);
  }
}

/** A client for one API server. Connects at the first call. */
export const createKubeClient = (options: KubeClientOptions): KubeClient =>
  new HttpKubeClient(options);
