import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/api/json.ts';
import {
  type CollectedWatch,
  named,
  startAt,
  TestWorld,
} from '../../../test/builders/world-kube-server.ts';
import { Kernel } from '../../kernel/index.ts';
import { metadataOf } from './objects.ts';

const cms = '/api/v1/namespaces/demo/configmaps';
const labelled = (name: string, a: string): JsonObject => ({ metadata: { name, labels: { a } } });
const versionsOf = (watch: CollectedWatch) =>
  watch.frames.map((frame) => Number(metadataOf(frame.object).resourceVersion));

describe('a watch', () => {
  it.each(['', '&resourceVersion=0'])('starts from the present state without a version%s', (rv) => {
    const world = new TestWorld();
    world.post(cms, named('b'));
    world.post(cms, named('a'));
    const watch = world.watch(`${cms}?watch=true${rv}`);
    world.patch(`${cms}/a`, { data: { k: 'v' } });
    world.delete(`${cms}/b`);
    expect(watch.lines()).toEqual(['ADDED a', 'ADDED b', 'MODIFIED a', 'DELETED b']);
  });

  it('replays what came after its version, once, in order', () => {
    const world = new TestWorld();
    const first = world.post(cms, named('a'));
    const { resourceVersion } = metadataOf(first.body);
    world.post(cms, named('b'));
    world.patch(`${cms}/a`, { data: { k: 'v' } });
    const watch = world.watch(`${cms}?watch=1&resourceVersion=${String(resourceVersion)}`);
    world.delete(`${cms}/a`);
    expect(watch.lines()).toEqual(['ADDED b', 'MODIFIED a', 'DELETED a']);
    const versions = versionsOf(watch);
    expect(versions).toEqual(versions.toSorted((x, y) => x - y));
    expect(versions.at(-1)).toBe(world.api.revision);
  });

  it('shows an object that enters a selection as ADDED and one that leaves as DELETED', () => {
    const world = new TestWorld();
    world.post(cms, labelled('x', '1'));
    world.post(cms, labelled('y', '2'));
    const watch = world.watch(
      `${cms}?watch=true&labelSelector=a%3D1&resourceVersion=${world.api.revision}`,
    );
    world.patch(`${cms}/y`, { metadata: { labels: { a: '1' } } });
    world.patch(`${cms}/x`, { metadata: { labels: { a: '3' } } });
    world.patch(`${cms}/x`, { data: { k: 'v' } });
    world.delete(`${cms}/y`);
    expect(watch.lines()).toEqual(['ADDED y', 'DELETED x', 'DELETED y']);
    expect(metadataOf(watch.frames[1]?.object ?? {}).labels).toEqual({ a: '1' });
  });

  it('follows pods of one node by field selector, from the moment they are bound', () => {
    const world = new TestWorld();
    const watch = world.watch('/api/v1/pods?watch=true&fieldSelector=spec.nodeName%3Dn1');
    world.aPod('p1', { node: 'n1' });
    world.aPod('p2', { node: 'n2' });
    expect(watch.lines()).toEqual(['ADDED p1', 'MODIFIED p1']);
  });

  it('sees only its namespace', () => {
    const world = new TestWorld();
    const watch = world.watch(`${cms}?watch=true`);
    world.post('/api/v1/namespaces/default/configmaps', named('a'));
    world.post(cms, named('b'));
    expect(watch.lines()).toEqual(['ADDED b']);
  });

  it('ends with 410 Expired when its version is no longer known', () => {
    const world = new TestWorld({ watchHistory: 2 });
    const since = world.api.revision;
    for (const name of ['a', 'b', 'c', 'd']) world.post(cms, named(name));
    const watch = world.watch(`${cms}?watch=true&resourceVersion=${since}`);
    expect(watch.frames).toEqual([
      {
        type: 'ERROR',
        object: expect.objectContaining({
          code: 410,
          reason: 'Expired',
          message: `too old resource version: ${since} (${world.api.revision})`,
        }),
      },
    ]);
    expect(watch.ended()).toBe(true);
    const recent = world.watch(`${cms}?watch=true&resourceVersion=${world.api.revision - 2}`);
    expect(recent.lines()).toEqual(['ADDED c', 'ADDED d']);
  });

  it('answers 410 for versions from before a restart, which continues with the revision', () => {
    const world = new TestWorld();
    world.post(cms, named('a'));
    const before = world.api.revision;
    world.post(cms, named('b'));
    world.kernel.checkpoint();
    const kernel = new Kernel({ seed: 7, startAt, tables: world.kernel.tables });
    const again = new TestWorld({ kernel });
    expect(again.api.revision).toBe(world.api.revision);
    expect(again.get(cms).body.items).toEqual(world.get(cms).body.items);
    const old = again.watch(`${cms}?watch=true&resourceVersion=${before}`);
    expect(old.lines()).toEqual(['ERROR 410']);
    const fresh = again.watch(`${cms}?watch=true&resourceVersion=${again.api.revision}`);
    again.post(cms, named('c'));
    expect(fresh.lines()).toEqual(['ADDED c']);
  });

  it('answers a version from the future with 504 and its cause', () => {
    const answer = new TestWorld().get(`${cms}?watch=true&resourceVersion=99999`);
    expect(answer.code).toBe(504);
    expect(answer.body).toMatchObject({
      reason: 'Timeout',
      details: { causes: [{ reason: 'ResourceVersionTooLarge' }] },
    });
  });

  it('stops when the client goes', () => {
    const world = new TestWorld();
    const watch = world.watch(`${cms}?watch=true`);
    watch.stop();
    world.post(cms, named('a'));
    world.advance(7200);
    expect(watch.frames).toEqual([]);
    expect(watch.ended()).toBe(false);
  });

  it('delivers in order even when a receiver writes', () => {
    const world = new TestWorld();
    world.api.onChange({ group: '', resource: 'configmaps' }, ({ type, object }) => {
      if (type === 'ADDED') world.patch(`${cms}/${object.metadata.name}`, { data: { k: 'v' } });
    });
    const watch = world.watch(`${cms}?watch=true`);
    world.post(cms, named('a'));
    expect(watch.lines()).toEqual(['ADDED a', 'MODIFIED a']);
  });
});

