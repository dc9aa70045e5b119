// Each cause of failure of an update with EKS' strategy (article 003). The tests check the error
// code, the object at fault by name, and the state that remains. A further update, requested once
// the cause is fixed, continues from there.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/api/json.ts';
import { GroupLife } from '../support/nodegroup-world.ts';
import {
  askAgain,
  askFor,
  type GroupWish,
  imageOf,
  isCordoned,
  latest,
  makeGroup,
  namesOf,
  newest,
  older,
  phasesOf,
  runApp,
  untilAtRest,
  untilOver,
} from '../support/update-world.ts';

const begin = async (wish: GroupWish = {}): Promise<GroupLife> => {
  const life = await GroupLife.begin({ hasEvents: true });
  await makeGroup(life, wish);
  return life;
};

const selector = { matchLabels: { app: 'web' } };

const addBudget = (life: GroupLife, name: string, bound: JsonObject): void => {
  life.make({ group: 'policy', resource: 'poddisruptionbudgets' }, 'default', {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, namespace: 'default' },
    spec: { ...bound, selector },
  });
};

/** Pods that run on the existing nodes, cordoned or not, so they return after each eviction. */
const addBoomerang = (life: GroupLife, replicas: number): void => {
  const labels = { app: 'stubborn' };
  const image = String(imageOf(life.nodes()[0] ?? {}));
  life.make({ group: 'apps', resource: 'deployments' }, 'default', {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'stubborn', namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          tolerations: [{ operator: 'Exists' }],
          nodeSelector: { 'eks.amazonaws.com/nodegroup-image': image },
          containers: [{ name: 'app', image: 'example/app:1' }],
        },
      },
    },
  });
};

interface Left {
  readonly code: string;
  readonly names: readonly RegExp[];
  readonly size: number;
}

/**
 * The update failed as expected, all nodes are uncordoned, the sizes are restored, and no update
 * starts by itself.
 */
const expectFailed = async (life: GroupLife, { code, names, size }: Left): Promise<void> => {
  await untilOver(life);
  await untilAtRest(life, size);
  const { status, errors } = latest(life)?.status ?? {};
  expect(status).toBe('Failed');
  expect(errors?.[0]?.code).toBe(code);
  for (const name of names) expect(errors?.[0]?.message).toMatch(name);
  expect(life.nodes().filter(isCordoned)).toEqual([]);
  expect(life.group()?.spec.scaling).toMatchObject({ desired: size });
  expect(life.group()?.status?.surge).toBeUndefined();
  expect(life.group()?.status?.releaseVersion).toBe(older);
  await life.driver.advance(600);
  expect(life.updates()).toHaveLength(1);
};

/** Requests the update again after the cause is fixed; it succeeds. */
const expectGoesOn = async (life: GroupLife, size: number): Promise<void> => {
  askAgain(life);
  await untilOver(life);
  await untilAtRest(life, size);
  expect(latest(life)?.status?.status).toBe('Successful');
  expect(life.group()?.status?.releaseVersion).toBe(newest);
  expect(new Set(life.nodes().map(imageOf)).size).toBe(1);
  expect(life.check().violations).toEqual([]);
  await life.end();
};

