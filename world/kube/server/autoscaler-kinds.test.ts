// The types that cluster-autoscaler needs at its start: it waits forever when one is not served.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/api/json.ts';
import { TestWorld } from '../../../test/builders/world-kube-server.ts';
import { objectsOf } from './objects.ts';

const selector = { matchLabels: { app: 'a' } };
const podTemplate = {
  metadata: { labels: { app: 'a' } },
  spec: { containers: [{ name: 'c', image: 'i' }] },
};
const accessModes = ['ReadWriteOnce'];
const storage = { storage: '1Gi' };

/** Path of the collection, whether it is in the namespace demo, and an object of the type. */
const watched: readonly (readonly [string, boolean, JsonObject])[] = [
  ['/apis/policy/v1/poddisruptionbudgets', true, { spec: { selector, maxUnavailable: 1 } }],
  ['/apis/storage.k8s.io/v1/storageclasses', false, { provisioner: 'p' }],
  ['/apis/storage.k8s.io/v1/csinodes', false, { spec: { drivers: [] } }],
  ['/apis/storage.k8s.io/v1/csidrivers', false, { spec: {} }],
  [
    '/apis/storage.k8s.io/v1/csistoragecapacities',
    true,
    { storageClassName: 's', capacity: '1Gi' },
  ],
  [
    '/apis/storage.k8s.io/v1/volumeattachments',
    false,
    { spec: { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'v' } } },
  ],
  [
    '/api/v1/persistentvolumes',
    false,
    { spec: { capacity: storage, accessModes, hostPath: { path: '/x' } } },
  ],
  [
    '/api/v1/persistentvolumeclaims',
    true,
    { spec: { accessModes, resources: { requests: storage } } },
  ],
  [
    '/api/v1/replicationcontrollers',
    true,
    { spec: { selector: { app: 'a' }, template: podTemplate } },
  ],
  ['/apis/apps/v1/replicasets', true, { spec: { selector, template: podTemplate } }],
  [
    '/apis/resource.k8s.io/v1/deviceclasses',
    false,
    { spec: { selectors: [{ cel: { expression: 'device.driver == "d"' } }] } },
  ],
  [
    '/apis/resource.k8s.io/v1/resourceclaims',
    true,
    { spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'c' } }] } } },
  ],
  [
    '/apis/resource.k8s.io/v1/resourceslices',
    false,
    {
      spec: {
        driver: 'd',
        nodeName: 'n',
        pool: { name: 'p', generation: 1, resourceSliceCount: 1 },
        devices: [{ name: 'gpu', attributes: { model: { string: 'a' } } }],
      },
    },
  ],
];

const inNamespace = (path: string, isNamespaced: boolean): string =>
  isNamespaced ? path.replace(/\/([a-z]+)$/, '/namespaces/demo/$1') : path;

describe('a type that cluster-autoscaler watches', () => {
  it.each(watched)('%s is listed and watched in all namespaces', (path, isNamespaced, body) => {
    const world = new TestWorld();
    const made = world.post(inNamespace(path, isNamespaced), {
      ...body,
      metadata: { name: 'one' },
    });
    expect(made).toMatchObject({ code: 201, body });
    expect(objectsOf(world.get(path).body.items)).toMatchObject([
      { metadata: { name: 'one' }, ...body },
    ]);
    const initial = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan';
    const watch = world.watch(`${path}?watch=true&allowWatchBookmarks=true&${initial}`);
    world.post(inNamespace(path, isNamespaced), { ...body, metadata: { name: 'two' } });
    expect(watch.lines()).toEqual(['ADDED one', 'BOOKMARK', 'ADDED two']);
  });

  it('is refused with a field that its schema does not know', () => {
    const world = new TestWorld();
    const body = { metadata: { name: 'one' }, spec: { wrong: true } };
    const strict = '?fieldValidation=Strict';
    const answer = world.post(`/apis/resource.k8s.io/v1/deviceclasses${strict}`, body);
    expect(answer.code).toBe(400);
    expect(answer.body.message).toContain('unknown field "spec.wrong"');
  });

  it('selects slices of a node', () => {
    const world = new TestWorld();
    const path = '/apis/resource.k8s.io/v1/resourceslices';
    const [, , slice] = watched.at(-1) ?? [];
    world.post(path, { ...slice, metadata: { name: 'one' } });
    const found = world.get(`${path}?fieldSelector=spec.nodeName%3Dn,spec.driver%3Dd`).body;
    expect(objectsOf(found.items)).toHaveLength(1);
    const other = world.get(`${path}?fieldSelector=spec.nodeName%3Dm`).body;
    expect(objectsOf(other.items)).toEqual([]);
  });
});
