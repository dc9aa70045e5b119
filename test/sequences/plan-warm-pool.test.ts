// The plan of an update of a group with an operator's warm pool, which Drover does not touch.
import { expect, it } from 'vitest';
import { GroupLife } from '../support/nodegroup-world.ts';
import { planOfLife } from '../support/plan-of-life.ts';
import { makeGroup, newest } from '../support/update-world.ts';

it('a plan warns of a warm pool with its size, until it is taken away', async () => {
  const life = await GroupLife.begin();
  await makeGroup(life, { desired: 2, maxSize: 4 });
  const AutoScalingGroupName = String(life.autoScalingGroups()[0]?.AutoScalingGroupName);
  const call = (operation: string, input: object) =>
    life.world.aws.call('autoscaling', operation, { AutoScalingGroupName, ...input });
  const told = async () => {
    const { verdict, findings } = await planOfLife(life, { releaseVersion: newest });
    expect(verdict).toBe('ready');
    return findings.filter(({ object }) => object.kind === 'WarmPool');
  };
  expect(await told()).toEqual([]);

  call('PutWarmPool', { MinSize: 2, PoolState: 'Stopped' });
  const size = (): unknown => life.autoScalingGroups()[0]?.WarmPoolSize;
  await life.until('the pool is filled', () => size() === 2, 600);
  expect(await told()).toMatchObject([
    {
      check: 'other-actor',
      severity: 'warning',
      object: { name: AutoScalingGroupName },
      evidence: { instances: 2, state: 'Stopped' },
      remedy: expect.stringContaining(
        `delete-warm-pool --auto-scaling-group-name ${AutoScalingGroupName} `,
      ),
    },
  ]);

  call('DeleteWarmPool', { ForceDelete: true });
  expect(await told()).toEqual([]);
  await life.end();
});
