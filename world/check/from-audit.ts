// Converts a Kubernetes audit log (audit.k8s.io/v1, JSON lines) to a trace, for stories that ran
// against a real or served API server. The trace holds requests, and objects from answers
// (RequestResponse), status writes (Request) and evictions. It has no cloud calls and no lifecycle
// states; oracles that need them report that they did not run.
import { defined } from '../../src/api/defined.ts';
import { isObject, type JsonObject, objectOr } from '../../src/api/json.ts';
import type { Trace, TraceEntry, TraceFacts } from '../../src/api/trace.ts';
import { inOrderOfEffects } from './audit-order.ts';
import { keyOf, numberOf, objectsOf, textOf, timeOf } from './state/read.ts';

type Request = Extract<TraceEntry, { kind: 'request' }>;

export interface AuditTrace {
  readonly trace: Trace;
  /** Lines that are not a complete audit event: a line cut by a kill, an unfinished stage. */
  readonly skipped: number;
}

/** The event as a request; undefined unless it is a complete event about a resource. */
const requestOf = (event: JsonObject): Request | undefined => {
  if (event.kind !== 'Event' || event.stage === 'RequestReceived') return undefined;
  const ref = objectOr(event.objectRef);
  const at = timeOf(event.requestReceivedTimestamp);
  if (typeof ref.resource !== 'string' || at === undefined) return undefined;
  const body = event.requestObject;
  return {
    kind: 'request',
    at,
    userAgent: textOf(event.userAgent),
    username: textOf(objectOr(event.user).username),
    verb: textOf(event.verb),
    resource: ref.resource,
    ...(typeof ref.subresource === 'string' ? { subresource: ref.subresource } : {}),
    ...(typeof ref.namespace === 'string' ? { namespace: ref.namespace } : {}),
    ...(typeof ref.name === 'string' ? { name: ref.name } : {}),
    code: numberOf(objectOr(event.responseStatus).code) ?? 0,
    dryRun: isDryRun(textOf(event.requestURI), body),
    ...defined({ selector: selectorOf(textOf(event.requestURI)), body }),
  };
};

const selectorOf = (uri: string): string | undefined =>
  uri
    .match(/[?&]((?:label|field)Selector=[^&]*)/g)
    ?.map((one) => one.slice(1))
    .join('&');

const isDryRun = (uri: string, body: unknown): boolean => {
  const options = objectOr(objectOr(body).deleteOptions);
  return /[?&]dryRun=All(?:&|$)/.test(uri) || 'dryRun' in options || 'dryRun' in objectOr(body);
};

const writes = new Set(['create', 'update', 'patch', 'delete']);

/** The last known objects from the answers, from which a binding or a deletion becomes a change. */
class Known {
  readonly #objects = new Map<string, JsonObject>();

  /** The change that a successful write made, as far as the log shows it. */
  change(request: Request, answer: JsonObject): TraceEntry | undefined {
    const { verb, subresource, resource, code } = request;
    if (request.dryRun || code < 200 || code >= 300 || !writes.has(verb)) return undefined;
    const key = `${resource} ${keyOf(request.namespace, request.name)}`;
    if (subresource === 'binding') return this.#bound(request, key);
    if (subresource === 'eviction') return this.#evicted(request, key);
    if (subresource !== undefined && subresource !== 'status') return undefined;
    const hasObject = answer.kind !== 'Status' && isObject(answer.metadata);
    if (!hasObject && subresource === 'status') return this.#restated(request, key);
    const object = hasObject ? answer : this.#objects.get(key);
    if (object === undefined || (!hasObject && verb !== 'delete')) return undefined;
    const isGone =
      (verb === 'delete' && isLastDeletion(object, hasObject)) || lostLastFinalizer(object);
    const type = isGone ? 'DELETED' : this.#objects.has(key) ? 'MODIFIED' : 'ADDED';
    if (isGone) this.#objects.delete(key);
    else this.#objects.set(key, object);
    return { kind: 'object', at: request.at, type, resource, object };
  }

  /**
   * The objects that a deletion of a collection removed, for example when a namespace is emptied:
   * the answer does not list them. Pods terminate gracefully; the deletion by the kubelet reports
   * each of them.
   */
  emptied(request: Request, uri: string): readonly TraceEntry[] {
    const { verb, resource, namespace, at, code } = request;
    const isWhole = verb === 'deletecollection' && !/[?&](?:label|field)Selector=/.test(uri);
    if (!isWhole || request.dryRun || code < 200 || code >= 300 || resource === 'pods') return [];
    const gone: TraceEntry[] = [];
    for (const [key, object] of this.#objects) {
      const metadata = objectOr(object.metadata);
      const isHeld = Array.isArray(metadata.finalizers) && metadata.finalizers.length > 0;
      const isIn = namespace === undefined || metadata.namespace === namespace;
      if (!key.startsWith(`${resource} `) || !isIn || isHeld) continue;
      this.#objects.delete(key);
      gone.push({ kind: 'object', at, type: 'DELETED', resource, object });
    }
    return gone;
  }

