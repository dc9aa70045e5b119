// A drain that fails keeps its instance where the policy and the Auto Scaling group ask for that.
// In the embedded world.
import { expect, it } from 'vitest';
import { TerminationLife } from '../support/termination-world.ts';

it.each([
  ['retain', 'Terminating:Retained'],
  ['terminate', undefined],
] as const)('the drain fails, policy %s: %s', async (onFailure, state) => {
  const life = await TerminationLife.begin();
  const { AutoScalingInstances: members } = life.world.aws.call(
    'autoscaling',
    'DescribeAutoScalingInstances',
    { InstanceIds: [life.instanceId] },
  ) as { AutoScalingInstances: readonly { AutoScalingGroupName: string }[] };
  life.world.aws.call('autoscaling', 'UpdateAutoScalingGroup', {
    AutoScalingGroupName: members[0]?.AutoScalingGroupName ?? '',
    InstanceLifecyclePolicy: { RetentionTriggers: { TerminateHookAbandon: 'retain' } },
  });
  life.hookTimeout(30);
  life.budget('app', { maxUnavailable: 0 }, { app: 'db' });
  life.pod('db', { labels: { app: 'db' } });
  life.drainPolicy({ onDeadline: 'fail', onFailure });
  await life.driver.advance(20);
  life.terminate();
  await life.until(() => life.disruption()?.status?.outcome === 'Failed', 3_100);
  await life.ended(60);
  await life.driver.advance(300);
  expect(life.instanceState()).toBe(state);
  expect(life.podsOn().includes('db')).toBe(state !== undefined);
  await life.end();
});
