// One audit.k8s.io/v1 event per request, in the form that article 001 prints. The level follows a
// managed cluster's policy: bodies of writes, metadata of reads, no heartbeats.
import { defined } from '../../../src/api/defined.ts';
import type { Json, JsonObject } from '../../../src/api/json.ts';
import { isObject } from '../../../src/api/json.ts';
import type { ApiRequest, AuditSink, UserInfo, WriteRecord } from '../../contracts.ts';
import { type Kernel, microsPerMs, uuid } from '../../kernel/index.ts';
import { metadataOf, microTime, textOf, withMetadata } from './objects.ts';

export interface AuditSubject {
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

export interface AuditedAnswer {
  readonly code: number;
  /** The answer's object; undefined for streams and text. */
  readonly body: JsonObject | undefined;
  readonly stage: 'ResponseComplete' | 'ResponseStarted';
}

const reads: readonly string[] = ['get', 'list', 'watch'];
/** Written so often that their bodies would dominate the log. */
const metadataOnly: readonly string[] = ['leases', 'events', 'secrets', 'tokenreviews'];

/** Bodies with secrets, or of no interest to readers of the log. */
const isBodiless = ({ resource, subresource }: AuditSubject): boolean =>
  metadataOnly.includes(resource) || (resource === 'serviceaccounts' && subresource === 'token');

const isHeartbeat = (subject: AuditSubject, user: UserInfo): boolean =>
  subject.resource === 'leases' &&
  subject.namespace === 'kube-node-lease' &&
  user.username.startsWith('system:node:');

/**
 * Drover watches where EKS' node manager polls: its watch streams would appear between the writes
 * that article 001's queries select.
 */
const isManagersWatch = (subject: AuditSubject, user: UserInfo): boolean =>
  subject.verb === 'watch' && user.username === 'eks:node-manager';

function levelOf(subject: AuditSubject | undefined, user: UserInfo): string | undefined {
  if (subject === undefined) return undefined;
  if (isHeartbeat(subject, user) || isManagersWatch(subject, user)) return undefined;
  if (reads.includes(subject.verb) || isBodiless(subject)) return 'Metadata';
  // Status writes of kubelets and controllers repeat the object, so logging the request suffices.
  const system = user.username.startsWith('system:');
  return system && subject.subresource === 'status' ? 'Request' : 'RequestResponse';
}

const referenceOf = (subject: AuditSubject, body: Json | undefined, answer: AuditedAnswer) => {
  const sent = isObject(body) ? metadataOf(body) : {};
  const received = answer.body === undefined ? {} : metadataOf(answer.body);
  const name = subject.name ?? textOf(sent.name) ?? textOf(received.name);
  const optional: JsonObject = {
    namespace: subject.namespace,
    name: name === '' ? undefined : name,
    uid: textOf(sent.uid),
    apiGroup: subject.group === '' ? undefined : subject.group,
    apiVersion: subject.version,
    resourceVersion: textOf(sent.resourceVersion),
    subresource: subject.subresource,
  };
  const reference: Record<string, Json> = { resource: subject.resource };
  for (const [key, value] of Object.entries(optional)) {
    if (value !== undefined) reference[key] = value;
  }
  return reference;
};

/** The write, before any of it is rendered; undefined for reads and heartbeats. */
export function writeRecordOf(
  request: ApiRequest,
  subject: AuditSubject,
  answer: AuditedAnswer,
): WriteRecord | undefined {
  if (reads.includes(subject.verb) || isHeartbeat(subject, request.user)) return undefined;
  const { verb, resource, subresource, namespace } = subject;
  const { body, user, userAgent } = request;
  const sent = isObject(body) ? metadataOf(body) : {};
  const received = answer.body === undefined ? {} : metadataOf(answer.body);
  return {
    verb,
    resource,
    subresource,
    namespace,
    name: subject.name ?? textOf(sent.name) ?? textOf(received.name),
    username: user.username,
    userAgent,
    code: answer.code,
    dryRun: request.query.has('dryRun'),
    body: isBodiless(subject) ? undefined : body,
  };
}

/** metadata, status, reason and details only when the answer was a Status. */
function responseStatusOf(answer: AuditedAnswer): JsonObject {
  const { body, code } = answer;
  if (body?.kind !== 'Status') return { metadata: {}, code };
  const { status, message, reason, details } = body;
  return {
    metadata: {},
    ...defined({ status, message, reason }),
    ...(details === undefined || status === 'Success' ? {} : { details }),
    code,
  };
}

export class Audit {
  readonly #kernel: Kernel;
  readonly #sink: AuditSink | undefined;

  constructor(kernel: Kernel, sink: AuditSink | undefined) {
    this.#kernel = kernel;
    this.#sink = sink;
  }

  /** False when `record` would discard everything, so that callers skip preparing an event. */
  get isOn(): boolean {
    return this.#sink !== undefined;
  }

  record(
    request: Pick<ApiRequest, 'body' | 'user' | 'userAgent' | 'sourceIp'> & {
      readonly uri: string;
    },
    subject: AuditSubject | undefined,
    answer: AuditedAnswer,
  ): void {
    if (this.#sink === undefined || subject === undefined) return;
    const level = levelOf(subject, request.user);
    if (level === undefined) return;
    const random = this.#kernel.random('kube.audit');
    const received = this.#kernel.now();
    // Within the latency of the answer, so that the caller's next request has a later time.
    const stageAt = received + 200 + random.below(microsPerMs);
    const withRequest = level !== 'Metadata' && request.body !== undefined;
    const withResponse = level === 'RequestResponse' && answer.body !== undefined;
    this.#sink({
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level,
      auditID: uuid(random),
      stage: answer.stage,
      requestURI: request.uri,
      verb: subject.verb,
      user: userOf(request.user),
      sourceIPs: [request.sourceIp],
      userAgent: request.userAgent,
      objectRef: referenceOf(subject, request.body, answer),
      responseStatus: responseStatusOf(answer),
      ...(withRequest ? { requestObject: requestOf(subject.verb, request.body) } : {}),
      ...(withResponse ? { responseObject: withoutManagers(answer.body) } : {}),
      requestReceivedTimestamp: microTime(received),
      stageTimestamp: microTime(stageAt),
      annotations: {
        'authorization.k8s.io/decision': 'allow',
        'authorization.k8s.io/reason': '',
      },
    });
  }
}

/** Delete options in the API server's internal version, as observed on a real server. */
function requestOf(verb: string, body: Json | undefined): Json | undefined {
  if (!verb.startsWith('delete') || !isObject(body)) return withoutManagers(body);
  return { ...body, kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/__internal' };
}

/** The policy's omitManagedFields: logs are not searched for field managers. */
function withoutManagers(body: Json | undefined): Json | undefined {
  if (!isObject(body) || metadataOf(body).managedFields === undefined) return body;
  return withMetadata(body, { managedFields: undefined });
}

const userOf = (user: UserInfo): JsonObject => ({
  username: user.username,
  ...defined({ uid: user.uid }),
  groups: user.groups,
  ...defined({ extra: user.extra }),
});
