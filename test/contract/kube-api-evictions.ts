// Contract cases: the answers of the eviction subresource, as measured on a real server.
import assert from 'node:assert/strict';
import { type Pod, type PodDisruptionBudget, resourceTypes } from '../../src/api/kube.ts';
import { type ContractCase, type ContractEnv, fails, get } from './kube-api-env.ts';

const { pods, poddisruptionbudgets } = resourceTypes;

const refOf = (pod: Pod): { namespace: string; name: string; uid: string } => ({
  namespace: pod.metadata.namespace ?? '',
  name: pod.metadata.name,
  uid: pod.metadata.uid,
});

const stateOf = async (env: ContractEnv, pod: Pod): Promise<'stays' | 'terminating'> => {
  const now = await get<Pod>(env, pods, refOf(pod));
  return now.metadata.deletionTimestamp === undefined ? 'stays' : 'terminating';
};

/** Three ready pods under a budget with this `minAvailable`. */
const three = async (
  env: ContractEnv,
  minAvailable: number,
): Promise<{ namespace: string; p1: Pod; p2: Pod; p3: Pod }> => {
  const namespace = await env.namespace();
  const [p1, p2, p3] = await Promise.all([
    env.pod(namespace, 'p1'),
    env.pod(namespace, 'p2'),
    env.pod(namespace, 'p3'),
  ]);
  await env.budget({ namespace, name: 'b', minAvailable, expected: 3, healthy: 3 });
  return { namespace, p1, p2, p3 };
};

const budgetStatus = async (
  env: ContractEnv,
  namespace: string,
): Promise<PodDisruptionBudget['status']> =>
  (await get<PodDisruptionBudget>(env, poddisruptionbudgets, { namespace, name: 'b' })).status;

const cases: Readonly<Record<string, (env: ContractEnv) => Promise<void>>> = {
  'evicts what a budget allows, then refuses and says which budget': async (env) => {
    const { namespace, p1, p2 } = await three(env, 2);
    assert.deepEqual(await env.api.evict(refOf(p1)), { kind: 'evicted' });
    assert.equal(await stateOf(env, p1), 'terminating');
    const evicted = await get<Pod>(env, pods, refOf(p1));
    const target = evicted.status.conditions?.find(({ type }) => type === 'DisruptionTarget');
    assert.deepEqual([target?.status, target?.reason], ['True', 'EvictionByEvictionAPI']);
    const error = await fails('DisruptionBudget', env.api.evict(refOf(p2)));
    assert.match(
      error.message,
      /The disruption budget b (needs 2 healthy pods and has 2 currently|does not allow evicting)/,
    );
    assert.equal(error.retryAfterSeconds, undefined);
    assert.equal(await stateOf(env, p2), 'stays');
    assert.equal((await budgetStatus(env, namespace)).disruptionsAllowed, 0);
  },

  'answers a dry run as the real call, and changes nothing': async (env) => {
    const { namespace, p1 } = await three(env, 2);
    const before = await budgetStatus(env, namespace);
    assert.deepEqual(await env.api.evict(refOf(p1), { dryRun: true }), { kind: 'evicted' });
    assert.equal(await stateOf(env, p1), 'stays');
    assert.deepEqual(await budgetStatus(env, namespace), before);
    const blocked = await three(env, 3);
    await fails('DisruptionBudget', env.api.evict(refOf(blocked.p1), { dryRun: true }));
  },

  'checks the uid only after the budget: blocked stays blocked, free burns a token': async (
    env,
  ) => {
    const blocked = await three(env, 3);
    const other = '00000000-0000-4000-8000-000000000000';
    await fails('DisruptionBudget', env.api.evict({ ...refOf(blocked.p1), uid: other }));
    const free = await three(env, 2);
    const wrong = { ...refOf(free.p1), uid: other };
    await fails('PreconditionFailed', env.api.evict(wrong, { dryRun: true }));
    assert.equal((await budgetStatus(env, free.namespace)).disruptionsAllowed, 1);
    await fails('PreconditionFailed', env.api.evict(wrong));
    const after = await budgetStatus(env, free.namespace);
    assert.equal(after.disruptionsAllowed, 0);
    assert.deepEqual(Object.keys(after.disruptedPods ?? {}), ['p1']);
    assert.equal(await stateOf(env, free.p1), 'stays');
    await fails('DisruptionBudget', env.api.evict(refOf(free.p2)));
  },

  'refuses a ready pod under two budgets whatever they allow': async (env) => {
    const { namespace, p1 } = await three(env, 1);
    await env.budget({ namespace, name: 'b2', minAvailable: 1, expected: 3, healthy: 3 });
    await fails('MultipleBudgets', env.api.evict(refOf(p1)));
    await fails('MultipleBudgets', env.api.evict(refOf(p1), { dryRun: true }));
    assert.equal(await stateOf(env, p1), 'stays');
  },

  'lets pending and terminating pods go, whatever the budgets say': async (env) => {
    const { namespace, p1 } = await three(env, 3);
    const [q1, q2] = [
      await env.pod(namespace, 'q1', 'pending'),
      await env.pod(namespace, 'q2', 'pending'),
    ];
    assert.deepEqual(await env.api.evict(refOf(q1)), { kind: 'evicted' });
    await env.budget({ namespace, name: 'b2', minAvailable: 3, healthy: 3 });
    assert.deepEqual(await env.api.evict(refOf(q2)), { kind: 'evicted' });
    await env.api.delete(pods, refOf(p1));
    assert.deepEqual(await env.api.evict(refOf(p1)), { kind: 'evicted' });
    const options = { gracePeriodSeconds: 5 };
    assert.deepEqual(await env.api.evict(refOf(p1), options), { kind: 'evicted' });
    const { metadata } = await get<Pod>(env, pods, refOf(p1));
    assert.equal(metadata.deletionGracePeriodSeconds, 5);
  },

  'lets an unready pod go as long as enough others are healthy': async (env) => {
    const namespace = await env.namespace();
    const ready = await env.pod(namespace, 'p1');
    await env.pod(namespace, 'p2');
    const unready = await env.pod(namespace, 'p3', 'unready');
    await env.budget({ namespace, name: 'b', minAvailable: 2, expected: 3, healthy: 2 });
    await fails('DisruptionBudget', env.api.evict(refOf(ready)));
    assert.deepEqual(await env.api.evict(refOf(unready)), { kind: 'evicted' });
  },

  'keeps unready pods of an unhealthy budget unless its policy lets them go': async (env) => {
    const kept = await env.namespace();
    const p1 = await env.pod(kept, 'p1', 'unready');
    const counts = { name: 'b', minAvailable: 1, expected: 1, healthy: 0 };
    await env.budget({ namespace: kept, ...counts });
    const error = await fails('DisruptionBudget', env.api.evict(refOf(p1)));
    assert.match(error.message, /needs 1 healthy pods and has 0 currently/);
    const free = await env.namespace();
    const p2 = await env.pod(free, 'p2', 'unready');
    await env.budget({ namespace: free, ...counts, policy: 'AlwaysAllow' });
    assert.deepEqual(await env.api.evict(refOf(p2)), { kind: 'evicted' });
  },

  'finds no pod to evict: gone': async (env) => {
    const namespace = await env.namespace();
    const uid = '00000000-0000-4000-8000-000000000000';
    assert.deepEqual(await env.api.evict({ namespace, name: 'none', uid }), { kind: 'gone' });
  },
};

export const evictionCases: readonly ContractCase[] = Object.entries(cases).map(([name, run]) => ({
  name,
  run,
}));
