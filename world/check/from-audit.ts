// A Kubernetes audit log (audit.k8s.io/v1, JSON lines) as a trace, for stories that ran against a
// real or served API server. Holds requests, and objects from the answers (RequestResponse), from
// status writes (Request) and from evictions; cloud calls and lifecycle states are not in it, so
// that oracles which need them say they did not run.
import { defined } from '../../src/api/defined.ts';
import { isObject, type JsonObject, objectOr } from '../../src/api/json.ts';
import type { Trace, TraceEntry, TraceFacts } from '../../src/api/trace.ts';
import { inOrderOfEffects } from './audit-order.ts';
import { keyOf, numberOf, objectsOf, textOf, timeOf } from './state/read.ts';

type Request = Extract<TraceEntry, { kind: 'request' }>;

export interface AuditTrace {
  readonly trace: Trace;
  /** Lines that are no finished audit event: a line cut by a kill, an unfinished stage. */
  readonly skipped: number;
}

/** The event as a request; undefined when it is not a finished one about a resource. */
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
    ...defined({ body }),
  };
};

const isDryRun = (uri: string, body: unknown): boolean => {
  const options = objectOr(objectOr(body).deleteOptions);
  return /[?&]dryRun=All(?:&|$)/.test(uri) || 'dryRun' in options || 'dryRun' in objectOr(body);
};

const writes = new Set(['create', 'update', 'patch', 'delete']);

/** Objects as the answers showed them, so that a binding or a deletion can be told as a change. */
class Known {
  readonly #objects = new Map<string, JsonObject>();

  /** The change that a successful write made, as far as the log tells. */
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
   * What a whole collection's deletion removed at once, as where a namespace is emptied: no answer
   * names them. Pods take their time to stop; their kubelets' deletions tell of each.
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

  /** A pod that was evicted is told to stop; its kubelet removes it later. */
  #evicted(request: Request, key: string): TraceEntry | undefined {
    return this.#modified(request, key, (pod) => {
      const metadata = objectOr(pod.metadata);
      if (metadata.deletionTimestamp !== undefined) return undefined;
      const deletionTimestamp = new Date(request.at / 1000).toISOString();
      return { ...pod, metadata: { ...metadata, deletionTimestamp } };
    });
  }

  /** A status that was written, and whose answer the log leaves out as it repeats the object. */
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
    // What it did to the version is not told.
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

/** A write that left nothing to wait for before the deletion that was asked for earlier. */
const lostLastFinalizer = ({ metadata }: JsonObject): boolean => {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = objectOr(metadata);
  if (deletionTimestamp === undefined || (numberOf(deletionGracePeriodSeconds) ?? 0) > 0)
    return false;
  return !Array.isArray(finalizers) || finalizers.length === 0;
};

/** A status patch: conditions by their type, as a strategic merge has it; the rest as it came. */
const mergedStatus = (before: JsonObject, patch: JsonObject): JsonObject => {
  const conditions = new Map(objectsOf(before.conditions).map((one) => [textOf(one.type), one]));
  for (const one of objectsOf(patch.conditions)) {
    const type = textOf(one.type);
    if (one.$patch === 'delete') conditions.delete(type);
    else conditions.set(type, { ...conditions.get(type), ...one });
  }
  return { ...before, ...patch, conditions: [...conditions.values()] };
};

/** A deletion that removes the object now, rather than asking it to stop. */
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

/** `lines` as the log has them. `facts` as for any trace; `settled: false` unless it is known. */
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
