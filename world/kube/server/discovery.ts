// Discovery in every form that clients request: /version, health, legacy and aggregated discovery.
// Generated from the registry, cached until it changes.
import { defined } from '../../../src/api/defined.ts';
import type { JsonObject } from '../../../src/api/json.ts';
import type { ApiRequest, ApiResponse } from '../../contracts.ts';
import { type CustomSchemaOf, openApiV3Document, openApiV3Index } from '../schema/index.ts';
import { apiVersionOf, type ResourceDefinition } from './definition.ts';
import type { Registry } from './registry.ts';
import { reviewKinds } from './reviews.ts';

export interface VersionInfo {
  readonly gitVersion: string;
  readonly major: string;
  readonly minor: string;
}

interface GroupVersions {
  readonly group: string;
  readonly versions: readonly string[];
}

const health: ReadonlySet<string> = new Set(['/readyz', '/livez', '/healthz']);

const openApiV2Asked = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
/** The answer has a dot in place of @, which is not valid in a media type. */
const openApiV2Protobuf = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

/**
 * An OpenAPI v2 document without schemas, which are in v3. kubectl requests it when v3 lacks a
 * kind; without an answer it never prints `no matches for kind`. In protobuf (gnostic's openapi_v2
 * Document) field 1 is swagger, 2 is info {1 title, 2 version}. Every byte is below 128, so the
 * text is the message.
 */
function openApiV2(accept: string): ApiResponse {
  const swagger = '2.0';
  const info = { title: 'Kubernetes', version: 'v1' };
  if (![openApiV2Asked, openApiV2Protobuf].some((type) => accept.includes(type))) {
    return ok({ swagger, info, paths: {} });
  }
  const field = (number: number, text: string): string =>
    String.fromCharCode((number << 3) | 2, text.length) + text;
  const body = field(1, swagger) + field(2, field(1, info.title) + field(2, info.version));
  return { kind: 'text', status: 200, body, contentType: openApiV2Protobuf };
}

export class Discovery {
  readonly #registry: Registry;
  readonly #version: () => VersionInfo;
  readonly #cache = new Map<string, JsonObject>();
  #generation = -1;

  constructor(registry: Registry, version: () => VersionInfo) {
    this.#registry = registry;
    this.#version = version;
  }

