// A group of three uneven zones that is deleted. Auto Scaling does not balance it, so nothing is
// launched, and no node is terminated against a budget.
import { expect, it } from 'vitest';
import { objectOr } from '../../src/api/json.ts';
import { GroupLife } from '../support/nodegroup-world.ts';
import { askFor, makeGroup, newest, runApp } from '../support/update-world.ts';

it('a group that is deleted during an update starts no instance', async () => {
  const life = await GroupLife.begin({ seed: 16 });
  await makeGroup(life, { desired: 3, zones: 3 });
  await runApp(life, 6, 3);
  askFor(life, newest);
  await life.driver.advance(15);
  const launches = (): readonly string[] => {
    const name = String(objectOr(life.autoScalingGroups()[0]).AutoScalingGroupName);
    const input = { AutoScalingGroupName: name };
    const told = objectOr(life.world.aws.call('autoscaling', 'DescribeScalingActivities', input));
    return [told.Activities ?? []]
      .flat()
      .map((one) => `${objectOr(one).Description}: ${objectOr(one).Cause}`)
      .filter((text) => text.startsWith('Launching'));
  };
  await life.delete();
  const before = launches();
  expect(before).toHaveLength(9);
  await life.driver.advance(600);
  expect(launches()).toEqual(before);
  await life.end();
});