describe('time in a watch', () => {
  it('sends a bookmark a minute to those who allow it', () => {
    const world = new TestWorld();
    const url = `${cms}?watch=true&resourceVersion=${world.api.revision}`;
    const plain = world.watch(url);
    const watch = world.watch(`${url}&allowWatchBookmarks=true`);
    world.advance(125);
    expect(watch.lines()).toEqual(['BOOKMARK', 'BOOKMARK']);
    expect(watch.frames[0]?.object).toEqual({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { resourceVersion: String(world.api.revision) },
    });
    expect(plain.frames).toEqual([]);
  });

  it('ends at timeoutSeconds, with a last bookmark', () => {
    const world = new TestWorld();
    const watch = world.watch(
      `${cms}?watch=true&timeoutSeconds=30&allowWatchBookmarks=true&resourceVersion=1`,
    );
    world.advance(29);
    expect(watch.ended()).toBe(false);
    world.advance(1);
    expect([watch.ended(), watch.lines().at(-1)]).toEqual([true, 'BOOKMARK']);
  });

  it('ends by itself between 30 and 60 minutes', () => {
    const world = new TestWorld();
    const watch = world.watch(`${cms}?watch=true`);
    world.advance(1799);
    expect(watch.ended()).toBe(false);
    world.advance(1801);
    expect(watch.ended()).toBe(true);
  });
});

describe('WatchList', () => {
  const initial = '&sendInitialEvents=true&resourceVersionMatch=NotOlderThan';

  it('sends the state, then the bookmark that ends it, then what happens', () => {
    const world = new TestWorld();
    world.post(cms, named('a'));
    const watch = world.watch(`${cms}?watch=true&allowWatchBookmarks=true${initial}`);
    world.post(cms, named('b'));
    expect(watch.lines()).toEqual(['ADDED a', 'BOOKMARK', 'ADDED b']);
    expect(metadataOf(watch.frames[1]?.object ?? {}).annotations).toEqual({
      'k8s.io/initial-events-end': 'true',
    });
  });

  it('refuses sendInitialEvents without NotOlderThan', () => {
    const answer = new TestWorld().get(`${cms}?watch=true&sendInitialEvents=true`);
    expect(answer.code).toBe(422);
    expect(answer.body.message).toContain(
      'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
    );
  });
});

describe('shapes in a watch', () => {
  it('makes each frame a one-row Table', () => {
    const world = new TestWorld();
    const watch = world.watch(
      `${cms}?watch=true`,
      'application/json;as=Table;v=v1;g=meta.k8s.io,application/json',
    );
    world.post(cms, named('a'));
    expect(watch.frames[0]?.object).toMatchObject({
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      rows: [{ cells: ['a', 0, '0s'], object: { kind: 'PartialObjectMetadata' } }],
    });
  });

  it('sends metadata alone', () => {
    const world = new TestWorld();
    const accept = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
    const watch = world.watch(`${cms}?watch=true`, accept);
    world.post(cms, named('a', { data: { k: 'v' } }));
    expect(Object.keys(watch.frames[0]?.object ?? {})).toEqual(['kind', 'apiVersion', 'metadata']);
  });
});
