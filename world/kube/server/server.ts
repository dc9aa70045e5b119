// The API server of the embedded world: one synchronous function from request to answer. Wires
// store, writer, deletion, eviction, watches, discovery and audit; decides nothing itself.
import { isObject } from '../../../src/api/json.ts';
import type {
  ApiRequest,
  ApiResponse,
  AuditSink,
  GroupResource,
  StoreChange,
  UserInfo,
  WorldClient,
  WorldKube,
  WriteRecord,
} from '../../contracts.ts';
import type { Kernel } from '../../kernel/index.ts';
import { Audit, type AuditedAnswer, type AuditSubject, writeRecordOf } from './audit.ts';
import type { Attributes } from './authorization.ts';
import { InWorldClient } from './client.ts';
import { CustomKinds } from './custom-kinds.ts';
import type { ResourceDefinition } from './definition.ts';
import { Deleter } from './deletion.ts';
import { Discovery, type VersionInfo } from './discovery.ts';
import { EventExpiry } from './event-expiry.ts';
import { Evictor } from './eviction.ts';
import { builtInKinds } from './kinds.ts';
import { restrictNode } from './node-restriction.ts';
import type { Stored } from './objects.ts';
import { Policies } from './policies.ts';
import type { Admission } from './policy-match.ts';
import { Quotas } from './quotas.ts';
import { type AccessPolicies, Rbac } from './rbac.ts';
import { Registry } from './registry.ts';
import type { Printer } from './representation.ts';
import { parseResourcePath, type ResourcePath } from './request-path.ts';
import { isWatch, Resources } from './resources.ts';
import { answerReview, reviewKinds } from './reviews.ts';
import { ApiError, noSuchResource } from './status.ts';
import { objectKey, Store } from './store.ts';
import { Tokens } from './tokens.ts';
import { Watches } from './watch.ts';
import { Webhooks } from './webhooks.ts';
import { Writer } from './write.ts';

/**
 * kube-apiserver's watch cache holds 100 to 102,400 changes depending on load; this is in between.
 */
const standardHistory = 8192;

export interface KubeApiServerOptions {
  readonly kernel: Kernel;
  readonly audit?: AuditSink;
  /** Called with every write except heartbeats, without rendering an audit event. */
  readonly onWrite?: (record: WriteRecord) => void;
  /** Called for each request of /version. */
  readonly version: () => VersionInfo;
  readonly serviceCidr?: string;
  /** Columns by `group/resource`; kinds without an entry get NAME and AGE. */
  readonly printers: Readonly<Record<string, Printer>>;
  readonly defaultPrinter: Printer;
  /** Number of changes per resource from which a watch can resume. */
  readonly watchHistory?: number;
  /** False disables managedFields, for simulations that do not read them. */
  readonly managers?: boolean;
  /** False omits the token volume of pods, for simulations that do not read it. */
  readonly accountVolumes?: boolean;
  /** Access granted by the cloud in addition to roles and bindings. */
  readonly accessPolicies?: AccessPolicies;
}

export class KubeApiServer implements WorldKube {
  readonly #kernel: Kernel;
  readonly #store: Store;
  readonly #registry: Registry;
  readonly #resources: Resources;
  readonly #writer: Writer;
  readonly #audit: Audit;
  readonly #onWrite: ((record: WriteRecord) => void) | undefined;
  readonly #custom: CustomKinds;
  readonly #discovery: Discovery;
  readonly #rbac: Rbac;
  readonly #tokens: Tokens;

