// The in-world client: requests with an identity, without HTTP and text. They pass the same
// validation, admission and audit as those of real clients.
import { defined } from '../../../src/api/defined.ts';
import type { Json, JsonObject } from '../../../src/api/json.ts';
import type {
  ApiRequest,
  ApiResponse,
  ApiStatus,
  GroupResource,
  Result,
  UserInfo,
  WorldClient,
} from '../../contracts.ts';
import type { ResourceDefinition } from './definition.ts';
import { metadataOf, type Stored, textOf } from './objects.ts';
import type { ResourcePath } from './request-path.ts';
import { noSuchResource } from './status.ts';

/** The part of the server that the client uses. */
export interface Dispatcher {
  definitionOf(resource: GroupResource): ResourceDefinition | undefined;
  dispatch(request: ApiRequest, path: ResourcePath, trusted: boolean): ApiResponse;
  read(
    resource: GroupResource,
    name: { readonly namespace?: string; readonly name: string },
  ): Stored | undefined;
}

interface Name {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

const noQuery = new URLSearchParams();
const contentTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
} as const;

const missing: Result = { kind: 'error', status: noSuchResource().status };

export class InWorldClient implements WorldClient {
  readonly #server: Dispatcher;
  readonly #user: UserInfo;
  readonly #userAgent: string;

  constructor(
    server: Dispatcher,
    identity: { readonly user: UserInfo; readonly userAgent: string },
  ) {
    this.#server = server;
    this.#user = identity.user;
    this.#userAgent = identity.userAgent;
  }

  /** `pods/binding` and `pods/eviction` are resources too: the object's name is in the path. */
  create(resource: GroupResource, namespace: string | undefined, object: JsonObject): Result {
    const [plural = '', subresource] = resource.resource.split('/', 2);
    const name = subresource === undefined ? undefined : textOf(metadataOf(object).name);
    const of = { group: resource.group, resource: plural };
    return this.#send('POST', of, { namespace, name }, subresource, { body: object });
  }

  update(
    resource: GroupResource,
    object: JsonObject,
    subresource?: 'status' | 'scale' | 'finalize' | 'approval',
  ): Result {
    const { name, namespace } = metadataOf(object);
    const target = { name: textOf(name), namespace: textOf(namespace) };
    return this.#send('PUT', resource, target, subresource, { body: object });
  }

  patch(
    resource: GroupResource,
    name: { readonly namespace?: string; readonly name: string },
    patch: {
      readonly type: 'json' | 'merge' | 'strategic';
      readonly body: Json;
      readonly subresource?: string;
    },
  ): Result {
    const contentType = contentTypes[patch.type];
    const content = { body: patch.body, contentType };
    return this.#send('PATCH', resource, name, patch.subresource, content);
  }

  delete(
    resource: GroupResource,
    name: { readonly namespace?: string; readonly name: string },
    options: {
      readonly uid?: string;
      readonly gracePeriodSeconds?: number;
      readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
    } = {},
  ): Result {
    const { uid, gracePeriodSeconds, propagationPolicy } = options;
    const body: JsonObject = {
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      ...defined({ gracePeriodSeconds, propagationPolicy }),
      ...(uid === undefined ? {} : { preconditions: { uid } }),
    };
    const last = this.#server.read(resource, name);
    const result = this.#send('DELETE', resource, name, undefined, { body });
    const isStatus = result.kind === 'ok' && result.object.kind === 'Status';
    return isStatus && last !== undefined ? { kind: 'ok', object: last } : result;
  }

  #send(
    method: ApiRequest['method'],
    resource: GroupResource,
    target: Name,
    subresource: string | undefined,
    content: { readonly body: Json; readonly contentType?: string },
  ): Result {
    const definition = this.#server.definitionOf(resource);
    if (definition === undefined) return missing;
    const path: ResourcePath = {
      group: definition.group,
      version: definition.version,
      resource: definition.resource,
      namespace: definition.namespaced ? target.namespace : undefined,
      name: target.name,
      subresource,
    };
    const request: ApiRequest = {
      method,
      path: pathText(path),
      query: noQuery,
      contentType: content.contentType ?? 'application/json',
      accept: 'application/json',
      body: content.body,
      user: this.#user,
      userAgent: this.#userAgent,
      sourceIp: '127.0.0.1',
    };
    const response = this.#server.dispatch(request, path, true);
    if (response.kind !== 'object') throw new Error(`unexpected ${response.kind} answer`);
    if (response.status < 400) return { kind: 'ok', object: response.body as Stored };
    return { kind: 'error', status: response.body as ApiStatus };
  }
}

function pathText(path: ResourcePath): string {
  const root = path.group === '' ? `/api/${path.version}` : `/apis/${path.group}/${path.version}`;
  const scope = path.namespace === undefined ? '' : `/namespaces/${path.namespace}`;
  const name = path.name === undefined ? '' : `/${path.name}`;
  const sub = path.subresource === undefined ? '' : `/${path.subresource}`;
  return `${root}${scope}/${path.resource}${name}${sub}`;
}
