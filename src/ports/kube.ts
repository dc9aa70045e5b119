// The Kubernetes API for the controllers. Two implementations: adapters/kube (HTTP, any cluster)
// and sim (the embedded world in process). Absence is a value; every other failure is a KubeError
// with a code of the table below.
import type { Json, JsonObject } from '../api/json.ts';
import type { KubeObject, ResourceType } from '../api/kube.ts';

export type Retry = 'now' | 'backoff' | 'never';

/** Code -> HTTP status of the API server and whether a caller may retry. */
export const kubeErrorTable = {
  AlreadyExists: { httpStatus: 409, retry: 'never' },
  Conflict: { httpStatus: 409, retry: 'now' },
  /** 409 of an eviction or delete whose uid or resourceVersion precondition fails. */
  PreconditionFailed: { httpStatus: 409, retry: 'never' },
  Invalid: { httpStatus: 422, retry: 'never' },
  BadRequest: { httpStatus: 400, retry: 'never' },
  /**
   * 404 where absence is not an answer: the kind is not served (no CRD yet), or a create refers to
   * a missing namespace. Get, patch, delete and evict return `gone` instead.
   */
  NotFound: { httpStatus: 404, retry: 'backoff' },
  Unauthorized: { httpStatus: 401, retry: 'never' },
  Forbidden: { httpStatus: 403, retry: 'never' },
  /**
   * 403 with cause NamespaceTerminating: the namespace is being deleted; no permission is missing.
   */
  NamespaceTerminating: { httpStatus: 403, retry: 'backoff' },
  /** 410: the resourceVersion is too old; list again. */
  Expired: { httpStatus: 410, retry: 'now' },
  /** 429 with cause DisruptionBudget: a budget refused this eviction. */
  DisruptionBudget: { httpStatus: 429, retry: 'backoff' },
  /** Any other 429 (priority and fairness, budget status not up to date). */
  TooManyRequests: { httpStatus: 429, retry: 'backoff' },
  /** 500 of an eviction when two budgets select the pod; only the message distinguishes it. */
  MultipleBudgets: { httpStatus: 500, retry: 'backoff' },
  ServerError: { httpStatus: 500, retry: 'backoff' },
  Timeout: { httpStatus: 504, retry: 'backoff' },
  /** No answer: connection refused, reset, timed out. The write may or may not have happened. */
  Unreachable: { httpStatus: 0, retry: 'backoff' },
} as const satisfies Readonly<Record<string, { httpStatus: number; retry: Retry }>>;
export type KubeErrorCode = keyof typeof kubeErrorTable;

export class KubeError extends Error {
  override readonly name = 'KubeError';
  readonly code: KubeErrorCode;
  readonly retry: Retry;
  /** Seconds to wait, if the server requested a wait. */
  readonly retryAfterSeconds: number | undefined;
  readonly details: JsonObject | undefined;
  constructor(
    code: KubeErrorCode,
    message: string,
    more: { retryAfterSeconds?: number; details?: JsonObject; cause?: unknown } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.code = code;
    this.retry = kubeErrorTable[code].retry;
    this.retryAfterSeconds = more.retryAfterSeconds;
    this.details = more.details;
  }
}

export interface ObjectName {
  readonly namespace?: string;
  readonly name: string;
}

export type Found<T> = { readonly kind: 'found'; readonly object: T } | { readonly kind: 'gone' };

export interface ListOptions {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** '0' = any cached state; absent = the most recent. */
  readonly resourceVersion?: string;
  readonly signal?: AbortSignal;
}

export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | {
      readonly type: 'BOOKMARK';
      readonly resourceVersion: string;
      /** Ends the initial events. */
      readonly endsInitial?: true;
    };

/** Where a watch begins: after a version, or with all present objects, read from a quorum. */
export type WatchStart =
  | { readonly resourceVersion: string }
  | { readonly sendInitialEvents: true };

export interface WriteOptions {
  readonly fieldManager?: string;
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal;
}

/** JSON patch and merge patch are safe for lists we own; strategic only for status.conditions. */
export type PatchType = 'json' | 'merge' | 'strategic';

export interface KubeApi {
  get<T extends KubeObject>(
    type: ResourceType,
    name: ObjectName,
    options?: { readonly signal?: AbortSignal },
  ): Promise<Found<T>>;
  /**
   * `trim` is applied to each item as it arrives: thousands of complete objects are never in memory
   * at once.
   */
  list<T extends KubeObject>(
    type: ResourceType,
    options?: ListOptions & { readonly trim?: (item: T) => T },
  ): Promise<{ readonly items: readonly T[]; readonly resourceVersion: string }>;
  /**
   * Events after `resourceVersion`. Ends normally when the server closes the stream (resume from
   * the last seen version); throws KubeError Expired when that version is too old. With
   * `sendInitialEvents` (WatchList) the present objects come first, as ADDED, and a bookmark ends
   * them; a server without it answers Invalid or BadRequest, or sends no such bookmark.
   */
  watch<T extends KubeObject>(
    type: ResourceType,
    options: Omit<ListOptions, 'resourceVersion'> & WatchStart,
  ): AsyncIterable<WatchEvent<T>>;
  create<T extends KubeObject>(
    type: ResourceType,
    object: JsonObject,
    options?: WriteOptions & { readonly namespace?: string },
  ): Promise<T>;
  patch<T extends KubeObject>(
    type: ResourceType,
    name: ObjectName,
    patch: { readonly type: PatchType; readonly body: Json; readonly subresource?: string },
    options?: WriteOptions,
  ): Promise<Found<T>>;
  /** `gone` when it did not exist. */
  delete(
    type: ResourceType,
    name: ObjectName,
    options?: WriteOptions & {
      readonly uid?: string;
      readonly resourceVersion?: string;
      readonly gracePeriodSeconds?: number;
      readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
    },
  ): Promise<{ readonly kind: 'deleted' | 'gone' }>;
  /** POST policy/v1 Eviction with a uid precondition. `gone` when the pod did not exist. */
  evict(
    pod: { readonly namespace: string; readonly name: string; readonly uid: string },
    options?: WriteOptions & { readonly gracePeriodSeconds?: number },
  ): Promise<{ readonly kind: 'evicted' | 'gone' }>;
}
