// OpenAPI v3 as kubectl reads it: the index of documents and one document per group and version,
// generated on demand from the facts and the served resources. The caller caches. Without
// descriptions, `kubectl explain` prints `<no description>`.
import { defined } from '../../../src/api/defined.ts';
import type { Json, JsonObject } from '../../../src/api/json.ts';
import { allKinds, factSources, findSchema } from './facts.ts';
import { Components } from './openapi-components.ts';
import {
  customName,
  type GroupVersion,
  kindComponent,
  type OpenApiResource,
  rootPath,
  shortHash,
} from './openapi-names.ts';

/** The openAPIV3Schema of a custom resource's version; undefined for built-in kinds. */
export type CustomSchemaOf = (resource: OpenApiResource) => JsonObject | undefined;

const documentKey = (of: GroupVersion): string => rootPath(of).slice(1);

/** `GET /openapi/v3`. The hash changes with anything that changes the document. */
export function openApiV3Index(
  resources: readonly OpenApiResource[],
  customSchemaOf: CustomSchemaOf = () => undefined,
): JsonObject {
  const texts = new Map<string, string>();
  for (const resource of resources) {
    const { group, version, kind, namespaced, verbs, subresources } = resource;
    const key = documentKey({ group, version });
    const schema = customSchemaOf(resource) ?? null;
    const parts = [resource.resource, kind, namespaced, verbs, subresources, schema];
    texts.set(key, `${texts.get(key) ?? factSources.join()}${JSON.stringify(parts)}`);
  }
  const paths = [...texts].map(([key, text]): [string, Json] => [
    key,
    { serverRelativeURL: `/openapi/v3/${key}?hash=${shortHash(text)}` },
  ]);
  return { paths: Object.fromEntries(paths) };
}

const parameter = (name: string, type: 'string' | 'boolean' | 'integer'): JsonObject => ({
  name,
  in: 'query',
  schema: { type, uniqueItems: true },
});
const WRITE = [
  parameter('dryRun', 'string'),
  parameter('fieldManager', 'string'),
  parameter('fieldValidation', 'string'),
];
const PATCH = [...WRITE, parameter('force', 'boolean')];
const LIST = [
  parameter('allowWatchBookmarks', 'boolean'),
  parameter('continue', 'string'),
  parameter('fieldSelector', 'string'),
  parameter('labelSelector', 'string'),
  parameter('limit', 'integer'),
  parameter('resourceVersion', 'string'),
  parameter('resourceVersionMatch', 'string'),
  parameter('sendInitialEvents', 'boolean'),
  parameter('timeoutSeconds', 'integer'),
  parameter('watch', 'boolean'),
];
const DELETE = [
  parameter('dryRun', 'string'),
  parameter('gracePeriodSeconds', 'integer'),
  parameter('orphanDependents', 'boolean'),
  parameter('propagationPolicy', 'string'),
];
const PATCH_TYPES = [
  'application/apply-patch+yaml',
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
];

interface Target {
  readonly gvk: { readonly group: string; readonly version: string; readonly kind: string };
  readonly body: JsonObject;
  readonly patch: JsonObject;
  readonly remove: JsonObject;
  readonly custom: boolean;
}

const content = (schema: JsonObject, types: readonly string[]): JsonObject => ({
  content: Object.fromEntries(types.map((type) => [type, { schema }])),
});

function operation(
  target: Target,
  action: string,
  options: { readonly parameters?: readonly JsonObject[]; readonly request?: JsonObject } = {},
): JsonObject {
  const { parameters, request } = options;
  return {
    ...defined({ parameters, requestBody: request }),
    responses: { 200: { description: 'OK', ...content(target.body, ['application/json']) } },
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': target.gvk,
  };
}

type Method = readonly [verb: string, method: string, make: (target: Target) => JsonObject];

const COLLECTION: readonly Method[] = [
  ['list', 'get', (t) => operation(t, 'list', { parameters: LIST })],
  [
    'create',
    'post',
    (t) => operation(t, 'post', { parameters: WRITE, request: content(t.body, ['*/*']) }),
  ],
  [
    'deletecollection',
    'delete',
    (t) =>
      operation(t, 'deletecollection', {
        parameters: [...LIST, ...DELETE],
        request: content(t.remove, ['*/*']),
      }),
  ],
];
const ITEM: readonly Method[] = [
  ['get', 'get', (t) => operation(t, 'get')],
  [
    'update',
    'put',
    (t) => operation(t, 'put', { parameters: WRITE, request: content(t.body, ['*/*']) }),
  ],
  [
    'patch',
    'patch',
    (t) => {
      const types = t.custom ? PATCH_TYPES.slice(0, 3) : PATCH_TYPES;
      return operation(t, 'patch', { parameters: PATCH, request: content(t.patch, types) });
    },
  ],
  [
    'delete',
    'delete',
    (t) => operation(t, 'delete', { parameters: DELETE, request: content(t.remove, ['*/*']) }),
  ],
];
/** A subresource such as eviction or binding is created on the item's path. */
const SUBRESOURCE: readonly Method[] = [
  ...ITEM,
  [
    'create',
    'post',
    (t) => operation(t, 'post', { parameters: WRITE, request: content(t.body, ['*/*']) }),
  ],
];

