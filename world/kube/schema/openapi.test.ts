import { describe, expect, it } from 'vitest';
import { isObject, type Json, type JsonObject } from '../../../src/api/json.ts';
import { openApiV3Document, openApiV3Index } from './openapi.ts';
import type { OpenApiResource } from './openapi-names.ts';

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const EVICTION = {
  name: 'eviction',
  kind: 'Eviction',
  group: 'policy',
  version: 'v1',
  verbs: ['create'],
};

const resource = (overrides: Partial<OpenApiResource>): OpenApiResource => ({
  group: '',
  version: 'v1',
  resource: 'pods',
  kind: 'Pod',
  namespaced: true,
  verbs: VERBS,
  subresources: [],
  ...overrides,
});

const pods = resource({ subresources: [EVICTION] });
const nodes = resource({ resource: 'nodes', kind: 'Node', namespaced: false });
const deployments = resource({ group: 'apps', resource: 'deployments', kind: 'Deployment' });
const custom = resource({
  group: 'drover.dev',
  version: 'v1alpha1',
  resource: 'nodegroups',
  kind: 'NodeGroup',
  namespaced: false,
});
const SERVED = [pods, nodes, deployments, custom];
const schemaOf = (of: OpenApiResource): JsonObject | undefined =>
  of.kind === 'NodeGroup'
    ? { type: 'object', properties: { spec: { type: 'object' } } }
    : undefined;

function documentOf(group: string, version: string): JsonObject {
  const found = openApiV3Document({ group, version }, SERVED, schemaOf);
  if (found === undefined) throw new Error('no document');
  return found;
}

/** Reads a path of keys; undefined when a key is missing. */
function at(value: Json | undefined, ...keys: readonly string[]): Json | undefined {
  return keys.reduce<Json | undefined>(
    (current, key) => (isObject(current) ? current[key] : undefined),
    value,
  );
}

const schemaAt = (document: JsonObject, name: string): Json | undefined =>
  at(document, 'components', 'schemas', name);

describe('the index of OpenAPI documents', () => {
  it('names each group and version with a URL that clients may cache', () => {
    const paths = at(openApiV3Index(SERVED, schemaOf), 'paths') as JsonObject;
    expect(Object.keys(paths)).toEqual(['api/v1', 'apis/apps/v1', 'apis/drover.dev/v1alpha1']);
    expect(paths['api/v1']).toEqual({
      serverRelativeURL: expect.stringMatching(/^\/openapi\/v3\/api\/v1\?hash=[0-9a-f]{8}$/),
    });
  });

  it('changes the hash when a custom schema changes, and no other', () => {
    const before = at(openApiV3Index(SERVED, schemaOf), 'paths') as JsonObject;
    const after = at(openApiV3Index(SERVED), 'paths') as JsonObject;
    expect(after['api/v1']).toEqual(before['api/v1']);
    expect(after['apis/drover.dev/v1alpha1']).not.toEqual(before['apis/drover.dev/v1alpha1']);
  });
});

describe('an OpenAPI document', () => {
  it('resolves every reference it makes', () => {
    for (const [group, version] of [
      ['', 'v1'],
      ['apps', 'v1'],
      ['drover.dev', 'v1alpha1'],
    ] as const) {
      const document = documentOf(group, version);
      const references = [
        ...JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g),
      ];
      expect(references.length).toBeGreaterThan(5);
      for (const [, name = ''] of references) expect(schemaAt(document, name)).toBeTruthy();
    }
  });

  it.each([
    ['/api/v1/namespaces/{namespace}/pods', 'post', 'Pod', false],
    ['/api/v1/namespaces/{namespace}/pods/{name}', 'put', 'Pod', false],
    ['/api/v1/namespaces/{namespace}/pods/{name}', 'patch', 'Pod', true],
    ['/api/v1/namespaces/{namespace}/pods/{name}/eviction', 'post', 'Eviction', false],
    ['/api/v1/nodes/{name}', 'patch', 'Node', true],
  ])('says that %s %s of %s validates fields and runs dry', (path, method, kind, forced) => {
    const operation = at(documentOf('', 'v1'), 'paths', path, method) as JsonObject;
    const parameters = operation.parameters as readonly JsonObject[];
    const names = parameters.map((parameter) => parameter.name);
    expect(names).toEqual(expect.arrayContaining(['dryRun', 'fieldValidation', 'fieldManager']));
    expect(names.includes('force')).toBe(forced);
    expect(operation['x-kubernetes-group-version-kind']).toMatchObject({ kind });
  });

  it('tells kubectl how lists merge', () => {
    const document = documentOf('', 'v1');
    const spec = schemaAt(document, 'io.k8s.api.core.v1.PodSpec');
    expect(at(spec, 'properties', 'containers')).toMatchObject({
      type: 'array',
      'x-kubernetes-patch-merge-key': 'name',
      'x-kubernetes-patch-strategy': 'merge',
    });
    const nodeSpec = schemaAt(document, 'io.k8s.api.core.v1.NodeSpec');
    expect(at(nodeSpec, 'properties', 'taints')).toEqual({
      type: 'array',
      items: { $ref: '#/components/schemas/io.k8s.api.core.v1.Taint' },
      'x-kubernetes-list-type': 'atomic',
    });
    expect(at(spec, 'required')).toEqual(['containers']);
  });

  it('marks kinds with their group, version and kind', () => {
    const deployment = schemaAt(documentOf('apps', 'v1'), 'io.k8s.api.apps.v1.Deployment');
    expect(at(deployment, 'x-kubernetes-group-version-kind')).toEqual([
      { group: 'apps', kind: 'Deployment', version: 'v1' },
    ]);
  });

  it('holds custom kinds with their own schema and metadata', () => {
    const document = documentOf('drover.dev', 'v1alpha1');
    const nodeGroup = schemaAt(document, 'dev.drover.v1alpha1.NodeGroup');
    expect(at(nodeGroup, 'properties', 'spec')).toEqual({ type: 'object' });
    expect(at(nodeGroup, 'properties', 'metadata')).toMatchObject({
      $ref: expect.stringContaining('ObjectMeta'),
    });
    const path = '/apis/drover.dev/v1alpha1/nodegroups/{name}';
    const patch = at(document, 'paths', path, 'patch', 'requestBody', 'content') as JsonObject;
    expect(Object.keys(patch)).not.toContain('application/strategic-merge-patch+json');
  });

  it('is absent where nothing is served', () => {
    expect(openApiV3Document({ group: 'none', version: 'v1' }, SERVED)).toBe(undefined);
  });
});
