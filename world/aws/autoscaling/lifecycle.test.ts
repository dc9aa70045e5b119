import { describe, expect, it } from 'vitest';
import { aGroup, aHook, aTestWorld, type TestWorld } from '../../../test/builders/world-aws.ts';
import { Tables } from '../../kernel/index.ts';

const launchHook = aHook({
  LifecycleHookName: 'launch',
  LifecycleTransition: 'autoscaling:EC2_INSTANCE_LAUNCHING',
});

/** Advances in small steps and lists the states of the first member. */
const walk = (world: TestWorld, group: string, seconds: number): readonly string[] => {
  const seen: string[] = [];
  const [id = ''] = Object.keys(world.states(group));
  for (let i = 0; i < seconds * 20; i++) {
    const state = world.states(group)[id] ?? 'gone';
    if (seen.at(-1) !== state) seen.push(state);
    world.advance(0.05);
  }
  return seen;
};

const only = (world: TestWorld, group: string): string => Object.keys(world.states(group))[0] ?? '';

const complete = (world: TestWorld, hook: string, result: string, more: object = {}) =>
  world.call('autoscaling', 'CompleteLifecycleAction', {
    AutoScalingGroupName: 'g',
    LifecycleHookName: hook,
    LifecycleActionResult: result,
    InstanceId: only(world, 'g'),
    ...more,
  });

const terminate = (world: TestWorld, decrement = true) =>
  world.call('autoscaling', 'TerminateInstanceInAutoScalingGroup', {
    InstanceId: only(world, 'g'),
    ShouldDecrementDesiredCapacity: decrement,
  });

const activityOf = (world: TestWorld) =>
  world.call('autoscaling', 'DescribeScalingActivities', { AutoScalingGroupName: 'g' })
    .Activities?.[0];

describe('the activity of a launch', () => {
  /** Each observed pair of lifecycle state and activity, in order. */
  const pairs = (world: TestWorld, seconds: number): readonly string[] => {
    const seen: string[] = [];
    for (let i = 0; i < seconds * 20; i++) {
      const activity = activityOf(world);
      const status = String(activity?.StatusCode);
      const pair = `${world.states('g')[only(world, 'g')]} ${status}`;
      if (seen.at(-1) !== pair) seen.push(pair);
      expect(activity?.EndTime !== undefined, pair).toBe(status === 'Successful');
      world.advance(0.05);
    }
    return seen;
  };

  it('is Successful once the instance is in service, not before', () => {
    const world = aTestWorld();
    aGroup(world);
    world.advance(1);
    expect(pairs(world, 5)).toEqual(['Pending PreInService', 'InService Successful']);
  });

  it('is not Successful while a hook holds the instance', () => {
    const world = aTestWorld();
    aGroup(world, { hooks: [launchHook] });
    world.advance(1);
    expect(pairs(world, 60)).toEqual(['Pending PreInService', 'Pending:Wait MidLifecycleAction']);
    complete(world, 'launch', 'CONTINUE');
    expect(pairs(world, 5)).toEqual(['Pending:Proceed MidLifecycleAction', 'InService Successful']);
  });
});

describe('an instance without hooks', () => {
  it('goes from Pending to InService when it runs', () => {
    const world = aTestWorld();
    aGroup(world);
    world.advance(1);
    expect(walk(world, 'g', 5)).toEqual(['Pending', 'InService']);
  });

  it('goes through Terminating and Terminating:Proceed to its end', () => {
    const world = aTestWorld();
    aGroup(world);
    world.advance(5);
    terminate(world);
    expect(walk(world, 'g', 10)).toEqual(['Terminating', 'Terminating:Proceed', 'gone']);
    expect(world.host.log.map((line) => line.split(' ')[0])).toEqual(['on', 'off']);
  });
});

