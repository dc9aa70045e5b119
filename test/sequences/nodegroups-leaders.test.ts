// Two processes that take turns to lead a node group: the first stands still with a call that sets sizes on its lips, the
// second does what people want meanwhile, and then the call leaves. It is nobody's wish: what people asked for stands.
import { describe, expect, it } from 'vitest';
import { GroupLife } from '../support/nodegroup-world.ts';

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

/** As kubectl edits it; what is not stated is taken out. */
const ask = (life: GroupLife, { minSize, maxSize, desired }: Size) =>
  life.patch({ spec: { scaling: { minSize, maxSize, desired: desired ?? null } } });

/** The leader stops before its next call that sets sizes, until the story is told. */
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
    // The other has done it.
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
