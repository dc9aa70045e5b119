import { describe, expect, it } from 'vitest';
import { aDisruption, aHookCause, timePlus } from '../../../test/builders/core-termination.ts';
import type { LifecycleHook } from '../../api/cloud.ts';
import type { HookStatus, NodeDisruptionStatus } from '../../api/disruption.ts';
import { drainedGroupOf, foreignHooksText } from './foreign-hooks.ts';

const ours: HookStatus = {
  autoScalingGroupName: 'asg-1',
  name: 'Terminate-LC-Hook',
  state: 'Completed',
  endsAt: timePlus(900),
};
const drained = (more: Partial<NodeDisruptionStatus> = {}) =>
  aDisruption([aHookCause()], {
    episode: 1,
    phase: 'Ended',
    outcome: 'Drained',
    startedAt: timePlus(0),
    hooks: [ours],
    ...more,
  });
const hook = (name: string, side: 'LAUNCHING' | 'TERMINATING' = 'TERMINATING'): LifecycleHook => ({
  name,
  autoScalingGroupName: 'asg-1',
  transition: `autoscaling:EC2_INSTANCE_${side}`,
  heartbeatTimeoutSeconds: 600,
  globalTimeoutSeconds: 60_000,
  defaultResult: 'ABANDON',
});
const waiting = { lifecycleState: 'Terminating:Wait' };

describe('an instance that is held after its drain', () => {
  it('names the hook of others, and how it ends by itself', () => {
    const hooks = [hook(ours.name), hook('backup'), hook('join', 'LAUNCHING')];
    expect(foreignHooksText(drained(), waiting, hooks)).toBe(
      'the drain is over; Auto Scaling holds the instance in hook backup (ABANDON after 600 s ' +
        'without a heartbeat): its owner completes it, Drover does not',
    );
  });

  it('names all of several, since Auto Scaling reports none', () => {
    expect(foreignHooksText(drained(), waiting, [hook('a'), hook('b')])).toContain(
      'in one of the hooks a (ABANDON after 600 s without a heartbeat), b (',
    );
  });

  it.each([
    ['no hook of others exists', waiting, [hook(ours.name)]],
    ['the instance waits in no hook', { lifecycleState: 'Terminating:Proceed' }, [hook('backup')]],
    ['the instance is gone', undefined, [hook('backup')]],
  ])('says nothing where %s', (_, instance, hooks) => {
    expect(foreignHooksText(drained(), instance, hooks)).toBeUndefined();
  });

  it('is asked about only after a drain whose hooks are completed', () => {
    expect(drainedGroupOf(drained())).toBe('asg-1');
    expect(drainedGroupOf(drained({ phase: 'Completing' }))).toBeUndefined();
    expect(drainedGroupOf(drained({ hooks: [{ ...ours, state: 'Open' }] }))).toBeUndefined();
    expect(drainedGroupOf(drained({ hooks: [] }))).toBeUndefined();
  });
});