describe('a launch hook', () => {
  it('holds the instance in Pending:Wait until CONTINUE', () => {
    const world = aTestWorld();
    aGroup(world, { hooks: [launchHook] });
    world.advance(1);
    expect(walk(world, 'g', 60)).toEqual(['Pending', 'Pending:Wait']);
    complete(world, 'launch', 'CONTINUE');
    expect(walk(world, 'g', 1)).toEqual(['Pending:Proceed', 'InService']);
    expect(activityOf(world)).toMatchObject({ StatusCode: 'Successful', Progress: 100 });
  });

  it('ends the instance on ABANDON and launches another, without termination hooks', () => {
    const world = aTestWorld();
    aGroup(world, { hooks: [launchHook, aHook()] });
    world.advance(10);
    const first = only(world, 'g');
    complete(world, 'launch', 'ABANDON');
    world.advance(0.2);
    expect(world.states('g')[first]).toBe('Terminating:Proceed');
    world.advance(20);
    expect(Object.entries(world.states('g'))).toEqual([[only(world, 'g'), 'Pending:Wait']]);
    expect(only(world, 'g')).not.toBe(first);
    const activities = world.call('autoscaling', 'DescribeScalingActivities').Activities;
    const launch = [...(activities ?? [])].find((one) =>
      String(one.Description).includes(`Launching a new EC2 instance: ${first}`),
    );
    expect(launch).toMatchObject({ StatusCode: 'Cancelled' });
    expect(String(launch?.StatusMessage)).toMatch(
      /with token [0-9a-f-]{36} was abandoned: Lifecycle Action Completed with ABANDON Result$/,
    );
  });
});