  #bound(request: Request, key: string): TraceEntry | undefined {
    const { name } = objectOr(objectOr(request.body).target);
    return this.#modified(request, key, (pod) => ({
      ...pod,
      spec: { ...objectOr(pod.spec), nodeName: textOf(name) },
    }));
  }

  /** An eviction sets the deletion timestamp; the kubelet removes the pod later. */
  #evicted(request: Request, key: string): TraceEntry | undefined {
    return this.#modified(request, key, (pod) => {
      const metadata = objectOr(pod.metadata);
      if (metadata.deletionTimestamp !== undefined) return undefined;
      const deletionTimestamp = new Date(request.at / 1000).toISOString();
      return { ...pod, metadata: { ...metadata, deletionTimestamp } };
    });
  }

  /** A status write whose answer the log omits because it repeats the object. */
  #restated(request: Request, key: string): TraceEntry | undefined {
    const { status } = objectOr(request.body);
    if (!isObject(status)) return undefined;
    return this.#modified(request, key, (object) => ({
      ...object,
      status: request.verb === 'update' ? status : mergedStatus(objectOr(object.status), status),
    }));
  }

  #modified(
    request: Request,
    key: string,
    change: (object: JsonObject) => JsonObject | undefined,
  ): TraceEntry | undefined {
    const known = this.#objects.get(key);
    const changed = known && change(known);
    if (changed === undefined) return undefined;
    // The log does not show the version after this write.
    const { resourceVersion: _unknown, ...metadata } = objectOr(changed.metadata);
    const object = { ...changed, metadata };
    this.#objects.set(key, object);
    return {
      kind: 'object',
      at: request.at,
      type: 'MODIFIED',
      resource: request.resource,
      object,
    };
  }
}

/** The write removed the last finalizer, which completes an earlier deletion. */
const lostLastFinalizer = ({ metadata }: JsonObject): boolean => {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = objectOr(metadata);
  if (deletionTimestamp === undefined || (numberOf(deletionGracePeriodSeconds) ?? 0) > 0)
    return false;
  return !Array.isArray(finalizers) || finalizers.length === 0;
};

/** A status patch: conditions merge by type, as in a strategic merge; other fields are replaced. */
const mergedStatus = (before: JsonObject, patch: JsonObject): JsonObject => {
  const conditions = new Map(objectsOf(before.conditions).map((one) => [textOf(one.type), one]));
  for (const one of objectsOf(patch.conditions)) {
    const type = textOf(one.type);
    if (one.$patch === 'delete') conditions.delete(type);
    else conditions.set(type, { ...conditions.get(type), ...one });
  }
  return { ...before, ...patch, conditions: [...conditions.values()] };
};

/** The deletion removes the object immediately; it starts no graceful termination. */
const isLastDeletion = (object: JsonObject, isAnswer: boolean): boolean => {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = objectOr(object.metadata);
  if (Array.isArray(finalizers) && finalizers.length > 0) return false;
  if (!isAnswer || deletionTimestamp === undefined) return true;
  return deletionGracePeriodSeconds === 0;
};

const parse = (line: string): JsonObject | undefined => {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
};

/**
 * `lines` in the order of the log. `facts` as for any trace; `settled: false` unless it is known.
 */
export const traceFromAudit = (lines: Iterable<string>, facts: TraceFacts): AuditTrace => {
  const told: { readonly event: JsonObject; readonly request: Request }[] = [];
  let skipped = 0;
  for (const line of lines) {
    if (line.trim() === '') continue;
    const event = parse(line);
    const request = event && requestOf(event);
    if (event === undefined || request === undefined) skipped++;
    else told.push({ event, request });
  }
  const entries: TraceEntry[] = [];
  const known = new Known();
  for (const { event, request } of inOrderOfEffects(told, (each) => each.event)) {
    const change = known.change(request, objectOr(event.responseObject));
    if (change !== undefined) entries.push(change);
    entries.push(...known.emptied(request, textOf(event.requestURI)), request);
  }
  return { trace: { facts, entries }, skipped };
};
