import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/api/json.ts';
import { named, TestWorld } from '../../../test/builders/world-kube-server.ts';
import { metadataOf, objectsOf } from './objects.ts';

const cms = '/api/v1/namespaces/demo/configmaps';
const names = (body: JsonObject): readonly unknown[] =>
  objectsOf(body.items).map((item) => metadataOf(item).name);

function labelledWorld(): TestWorld {
  const world = new TestWorld();
  const labels: Readonly<Record<string, JsonObject>> = {
    a: { env: 'prod', tier: '1' },
    b: { env: 'test', tier: '2' },
    c: { env: 'prod' },
    d: {},
  };
  for (const [name, own] of Object.entries(labels))
    world.post(cms, { metadata: { name, labels: own } });
  return world;
}

describe('label selectors', () => {
  it.each([
    ['env=prod', ['a', 'c']],
    ['env==prod', ['a', 'c']],
    ['env!=prod', ['b', 'd']],
    ['env in (prod, test)', ['a', 'b', 'c']],
    ['env notin (prod)', ['b', 'd']],
    ['env', ['a', 'b', 'c']],
    ['!env', ['d']],
    ['env=prod,tier', ['a']],
    ['env in (prod),!tier', ['c']],
    ['tier>1', ['b']],
    ['tier<2', ['a']],
    ['env=', []],
    ['', ['a', 'b', 'c', 'd']],
  ])('%s', (selector, expected) => {
    const url = `${cms}?labelSelector=${encodeURIComponent(selector)}`;
    expect(names(labelledWorld().get(url).body)).toEqual(expected);
  });

  it.each(['a b', '=x', 'k=_bad_', 'x in y'])('refuses %s', (selector) => {
    const url = `${cms}?labelSelector=${encodeURIComponent(selector)}`;
    const answer = new TestWorld().get(url);
    expect(answer.code).toBe(400);
    expect(answer.body.message).toContain('unable to parse requirement');
  });
});

describe('field selectors', () => {
  it.each([
    ['spec.nodeName=n1', ['p1', 'p2']],
    ['spec.nodeName!=n1', ['p3']],
    ['spec.nodeName=n1,status.phase!=Succeeded,status.phase!=Failed', ['p1']],
    ['metadata.name=p2', ['p2']],
    ['metadata.namespace=demo,status.phase==Running', ['p1', 'p3']],
    ['status.podIP=', ['p1', 'p2', 'p3']],
  ])('%s', (selector, expected) => {
    const world = new TestWorld();
    world.aPod('p2', { phase: 'Failed' });
    world.aPod('p1');
    world.aPod('p3', { node: 'n2' });
    const url = `/api/v1/pods?fieldSelector=${encodeURIComponent(selector)}`;
    expect(names(world.get(url).body)).toEqual(expected);
  });

  it('knows those of events, in both groups', () => {
    const world = new TestWorld();
    world.post('/api/v1/namespaces/demo/events', {
      metadata: { name: 'e' },
      involvedObject: { kind: 'Node', name: 'n1', uid: 'u' },
      reason: 'Drained',
      message: 'm',
      type: 'Normal',
    });
    const core = '/api/v1/events?fieldSelector=involvedObject.uid%3Du,reason%3DDrained';
    expect(names(world.get(core).body)).toEqual(['e']);
    const fresh = '/apis/events.k8s.io/v1/events?fieldSelector=regarding.name%3Dn1';
    expect(objectsOf(world.get(fresh).body.items)[0]).toMatchObject({
      apiVersion: 'events.k8s.io/v1',
      regarding: { name: 'n1' },
      note: 'm',
    });
  });

  it('follow an event that is about another object now, and one that is deleted', () => {
    const world = new TestWorld();
    const events = '/api/v1/namespaces/demo/events';
    const about = (uid: string) => ({ kind: 'Node', name: 'n1', uid });
    for (const name of ['e', 'f']) {
      world.post(events, { metadata: { name }, involvedObject: about('u'), reason: 'Drained' });
    }
    const of = (uid: string) =>
      names(world.get(`/api/v1/events?fieldSelector=involvedObject.uid%3D${uid}`).body);
    world.patch(`${events}/e`, { involvedObject: about('v') });
    expect([of('u'), of('v')]).toEqual([['f'], ['e']]);
    world.delete(`${events}/f`);
    expect([of('u'), of('v')]).toEqual([[], ['e']]);
  });

  it('refuses fields it does not know', () => {
    const world = new TestWorld();
    const pods = world.get('/api/v1/pods?fieldSelector=spec.foo%3D1');
    expect(pods.body.message).toBe('field label not supported: spec.foo');
    const maps = world.get(`${cms}?fieldSelector=data.a%3D1`);
    expect(maps.body.message).toBe(
      '"data.a" is not a known field selector: only "metadata.name", "metadata.namespace"',
    );
  });
});

