import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/api/json.ts';
import { named, TestWorld } from '../../../test/builders/world-kube-server.ts';
import { metadataOf, objectsOf, statusOf } from './objects.ts';

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const herds = '/apis/example.dev/v1/herds';

const properties: JsonObject = {
  spec: {
    type: 'object',
    'x-kubernetes-validations': [
      { rule: '!has(self.size) || self.size <= 50', message: 'a herd has at most 50' },
      {
        rule: '!has(oldSelf.breed) || (has(self.breed) && self.breed == oldSelf.breed)',
        message: 'breed is final',
      },
    ],
    properties: {
      size: { type: 'integer', minimum: 0, default: 3 },
      breed: { type: 'string', enum: ['brown', 'white'] },
    },
  },
  status: {
    type: 'object',
    properties: {
      size: { type: 'integer' },
      phase: { type: 'string' },
      conditions: {
        type: 'array',
        items: {
          type: 'object',
          properties: { type: { type: 'string' }, status: { type: 'string' } },
        },
      },
    },
  },
};

const definition: JsonObject = {
  metadata: { name: 'herds.example.dev' },
  spec: {
    group: 'example.dev',
    scope: 'Cluster',
    names: { plural: 'herds', kind: 'Herd', shortNames: ['hd'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties } },
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' },
        },
        additionalPrinterColumns: [
          { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
          {
            name: 'Ready',
            type: 'string',
            jsonPath: '.status.conditions[?(@.type=="Ready")].status',
          },
          { name: 'Born', type: 'date', jsonPath: '.metadata.creationTimestamp', priority: 1 },
        ],
      },
    ],
  },
};

function aWorld(): TestWorld {
  const world = new TestWorld();
  const answer = world.post(crds, definition);
  if (answer.code !== 201) throw new Error(JSON.stringify(answer.body));
  return world;
}

describe('a CustomResourceDefinition', () => {
  it('is established at once and served in discovery and OpenAPI', () => {
    const world = aWorld();
    const { body } = world.get(`${crds}/herds.example.dev`);
    expect(objectsOf(statusOf(body).conditions).map((one) => [one.type, one.status])).toEqual([
      ['NamesAccepted', 'True'],
      ['Established', 'True'],
    ]);
    expect(statusOf(body)).toMatchObject({
      storedVersions: ['v1'],
      acceptedNames: { listKind: 'HerdList' },
    });
    expect(world.get('/apis/example.dev/v1').body.resources).toMatchObject([
      { name: 'herds', singularName: 'herd', kind: 'Herd', namespaced: false, shortNames: ['hd'] },
      { name: 'herds/status' },
      { name: 'herds/scale', kind: 'Scale', group: 'autoscaling' },
    ]);
    expect(world.get('/openapi/v3/apis/example.dev/v1').code).toBe(200);
    expect(world.get(herds).body).toMatchObject({ kind: 'HerdList', items: [] });
  });

  it('is refused when its name or schema is wrong', () => {
    const world = new TestWorld();
    const misnamed = world.post(crds, { ...definition, metadata: { name: 'x.example.dev' } });
    expect(misnamed.body.message).toContain('must be spec.names.plural+"."+spec.group');
    const spec = definition.spec as JsonObject;
    const bare = {
      ...definition,
      spec: { ...spec, versions: [{ name: 'v1', served: true, storage: true }] },
    };
    expect(world.post(crds, bare).body.message).toContain('schemas are required');
  });

  it('goes when its last instance is gone', () => {
    const world = aWorld();
    world.post(herds, { metadata: { name: 'a', finalizers: ['example.dev/hold'] } });
    world.post(herds, named('b'));
    const watch = world.watch(`${herds}?watch=true&resourceVersion=${world.api.revision}`);
    world.delete(`${crds}/herds.example.dev`);
    world.advance(2);
    expect(watch.lines()).toEqual(['MODIFIED a', 'DELETED b']);
    const dying = world.get(`${crds}/herds.example.dev`);
    expect(dying.code).toBe(200);
    expect(objectsOf(statusOf(dying.body).conditions).at(-1)).toMatchObject({
      type: 'Terminating',
      status: 'True',
      reason: 'InstanceDeletionInProgress',
    });
    const late = world.post(herds, named('c'));
    expect([late.code, late.body.message]).toEqual([
      403,
      'herds.example.dev "c" is forbidden: create not allowed while custom resource definition is terminating',
    ]);
    expect(world.get(`${herds}/c`).code).toBe(404);
    world.patch(`${herds}/a`, { metadata: { finalizers: null } });
    world.advance(2);
    expect(world.get(`${crds}/herds.example.dev`).code).toBe(404);
    expect(world.get(herds).code).toBe(404);
  });
});