  /** Undefined for other paths. */
  answer(request: ApiRequest): ApiResponse | undefined {
    const path = request.path.length > 1 ? request.path.replace(/\/$/, '') : request.path;
    if (health.has(path)) return { kind: 'text', status: 200, body: 'ok' };
    if (path === '/version') return ok(this.#versionInfo());
    if (path === '/api' || path === '/apis') {
      const version = aggregatedVersion(request.accept);
      if (version === undefined) return ok(this.#cached(path, () => this.#legacyRoot(path)));
      const body = this.#cached(`${path} ${version}`, () => this.#aggregated(path, version));
      const form = `g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;
      const contentType = `application/json;${form}`;
      return { kind: 'object', status: 200, body, contentType };
    }
    if (path === '/openapi/v2') return openApiV2(request.accept);
    if (path === '/openapi/v3') return ok(this.#cached(path, () => this.#openApiIndex()));
    if (path.startsWith('/openapi/v3/')) return this.#openApi(path);
    if (path === '/') return ok(this.#cached(path, () => this.#paths()));
    const parts = path.split('/').slice(1);
    if (parts[0] === 'api' && parts.length === 2) return this.#resourceList('', parts[1] ?? '');
    if (parts[0] !== 'apis' || parts.length > 3) return undefined;
    const [, group = '', version] = parts;
    if (version !== undefined) return this.#resourceList(group, version);
    const found = this.#groups().find((candidate) => candidate.group === group);
    if (found === undefined || group === '') return undefined;
    return ok({ kind: 'APIGroup', apiVersion: 'v1', ...groupOf(found) });
  }

  #cached(key: string, make: () => JsonObject): JsonObject {
    if (this.#generation !== this.#registry.generation) {
      this.#cache.clear();
      this.#generation = this.#registry.generation;
    }
    const known = this.#cache.get(key);
    if (known !== undefined) return known;
    const made = make();
    this.#cache.set(key, made);
    return made;
  }

  #openApiIndex(): JsonObject {
    return openApiV3Index(this.#registry.all(), customSchemaOf(this.#registry));
  }

  #openApi(path: string): ApiResponse | undefined {
    const parts = path.split('/').slice(3);
    const [group, version] = parts[0] === 'api' ? ['', parts[1]] : [parts[1], parts[2]];
    if (group === undefined || version === undefined) return undefined;
    if (this.#in(group, version).length === 0) return undefined;
    const body = this.#cached(path, () => {
      const all = this.#registry.all();
      return openApiV3Document({ group, version }, all, customSchemaOf(this.#registry)) ?? {};
    });
    return ok(body);
  }

  #versionInfo(): JsonObject {
    const { major, minor, gitVersion } = this.#version();
    return {
      major,
      minor,
      gitVersion,
      gitCommit: '',
      gitTreeState: 'clean',
      buildDate: '1970-01-01T00:00:00Z',
      goVersion: 'go1.23.6',
      compiler: 'gc',
      platform: 'linux/amd64',
    };
  }

  #groups(): readonly GroupVersions[] {
    const groups = new Map<string, string[]>();
    for (const { group, version } of [...this.#registry.all(), ...reviewKinds]) {
      const versions = groups.get(group);
      if (versions === undefined) groups.set(group, [version]);
      else if (!versions.includes(version)) versions.push(version);
    }
    return [...groups].map(([group, versions]) => ({ group, versions }));
  }

  #paths(): JsonObject {
    const named = this.#groups().flatMap(({ group, versions }) =>
      group === ''
        ? ['/api', '/api/v1', '/apis']
        : [`/apis/${group}`, ...versions.map((version) => `/apis/${group}/${version}`)],
    );
    return { paths: [...named, '/healthz', '/livez', '/openapi/v3', '/readyz', '/version'] };
  }

  #legacyRoot(path: string): JsonObject {
    if (path === '/api') {
      return {
        kind: 'APIVersions',
        versions: ['v1'],
        serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '127.0.0.1' }],
      };
    }
    const groups = this.#groups().filter(({ group }) => group !== '');
    return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(groupOf) };
  }

  #resourceList(group: string, version: string): ApiResponse | undefined {
    const definitions = this.#in(group, version);
    const reviews = reviewsIn(group, version);
    if (definitions.length === 0 && reviews.length === 0) return undefined;
    const groupVersion = apiVersionOf({ group, version });
    return ok({
      kind: 'APIResourceList',
      apiVersion: 'v1',
      groupVersion,
      resources: [...definitions.flatMap(legacyResources), ...reviews.map(legacyReview)],
    });
  }

  #in(group: string, version: string): readonly ResourceDefinition[] {
    return this.#registry
      .all()
      .filter((definition) => definition.group === group && definition.version === version);
  }

  #aggregated(path: string, version: string): JsonObject {
    const wanted = this.#groups().filter(({ group }) => (group === '') === (path === '/api'));
    return {
      kind: 'APIGroupDiscoveryList',
      apiVersion: `apidiscovery.k8s.io/${version}`,
      metadata: {},
      items: wanted.map(({ group, versions }) => ({
        metadata: { ...(group === '' ? {} : { name: group }), creationTimestamp: null },
        versions: versions.map((served) => ({
          version: served,
          freshness: 'Current',
          resources: [
            ...this.#in(group, served).map(aggregatedResource),
            ...reviewsIn(group, served).map(aggregatedReview),
          ],
        })),
      })),
    };
  }
}

const customSchemaOf =
  (registry: Registry): CustomSchemaOf =>
  ({ group, version, resource }) =>
    registry.find(group, version, resource)?.custom;

const ok = (body: JsonObject): ApiResponse => ({ kind: 'object', status: 200, body });

const groupOf = ({ group, versions }: GroupVersions): JsonObject => {
  const all = versions.map((version) => ({ groupVersion: `${group}/${version}`, version }));
  return { name: group, versions: all, preferredVersion: all[0] };
};

const reviewsIn = (group: string, version: string) =>
  reviewKinds.filter((kind) => kind.group === group && kind.version === version);

/** `v2` or `v2beta1` when the client prefers aggregated discovery to plain JSON. */
function aggregatedVersion(accept: string): 'v2' | 'v2beta1' | undefined {
  for (const option of accept.split(',')) {
    const parts = option.split(';').map((part) => part.trim());
    const asks = parts.includes('as=APIGroupDiscoveryList');
    if (!asks && parts[0] === 'application/json' && parts.length === 1) return undefined;
    if (!asks || !parts.includes('g=apidiscovery.k8s.io')) continue;
    if (parts.includes('v=v2')) return 'v2';
    if (parts.includes('v=v2beta1')) return 'v2beta1';
  }
  return undefined;
}

const optionalList = (name: string, values: readonly string[]): JsonObject =>
  values.length === 0 ? {} : { [name]: values };

function legacyResources(definition: ResourceDefinition): readonly JsonObject[] {
  const { resource, singular, namespaced, kind, verbs, shortNames, categories } = definition;
  const main: JsonObject = {
    name: resource,
    singularName: singular,
    namespaced,
    kind,
    verbs,
    ...optionalList('shortNames', shortNames),
    ...optionalList('categories', categories),
  };
  return [
    main,
    ...definition.subresources.map((sub) => ({
      name: `${resource}/${sub.name}`,
      singularName: '',
      namespaced,
      ...defined({ group: sub.group, version: sub.version }),
      kind: sub.kind,
      verbs: sub.verbs,
    })),
  ];
}

type Review = (typeof reviewKinds)[number];

const legacyReview = (review: Review): JsonObject => ({
  name: review.resource,
  singularName: review.kind.toLowerCase(),
  namespaced: review.namespaced,
  kind: review.kind,
  verbs: ['create'],
});

const kindReference = (group: string, version: string, kind: string): JsonObject => ({
  group,
  version,
  kind,
});

function aggregatedResource(definition: ResourceDefinition): JsonObject {
  const { group, version, kind, resource, singular, namespaced, verbs } = definition;
  return {
    resource,
    responseKind: kindReference(group, version, kind),
    scope: namespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs,
    ...optionalList('shortNames', definition.shortNames),
    ...optionalList('categories', definition.categories),
    ...(definition.subresources.length === 0
      ? {}
      : {
          subresources: definition.subresources.map((sub) => ({
            subresource: sub.name,
            responseKind: kindReference(sub.group ?? group, sub.version ?? version, sub.kind),
            verbs: sub.verbs,
          })),
        }),
  };
}

const aggregatedReview = (review: Review): JsonObject => ({
  resource: review.resource,
  responseKind: kindReference(review.group, review.version, review.kind),
  scope: review.namespaced ? 'Namespaced' : 'Cluster',
  singularResource: review.kind.toLowerCase(),
  verbs: ['create'],
});
