// Node groups whose requests cannot be carried out, in the embedded world and in virtual time: what is
// said about them, and that it is said once and truly.
import { describe, expect, it } from 'vitest';
import { GroupLife } from '../support/nodegroup-world.ts';

const begun = async (desiredSize = 2, maxSize = 4): Promise<GroupLife> => {
  const life = await GroupLife.begin();
  await life.create({ scalingConfig: { minSize: 0, maxSize, desiredSize } });
  await life.until('the group is ACTIVE', () => life.isActive(desiredSize), 1800);
  return life;
};
const updateStatus = (life: GroupLife) => life.updates()[0]?.status?.status ?? 'InProgress';

describe('drains that budgets hold', () => {
  it('of more nodes than a status can name end as those of a few', async () => {
    const life = await begun(22, 30);
    life.deploy(88, 0);
    await life.driver.advance(60);
    await life.updateConfig({ scalingConfig: { desiredSize: 0 } });
    await life.driver.advance(60);
    // All drains end while nobody looks: they are found failed at once.
    life.killFor(1200);
    await life.until('the update has ended', () => updateStatus(life) !== 'InProgress', 2400);
    expect(updateStatus(life)).toBe('Failed');
    expect(life.updates()[0]?.status?.errors?.[0]?.resourceIds).toHaveLength(20);
    expect(life.group()?.spec.scaling.desired).toBe(22);
    await life.delete();
    await life.driver.advance(60);
    life.killFor(1200);
    await life.until('it is told', () => life.state() === 'DELETE_FAILED', 1800);
    expect(life.group()?.status?.failure?.resourceIds).toHaveLength(20);
    await life.end();
  }, 120_000);

  it('before a delete, even just before, are nothing that the delete waits for', async () => {
    const life = await begun();
    life.deploy(2, 0);
    await life.driver.advance(30);
    await life.updateConfig({ scalingConfig: { desiredSize: 1 } });
    await life.until('the update has ended', () => updateStatus(life) === 'Failed', 1800);
    expect(life.group()?.status?.failure).toBeDefined();
    life.deleteApp();
    await life.delete();
    const states = new Set<unknown>();
    const isGone = () => {
      states.add(life.state());
      return life.group() === undefined;
    };
    await life.until('it is gone', isGone, 200);
    expect([...states]).not.toContain('DELETE_FAILED');
    await life.end();
  });
});
