// The backstop with groups whose messages were lost, in virtual time.
import { describe, expect, it } from 'vitest';
import { aGroupSpec, anInstance, setUpControllers } from '../../../test/builders/controllers.ts';
import { resourceTypes } from '../../api/kube.ts';
import { CloudError } from '../../ports/index.ts';
import { fencedCloud, fencedKube } from '../../runtime/index.ts';
import { createIntakeController } from '../intake/index.ts';
import { createLifecycleController } from './index.ts';

const i1 = anInstance(1);
const launching = 'autoscaling:EC2_INSTANCE_LAUNCHING' as const;

const setUp = async () => {
  const it = setUpControllers();
  const { kube, cloud } = it;
  kube.put(resourceTypes.nodegroups, { name: 'ng', spec: aGroupSpec() });
  const autoScalingGroupName = 'asg-1';
  cloud.putHook({ name: 'Terminate-LC-Hook', autoScalingGroupName });
  cloud.putHook({ name: 'Launch-LC-Hook', autoScalingGroupName, transition: launching });
  cloud.putHook({ name: 'their-hook', autoScalingGroupName });
  cloud.putHook({ name: 'their-launch', autoScalingGroupName, transition: launching });
  const stateOf = (lifecycleState: string) =>
    cloud.putGroup('asg-1', { instances: [{ instanceId: i1, lifecycleState }] });
  const start = async () => {
    await it.startInformers();
    void createLifecycleController(it).run(it.stop.signal);
    await it.clock.settle();
  };
  return { ...it, stateOf, start };
};

