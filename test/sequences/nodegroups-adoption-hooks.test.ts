// Lifecycle hooks of adopted Auto Scaling groups, in virtual time: terminated nodes are drained and
// removed hooks are recreated. If Drover cannot observe terminations, a condition reports it.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/api/json.ts';
import { objectOr } from '../../src/api/json.ts';
import { GivenGroup } from '../support/given-group.ts';

const lack = ({ life }: GivenGroup) =>
  life.group()?.status?.conditions?.find(({ type }) => type === 'TerminationsNotSeen');

/** Terminates one instance as an operator does, and returns its ID. */
const terminateOne = (given: GivenGroup): string => {
  const id = given.instanceIds()[0] ?? '';
  given.life.fromOutside('TerminateInstanceInAutoScalingGroup', {
    InstanceId: id,
    ShouldDecrementDesiredCapacity: false,
  });
  return id;
};

describe('lifecycle hooks of an adopted Auto Scaling group', () => {
  it('are installed, and an instance that is terminated is drained first', async () => {
    const given = await GivenGroup.begin();
    const { life } = given;
    given.adopt();
    await life.until('it is adopted', () => life.isActive(2), 60);
    await life.until('hooks are installed', () => given.hooks().length === 2, 60);
    expect(given.hooks().map((hook) => hook.LifecycleHookName)).toEqual([
      'Terminate-LC-Hook',
      'Launch-LC-Hook',
    ]);
    expect(lack(given)).toBeUndefined();
    given.deploy(4, 1);
    await life.until('pods run', () => life.runningPods('web') === 4, 120);
    const id = terminateOne(given);
    const phase = () => objectOr(given.disruption(id)?.status).phase;
    await life.until('it is drained', () => phase() === 'Ended', 300);
    const history = JSON.stringify(given.disruption(id));
    expect(history).toContain('Terminate-LC-Hook');
    await life.until('it is terminated', () => !given.instanceIds().includes(id), 60);
    await life.until('it is replaced', () => life.isActive(2), 300);
    expect(life.runningPods('web')).toBe(4);
    await life.end();
  });

  it('of other names are left alone, and those of EKS’ names are not installed twice', async () => {
    const given = await GivenGroup.begin();
    const { life } = given;
    given.putHook('theirs', 'TERMINATING');
    given.putHook('Terminate-LC-Hook', 'TERMINATING', { HeartbeatTimeout: 77 });
    given.adopt();
    await life.until('hooks are installed', () => given.hooks().length === 3, 120);
    await life.driver.advance(130);
    expect(given.hooks().find((one) => one.LifecycleHookName === 'theirs')).toMatchObject({
      HeartbeatTimeout: 60,
    });
    const own = given.hooks().find((one) => one.LifecycleHookName === 'Terminate-LC-Hook');
    expect(own).toMatchObject({ HeartbeatTimeout: 77 });
    await life.end();
  });

  it('are put back when they vanish', async () => {
    const given = await GivenGroup.begin();
    const { life } = given;
    given.adopt();
    await life.until('hooks are installed', () => given.hooks().length === 2, 60);
    life.fromOutside('DeleteLifecycleHook', {
      AutoScalingGroupName: 'mine',
      LifecycleHookName: 'Terminate-LC-Hook',
    });
    await life.until('it is back', () => given.hooks().length === 2, 90);
    await life.end();
  });

  it('with Leave are not installed: a condition names the remedy until one exists', async () => {
    const given = await GivenGroup.begin();
    const { life } = given;
    given.adopt({ lifecycleHooks: 'Leave' });
    await life.until('it is said', () => lack(given)?.status === 'True', 120);
    expect(given.hooks()).toEqual([]);
    expect(lack(given)).toMatchObject({ reason: 'HooksLeft' });
    expect(lack(given)?.message).toContain('put-lifecycle-hook --auto-scaling-group-name mine');
    expect(life.state()).toBe('ACTIVE');
    given.putHook('Terminate-LC-Hook', 'TERMINATING');
    await life.until('it is seen', () => lack(given) === undefined, 120);
    life.fromOutside('DeleteLifecycleHook', {
      AutoScalingGroupName: 'mine',
      LifecycleHookName: 'Terminate-LC-Hook',
    });
    await life.until('it is said again', () => lack(given)?.status === 'True', 120);
    life.patch({ spec: { lifecycleHooks: 'Manage' } });
    await life.until('it is installed', () => lack(given) === undefined, 30);
    expect(given.hooks()).toHaveLength(2);
    await life.end();
  });

  it('that AWS refuses to install make the group DEGRADED, until the right is granted', async () => {
    const given = await GivenGroup.begin();
    const { life } = given;
    life.faults = {
      cloudCall: (operation) =>
        operation === 'PutLifecycleHook'
          ? { kind: 'refused', code: 'AccessDenied' }
          : { kind: 'ok' },
    };
    given.adopt();
    await life.until('it is said', () => lack(given)?.status === 'True', 120);
    expect(lack(given)).toMatchObject({ reason: 'AccessDenied' });
    expect(lack(given)?.message).toContain('autoscaling:PutLifecycleHook');
    await life.until('it is degraded', () => life.state() === 'DEGRADED', 30);
    life.faults = {};
    await life.until('it is seen', () => lack(given) === undefined, 120);
    await life.until('it is whole', () => life.state() === 'ACTIVE', 60);
    await life.end();
  });

  it('are found by a look at the group where no message arrives', async () => {
    const given = await GivenGroup.begin();
    const { life } = given;
    given.adopt();
    await life.until('hooks are installed', () => given.hooks().length === 2, 60);
    await life.until('it is adopted', () => life.isActive(2), 60);
    await given.loseMessages();
    const id = terminateOne(given);
    const recorded = (): JsonObject | undefined => given.disruption(id);
    await life.until('it is recorded', () => recorded() !== undefined, 60);
    expect(JSON.stringify(recorded())).toContain('found waiting in lifecycle hook');
    await life.end();
  });
});
