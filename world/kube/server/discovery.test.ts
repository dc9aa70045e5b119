import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/api/json.ts';
import { TestWorld } from '../../../test/builders/world-kube-server.ts';
import { objectsOf } from './objects.ts';

const aggregated =
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,' +
  'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json';

const byName = (list: JsonObject, name: string): JsonObject | undefined =>
  objectsOf(list.resources).find((resource) => resource.name === name);

describe('discovery', () => {
  it('answers version and health', () => {
    const world = new TestWorld();
    expect(world.get('/version').body).toMatchObject({ major: '1', gitVersion: 'v1.32.5-eks-1' });
    for (const path of ['/readyz', '/livez', '/healthz']) {
      expect(world.raw('GET', path)).toEqual({ kind: 'text', status: 200, body: 'ok' });
    }
    expect(world.get('/metrics').code).toBe(404);
  });

  it('has an empty OpenAPI v2 document for clients that v3 leaves without an answer', () => {
    const world = new TestWorld();
    const accept = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
    expect(world.raw('GET', '/openapi/v2', { accept })).toEqual({
      kind: 'text',
      status: 200,
      contentType: accept.replace('@', '.'),
      body: '\n\x032.0\x12\x10\n\nKubernetes\x12\x02v1',
    });
    expect(world.get('/openapi/v2').body).toMatchObject({ swagger: '2.0', paths: {} });
  });

  it('shows kubectl drain where evictions are', () => {
    const list = new TestWorld().get('/api/v1').body;
    expect(list).toMatchObject({ kind: 'APIResourceList', groupVersion: 'v1' });
    expect(byName(list, 'pods/eviction')).toMatchObject({
      group: 'policy',
      version: 'v1',
      kind: 'Eviction',
      verbs: ['create'],
    });
    expect(byName(list, 'pods')).toMatchObject({ shortNames: ['po'], categories: ['all'] });
  });

  it('aggregates in the version that is asked for and echoes it in the content type', () => {
    const world = new TestWorld();
    const response = world.raw('GET', '/apis', { accept: aggregated });
    expect(response).toMatchObject({
      contentType: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
      body: { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2' },
    });
    const core = world.get('/api', aggregated).body;
    const pods = objectsOf(objectsOf(objectsOf(core.items)[0]?.versions)[0]?.resources).find(
      (resource) => resource.resource === 'pods',
    );
    expect(pods).toMatchObject({
      scope: 'Namespaced',
      singularResource: 'pod',
      responseKind: { group: '', version: 'v1', kind: 'Pod' },
    });
  });

  it('still has the legacy form', () => {
    const world = new TestWorld();
    expect(world.get('/api').body).toMatchObject({ kind: 'APIVersions', versions: ['v1'] });
    const groups = objectsOf(world.get('/apis').body.groups).map((group) => group.name);
    expect(groups).toContain('policy');
    expect(groups).not.toContain('metrics.k8s.io');
    expect(world.get('/apis/policy').body).toMatchObject({
      kind: 'APIGroup',
      preferredVersion: { groupVersion: 'policy/v1' },
    });
    expect(world.get('/apis/nope/v1').code).toBe(404);
  });

  it('lists an OpenAPI document per group and serves each', () => {
    const world = new TestWorld();
    const { paths } = world.get('/openapi/v3').body as { paths: Record<string, JsonObject> };
    const url = String(paths['apis/apps/v1']?.serverRelativeURL);
    expect(url).toMatch(/^\/openapi\/v3\/apis\/apps\/v1\?hash=/);
    expect(world.get(url).body).toMatchObject({ openapi: '3.0.0' });
    expect(world.get('/openapi/v3/apis/nope/v1').code).toBe(404);
  });

  it('answers 404 for paths and kinds that are not served, and 405 for verbs that are not', () => {
    const world = new TestWorld();
    for (const path of [
      '/api/v1/foos',
      '/apis/apps/v2/deployments',
      '/api/v1/namespaces/demo/nodes',
    ]) {
      expect([path, world.get(path).code]).toEqual([path, 404]);
    }
    expect(world.post('/api/v1/nodes/n1', {}).code).toBe(405);
    expect(world.delete('/api/v1/namespaces').code).toBe(405);
  });
});

describe('reviews', () => {
  it('tell a caller who it is and what it may do', () => {
    const world = new TestWorld();
    const self = world.post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {});
    expect(self.body.status).toEqual({
      userInfo: { username: 'tester', groups: ['system:masters'] },
    });
    const access = world.post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
      spec: { resourceAttributes: { verb: 'get', resource: 'pods' } },
    });
    expect([access.code, access.body.status]).toEqual([
      201,
      expect.objectContaining({ allowed: true }),
    ]);
  });
});
