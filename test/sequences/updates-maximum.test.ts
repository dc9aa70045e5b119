// The maximum size of a group that an update has raised: the user's value is restored as soon as
// the nodes fit into it.
import { describe, expect, it } from 'vitest';
import { GroupLife } from '../support/nodegroup-world.ts';
import {
  areOver,
  askAgain,
  askFor,
  latest,
  makeGroup,
  newest,
  runApp,
  untilAtRest,
} from '../support/update-world.ts';

const closeBudget = (life: GroupLife, maxUnavailable: number): void => {
  const body = { spec: { maxUnavailable } };
  const budgets = { group: 'policy', resource: 'poddisruptionbudgets' } as const;
  life.user.patch(budgets, { namespace: 'default', name: 'web' }, { type: 'merge', body });
};

/**
 * A DEFAULT update whose surplus nodes no budget allows to drain: it fails, and five nodes remain.
 */
const withLeftover = async (maxSize: number): Promise<GroupLife> => {
  const life = await GroupLife.begin();
  await makeGroup(life, { desired: 3, maxSize, zones: 3 });
  await runApp(life, 9, 3);
  askFor(life, newest);
  await life.until('ScalingDown', () => latest(life)?.status?.phase === 'ScalingDown', 4 * 3600);
  closeBudget(life, 0);
  await life.until('it is over', () => areOver(life), 4 * 3600);
  expect(latest(life)?.status?.status).toBe('Failed');
  await life.driver.advance(300);
  return life;
};

const sizes = (life: GroupLife) => {
  const [{ MaxSize, DesiredCapacity } = {}] = life.autoScalingGroups();
  return { max: MaxSize, desired: Number(DesiredCapacity), spec: life.group()?.spec.scaling };
};

describe('the maximum after an update that leaves nodes over', () => {
  it('is the user’s where they fit into it, and the next update takes them back', async () => {
    const life = await withLeftover(10);
    const { max, desired, spec } = sizes(life);
    expect(desired).toBeGreaterThan(3);
    expect(desired).toBeLessThanOrEqual(10);
    expect(max).toBe(10);
    expect(spec).toEqual({ minSize: 0, maxSize: 10, desired: 3 });
    closeBudget(life, 6);
    askAgain(life);
    await life.until('the second is over', () => areOver(life), 4 * 3600);
    await untilAtRest(life, 3);
    expect(sizes(life)).toEqual({ max: 10, desired: 3, spec });
    expect(life.check().violations).toEqual([]);
    await life.end();
  });

  it('has room for those that do not fit, and no more; a size that people set is followed', async () => {
    const life = await withLeftover(4);
    const { max, desired, spec } = sizes(life);
    expect(desired).toBeGreaterThan(4);
    expect(max).toBe(desired);
    expect(spec).toEqual({ minSize: 0, maxSize: 4, desired: 3 });
    life.patch({ spec: { scaling: { desired: desired + 1, maxSize: desired + 2 } } });
    await untilAtRest(life, desired + 1);
    expect(sizes(life)).toMatchObject({ max: desired + 2, desired: desired + 1 });
    expect(life.check().violations).toEqual([]);
    await life.end();
  });
});