const pathParameter = (name: string): JsonObject => ({
  name,
  in: 'path',
  required: true,
  schema: { type: 'string', uniqueItems: true },
});

function pathItem(
  methods: readonly Method[],
  options: {
    readonly verbs: readonly string[];
    readonly target: Target;
    readonly names: readonly string[];
  },
): JsonObject | undefined {
  const { verbs, target, names } = options;
  const served = methods.filter(([verb]) => verbs.includes(verb));
  if (served.length === 0) return undefined;
  return {
    ...Object.fromEntries(served.map(([, method, make]) => [method, make(target)])),
    ...(names.length === 0 ? {} : { parameters: names.map(pathParameter) }),
  };
}

class DocumentBuilder {
  readonly #components = new Components(allKinds());
  readonly #paths = new Map<string, Json>();
  readonly #customSchemaOf: CustomSchemaOf;

  constructor(customSchemaOf: CustomSchemaOf) {
    this.#customSchemaOf = customSchemaOf;
  }

  add(resource: OpenApiResource): void {
    const { namespaced, verbs } = resource;
    const root = rootPath(resource);
    const scope = namespaced ? `${root}/namespaces/{namespace}` : root;
    const names = namespaced ? ['namespace'] : [];
    const target = this.#target(resource, this.#customSchemaOf(resource));
    const collection = `${scope}/${resource.resource}`;
    this.#put(collection, pathItem(COLLECTION, { verbs, target, names }));
    if (namespaced) {
      const everywhere = verbs.filter((verb) => verb === 'list');
      const item = pathItem(COLLECTION, { verbs: everywhere, target, names: [] });
      this.#put(`${root}/${resource.resource}`, item);
    }
    const one = { names: [...names, 'name'] };
    this.#put(`${collection}/{name}`, pathItem(ITEM, { verbs, target, ...one }));
    this.#addList(resource);
    for (const sub of resource.subresources) {
      const gvk = {
        group: sub.group ?? resource.group,
        version: sub.version ?? resource.version,
        kind: sub.kind,
      };
      const subTarget = sub.kind === resource.kind ? target : this.#target(gvk, undefined);
      const item = pathItem(SUBRESOURCE, { verbs: sub.verbs, target: subTarget, ...one });
      this.#put(`${collection}/{name}/${sub.name}`, item);
    }
  }

  finish(): JsonObject {
    return {
      openapi: '3.0.0',
      info: { title: 'Kubernetes', version: 'v1.32' },
      paths: Object.fromEntries([...this.#paths].sort(([a], [b]) => (a < b ? -1 : 1))),
      components: { schemas: this.#components.finish() },
    };
  }

  #put(path: string, item: JsonObject | undefined): void {
    if (item !== undefined) this.#paths.set(path, item);
  }

  #target(
    gvk: { readonly group: string; readonly version: string; readonly kind: string },
    custom: JsonObject | undefined,
  ): Target {
    const { group, version, kind } = gvk;
    const schema = findSchema(gvk);
    return {
      gvk: { group, version, kind },
      body: schema === undefined ? this.#custom(gvk, custom) : this.#components.struct(schema.type),
      patch: { type: 'object' },
      remove: this.#components.named('meta/v1.DeleteOptions'),
      custom: schema === undefined,
    };
  }

  /** A custom kind: its own schema plus the fields of every object. */
  #custom(
    gvk: { readonly group: string; readonly version: string; readonly kind: string },
    schema: JsonObject | undefined,
  ): JsonObject {
    const name = customName(gvk);
    const properties = schema?.properties;
    this.#components.add(name, {
      type: 'object',
      ...(schema ?? {}),
      properties: {
        ...(typeof properties === 'object' && !Array.isArray(properties) ? properties : {}),
        apiVersion: { type: 'string' },
        kind: { type: 'string' },
        metadata: this.#components.named('meta/v1.ObjectMeta'),
      },
      'x-kubernetes-group-version-kind': [
        { group: gvk.group, kind: gvk.kind, version: gvk.version },
      ],
    });
    return { $ref: `#/components/schemas/${name}` };
  }

  #addList(resource: OpenApiResource): void {
    if (!resource.verbs.includes('list')) return;
    const { group, version, kind } = resource;
    const name = kindComponent(resource, findSchema(resource));
    this.#components.add(`${name}List`, {
      type: 'object',
      required: ['items'],
      properties: {
        apiVersion: { type: 'string' },
        kind: { type: 'string' },
        metadata: this.#components.named('meta/v1.ListMeta'),
        items: { type: 'array', items: { $ref: `#/components/schemas/${name}` } },
      },
      'x-kubernetes-group-version-kind': [{ group, kind: `${kind}List`, version }],
    });
  }
}

/** `GET /openapi/v3/<api/v1 or apis/GROUP/VERSION>`; undefined when nothing is served there. */
export function openApiV3Document(
  of: GroupVersion,
  resources: readonly OpenApiResource[],
  customSchemaOf: CustomSchemaOf = () => undefined,
): JsonObject | undefined {
  const served = resources.filter(
    (resource) => resource.group === of.group && resource.version === of.version,
  );
  if (served.length === 0) return undefined;
  const builder = new DocumentBuilder(customSchemaOf);
  for (const resource of served) builder.add(resource);
  return builder.finish();
}
