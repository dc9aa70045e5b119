// Every row of reference/real-control-plane.md section 1, as measured there.

import { describe, expect, it } from 'vitest';
import { defined } from '../../../src/api/defined.ts';
import { type JsonObject, objectOr } from '../../../src/api/json.ts';
import { type Answer, TestWorld } from '../../../test/builders/world-kube-server.ts';
import { objectsOf, statusOf } from './objects.ts';

const evict = (
  world: TestWorld,
  name: string,
  deleteOptions?: JsonObject,
  query = '',
  apiVersion = 'policy/v1',
): Answer =>
  world.post(`/api/v1/namespaces/demo/pods/${name}/eviction${query}`, {
    kind: 'Eviction',
    apiVersion,
    metadata: { name, namespace: 'demo', creationTimestamp: null },
    ...defined({ deleteOptions }),
  });

const causeOf = (answer: Answer): JsonObject | undefined =>
  objectsOf(objectOr(answer.body.details).causes)[0];
const allowed = (world: TestWorld, budget: string): unknown =>
  statusOf(world.budget(budget)).disruptionsAllowed;

const open = { disruptionsAllowed: 1, currentHealthy: 3, desiredHealthy: 2 };
const shut = { disruptionsAllowed: 0, currentHealthy: 2, desiredHealthy: 2 };

