import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../../src/api/json.ts';
import {
  applyJsonPatch,
  applyMergePatch,
  type PatchResult,
  patchTypeOf,
  unknownPatchType,
} from './index.ts';

const REFUSED = 'the server rejected our request due to an error in our request';
const outcome = (result: PatchResult): Json =>
  result.kind === 'ok' ? result.object : [result.status.code, result.status.message];

const base: JsonObject = {
  metadata: { name: 'n', labels: { 'a/b': '1', 'c~d': '2' } },
  spec: { taints: [{ key: 'x' }, { key: 'y' }] },
};

describe('JSON patch', () => {
  it.each<[string, Json, Json]>([
    ['adds a member', [{ op: 'add', path: '/spec/a', value: 1 }], { a: 1, taints: ['x', 'y'] }],
    ['inserts', [{ op: 'add', path: '/spec/taints/0', value: { key: 'z' } }], ['z', 'x', 'y']],
    ['appends', [{ op: 'add', path: '/spec/taints/-', value: { key: 'z' } }], ['x', 'y', 'z']],
    ['counts -1 from the end', [{ op: 'remove', path: '/spec/taints/-1' }], ['x']],
    ['replaces', [{ op: 'replace', path: '/spec/taints/1/key', value: 'z' }], ['x', 'z']],
    ['moves', [{ op: 'move', from: '/spec/taints/0', path: '/spec/taints/1' }], ['y', 'x']],
    ['copies', [{ op: 'copy', from: '/spec/taints/0', path: '/spec/taints/-' }], ['x', 'y', 'x']],
    [
      'goes on after a test that holds',
      [
        { op: 'test', path: '/spec/taints/0/key', value: 'x' },
        { op: 'remove', path: '/spec/taints/0' },
      ],
      ['y'],
    ],
    ['takes an absent key for null', [{ op: 'test', path: '/spec/none', value: null }], ['x', 'y']],
  ])('%s', (_name, patch, expected) => {
    const result = outcome(applyJsonPatch(base, patch)) as JsonObject;
    const { taints, ...rest } = result.spec as { taints: readonly JsonObject[] };
    const keys = taints.map((taint) => taint.key);
    expect(Object.keys(rest).length > 0 ? { ...rest, taints: keys } : keys).toEqual(expected);
  });

  it('unescapes ~1 and ~0 in paths', () => {
    const patch = [
      { op: 'remove', path: '/metadata/labels/a~1b' },
      { op: 'replace', path: '/metadata/labels/c~0d', value: '3' },
    ];
    expect(outcome(applyJsonPatch(base, patch))).toMatchObject({
      metadata: { labels: { 'c~d': '3' } },
    });
  });

  it('shares what it does not touch and leaves its input alone', () => {
    const before = JSON.stringify(base);
    const result = applyJsonPatch(base, [{ op: 'add', path: '/spec/a', value: 1 }]);
    expect(result.kind === 'ok' && result.object.metadata).toBe(base.metadata);
    expect(JSON.stringify(base)).toBe(before);
  });

  it.each<[string, Json, number, string]>([
    ['a test that fails', [{ op: 'test', path: '/metadata/name', value: 'm' }], 422, REFUSED],
    ['a missing parent', [{ op: 'add', path: '/a/b', value: 1 }], 422, REFUSED],
    ['a missing key to remove', [{ op: 'remove', path: '/metadata/x' }], 422, REFUSED],
    ['a missing key to replace', [{ op: 'replace', path: '/metadata/x', value: 1 }], 422, REFUSED],
    ['an index out of range', [{ op: 'add', path: '/spec/taints/9', value: 1 }], 422, REFUSED],
    ['the root', [{ op: 'replace', path: '', value: {} }], 422, REFUSED],
    ['an inherited name', [{ op: 'test', path: '/constructor', value: {} }], 422, REFUSED],
    ['an unknown operation', [{ op: 'swap', path: '/metadata' }], 422, REFUSED],
    [
      'an object body, as clients send by mistake',
      { spec: { unschedulable: true } },
      400,
      'error decoding patch: json: cannot unmarshal object into Go value of type []interface {}',
    ],
    [
      'an operation that is no object',
      ['add'],
      400,
      'json: cannot unmarshal string into Go value of type jsonpatch.Operation',
    ],
    [
      'more than 10,000 operations',
      Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/metadata/name', value: 'n' })),
      413,
      'Request entity too large: ' +
        'The allowed maximum operations in a JSON patch is 10000, got 10001',
    ],
  ])('refuses %s', (_name, patch, code, message) => {
    expect(outcome(applyJsonPatch(base, patch))).toEqual([code, message]);
  });

  it('answers 422 as the API server does: reason Invalid and empty details', () => {
    const result = applyJsonPatch(base, [{ op: 'remove', path: '/x' }]);
    expect(result.kind === 'error' && result.status).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: REFUSED,
      reason: 'Invalid',
      details: {},
      code: 422,
    });
  });
});

describe('JSON merge patch', () => {
  it.each<[string, JsonObject, JsonObject, JsonObject]>([
    ['sets and deletes', { a: { b: 1, c: 2 } }, { a: { b: null, d: 3 } }, { a: { c: 2, d: 3 } }],
    ['replaces lists whole', { a: [1, 2] }, { a: [3] }, { a: [3] }],
    ['drops nulls in new objects', {}, { a: { b: null, c: { d: null } } }, { a: { c: {} } }],
    ['replaces a scalar by an object', { a: 1 }, { a: { b: 1 } }, { a: { b: 1 } }],
    ['deletes nothing that is not there', { a: 1 }, { b: null }, { a: 1 }],
  ])('%s', (_name, object, patch, expected) => {
    expect(outcome(applyMergePatch(object, patch))).toEqual(expected);
  });

  it('gives back the very same object when nothing changes', () => {
    const result = applyMergePatch(base, { metadata: { name: 'n', gone: null } });
    expect(result.kind === 'ok' && result.object).toBe(base);
  });

  it('refuses a body that is no object', () => {
    expect(outcome(applyMergePatch(base, []))).toEqual([
      400,
      'error decoding patch: json: cannot unmarshal array into Go value of type ' +
        'map[string]interface {}',
    ]);
  });
});

describe('patch types', () => {
  it.each([
    ['application/json-patch+json', 'json'],
    ['application/merge-patch+json; charset=utf-8', 'merge'],
    ['application/strategic-merge-patch+json', 'strategic'],
    ['application/apply-patch+yaml', 'apply'],
    ['application/json', undefined],
    ['constructor', undefined],
  ])('%s is %s', (contentType, type) => {
    expect(patchTypeOf(contentType)).toBe(type);
  });

  it('names the accepted types in a 415, without strategic merge for custom resources', () => {
    expect(outcome(unknownPatchType(true))).toEqual([
      415,
      'the body of the request was in an unknown format - accepted media types include: ' +
        'application/json-patch+json, application/merge-patch+json, ' +
        'application/apply-patch+yaml',
    ]);
  });
});