describe('a termination hook', () => {
  const waiting = (hooks = [aHook()]) => {
    const world = aTestWorld();
    aGroup(world, { hooks });
    world.advance(5);
    terminate(world);
    world.advance(1);
    return world;
  };

  it.each(['CONTINUE', 'ABANDON'])('lets the instance continue %s', (result) => {
    const world = waiting();
    expect(world.states('g')).toEqual({ [only(world, 'g')]: 'Terminating:Wait' });
    expect(activityOf(world)).toMatchObject({ StatusCode: 'MidLifecycleAction' });
    complete(world, 'drain', result);
    expect(walk(world, 'g', 10)).toEqual(['Terminating:Proceed', 'gone']);
    expect(activityOf(world)).toMatchObject({ StatusCode: 'Successful' });
  });

  it.each([
    [['CONTINUE'], 'Terminating:Wait'],
    [['CONTINUE', 'CONTINUE'], 'Terminating:Proceed'],
    [['ABANDON'], 'Terminating:Proceed'],
    [['CONTINUE', 'ABANDON'], 'Terminating:Proceed'],
  ])('with two hooks, results %j lead to %s', (results, state) => {
    const world = waiting([aHook(), aHook({ LifecycleHookName: 'logs' })]);
    results.forEach((result, index) => {
      complete(world, ['drain', 'logs'][index] ?? '', result);
    });
    expect(Object.values(world.states('g'))).toEqual([state]);
  });

  it('takes a token as well as an instance id, and each token once', () => {
    const world = waiting();
    const token = world.parts.store.actions()[0]?.token ?? '';
    expect(token).toHaveLength(36);
    const byToken = { InstanceId: undefined, LifecycleActionToken: token };
    complete(world, 'drain', 'CONTINUE', byToken);
    expect(
      world.refusal('autoscaling', 'CompleteLifecycleAction', {
        AutoScalingGroupName: 'g',
        LifecycleHookName: 'drain',
        LifecycleActionResult: 'CONTINUE',
        LifecycleActionToken: token,
      }),
    ).toBe(`ValidationError: No active Lifecycle Action found with token ${token}`);
  });

  it('refuses to complete for an instance that is not waiting', () => {
    const world = waiting();
    expect(
      world.refusal('autoscaling', 'CompleteLifecycleAction', {
        AutoScalingGroupName: 'g',
        LifecycleHookName: 'drain',
        LifecycleActionResult: 'CONTINUE',
        InstanceId: 'i-0123456789abcdef0',
      }),
    ).toBe(
      'ValidationError: No active Lifecycle Action found with instance ID i-0123456789abcdef0',
    );
  });

  it('ends by its heartbeat timeout, and a heartbeat begins the time again', () => {
    const world = waiting();
    world.advance(1700);
    world.call('autoscaling', 'RecordLifecycleActionHeartbeat', {
      AutoScalingGroupName: 'g',
      LifecycleHookName: 'drain',
      InstanceId: only(world, 'g'),
    });
    world.advance(1799);
    expect(Object.values(world.states('g'))).toEqual(['Terminating:Wait']);
    world.advance(10);
    expect(world.states('g')).toEqual({});
  });

  it('ends by its global timeout however often it is extended', () => {
    const world = waiting([aHook({ HeartbeatTimeout: 30 })]);
    const beat = () =>
      world.call('autoscaling', 'RecordLifecycleActionHeartbeat', {
        AutoScalingGroupName: 'g',
        LifecycleHookName: 'drain',
        InstanceId: only(world, 'g'),
      });
    for (let i = 0; i < 119; i++) {
      world.advance(25);
      expect(Object.values(world.states('g'))).toEqual(['Terminating:Wait']);
      beat();
    }
    // 2976 s have passed; the last heartbeat would last until 3006, the global timeout until 3000.
    world.advance(22);
    expect(Object.values(world.states('g'))).toEqual(['Terminating:Wait']);
    world.advance(3);
    expect(Object.values(world.states('g'))).not.toContain('Terminating:Wait');
  });

  it('has a global timeout of 48 hours or a hundred heartbeats, whichever is less', () => {
    const world = aTestWorld();
    aGroup(world, { hooks: [aHook(), aHook({ LifecycleHookName: 'x', HeartbeatTimeout: 60 })] });
    const hooks = world.call('autoscaling', 'DescribeLifecycleHooks', {
      AutoScalingGroupName: 'g',
    });
    expect(hooks.LifecycleHooks?.map((hook) => hook.GlobalTimeout)).toEqual([172800, 6000]);
  });

  it('lets its instances go when it is deleted', () => {
    const world = waiting();
    world.call('autoscaling', 'DeleteLifecycleHook', {
      AutoScalingGroupName: 'g',
      LifecycleHookName: 'drain',
    });
    expect(Object.values(world.states('g'))).toEqual(['Terminating:Proceed']);
  });
});

describe('default results of a launch hook that no one answers', () => {
  it.each([
    ['CONTINUE', 'InService'],
    ['ABANDON', 'Terminating'],
  ])('%s leads to %s', (DefaultResult, state) => {
    const world = aTestWorld();
    aGroup(world, { hooks: [{ ...launchHook, DefaultResult, HeartbeatTimeout: 60 }] });
    world.advance(5);
    const first = only(world, 'g');
    world.advance(58.15);
    expect(world.states('g')[first]?.startsWith(state)).toBe(true);
  });
});

describe('a world taken up again from its tables', () => {
  it('continues with the same deadlines', () => {
    const world = aTestWorld();
    aGroup(world, { hooks: [aHook()] });
    world.advance(5);
    terminate(world);
    world.advance(100);
    world.kernel.checkpoint();
    const again = aTestWorld({ tables: copyOf(world) });
    expect(Object.values(again.states('g'))).toEqual(['Terminating:Wait']);
    again.advance(1690);
    expect(Object.values(again.states('g'))).toEqual(['Terminating:Wait']);
    again.advance(20);
    expect(again.states('g')).toEqual({});
  });
});

const copyOf = (world: TestWorld) => {
  const copy = new Tables();
  for (const { table, key, value } of world.kernel.tables.takeChanges()) {
    if (value !== undefined) copy.restore(table, key, value);
  }
  return copy;
};
