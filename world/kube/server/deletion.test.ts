import { describe, expect, it } from 'vitest';
import { named, TestWorld } from '../../../test/builders/world-kube-server.ts';
import { statusOf } from './objects.ts';

const pods = '/api/v1/namespaces/demo/pods';
const cms = '/api/v1/namespaces/demo/configmaps';
const deployments = '/apis/apps/v1/namespaces/demo/deployments';

const deployment = (name: string, finalizers: readonly string[] = []) => ({
  metadata: { name, finalizers },
  spec: {
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'c', image: 'nginx' }] },
    },
  },
});

describe('deleting a pod', () => {
  it.each([
    ['its own grace', undefined, '2026-01-01T00:00:30Z', 30],
    ['the grace asked for', { gracePeriodSeconds: 5 }, '2026-01-01T00:00:05Z', 5],
    ['one second for a negative grace', { gracePeriodSeconds: -1 }, '2026-01-01T00:00:01Z', 1],
  ])('gives %s and answers the pod', (_case, options, deletionTimestamp, seconds) => {
    const world = new TestWorld();
    world.aPod('p1');
    const answer = world.delete(`${pods}/p1`, options);
    expect(answer.code).toBe(200);
    expect(answer.body).toMatchObject({
      kind: 'Pod',
      metadata: { deletionTimestamp, deletionGracePeriodSeconds: seconds },
    });
  });

  it.each([
    ['unscheduled', { node: null, phase: 'Pending' }],
    ['finished', { phase: 'Succeeded' }],
    ['failed', { phase: 'Failed' }],
  ])('removes an %s one at once', (_case, pod) => {
    const world = new TestWorld();
    world.aPod('p1', pod);
    world.delete(`${pods}/p1`);
    expect(world.pod('p1')).toBeUndefined();
  });

  it('only shortens: 30, then 3, then not 20', () => {
    const world = new TestWorld();
    world.aPod('p1');
    const grace = (seconds?: number) => {
      world.delete(`${pods}/p1`, seconds === undefined ? {} : { gracePeriodSeconds: seconds });
      return world.pod('p1')?.metadata.deletionGracePeriodSeconds;
    };
    expect([grace(), grace(3), grace(20), grace()]).toEqual([30, 3, 3, 3]);
    expect(world.pod('p1')?.metadata.deletionTimestamp).toBe('2026-01-01T00:00:03Z');
  });

  it('never moves the end into the past: what is left becomes one second', () => {
    const world = new TestWorld();
    world.aPod('p1');
    world.delete(`${pods}/p1`);
    world.advance(10);
    world.delete(`${pods}/p1`, { gracePeriodSeconds: 3 });
    expect(world.pod('p1')?.metadata).toMatchObject({
      deletionTimestamp: '2026-01-01T00:00:10Z',
      deletionGracePeriodSeconds: 1,
    });
  });

  it('with grace 0 removes it, as the kubelet does when the containers have stopped', () => {
    const world = new TestWorld();
    const { uid } = world.aPod('p1').metadata;
    world.delete(`${pods}/p1`);
    const other = { gracePeriodSeconds: 0, preconditions: { uid: 'other' } };
    expect(world.delete(`${pods}/p1`, other).code).toBe(409);
    world.delete(`${pods}/p1`, { gracePeriodSeconds: 0, preconditions: { uid } });
    expect(world.pod('p1')).toBeUndefined();
  });

  it('keeps one with finalizers until the last is taken off', () => {
    const world = new TestWorld();
    world.aPod('p1', { finalizers: ['example.com/hold'] });
    world.delete(`${pods}/p1`, { gracePeriodSeconds: 0 });
    expect(world.pod('p1')).toBeDefined();
    world.patch(`${pods}/p1`, { metadata: { finalizers: null } });
    expect(world.pod('p1')).toBeUndefined();
  });

  it('checks uid and resourceVersion, in the words of the API server', () => {
    const world = new TestWorld();
    const { uid } = world.aPod('p1').metadata;
    const answer = world.delete(`${pods}/p1`, {
      preconditions: { uid: 'x', resourceVersion: '1' },
    });
    expect(answer.code).toBe(409);
    expect(answer.body.message).toContain(`(x) does not match the UID in record (${uid})`);
    const stale = world.delete(`${pods}/p1`, { preconditions: { uid, resourceVersion: '1' } });
    expect(stale.body.message).toContain('the ResourceVersion in the precondition (1) does not');
  });

  it('changes nothing in a dry run', () => {
    const world = new TestWorld();
    const pod = world.aPod('p1');
    expect(world.send('DELETE', `${pods}/p1?dryRun=All`).code).toBe(200);
    expect(world.pod('p1')).toBe(pod);
  });

  it('takes options from the query when there is no body', () => {
    const world = new TestWorld();
    world.aPod('p1');
    world.delete(`${pods}/p1?gracePeriodSeconds=7`);
    expect(world.pod('p1')?.metadata.deletionGracePeriodSeconds).toBe(7);
  });
});

