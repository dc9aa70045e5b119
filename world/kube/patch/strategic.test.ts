import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../../src/api/json.ts';
import { applyStrategicMergePatch } from './strategic.ts';

const pod = { group: '', version: 'v1', kind: 'Pod' };
const node = { group: '', version: 'v1', kind: 'Node' };
const deployment = { group: 'apps', version: 'v1', kind: 'Deployment' };
const service = { group: '', version: 'v1', kind: 'Service' };

function patched(gvk: typeof pod, object: JsonObject, patch: Json): JsonObject {
  const result = applyStrategicMergePatch(gvk, object, patch);
  if (result.kind === 'error') throw new Error(`${result.status.code} ${result.status.message}`);
  return result.object;
}

const failure = (gvk: typeof pod, object: JsonObject, patch: Json) => {
  const result = applyStrategicMergePatch(gvk, object, patch);
  return result.kind === 'error' ? [result.status.code, result.status.message] : 'no error';
};

const spec = (value: JsonObject): JsonObject => ({ spec: value });

describe('strategic merge patch', () => {
  it.each<[string, typeof pod, JsonObject, JsonObject, JsonObject]>([
    [
      'replaces node taints whole: the list is atomic',
      node,
      spec({ taints: [{ key: 'theirs', effect: 'NoSchedule' }] }),
      spec({ taints: [{ key: 'ours', effect: 'NoSchedule' }] }),
      spec({ taints: [{ key: 'ours', effect: 'NoSchedule' }] }),
    ],
    [
      'keeps a $patch in an atomic list, for validation to refuse',
      node,
      spec({ taints: [{ key: 'theirs', effect: 'NoSchedule' }] }),
      spec({ taints: [{ $patch: 'delete', key: 'theirs' }] }),
      spec({ taints: [{ $patch: 'delete', key: 'theirs' }] }),
    ],
    [
      'clears a field with null',
      node,
      spec({ unschedulable: true, providerID: 'aws:///a/i-1' }),
      spec({ unschedulable: null }),
      spec({ providerID: 'aws:///a/i-1' }),
    ],
    [
      'merges conditions by type, the patched one first where the live order is silent',
      node,
      { status: { conditions: [{ type: 'Ready', status: 'True', reason: 'A' }] } },
      { status: { conditions: [{ type: 'KernelReady', status: 'True' }] } },
      {
        status: {
          conditions: [
            { type: 'KernelReady', status: 'True' },
            { type: 'Ready', status: 'True', reason: 'A' },
          ],
        },
      },
    ],
    [
      'merges containers by name and env by name inside them',
      pod,
      spec({
        containers: [
          { name: 'a', image: 'a:1', env: [{ name: 'X', value: '1' }] },
          { name: 'b', image: 'b:1' },
        ],
      }),
      spec({ containers: [{ name: 'a', env: [{ name: 'Y', value: '2' }] }] }),
      spec({
        containers: [
          {
            name: 'a',
            image: 'a:1',
            env: [
              { name: 'Y', value: '2' },
              { name: 'X', value: '1' },
            ],
          },
          { name: 'b', image: 'b:1' },
        ],
      }),
    ],
    [
      'removes one element with $patch: delete',
      pod,
      spec({ containers: [{ name: 'a' }, { name: 'b' }] }),
      spec({ containers: [{ $patch: 'delete', name: 'a' }] }),
      spec({ containers: [{ name: 'b' }] }),
    ],
    [
      'replaces a merged list when one element says $patch: replace',
      pod,
      spec({ containers: [{ name: 'a' }, { name: 'b' }] }),
      spec({ containers: [{ $patch: 'replace' }, { name: 'c' }] }),
      spec({ containers: [{ name: 'c' }] }),
    ],
    [
      'replaces an object with $patch: replace and empties it with $patch: delete',
      deployment,
      { metadata: { labels: { a: '1' } }, spec: { selector: { matchLabels: { a: '1' } } } },
      {
        metadata: { labels: { $patch: 'replace', b: '2' } },
        spec: { selector: { $patch: 'delete' } },
      },
      { metadata: { labels: { b: '2' } }, spec: { selector: {} } },
    ],
    [
      'orders a merged list by $setElementOrder, keeping elements it does not name',
      pod,
      spec({ containers: [{ name: 'a' }, { name: 'sidecar' }, { name: 'b' }] }),
      spec({
        '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }],
        containers: [{ name: 'b', image: 'b:2' }],
      }),
      spec({
        containers: [{ name: 'sidecar' }, { name: 'b', image: 'b:2' }, { name: 'a' }],
      }),
    ],
    [
      'treats finalizers as a set',
      pod,
      { metadata: { finalizers: ['a', 'b'] } },
      { metadata: { finalizers: ['b', 'c'] } },
      { metadata: { finalizers: ['a', 'b', 'c'] } },
    ],
    [
      'takes scalars out with $deleteFromPrimitiveList',
      pod,
      { metadata: { finalizers: ['a', 'b'] } },
      { metadata: { '$deleteFromPrimitiveList/finalizers': ['a', 'x'] } },
      { metadata: { finalizers: ['b'] } },
    ],
    [
      'drops what $retainKeys does not name',
      deployment,
      spec({ strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } }),
      spec({ strategy: { $retainKeys: ['type'], type: 'Recreate' } }),
      spec({ strategy: { type: 'Recreate' } }),
    ],
    [
      'merges volumes by name and honours their $retainKeys',
      pod,
      spec({ volumes: [{ name: 'v', emptyDir: {} }] }),
      spec({ volumes: [{ name: 'v', $retainKeys: ['name', 'secret'], secret: { a: 'b' } }] }),
      spec({ volumes: [{ name: 'v', secret: { a: 'b' } }] }),
    ],
    [
      'merges service ports by port and ownerReferences by uid',
      service,
      {
        metadata: { ownerReferences: [{ uid: '1', name: 'x' }] },
        spec: { ports: [{ port: 80, name: 'http' }] },
      },
      {
        metadata: { ownerReferences: [{ uid: '1', $patch: 'delete' }] },
        spec: { ports: [{ port: 80, nodePort: 30080 }] },
      },
      {
        metadata: { ownerReferences: [] },
        spec: { ports: [{ port: 80, name: 'http', nodePort: 30080 }] },
      },
    ],
    [
      'replaces tolerations whole',
      pod,
      spec({ tolerations: [{ key: 'a' }] }),
      spec({ tolerations: [{ key: 'b' }] }),
      spec({ tolerations: [{ key: 'b' }] }),
    ],
    [
      'drops nulls and $patch objects from values that are new',
      pod,
      {},
      {
        metadata: { labels: { a: null, b: '1' } },
        spec: { securityContext: { $patch: 'delete' } },
      },
      { metadata: { labels: { b: '1' } }, spec: {} },
    ],
    [
      'does not take a key called __proto__ for the prototype',
      pod,
      { metadata: { labels: { a: '1' } } },
      JSON.parse('{"metadata":{"labels":{"__proto__":"x","constructor":"y"}}}'),
      JSON.parse('{"metadata":{"labels":{"a":"1","__proto__":"x","constructor":"y"}}}'),
    ],
  ])('%s', (_name, gvk, object, patch, expected) => {
    expect(patched(gvk, object, patch)).toEqual(expected);
  });

  it('gives back the very same object when nothing changes', () => {
    const tainted = { spec: { taints: [{ key: 'a' }], podCIDRs: ['10.0.0.0/24'] } };
    const same = { spec: { taints: [{ key: 'a' }], podCIDRs: ['10.0.0.0/24'] } };
    expect(patched(node, tainted, same)).toBe(tainted);
    const running = { spec: { containers: [{ name: 'x', image: 'i' }] } };
    expect(patched(pod, running, { spec: { containers: [{ name: 'x' }] } })).toBe(running);
  });

  it('shares the subtrees that a patch does not touch', () => {
    const object = { metadata: { labels: { a: '1' } }, spec: { containers: [{ name: 'x' }] } };
    const result = patched(pod, object, { metadata: { annotations: { b: '2' } } });
    expect(result.spec).toBe(object.spec);
    expect((result.metadata as JsonObject).labels).toBe(object.metadata.labels);
  });

  it.each<[string, typeof pod, JsonObject, Json, number, string]>([
    [
      'a body that is a list',
      pod,
      {},
      [{ op: 'add' }],
      400,
      'error decoding patch: json: cannot unmarshal array into Go value of type ' +
        'map[string]interface {}',
    ],
    [
      'an element without its merge key',
      pod,
      spec({ containers: [{ name: 'a' }] }),
      spec({ containers: [{ image: 'x' }] }),
      500,
      'map: map[image:x] does not contain declared merge key: name',
    ],
    [
      'an unknown directive',
      pod,
      spec({ containers: [] }),
      spec({ $patch: 'swap' }),
      500,
      'unknown patch type: swap in map: map[$patch:swap]',
    ],
    [
      'a field that $retainKeys leaves out',
      deployment,
      spec({ strategy: {} }),
      spec({ strategy: { $retainKeys: ['type'], rollingUpdate: {} } }),
      400,
      'invalid patch format of retainKeys',
    ],
    [
      'a list of lists',
      pod,
      { metadata: { finalizers: ['a'] } },
      { metadata: { finalizers: [['b']] } },
      500,
      'list element types are not identical: [[a] [[b]]]',
    ],
    [
      'a custom resource',
      { group: 'drover.dev', version: 'v1alpha1', kind: 'NodeGroup' },
      {},
      {},
      415,
      'the body of the request was in an unknown format - accepted media types include: ' +
        'application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
    ],
  ])('refuses %s', (_name, gvk, object, patch, code, message) => {
    expect(failure(gvk, object, patch)).toEqual([code, message]);
  });
});