describe('custom resources', () => {
  it('keep status and spec apart, and metadata out of /status', () => {
    const world = aWorld();
    world.post(herds, named('a', { spec: { size: 1 }, status: { phase: 'Dropped' } }));
    expect(world.get(`${herds}/a`).body.status).toBeUndefined();
    world.patch(`${herds}/a/status`, {
      metadata: { labels: { x: 'y' } },
      spec: { size: 9 },
      status: { phase: 'Up' },
    });
    const { body } = world.get(`${herds}/a`);
    expect(body).toMatchObject({ spec: { size: 1 }, status: { phase: 'Up' } });
    expect(metadataOf(body).labels).toBeUndefined();
    expect(metadataOf(body).generation).toBe(1);
    const next = world.patch(`${herds}/a`, { spec: { size: 2 } });
    expect(metadataOf(next.body).generation).toBe(2);
  });

  it('scale through the paths of their definition', () => {
    const world = aWorld();
    world.post(herds, named('a', { spec: { size: 1 } }));
    world.patch(`${herds}/a/status`, { status: { size: 1 } });
    expect(world.patch(`${herds}/a/scale`, { spec: { replicas: 4 } }).body).toMatchObject({
      kind: 'Scale',
      spec: { replicas: 4 },
      status: { replicas: 1 },
    });
    expect(world.get(`${herds}/a`).body).toMatchObject({ spec: { size: 4 } });
  });

  it('print the columns of their definition', () => {
    const world = aWorld();
    world.post(herds, named('a', { spec: { size: 1 } }));
    const conditions = [
      { type: 'Other', status: 'False' },
      { type: 'Ready', status: 'True' },
    ];
    world.patch(`${herds}/a/status`, { status: { conditions } });
    world.advance(61);
    const { body } = world.get(herds, 'application/json;as=Table;v=v1;g=meta.k8s.io');
    expect(objectsOf(body.columnDefinitions).map((one) => [one.name, one.priority])).toEqual([
      ['Name', 0],
      ['Size', 0],
      ['Ready', 0],
      ['Born', 1],
    ]);
    expect(objectsOf(body.rows)[0]?.cells).toEqual(['a', 1, 'True', '61s']);
  });

  it('take no strategic patch', () => {
    const world = aWorld();
    world.post(herds, named('a'));
    const answer = world.patch(`${herds}/a`, { spec: { size: 1 } }, 'strategic');
    expect(answer.code).toBe(415);
    expect(answer.body.message).not.toContain('strategic');
  });

  it.each<[string, JsonObject, string]>([
    ['a wrong type', { size: 'big' }, 'spec.size: Invalid value: "string"'],
    ['less than the minimum', { size: -1 }, 'should be greater than or equal to 0'],
    ['a value that is no enum', { breed: 'red' }, 'spec.breed: Unsupported value: "red"'],
    ['what a rule forbids', { size: 99 }, 'a herd has at most 50'],
  ])('are refused for %s', (_case, spec, message) => {
    const world = aWorld();
    const answer = world.post(herds, named('a', { spec }));
    expect(answer.code).toBe(422);
    expect(answer.body.message).toContain(message);
  });

  it('hold a transition rule and apply rules to scale as well', () => {
    const world = aWorld();
    world.post(herds, named('a', { spec: { size: 1, breed: 'brown' } }));
    const dyed = world.patch(`${herds}/a`, { spec: { breed: 'white' } });
    expect(dyed.body.message).toContain('breed is final');
    const scaled = world.patch(`${herds}/a/scale`, { spec: { replicas: 60 } });
    expect(scaled.body.message).toContain('a herd has at most 50');
  });

  it('get defaults and lose unknown fields, with a warning unless Strict', () => {
    const world = aWorld();
    const body = named('a', { spec: { wool: 'much' } });
    const strict = world.post(`${herds}?fieldValidation=Strict`, body);
    expect([strict.code, strict.body.message]).toEqual([
      400,
      expect.stringContaining('unknown field "spec.wool"'),
    ]);
    const answer = world.post(herds, body);
    expect(answer.body.spec).toEqual({ size: 3 });
    expect(answer.headers.warning).toBe('299 - "unknown field \\"spec.wool\\""');
  });

  it('need a resourceVersion in a PUT', () => {
    const world = aWorld();
    world.post(herds, named('a'));
    expect(world.put(`${herds}/a`, named('a')).code).toBe(422);
  });
});