describe('deleting other objects', () => {
  it('answers a Status with the uid', () => {
    const world = new TestWorld();
    const created = world.post(cms, named('c'));
    const answer = world.delete(`${cms}/c`);
    expect(answer.body).toMatchObject({
      kind: 'Status',
      status: 'Success',
      details: { name: 'c', kind: 'configmaps' },
    });
    expect(JSON.stringify(answer.body)).toContain(
      String((created.body.metadata as { uid?: string }).uid),
    );
    expect(world.get(`${cms}/c`).code).toBe(404);
  });

  it.each([
    ['Foreground', ['foregroundDeletion']],
    ['Orphan', ['orphan']],
  ])('records %s propagation as a finalizer for the garbage collector', (policy, finalizers) => {
    const world = new TestWorld();
    world.post(deployments, deployment('d'));
    const answer = world.delete(`${deployments}/d`, { propagationPolicy: policy });
    expect(answer.body).toMatchObject({
      metadata: { finalizers, generation: 2, deletionGracePeriodSeconds: 0 },
    });
  });

  it('deletes at once in the background', () => {
    const world = new TestWorld();
    world.post(deployments, deployment('d'));
    world.delete(`${deployments}/d`, { propagationPolicy: 'Background' });
    expect(world.get(`${deployments}/d`).code).toBe(404);
  });

  it('refuses new finalizers on a dying object', () => {
    const world = new TestWorld();
    world.post(deployments, deployment('d', ['example.com/a']));
    world.delete(`${deployments}/d`);
    const patch = { metadata: { finalizers: ['example.com/a', 'example.com/b'] } };
    const answer = world.patch(`${deployments}/d`, patch);
    expect(answer.code).toBe(422);
    expect(answer.body.message).toContain('no new finalizers can be added');
  });

  it('says that a name is still taken by a dying object', () => {
    const world = new TestWorld();
    world.post(deployments, deployment('d', ['example.com/a']));
    world.delete(`${deployments}/d`);
    const answer = world.post(deployments, deployment('d'));
    expect(answer.code).toBe(409);
    expect(answer.body.message).toBe(
      'object is being deleted: deployments.apps "d" already exists',
    );
  });

  it('deletes a collection by selector', () => {
    const world = new TestWorld();
    for (const name of ['a', 'b', 'c']) {
      world.post(cms, { metadata: { name, labels: { keep: String(name === 'b') } } });
    }
    expect(world.delete(`${cms}?labelSelector=keep!%3Dtrue`).code).toBe(200);
    const left = world.get(cms).body.items;
    expect(left).toEqual([expect.objectContaining({ kind: 'ConfigMap' })]);
  });
});

describe('deleting a namespace', () => {
  it('is forbidden for default', () => {
    const answer = new TestWorld().delete('/api/v1/namespaces/default');
    expect(answer.body.message).toBe(
      'namespaces "default" is forbidden: this namespace may not be deleted',
    );
  });

  it('turns it Terminating until its content finalizer is taken off through /finalize', () => {
    const world = new TestWorld();
    const url = '/api/v1/namespaces/demo';
    const answer = world.delete(url);
    expect(answer.body).toMatchObject({ kind: 'Namespace', status: { phase: 'Terminating' } });
    expect(world.delete(url).code).toBe(409);
    expect(world.patch(url, { spec: { finalizers: [] } }).code).toBe(200);
    expect(statusOf(world.get(url).body).phase).toBe('Terminating');
    const empty = { ...world.get(url).body, spec: { finalizers: [] } };
    expect(world.put(`${url}/finalize`, empty).code).toBe(200);
    expect(world.get(url).code).toBe(404);
  });

  it('refuses creation meanwhile, with a cause, and in a missing one with 404', () => {
    const world = new TestWorld();
    world.delete('/api/v1/namespaces/demo');
    const answer = world.post(cms, named('c'));
    expect(answer.code).toBe(403);
    expect(answer.body).toMatchObject({
      message:
        'configmaps "c" is forbidden: unable to create new content in namespace demo because it ' +
        'is being terminated',
      details: { causes: [{ reason: 'NamespaceTerminating', field: 'metadata.namespace' }] },
    });
    const missing = world.post('/api/v1/namespaces/nowhere/configmaps', named('c'));
    expect(missing.body.message).toBe('namespaces "nowhere" not found');
  });
});