  constructor(options: KubeApiServerOptions) {
    const { kernel } = options;
    this.#kernel = kernel;
    this.#registry = new Registry(builtInKinds);
    const resources = builtInKinds.map((definition) => definition.storage);
    this.#store = new Store(kernel, resources, options.watchHistory ?? standardHistory);
    this.#audit = new Audit(kernel, options.audit);
    this.#onWrite = options.onWrite;
    const policies = new Policies(this.#store, (gvk) => this.#registry.findKind(gvk));
    this.#rbac = new Rbac(this.#store, options.accessPolicies);
    const quotas = new Quotas(kernel, this.#store);
    const webhooks = new Webhooks(this.#store);
    const admit = (admission: Admission): void => {
      restrictNode(this.#store, admission);
      policies.admit(admission);
      webhooks.admit(admission);
      quotas.admit(admission);
    };
    this.#writer = new Writer({
      kernel,
      store: this.#store,
      serviceCidr: options.serviceCidr ?? '10.100.0.0/16',
      admit,
      tracksManagers: options.managers ?? true,
      accountVolumes: options.accountVolumes ?? true,
    });
    const deleter = new Deleter(kernel, this.#store);
    this.#custom = new CustomKinds({
      kernel,
      store: this.#store,
      registry: this.#registry,
      deleter,
    });
    this.#tokens = new Tokens(kernel, this.#store);
    this.#discovery = new Discovery(this.#registry, options.version);
    this.#resources = new Resources({
      kernel,
      store: this.#store,
      writer: this.#writer,
      deleter,
      admit,
      evictor: new Evictor(kernel, this.#store, deleter),
      watches: new Watches(kernel, this.#store),
      tokens: this.#tokens,
      printerOf: (definition) =>
        this.#custom.printerOf(definition) ??
        options.printers[`${definition.storage.group}/${definition.resource}`] ??
        options.defaultPrinter,
      scalePathsOf: (definition) => this.#custom.scalePathsOf(definition),
    });
    new EventExpiry(kernel, this.#store).start();
  }

  get revision(): number {
    return this.#store.revision;
  }

  handle(request: ApiRequest): ApiResponse {
    const path = parseResourcePath(request.path);
    if (path === undefined) return this.#plain(request);
    return this.dispatch(request, path, false);
  }

  as(identity: { readonly user: UserInfo; readonly userAgent: string }): WorldClient {
    return new InWorldClient(this, identity);
  }

  /** The account of a token that this server issued. */
  userOfToken(token: string): UserInfo | undefined {
    return this.#tokens.userOf(token);
  }

  /** The definition for an in-world caller's group and resource. */
  definitionOf(resource: GroupResource): ResourceDefinition | undefined {
    return this.#registry.preferred(resource);
  }

  /** One request on a resource path; `trusted` bodies are not checked for unknown fields. */
  dispatch(request: ApiRequest, path: ResourcePath, trusted: boolean): ApiResponse {
    const warnings: string[] = [];
    const response = this.#answered(() => this.#route(request, path, trusted, warnings));
    this.#record(request, path, response);
    if (warnings.length === 0 || response.kind !== 'object') return response;
    const warning = warnings.map((text) => `299 - ${JSON.stringify(text)}`).join(', ');
    return { ...response, headers: { ...response.headers, warning } };
  }

  read(
    resource: GroupResource,
    name: { readonly namespace?: string; readonly name: string },
  ): Stored | undefined {
    return this.#store.get(resource, objectKey(name.namespace, name.name));
  }

  readAll(resource: GroupResource, namespace?: string): Iterable<Stored> {
    return this.#store.list(resource, namespace);
  }

  podsOnNode(nodeName: string): Iterable<Stored> {
    return this.#store.podsOnNode(nodeName);
  }

  ownedBy(ownerUid: string, only?: GroupResource): Iterable<Stored> {
    return this.#store.ownedBy(ownerUid, only);
  }

  onChange(resource: GroupResource, listener: (change: StoreChange) => void): void {
    this.#store.onChange(resource, listener);
  }

  #route(
    request: ApiRequest,
    path: ResourcePath,
    trusted: boolean,
    warnings: string[],
  ): ApiResponse {
    if (!trusted) this.#rbac.enforce(request.user, attributesOf(request, path));
    const definition = this.#registry.find(path.group, path.version, path.resource);
    if (definition !== undefined) {
      // A cluster-scoped kind in a namespace, or an item of a namespaced one without: an invalid
      // path.
      const misplaced =
        (path.namespace !== undefined) !== definition.namespaced &&
        (path.namespace !== undefined || path.name !== undefined);
      if (misplaced) throw noSuchResource();
      return this.#resources.handle({ request, path, definition, trusted, warnings });
    }
    const review = reviewKinds.find(
      (kind) =>
        kind.group === path.group &&
        kind.version === path.version &&
        kind.resource === path.resource,
    );
    if (review === undefined || request.method !== 'POST') throw noSuchResource();
    const { user } = request;
    const { namespace } = path;
    const asked = { user, namespace, rbac: this.#rbac, tokens: this.#tokens };
    const body = answerReview(review, request.body, asked, this.#kernel.now());
    return { kind: 'object', status: 201, body };
  }

  #plain(request: ApiRequest): ApiResponse {
    return this.#answered(() => {
      if (request.method !== 'GET') throw noSuchResource();
      const answer = this.#discovery.answer(request);
      if (answer === undefined) throw noSuchResource();
      return answer;
    });
  }

  #answered(run: () => ApiResponse): ApiResponse {
    try {
      return run();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return refusal(error);
    }
  }

  #record(request: ApiRequest, path: ResourcePath, response: ApiResponse): void {
    if (!this.#audit.isOn && this.#onWrite === undefined) return;
    const subject: AuditSubject = { ...path, verb: verbOf(request, path) };
    const stream = response.kind === 'watch';
    const answer: AuditedAnswer = {
      code: stream ? 200 : response.status,
      body: response.kind === 'object' ? response.body : undefined,
      stage: stream ? 'ResponseStarted' : 'ResponseComplete',
    };
    const write = this.#onWrite && writeRecordOf(request, subject, answer);
    if (write !== undefined) this.#onWrite?.(write);
    if (!this.#audit.isOn) return;
    const query = request.query.toString();
    const uri = query === '' ? request.path : `${request.path}?${query}`;
    this.#audit.record({ ...request, uri }, subject, answer);
  }
}

function refusal(error: ApiError): ApiResponse {
  const { status } = error;
  const details = status.details;
  const retry = isObject(details) ? details.retryAfterSeconds : undefined;
  const headers = retry === undefined ? {} : { headers: { 'retry-after': String(retry) } };
  return { kind: 'object', status: status.code, body: status, ...headers };
}

/** A request for a namespace counts as a request in that namespace, as in RequestInfo. */
function attributesOf(request: ApiRequest, path: ResourcePath): Attributes {
  const own = path.group === '' && path.resource === 'namespaces' ? path.name : undefined;
  const fieldSelector = request.query.get('fieldSelector');
  return {
    ...path,
    verb: verbOf(request, path),
    namespace: path.namespace ?? own,
    ...(fieldSelector === null ? {} : { fieldSelector }),
  };
}

function verbOf(request: ApiRequest, path: ResourcePath): string {
  const one = path.name !== undefined;
  switch (request.method) {
    case 'GET':
      if (one) return 'get';
      return isWatch(request.query) ? 'watch' : 'list';
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return one ? 'delete' : 'deletecollection';
  }
}

export const createKubeApiServer = (options: KubeApiServerOptions): KubeApiServer =>
  new KubeApiServer(options);
