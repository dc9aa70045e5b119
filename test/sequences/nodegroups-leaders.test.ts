// Two processes that lead a node group in turn. The first stalls just before a call that sets sizes
// or suspends a process. Users change the group under the second, and then the first one's call is
// sent. No user requested that late call, so the users' values remain.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/api/json.ts';
import { resourceTypes } from '../../src/api/kube.ts';
import { GroupLife } from '../support/nodegroup-world.ts';
import { askFor, makeGroup, newest } from '../support/update-world.ts';

const { nodegroupupdates } = resourceTypes;
const standsFor = 55;

interface Size {
  readonly minSize: number;
  readonly maxSize: number;
  readonly desired?: number;
}

const sizesOf = (life: GroupLife) => {
  const [group] = life.autoScalingGroups();
  return [group?.MinSize, group?.MaxSize, group?.DesiredCapacity];
};

const eventsOf = (life: GroupLife) =>
  [...life.world.kube.readAll({ group: '', resource: 'events' })]
    .filter(({ reason }) => reason === 'LateSizeCall')
    .map(({ message }) => message);

/** Sets the sizes as `kubectl edit` does; an unset value is removed. */
const ask = (life: GroupLife, { minSize, maxSize, desired }: Size) =>
  life.patch({ spec: { scaling: { minSize, maxSize, desired: desired ?? null } } });

/** The leader stalls before its `nth` call that sets sizes, for `standsFor` seconds. */
const stopsBefore = (life: GroupLife, nth = 1): { stopped: () => boolean } => {
  let seen = 0;
  life.standsStill = (operation) =>
    operation === 'UpdateAutoScalingGroup' && ++seen === nth ? standsFor : 0;
  return { stopped: () => seen >= nth };
};

const begin = async (from: Size): Promise<GroupLife> => {
  const life = await GroupLife.begin({ twoLeaders: true });
  const scalingConfig = {
    minSize: from.minSize,
    maxSize: from.maxSize,
    desiredSize: from.desired ?? 0,
  };
  await life.create({ scalingConfig });
  await life.until('the group is ACTIVE', () => life.isActive(from.desired ?? 0), 1800);
  await life.driver.advance(30);
  return life;
};

describe('a call that sets sizes and leaves after another process has come to lead', () => {
  it.each([
    {
      name: 'more nodes, which nobody wants any more',
      from: { minSize: 0, maxSize: 6, desired: 1 },
      first: { minSize: 0, maxSize: 6, desired: 4 },
      afterwards: { minSize: 0, maxSize: 6, desired: 1 },
      end: [0, 6, 1],
      tells: ['desired 4 instead of 1'],
    },
    {
      name: 'a minimum that was taken back',
      from: { minSize: 0, maxSize: 6, desired: 1 },
      first: { minSize: 3, maxSize: 6, desired: 3 },
      afterwards: { minSize: 0, maxSize: 6, desired: 2 },
      end: [0, 6, 2],
      tells: ['minSize 3 instead of 0, desired 3 instead of 2'],
    },
    {
      name: 'a maximum that was taken back',
      from: { minSize: 0, maxSize: 3, desired: 1 },
      first: { minSize: 0, maxSize: 8, desired: 1 },
      afterwards: { minSize: 0, maxSize: 4, desired: 1 },
      end: [0, 4, 1],
      tells: ['maxSize 8 instead of 4'],
    },
    {
      name: 'a minimum, where nobody states a desired size',
      from: { minSize: 0, maxSize: 6, desired: 1 },
      first: { minSize: 3, maxSize: 6 },
      afterwards: { minSize: 0, maxSize: 6, desired: 1 },
      end: [0, 6, 1],
      tells: ['minSize 3 instead of 0, desired 3 instead of 1'],
    },
    {
      name: 'what is still wanted',
      from: { minSize: 0, maxSize: 6, desired: 1 },
      first: { minSize: 0, maxSize: 6, desired: 4 },
      afterwards: { minSize: 0, maxSize: 6, desired: 4 },
      end: [0, 6, 4],
      tells: [],
    },
  ])('$name', async ({ from, first, afterwards, end, tells }) => {
    const life = await begin(from);
    const { stopped } = stopsBefore(life);
    ask(life, first);
    await life.until('a leader stands still', stopped, 60);
    await life.driver.advance(25);
    // The second leader has set the sizes.
    expect(sizesOf(life)).toEqual([first.minSize, first.maxSize, first.desired ?? first.minSize]);
    ask(life, afterwards);
    await life.driver.advance(25);
    expect(sizesOf(life)).toEqual(end);
    const calls = () =>
      life.calls.filter(({ operation }) => operation === 'UpdateAutoScalingGroup').length;
    const sent = calls();
    await life.until('the late call leaves', () => calls() > sent, 15);
    await life.driver.advance(600);
    expect(sizesOf(life)).toEqual(end);
    expect(life.group()?.spec.scaling).toEqual(afterwards);
    expect(life.nodes()).toHaveLength(end[2] ?? 0);
    const before = 'a process that led before and stood still has set ';
    const after = ': taken back; to keep it, set it in the NodeGroup';
    expect(eventsOf(life)).toEqual(tells.map((what) => `${before}${what}${after}`));
    expect(life.check().violations).toEqual([]);
    await life.end();
  });
});