describe('the lifecycle backstop', () => {
  it('finds at start who waits for termination, and records our hook alone', async () => {
    const { stateOf, start, disruption, putNode, journal } = await setUp();
    putNode('n1', { instanceId: i1 });
    stateOf('Terminating:Wait');
    await start();
    expect(disruption(i1)?.spec).toMatchObject({
      instanceId: i1,
      nodeName: 'n1',
      nodeGroup: 'ng',
      causes: [
        {
          id: 'hook/asg-1/Terminate-LC-Hook/polled',
          hook: { name: 'Terminate-LC-Hook', startedAt: '2026-01-01T00:00:00.000Z' },
        },
      ],
    });
    expect(disruption(i1)?.spec.causes[0]?.hook?.token).toBeUndefined();
    expect(journal.types()).toEqual(['lifecycle:termination:found']);
  });

  it.each([
    ['from when Auto Scaling began', 'Terminating EC2 instance: ', '2025-12-31T23:58:50.000Z'],
    ['from now where nothing tells it', 'Launching a new EC2 instance: ', undefined],
  ])('counts the wait of a hook that it finds %s', async (_, what, startedAt) => {
    const { stateOf, start, disruption, cloud } = await setUp();
    const activity = { id: 'a', status: 'InProgress', message: '' };
    const description = `${what}${i1}`;
    cloud.describeActivities = async () => [
      { ...activity, description, startedAt: '2025-12-31T23:58:50Z' },
    ];
    stateOf('Terminating:Wait');
    await start();
    const [cause] = disruption(i1)?.spec.causes ?? [];
    expect(cause?.hook?.startedAt).toBe(startedAt ?? '2026-01-01T00:00:00.000Z');
  });

  it('records a termination also where the cloud tells no activities', async () => {
    const { stateOf, start, disruption, cloud } = await setUp();
    cloud.describeActivities = () => Promise.reject(new CloudError('AccessDenied', 'no'));
    stateOf('Terminating:Wait');
    await start();
    expect(disruption(i1)?.spec.causes).toHaveLength(1);
  });

  it('records and completes nothing while another leads', async () => {
    const { stateOf, disruption, putNode, startInformers, cloud, clock, ...rest } = await setUp();
    await startInformers();
    const isLeader = () => false;
    const kube = fencedKube(rest.kube, isLeader);
    const deps = { ...rest, kube, cloud: fencedCloud(cloud, isLeader), clock };
    void createLifecycleController(deps).run(rest.stop.signal);
    putNode('n1', { instanceId: i1 });
    stateOf('Terminating:Wait');
    await clock.advance(31_000);
    stateOf('Pending:Wait');
    await clock.advance(31_000);
    expect(disruption(i1)).toBeUndefined();
    expect(cloud.completed).toEqual([]);
  });

  it('finds within half a minute who begins to wait later, and writes it once', async () => {
    const { stateOf, start, disruption, clock, kube } = await setUp();
    stateOf('InService');
    await start();
    await clock.advance(10_000);
    stateOf('Terminating:Wait');
    await clock.advance(21_000);
    expect(disruption(i1)).toBeDefined();
    await clock.advance(600_000);
    expect(kube.count('create') + kube.count('patch')).toBe(1);
  });

  it.each([
    ['first the message, then polling', true],
    ['first polling, then the message', false],
  ])('makes one cause of one hook: %s', async (_, messageFirst) => {
    const { stateOf, start, disruption, clock, cloud, ...rest } = await setUp();
    stateOf('Terminating:Wait');
    const intake = createIntakeController({ ...rest, cloud, clock, queueUrl: 'q' });
    const send = async () => {
      cloud.send({
        LifecycleTransition: 'autoscaling:EC2_INSTANCE_TERMINATING',
        LifecycleHookName: 'Terminate-LC-Hook',
        AutoScalingGroupName: 'asg-1',
        EC2InstanceId: i1,
        LifecycleActionToken: 't1',
        Time: '2025-12-31T23:59:00.000Z',
      });
      await clock.advance(1_000);
    };
    void intake.run(rest.stop.signal);
    if (messageFirst) {
      await rest.startInformers();
      await send();
    }
    await start();
    await clock.advance(1_000);
    if (!messageFirst) await send();
    await clock.advance(60_000);
    const [cause] = disruption(i1)?.spec.causes ?? [];
    // Whichever source came first: its fifteen minutes do not start again.
    expect(Date.parse(cause?.deadline ?? '') - Date.parse(cause?.receivedAt ?? '')).toBe(900_000);
    expect(disruption(i1)?.spec.causes).toMatchObject([
      {
        id: 'hook/asg-1/Terminate-LC-Hook/t1',
        hook: { token: 't1', startedAt: '2026-01-01T00:00:00.000Z' },
      },
    ]);
  });

  it('does not begin again when our part is done and a foreign hook still holds', async () => {
    const { stateOf, start, disruption, clock, kube } = await setUp();
    stateOf('Terminating:Wait');
    await start();
    const { metadata, spec } = disruption(i1) ?? expect.unreachable();
    const status = { episode: 1, phase: 'Ended', outcome: 'Drained' };
    kube.put(resourceTypes.nodedisruptions, { name: metadata.name, spec, status });
    await clock.advance(600_000);
    expect(disruption(i1)?.spec.causes).toHaveLength(1);
    expect(kube.count('create') + kube.count('patch')).toBe(1);
  });

  it('completes a launch hook when the node is Ready, and only our hook', async () => {
    const { stateOf, start, putNode, clock, cloud, journal } = await setUp();
    stateOf('Pending:Wait');
    await start();
    await clock.advance(60_000);
    putNode('n1', { instanceId: i1, ready: false });
    // Between two polls, so that only the node's event can trigger it.
    await clock.advance(65_000);
    expect(cloud.completed).toEqual([]);
    putNode('n1', { instanceId: i1 });
    await clock.advance(1_500);
    expect(cloud.completed).toEqual([
      {
        autoScalingGroupName: 'asg-1',
        hookName: 'Launch-LC-Hook',
        instanceId: i1,
        result: 'CONTINUE',
      },
    ]);
    expect(journal.types()).toEqual(['lifecycle:launch:completed']);
  });

  it('completes again at most once a minute while the cloud still shows it waiting', async () => {
    const { stateOf, start, putNode, clock, cloud } = await setUp();
    putNode('n1', { instanceId: i1 });
    stateOf('Pending:Wait');
    await start();
    await clock.advance(300_000);
    expect(cloud.completed.length).toBeGreaterThan(3);
    expect(cloud.completed.length).toBeLessThanOrEqual(6);
    stateOf('InService');
    const before = cloud.completed.length;
    await clock.advance(300_000);
    expect(cloud.completed).toHaveLength(before);
  });

  it('completes at once when the instance comes round again', async () => {
    const { stateOf, start, putNode, clock, cloud } = await setUp();
    putNode('n1', { instanceId: i1 });
    stateOf('Pending:Wait');
    await start();
    stateOf('InService');
    await clock.advance(35_000);
    stateOf('Pending:Wait');
    putNode('n1', { instanceId: i1, ready: false });
    await clock.settle();
    putNode('n1', { instanceId: i1 });
    await clock.advance(2_000);
    expect(cloud.completed).toHaveLength(2);
  });

  it('is content when another actor completed it', async () => {
    const { stateOf, start, putNode, cloud, log, journal } = await setUp();
    putNode('n1', { instanceId: i1 });
    stateOf('Pending:Wait');
    cloud.fail('completeHook', 'NoActiveLifecycleAction');
    await start();
    expect(cloud.count('completeHook')).toBe(1);
    expect(log.messages('warn')).toEqual([]);
    expect(journal.types()).toEqual([]);
  });

  it('keeps looking after failures of the cloud and of the API server', async () => {
    const { stateOf, start, clock, cloud, kube, disruption } = await setUp();
    cloud.fail('describeGroups', 'Throttled', 3);
    kube.fail('create', 'Forbidden', { times: 2 });
    stateOf('Terminating:Wait');
    await start();
    await clock.advance(120_000);
    expect(disruption(i1)).toBeDefined();
  });

  it('does nothing for groups we do not manage and instances that vanished', async () => {
    const { stateOf, start, clock, cloud, kube } = await setUp();
    cloud.putGroup('asg-of-others', {
      instances: [{ instanceId: anInstance(2), lifecycleState: 'Terminating:Wait' }],
    });
    stateOf('InService');
    await start();
    cloud.putGroup('asg-1');
    await clock.advance(120_000);
    expect(kube.count('create')).toBe(0);
    // One poll per 30 s.
    expect(cloud.count('describeGroups')).toBeLessThanOrEqual(6);
  });
});