describe('PodEvictionFailure', () => {
  it('names the budget that lets no pod go; without it the update continues', async () => {
    const life = await begin();
    await runApp(life, 3, 0);
    askFor(life, newest);
    const numbers = /Budget default\/web: .*needs 3 healthy pods and has 3 currently/;
    const names = [/default\/web-/, /ReplicaSet\/web/, /budget default\/web/, numbers];
    await expectFailed(life, { code: 'PodEvictionFailure', names, size: 2 });
    expect(latest(life)?.status?.errors?.[0]?.resourceIds).toEqual([expect.stringMatching(/^ip-/)]);
    life.unmake({ group: 'policy', resource: 'poddisruptionbudgets' }, 'default', 'web');
    await expectGoesOn(life, 2);
  });

  it('names both budgets of one pod', async () => {
    const life = await begin();
    await runApp(life, 3, 1);
    addBudget(life, 'second', { minAvailable: 1 });
    askFor(life, newest);
    const names = [/default\/web-/, /default\/second/, /default\/web[,)]/];
    await expectFailed(life, { code: 'PodEvictionFailure', names, size: 2 });
    life.unmake({ group: 'policy', resource: 'poddisruptionbudgets' }, 'default', 'second');
    await expectGoesOn(life, 2);
  });

  it('names a pod that tolerates every taint and comes back', async () => {
    const life = await begin();
    addBoomerang(life, 2);
    await life.until('it runs', () => life.runningPods('stubborn') === 2);
    askFor(life, newest);
    const names = [
      /default\/stubborn-\S+ of ReplicaSet\/stubborn-\w+, which tolerates every taint/,
    ];
    await expectFailed(life, { code: 'PodEvictionFailure', names, size: 2 });
    life.unmake({ group: 'apps', resource: 'deployments' }, 'default', 'stubborn');
    await expectGoesOn(life, 2);
  });

  it('names the pod that gets no address, its node and its subnet, and the budget that waits for it', async () => {
    const life = await begin();
    await runApp(life, 6, 1);
    const [subnet = ''] = life.request().subnets as readonly string[];
    askFor(life, newest);
    const isRolling = (): boolean => phasesOf(latest(life)).includes('Rolling');
    await life.until('the new nodes are there', isRolling, 900);
    life.world.faults.inject('no-addresses', { subnet });
    await untilOver(life);
    await life.driver.advance(120);
    // What keeps pods on old nodes also keeps them on the new ones.
    expect(latest(life)?.status).toMatchObject({
      status: 'Failed',
      errors: [
        {
          code: 'PodEvictionFailure',
          message: expect.stringMatching(
            new RegExp(
              'budget default/web.* waits for default/web-\\S+, not Ready since \\S+ on node ip-\\S+ ' +
                `\\(${subnet}\\).*: FailedCreatePodSandBox: .*failed to assign an IP address`,
            ),
          ),
        },
      ],
      leftover: 1,
    });
    expect(latest(life)?.status?.message).toContain('1 new node more than asked for');
    expect(life.group()?.spec.scaling).toMatchObject({ desired: 2, maxSize: 4 });
    expect(life.group()?.status?.surge).toMatchObject({ desired: 1, maxSize: 0, left: 0 });
    expect(life.nodes().map(isCordoned)).toEqual([false, false, false]);
    await life.driver.advance(1800);
    expect(life.nodes()).toHaveLength(3);
    life.world.faults.clear();
    await expectGoesOn(life, 2);
  });
});

