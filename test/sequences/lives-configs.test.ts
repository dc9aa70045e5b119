// The API server accepts every update configuration that random lives request; a refused
// configuration would prove nothing.
import { expect, it } from 'vitest';
import { type ActionContext, nodeGroups } from '../../src/sim/lives/action.ts';
import { drawDrainPolicy } from '../../src/sim/lives/drain-policies.ts';
import { resources } from '../../src/sim/lives/open-work.ts';
import { askForSequence } from '../../src/sim/lives/sequence-actions.ts';
import { drawUpdateConfig, prepareWorks } from '../../src/sim/lives/update-config.ts';
import { createWorld, seedCluster } from '../../world/index.ts';

const setUp = () => {
  const world = createWorld({ seed: 7, startAt: 1_664_110_800_000_000 });
  const shape = { isManaged: true, min: 0, max: 4, desired: 1, instanceType: 'm5.large' };
  seedCluster(world, {
    clusterName: 'life',
    kubernetesVersion: '1.32.9',
    groups: ['g1', 'g2'].map((name) => ({ ...shape, name, zones: ['a'] })),
    addons: false,
    workload: false,
  });
  const user = world.kube.as({
    user: { username: 'kubernetes-admin', groups: ['system:masters'] },
    userAgent: 'kubectl',
  });
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'life' } };
  user.create({ group: '', resource: 'namespaces' }, undefined, namespace);
  const context: ActionContext = {
    world,
    user,
    random: world.kernel.random('test'),
    spotRandom: world.kernel.random('test.spot'),
    updates: true,
    onFault: () => {},
    onCall: () => {},
    onWarning: () => {},
  };
  return context;
};

it('takes every drawn configuration of an update, whatever stood before it, and every hook kind comes', () => {
  const context = setUp();
  const refused = [];
  const seen = new Set<string>();
  for (let i = 0; i < 400; i++) {
    const body = { spec: { updateConfig: drawUpdateConfig(context) } };
    const result = context.user.patch(nodeGroups, { name: 'g1' }, { type: 'merge', body });
    if (result.kind === 'error') refused.push([result.status.message, body]);
    for (const word of JSON.stringify(body).matchAll(/"(pre|post)[A-Z]\w+"(?=:\{)|"[A-Z]\w+"/g)) {
      seen.add(word[0].replaceAll('"', ''));
    }
  }
  expect(refused).toEqual([]);
  const words = ['preDrain', 'postDrain', 'preTerminate', 'postReady', 'Approval', 'Required'];
  for (const word of [...words, 'Quarantine', 'Skip', 'Force', 'Pause', 'Minimal']) {
    expect(seen).toContain(word);
  }
});

it('takes every drain policy', () => {
  const context = setUp();
  const seen = new Set<string>();
  for (let i = 0; i < 200; i++) {
    const body = { spec: { drain: drawDrainPolicy(context.random) } };
    const result = context.user.patch(nodeGroups, { name: 'g1' }, { type: 'merge', body });
    expect(result.kind, JSON.stringify([result, body])).toBe('ok');
    for (const [field, value] of Object.entries(body.spec.drain)) if (value) seen.add(field);
  }
  const fields = [
    'doNotEvict',
    'forceIntervalSeconds',
    'jobs',
    'lateNodes',
    'loadBalancers',
    'tiers',
    'volumes',
  ];
  expect([...seen].toSorted()).toEqual(fields);
});

it('takes every sequence, and the CronJobs of hooks', () => {
  const context = setUp();
  prepareWorks(context.user);
  const cronJobs = [...context.world.kube.readAll({ group: 'batch', resource: 'cronjobs' })];
  expect(cronJobs.map(({ metadata }) => metadata.name)).toEqual(['broken', 'work']);
  for (let i = 0; i < 20; i++) {
    askForSequence(context);
    const [made] = [...context.world.kube.readAll(resources.sequences)];
    expect(made).toBeDefined();
    context.user.delete(resources.sequences, { name: String(made?.metadata.name) });
  }
});