describe('evictions that a budget allows', () => {
  it('answers 201 with a Status, takes a token, marks the pod and lets it terminate', () => {
    const world = new TestWorld();
    world.aPod('p1');
    world.aBudget('b', open);
    const answer = evict(world, 'p1');
    expect(answer.code).toBe(201);
    expect(answer.body).toMatchObject({ kind: 'Status', status: 'Success', code: 201 });
    expect(statusOf(world.budget('b'))).toMatchObject({
      disruptionsAllowed: 0,
      disruptedPods: { p1: '2026-01-01T00:00:00Z' },
      conditions: [{ type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods' }],
    });
    const pod = world.pod('p1');
    expect(pod?.metadata).toMatchObject({
      deletionTimestamp: '2026-01-01T00:00:30Z',
      deletionGracePeriodSeconds: 30,
    });
    expect(objectsOf(objectOr(pod?.status).conditions)).toContainEqual(
      expect.objectContaining({
        type: 'DisruptionTarget',
        status: 'True',
        reason: 'EvictionByEvictionAPI',
        message: 'Eviction API: evicting',
      }),
    );
  });

  it('keeps the budget by itself: 2 tokens give 201, 201, 429 without any controller', () => {
    const world = new TestWorld();
    for (const name of ['p1', 'p2', 'p3']) world.aPod(name);
    world.aBudget('b', { disruptionsAllowed: 2, currentHealthy: 3, desiredHealthy: 1 });
    expect(['p1', 'p2', 'p3'].map((name) => evict(world, name).code)).toEqual([201, 201, 429]);
  });

  it('takes policy/v1beta1 bodies and bodies without kind', () => {
    const world = new TestWorld();
    world.aPod('p1');
    world.aPod('p2');
    expect(evict(world, 'p1', undefined, '', 'policy/v1beta1').code).toBe(201);
    const bare = { metadata: { name: 'p2' } };
    expect(world.post('/api/v1/namespaces/demo/pods/p2/eviction', bare).code).toBe(201);
  });

  it.each([
    ['in the query', undefined, '?dryRun=All'],
    ['in the body', { dryRun: ['All'] }, ''],
  ])('changes neither pod nor budget with dryRun %s', (_where, options, query) => {
    const world = new TestWorld();
    const pod = world.aPod('p1');
    world.aBudget('b', open);
    const before = world.api.revision;
    expect(evict(world, 'p1', options, query).code).toBe(201);
    expect(world.pod('p1')).toBe(pod);
    expect(allowed(world, 'b')).toBe(1);
    expect(world.api.revision).toBe(before);
  });
});

describe('evictions that a budget refuses', () => {
  it.each([
    ['exhausted', shut, 'The disruption budget b needs 2 healthy pods and has 2 currently'],
    [
      'token already given while enough are healthy',
      { disruptionsAllowed: 0, currentHealthy: 3, desiredHealthy: 2 },
      'The disruption budget b does not allow evicting pods currently',
    ],
  ])('%s: 429 with cause DisruptionBudget and no hint when to retry', (_case, status, message) => {
    const world = new TestWorld();
    world.aPod('p1');
    world.aBudget('b', status);
    const answer = evict(world, 'p1');
    expect(answer.code).toBe(429);
    expect(answer.body).toMatchObject({
      reason: 'TooManyRequests',
      message: "Cannot evict pod as it would violate the pod's disruption budget.",
    });
    expect(causeOf(answer)).toEqual({ reason: 'DisruptionBudget', message });
    expect(answer.headers['retry-after']).toBeUndefined();
    expect(objectOr(answer.body.details).retryAfterSeconds).toBeUndefined();
    expect(evict(world, 'p1', undefined, '?dryRun=All').code).toBe(429);
  });

  it('status not caught up with the spec: 429 that asks to retry after 10 s', () => {
    const world = new TestWorld();
    world.aPod('p1');
    world.aBudget('b', { ...open, observedGeneration: 0 });
    const answer = evict(world, 'p1');
    expect(answer.code).toBe(429);
    expect(answer.headers['retry-after']).toBe('10');
    expect(objectOr(answer.body.details).retryAfterSeconds).toBe(10);
    expect(causeOf(answer)?.message).toBe(
      'The disruption budget b is still being processed by the server.',
    );
  });

  it.each(['', '?dryRun=All'])('two budgets: a plain 500 without reason or causes%s', (query) => {
    const world = new TestWorld();
    world.aPod('p1');
    world.aBudget('b1', open);
    world.aBudget('b2', open);
    const answer = evict(world, 'p1', undefined, query);
    expect(answer.code).toBe(500);
    expect(answer.body.message).toBe(
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    );
    expect(answer.body.reason).toBeUndefined();
    expect(answer.body.details).toBeUndefined();
  });
});

describe('pods that need no token', () => {
  it.each([
    ['Pending and bound', { phase: 'Pending', ready: false }, shut],
    ['Pending and unscheduled', { phase: 'Pending', ready: false, node: null }, shut],
    ['unready while the budget is met', { ready: false }, shut],
    ['Failed', { phase: 'Failed', ready: false }, shut],
  ])('%s: 201 at allowed 0', (_case, pod, budget) => {
    const world = new TestWorld();
    world.aPod('p1', pod);
    world.aBudget('b', budget);
    expect(evict(world, 'p1').code).toBe(201);
    expect(allowed(world, 'b')).toBe(0);
  });

  it.each([
    ['default', {}, 429, 'The disruption budget b needs 1 healthy pods and has 0 currently'],
    ['AlwaysAllow', { unhealthyPodEvictionPolicy: 'AlwaysAllow' }, 201, undefined],
  ])('unready below the desired count, policy %s', (_policy, spec, code, message) => {
    const world = new TestWorld();
    world.aPod('p1', { ready: false });
    const status = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 1 };
    world.aBudget('b', status, { minAvailable: 1, ...spec });
    const answer = evict(world, 'p1');
    expect(answer.code).toBe(code);
    expect(causeOf(answer)?.message).toBe(message);
  });

  it('AlwaysAllow does not help an unready pod under two budgets; Pending does', () => {
    const world = new TestWorld();
    world.aPod('p1', { ready: false });
    world.aPod('p2', { ready: false, phase: 'Pending' });
    const spec = { maxUnavailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow' };
    world.aBudget('b1', shut, spec);
    world.aBudget('b2', shut, spec);
    expect(evict(world, 'p1').code).toBe(500);
    expect(evict(world, 'p2').code).toBe(201);
  });

  it('an already terminating pod: 201, and a shorter grace shortens what is left', () => {
    const world = new TestWorld();
    world.aPod('p1');
    world.aBudget('b', open);
    expect(evict(world, 'p1').code).toBe(201);
    const first = world.pod('p1');
    expect(evict(world, 'p1').code).toBe(201);
    expect(world.pod('p1')).toBe(first);
    expect(evict(world, 'p1', { gracePeriodSeconds: 5 }).code).toBe(201);
    expect(world.pod('p1')?.metadata.deletionGracePeriodSeconds).toBe(5);
  });
});

describe('preconditions of an eviction', () => {
  const wrong = { preconditions: { uid: 'other' } };

  it('burns a token when the uid is wrong and the budget is free', () => {
    const world = new TestWorld();
    const pod = world.aPod('p1');
    world.aBudget('b', open);
    const answer = evict(world, 'p1', wrong);
    expect(answer.code).toBe(409);
    expect(answer.body).toMatchObject({
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on Pod "p1": the UID in the precondition (other) does not ' +
        `match the UID in record (${pod.metadata.uid}). The object might have been deleted and then recreated`,
    });
    expect(allowed(world, 'b')).toBe(0);
    expect(evict(world, 'p1').code).toBe(429);
  });

  it('answers 429, not 409, when the budget is shut', () => {
    const world = new TestWorld();
    world.aPod('p1');
    world.aBudget('b', shut);
    expect(evict(world, 'p1', wrong).code).toBe(429);
  });

  it('does not burn a token in a dry run', () => {
    const world = new TestWorld();
    world.aPod('p1');
    world.aBudget('b', open);
    expect(evict(world, 'p1', wrong, '?dryRun=All').code).toBe(409);
    expect(allowed(world, 'b')).toBe(1);
  });

  it('burns a token for a stale resourceVersion too', () => {
    const world = new TestWorld();
    world.aPod('p1');
    world.aBudget('b', open);
    expect(evict(world, 'p1', { preconditions: { resourceVersion: '1' } }).code).toBe(409);
    expect(allowed(world, 'b')).toBe(0);
  });

  it('accepts the right uid and resourceVersion', () => {
    const world = new TestWorld();
    const { uid, resourceVersion } = world.aPod('p1').metadata;
    world.aBudget('b', open);
    expect(evict(world, 'p1', { preconditions: { uid, resourceVersion } }).code).toBe(201);
  });
});

describe('evictions of what does not exist', () => {
  it('answers 404 for a missing pod', () => {
    const answer = evict(new TestWorld(), 'nobody');
    expect(answer.code).toBe(404);
    expect(answer.body.message).toBe('pods "nobody" not found');
  });

  it('answers 403 NamespaceTerminating where a plain DELETE still works', () => {
    const world = new TestWorld();
    world.aPod('p1');
    world.delete('/api/v1/namespaces/demo');
    const answer = evict(world, 'p1');
    expect(answer.code).toBe(403);
    expect(answer.body.reason).toBe('Forbidden');
    expect(causeOf(answer)).toMatchObject({ reason: 'NamespaceTerminating' });
    expect(world.delete('/api/v1/namespaces/demo/pods/p1').code).toBe(200);
  });

  it('refuses a body whose name is another pod', () => {
    const world = new TestWorld();
    world.aPod('p1');
    const body = { metadata: { name: 'p2' } };
    const answer = world.post('/api/v1/namespaces/demo/pods/p1/eviction', body);
    expect(answer.code).toBe(400);
  });
});