describe('NodeCreationFailure', () => {
  it('of a group without surplus leaves it one node short until there are addresses', async () => {
    const life = await begin({ updateConfig: { updateStrategy: 'MINIMAL' } });
    const [subnet = ''] = life.request().subnets as readonly string[];
    life.world.faults.inject('no-addresses', { subnet });
    askFor(life, newest);
    await untilOver(life);
    await life.driver.advance(120);
    expect(latest(life)?.status).toMatchObject({
      status: 'Failed',
      errors: [{ code: 'NodeCreationFailure' }, { code: 'InsufficientFreeAddresses' }],
      progress: { total: 2, done: 1 },
    });
    expect(life.nodes().map(isCordoned)).toEqual([false]);
    expect(life.group()?.spec.scaling).toMatchObject({ desired: 2 });
    life.world.faults.clear();
    await untilAtRest(life, 2);
    await expectGoesOn(life, 2);
  });

  it('reports that the subnet has no address for new nodes, and touches no old one', async () => {
    const life = await begin();
    await runApp(life, 3, 1);
    const before = namesOf(life);
    const [subnet = ''] = life.request().subnets as readonly string[];
    life.world.faults.inject('no-addresses', { subnet });
    askFor(life, newest);
    // The update itself reports it immediately.
    await life.until('it is told', () => latest(life)?.status?.missing !== undefined, 60);
    expect(latest(life)?.status).toMatchObject({
      phase: 'ScalingUp',
      missing: [{ code: 'InsufficientFreeAddresses', message: expect.stringContaining(subnet) }],
    });
    const names = [
      /Couldn't proceed with upgrade process as new nodes are not joining/,
      new RegExp(subnet),
    ];
    await expectFailed(life, { code: 'NodeCreationFailure', names, size: 2 });
    expect(latest(life)?.status?.errors?.map(({ code }) => code)).toEqual([
      'NodeCreationFailure',
      'InsufficientFreeAddresses',
    ]);
    expect(latest(life)?.status?.missing).toBeUndefined();
    expect(namesOf(life).toSorted()).toEqual(before.toSorted());
    life.world.faults.clear();
    await expectGoesOn(life, 2);
  });

  it('names every subnet without addresses', async () => {
    const life = await begin({ zones: 3 });
    const subnets = life.request().subnets as readonly string[];
    for (const subnet of subnets) life.world.faults.inject('no-addresses', { subnet });
    askFor(life, newest);
    await life.until('it is told', () => latest(life)?.status?.missing?.length === 3, 60);
    const told = latest(life)?.status?.missing;
    await life.driver.advance(300);
    // Repeated failures do not change the report.
    expect(latest(life)?.status?.missing).toEqual(told);
    await untilOver(life);
    const [, addresses] = latest(life)?.status?.errors ?? [];
    expect(addresses?.code).toBe('InsufficientFreeAddresses');
    for (const subnet of subnets) expect(addresses?.message).toContain(subnet);
    life.world.faults.clear();
    await life.end();
  });

  it('tells which instances have not joined while they are waited for', async () => {
    const life = await begin();
    life.world.faults.inject('never-join', {});
    askFor(life, newest);
    await life.until('it is told', () => (latest(life)?.status?.missing?.length ?? 0) > 1, 300);
    const { phase, missing = [] } = latest(life)?.status ?? {};
    expect(phase).toBe('ScalingUp');
    for (const one of missing) {
      expect(one).toMatchObject({
        instanceId: expect.stringMatching(/^i-/),
        code: 'NodeCreationFailure',
        message: expect.stringMatching(
          /^its instance runs and has not become a node: its console /,
        ),
      });
    }
    await untilOver(life);
    const [error] = latest(life)?.status?.errors ?? [];
    expect(error?.code).toBe('NodeCreationFailure');
    // The error names each instance with the last line of its console and its meaning, as the
    // status did while the update waited.
    for (const { instanceId = '' } of missing) {
      expect(error?.resourceIds).toContain(instanceId);
      expect(error?.message).toMatch(
        new RegExp(`${instanceId} in eu-west-1a.* its console ends with`),
      );
    }
    life.world.faults.clear();
    await life.end();
  });

  it('of one zone is reported within a minute, with EC2’s words, and named in the end', async () => {
    const life = await begin({ zones: 3, desired: 3 });
    life.world.faults.inject('no-capacity', { zone: 'eu-west-1b' });
    const since = life.seconds;
    askFor(life, newest);
    await life.until('it is told', () => latest(life)?.status?.missing !== undefined, 90);
    expect(life.seconds - since).toBeLessThan(60);
    const told = { zone: 'eu-west-1b', message: expect.stringContaining('sufficient') };
    expect(latest(life)?.status?.missing).toEqual([expect.objectContaining(told)]);
    // The report remains while the zone has no new node, even if Auto Scaling started the instance
    // in another zone.
    await life.driver.advance(600);
    expect(latest(life)?.status).toMatchObject({ phase: 'ScalingUp', missing: [told] });
    await untilOver(life);
    const { errors = [] } = latest(life)?.status ?? {};
    expect(errors[0]?.code).toBe('NodeCreationFailure');
    expect(errors[0]?.message).toMatch(/A launch in eu-west-1b fails since \S+: .*sufficient/);
    expect(errors[0]?.resourceIds).toContain('eu-west-1b');
    life.world.faults.clear();
    await life.end();
  });

  it('of a new node whose kubelet stops says so', async () => {
    const life = await begin({ updateConfig: { updateStrategy: 'MINIMAL' } });
    const before = namesOf(life);
    askFor(life, newest);
    const fresh = () => namesOf(life).find((name) => !before.includes(name));
    await life.until('a new node comes', () => fresh() !== undefined, 900);
    const node = fresh() ?? '';
    life.world.faults.inject('kubelet-stop', { node });
    await untilOver(life);
    const [error] = latest(life)?.status?.errors ?? [];
    expect(error).toMatchObject({
      code: 'NodeCreationFailure',
      message: expect.stringMatching(new RegExp(`its node ${node} is not Ready \\(.*[Kk]ubelet`)),
      resourceIds: [expect.stringMatching(/^i-/)],
    });
    life.world.faults.clear();
    await life.end();
  });
});