describe('a call that suspends a process and leaves after another process has ended the update', () => {
  const listOf = (value: unknown) => (value ?? []) as readonly JsonObject[];
  const suspended = (life: GroupLife) =>
    listOf(life.autoScalingGroups()[0]?.SuspendedProcesses).map(({ ProcessName }) => ProcessName);
  const told = (life: GroupLife) =>
    [...life.world.kube.readAll({ group: '', resource: 'events' })].filter(
      ({ reason }) => reason === 'LateSuspension',
    );

  /** Removes the update's finalizer and deletes the update. */
  const vanish = (life: GroupLife, name: string): void => {
    life.patchUpdate(name, { metadata: { finalizers: null } });
    life.user.delete(nodegroupupdates, { name });
  };
  const stop = (life: GroupLife, name: string): void => {
    life.patchUpdate(name, { spec: { abort: 'Stop' } });
  };

  it.each([
    ['that was stopped', stop],
    ['whose object vanished', vanish],
  ])('is reverted, and told, of one %s', async (_, end) => {
    const life = await GroupLife.begin({ twoLeaders: true });
    await makeGroup(life, { desired: 2, zones: 2, maxSize: 4 });
    let stopped = false;
    life.standsStill = (operation) => {
      if (operation !== 'SuspendProcesses' || stopped) return 0;
      stopped = true;
      return standsFor;
    };
    life.patch({ spec: { updateConfig: { updateStrategy: 'SURGE', maxUnavailable: 1 } } });
    await life.driver.advance(5);
    askFor(life, newest);
    await life.until('a leader stands still', () => stopped, 60);
    const [update] = life.updates();
    end(life, update?.metadata.name ?? '');
    await life.until('the other has ended it', () => {
      return life.updates()[0]?.status?.status === 'Cancelled';
    });
    const suspensions = () => life.called('SuspendProcesses');
    const before = suspensions();
    await life.until('the late call leaves', () => suspensions() > before, 60);
    expect(suspended(life)).toEqual(['AZRebalance']);
    await life.driver.advance(120);
    expect(suspended(life)).toEqual([]);
    expect(told(life)).toHaveLength(1);
    // A process that users suspend later stays suspended.
    const [AutoScalingGroupName] = life
      .autoScalingGroups()
      .map((one) => String(one.AutoScalingGroupName));
    const call = { AutoScalingGroupName, ScalingProcesses: ['AZRebalance'] };
    life.world.aws.call('autoscaling', 'SuspendProcesses', call);
    await life.driver.advance(60);
    expect(suspended(life)).toEqual(['AZRebalance']);
    expect(told(life)).toHaveLength(1);
    expect(life.check().violations).toEqual([]);
    await life.end();
  });
});
