import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../../src/api/json.ts';
import { named, TestWorld } from '../../../test/builders/world-kube-server.ts';
import type { ApiRequest } from '../../contracts.ts';
import { decodeBody } from './body.ts';

const demo = '/api/v1/namespaces/demo';
const urls = [
  '/api/v1/nodes',
  '/api/v1/nodes/n1',
  '/api/v1/nodes/n1/status',
  '/api/v1/namespaces/demo/finalize',
  `${demo}/pods`,
  `${demo}/pods/p1`,
  `${demo}/pods/p1/status`,
  `${demo}/pods/p1/eviction`,
  `${demo}/pods/p2/binding`,
  `${demo}/pods/p1/log`,
  `${demo}/pods/p1/exec`,
  `${demo}/services`,
  `${demo}/secrets`,
  '/apis/apps/v1/namespaces/demo/deployments',
  '/apis/apps/v1/namespaces/demo/deployments/d/scale',
  '/apis/batch/v1/namespaces/demo/jobs',
  '/apis/policy/v1/namespaces/demo/poddisruptionbudgets',
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  '/apis/certificates.k8s.io/v1/certificatesigningrequests',
  '/apis/events.k8s.io/v1/namespaces/demo/events',
  '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
  '/apis/authentication.k8s.io/v1/selfsubjectreviews',
  '/',
  '/api//v1',
  '/apis/apps',
  '/openapi/v3/apis/apps/v1',
];

const contentTypes = [
  'application/json',
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
  'nonsense',
];

const keys = [
  'metadata',
  'spec',
  'status',
  'name',
  'namespace',
  'labels',
  'finalizers',
  'ownerReferences',
  'template',
  'containers',
  'selector',
  'replicas',
  'taints',
  'target',
  'deleteOptions',
  'preconditions',
  'gracePeriodSeconds',
  'conditions',
  'versions',
  'names',
  'schema',
  'kind',
  'apiVersion',
  'op',
  'path',
  'value',
  '__proto__',
];

const body: fc.Arbitrary<Json> = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<Json>(null, true, -1, 3.5, '', 'p1', 'n1', 'd', 'add', '/spec/replicas', '1'),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...keys), tie('json'), { maxKeys: 5 }),
  ),
})).json;

const methods: readonly ApiRequest['method'][] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

function aWorld(): TestWorld {
  const world = new TestWorld();
  world.post('/api/v1/nodes', named('n1'));
  world.aPod('p1');
  world.aPod('p2', { node: null, phase: 'Pending' });
  const template: JsonObject = {
    metadata: { labels: { app: 'd' } },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  };
  const spec = { selector: { matchLabels: { app: 'd' } }, template };
  world.post('/apis/apps/v1/namespaces/demo/deployments', named('d', { spec }));
  return world;
}

const complete = (object: JsonObject): JsonObject => ({ ...object, metadata: named('d').metadata });

describe('whatever a client sends', () => {
  it('gets an answer, and every refusal is a Status with code and message', () => {
    const world = aWorld();
    fc.assert(
      fc.property(
        fc.constantFrom(...methods),
        fc.constantFrom(...urls),
        fc.constantFrom(...contentTypes),
        body,
        fc.boolean(),
        (method, url, contentType, sent, named) => {
          const isObject = typeof sent === 'object' && sent !== null && !Array.isArray(sent);
          const given = named && isObject ? complete(sent as JsonObject) : sent;
          const answer = world.raw(method, url, { contentType, body: given });
          if (answer.kind !== 'object' || answer.status < 400) return;
          expect(answer.body).toMatchObject({ kind: 'Status', code: answer.status });
          expect(typeof answer.body.message).toBe('string');
        },
      ),
      { numRuns: 3000 },
    );
  });

  it('gets an answer for every query', () => {
    const world = aWorld();
    const names = ['labelSelector', 'fieldSelector', 'limit', 'continue', 'resourceVersion'];
    const more = ['resourceVersionMatch', 'timeoutSeconds', 'watch', 'dryRun', 'fieldValidation'];
    const value = fc.oneof(fc.string({ maxLength: 8 }), fc.constantFrom('All', 'true', '0', '-1'));
    const query = fc.dictionary(fc.constantFrom(...names, ...more), value);
    fc.assert(
      fc.property(fc.constantFrom('GET', 'POST', 'DELETE'), query, (method, given) => {
        const url = `${demo}/configmaps?${new URLSearchParams(given).toString()}`;
        const answer = world.raw(method as ApiRequest['method'], url, { body: named('c') });
        if (answer.kind === 'object') expect(answer.status).toBeLessThan(505);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('a body', () => {
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

  it('is JSON under every JSON content type and may be empty', () => {
    expect(decodeBody('application/merge-patch+json; charset=utf-8', bytes('{"a":1}'))).toEqual({
      kind: 'ok',
      body: { a: 1 },
      sent: { form: 'json', duplicates: [] },
    });
    expect(decodeBody('', bytes(''))).toEqual({ kind: 'ok', body: undefined });
  });

  it.each([
    ['application/json', '{', 400],
    ['application/yaml', 'a: 1', 415],
    ['application/vnd.kubernetes.protobuf', 'nope', 400],
  ])('as %s with %s is refused', (contentType, text, code) => {
    expect(decodeBody(contentType, bytes(text))).toMatchObject({ kind: 'error', status: { code } });
  });
});