describe('pages', () => {
  it('all show the state of the first one, whatever happens in between', () => {
    const world = new TestWorld();
    for (const name of ['a', 'c', 'e', 'g']) world.post(cms, named(name));
    const first = world.get(`${cms}?limit=2`).body;
    expect(names(first)).toEqual(['a', 'c']);
    expect(metadataOf(first).remainingItemCount).toBe(2);
    world.delete(`${cms}/e`);
    world.post(cms, named('f'));
    world.patch(`${cms}/g`, { data: { late: 'yes' } });
    const token = String(metadataOf(first).continue);
    const second = world.get(`${cms}?limit=2&continue=${encodeURIComponent(token)}`).body;
    expect(names(second)).toEqual(['e', 'g']);
    expect(objectsOf(second.items)[1]?.data).toBeUndefined();
    expect(metadataOf(second)).toEqual({
      resourceVersion: metadataOf(first).resourceVersion,
    });
  });

  it('select before they count', () => {
    const world = labelledWorld();
    const page = world.get(`${cms}?limit=1&labelSelector=env%3Dprod`).body;
    expect(names(page)).toEqual(['a']);
    expect(metadataOf(page).remainingItemCount).toBeUndefined();
    const token = encodeURIComponent(String(metadataOf(page).continue));
    const rest = world.get(`${cms}?limit=1&labelSelector=env%3Dprod&continue=${token}`).body;
    expect(names(rest)).toEqual(['c']);
    expect(metadataOf(rest).continue).toBeUndefined();
  });

  it('expire with 410 and a token that continues inconsistently', () => {
    const world = new TestWorld({ watchHistory: 2 });
    for (const name of ['a', 'c', 'e']) world.post(cms, named(name));
    const token = String(metadataOf(world.get(`${cms}?limit=1`).body).continue);
    for (const name of ['f', 'g', 'h']) world.post(cms, named(name));
    const answer = world.get(`${cms}?limit=1&continue=${encodeURIComponent(token)}`);
    expect([answer.code, answer.body.reason]).toEqual([410, 'Expired']);
    const fresh = encodeURIComponent(String(metadataOf(answer.body).continue));
    const rest = world.get(`${cms}?continue=${fresh}`);
    expect(names(rest.body)).toEqual(['c', 'e', 'f', 'g', 'h']);
  });

  it('expire by time: revisions of more than ten minutes ago are compacted, watches continue', () => {
    const world = new TestWorld();
    for (const name of ['a', 'b', 'c']) world.post(cms, named(name));
    const page = world.get(`${cms}?limit=1`).body;
    const { continue: token, resourceVersion } = metadataOf(page);
    const exact = `${cms}?resourceVersionMatch=Exact&resourceVersion=${String(resourceVersion)}`;
    world.delete(`${cms}/b`);
    world.advance(280);
    expect(world.get(`${cms}?limit=1&continue=${String(token)}`).code).toBe(200);
    world.advance(331);
    const answer = world.get(`${cms}?limit=1&continue=${String(token)}`);
    expect([answer.code, answer.body.reason]).toEqual([410, 'Expired']);
    expect(world.get(exact).code).toBe(410);
    const rest = world.get(`${cms}?continue=${String(metadataOf(answer.body).continue)}`);
    expect(names(rest.body)).toEqual(['c']);
    const watch = world.watch(`${cms}?watch=1&resourceVersion=${String(resourceVersion)}`);
    expect(watch.lines()).toEqual(['DELETED b']);
  });

  it('refuse a token that is none', () => {
    expect(new TestWorld().get(`${cms}?continue=nonsense`).body.message).toBe(
      'continue key is not valid',
    );
  });
});

describe('resourceVersion in a list', () => {
  it('Exact shows the past, NotOlderThan the present, the future is 504', () => {
    const world = new TestWorld();
    world.post(cms, named('a'));
    const then = world.api.revision;
    world.post(cms, named('b'));
    const url = (match: string) => `${cms}?resourceVersion=${then}&resourceVersionMatch=${match}`;
    expect(names(world.get(url('Exact')).body)).toEqual(['a']);
    expect(names(world.get(url('NotOlderThan')).body)).toEqual(['a', 'b']);
    expect(names(world.get(`${cms}?resourceVersion=0`).body)).toEqual(['a', 'b']);
    expect(world.get(`${cms}?resourceVersion=9999`).code).toBe(504);
    expect(world.get(`${cms}?resourceVersionMatch=Exact`).code).toBe(422);
    expect(world.get(`${cms}?resourceVersion=x`).code).toBe(400);
  });
});

describe('shapes of a list', () => {
  it('is a Table with metadata of each row for kubectl get', () => {
    const world = new TestWorld();
    world.post(cms, named('a'));
    const accept =
      'application/json;as=Table;v=v1;g=meta.k8s.io,' +
      'application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json';
    const { body } = world.get(`${cms}?limit=500`, accept);
    expect(body).toMatchObject({
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      columnDefinitions: [{ name: 'Name' }, { name: 'Data' }, { name: 'Age' }],
      rows: [{ cells: ['a', 0, '0s'], object: { metadata: { name: 'a' } } }],
    });
    const whole = world.get(`${cms}?includeObject=Object`, accept).body;
    expect(objectsOf(whole.rows)[0]?.object).toMatchObject({ kind: 'ConfigMap' });
  });

  it('is JSON for clients that prefer protobuf, and 406 for those that take neither', () => {
    const world = new TestWorld();
    expect(world.get(cms, 'application/vnd.kubernetes.protobuf,application/json').code).toBe(200);
    expect(world.get(cms, 'text/html').code).toBe(406);
  });

  it('is PartialObjectMetadataList when asked for', () => {
    const world = new TestWorld();
    world.post(cms, named('a', { data: { k: 'v' } }));
    const accept = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
    expect(world.get(cms, accept).body).toMatchObject({
      kind: 'PartialObjectMetadataList',
      items: [{ kind: 'PartialObjectMetadata', metadata: { name: 'a' } }],
    });
  });
});
