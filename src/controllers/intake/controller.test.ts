// Intake with a failing queue and a failing API server, in virtual time.
import { describe, expect, it } from 'vitest';
import { aGroupSpec, anInstance, setUpControllers } from '../../../test/builders/controllers.ts';
import { account, region } from '../../../test/builders/controllers-cloud.ts';
import { objectOr } from '../../api/json.ts';
import { resourceTypes } from '../../api/kube.ts';
import { KubeError } from '../../ports/index.ts';
import { fencedCloud, fencedKube } from '../../runtime/index.ts';
import { createIntakeController } from './index.ts';

const term = (n: number, more: object = {}) => ({
  LifecycleTransition: 'autoscaling:EC2_INSTANCE_TERMINATING',
  LifecycleHookName: 'Terminate-LC-Hook',
  AutoScalingGroupName: 'asg-1',
  EC2InstanceId: anInstance(n),
  LifecycleActionToken: `token-${n}`,
  Time: '2026-01-01T00:00:00.000Z',
  ...more,
});

const lifecycleState = 'Terminating:Wait';

const setUp = async (isLeader = () => true) => {
  const it = setUpControllers();
  const { kube, cloud } = it;
  kube.put(resourceTypes.nodegroups, { name: 'ng', spec: aGroupSpec() });
  cloud.putGroup('asg-1', {
    instances: Array.from({ length: 40 }, (_, n) => ({
      instanceId: anInstance(n),
      lifecycleState,
    })),
  });
  cloud.putHook({ name: 'Terminate-LC-Hook', autoScalingGroupName: 'asg-1' });
  const intake = createIntakeController({
    ...it,
    kube: fencedKube(kube, isLeader),
    cloud: fencedCloud(cloud, isLeader),
    queueUrl: 'q',
  });
  const running = intake.run(it.stop.signal);
  await it.startInformers();
  return { ...it, intake, running };
};

describe('intake', () => {
  it('records a termination, with the node it belongs to, and deletes the message', async () => {
    const { cloud, clock, putNode, disruption, intake, journal } = await setUp();
    putNode('n1', { instanceId: anInstance(1) });
    cloud.send(term(1));
    await clock.advance(100);
    expect(disruption(anInstance(1))?.spec).toMatchObject({
      instanceId: anInstance(1),
      nodeGroup: 'ng',
      nodeName: 'n1',
      causes: [{ id: 'hook/asg-1/Terminate-LC-Hook/token-1' }],
    });
    expect(cloud.queued).toBe(0);
    expect(intake.stats()).toEqual({ recorded: 1 });
    expect(journal.types()).toEqual(['notice:recorded']);
  });

  it('records a termination while the cloud does not say what time it is', async () => {
    const { cloud, clock, disruption } = await setUp();
    cloud.hang('time');
    cloud.send(term(1));
    await clock.advance(6_000);
    const { causes = [] } = disruption(anInstance(1))?.spec ?? {};
    expect(causes).toMatchObject([{ confirmation: { state: 'Confirmed' } }]);
  });

  it('records a termination as of the shortest hook where Auto Scaling does not describe it', async () => {
    const { cloud, clock, disruption, intake } = await setUp();
    cloud.fail('describeHooks', 'Throttled', 10_000);
    cloud.send(term(1));
    await clock.advance(30_000);
    const hook = { heartbeatTimeoutSeconds: 30, globalTimeoutSeconds: 3_000 };
    expect(disruption(anInstance(1))?.spec.causes).toMatchObject([{ hook }]);
    expect(cloud.queued).toBe(0);
    expect(intake.stats()).toEqual({ recorded: 1 });
  });

  it('records an interruption unconfirmed while EC2 does not answer', async () => {
    const { cloud, clock, disruption } = await setUp();
    cloud.hang('describeInstances');
    cloud.send({
      source: 'aws.ec2',
      account,
      region,
      time: '2026-01-01T00:00:00Z',
      'detail-type': 'EC2 Spot Instance Interruption Warning',
      detail: { 'instance-id': anInstance(1), 'instance-action': 'terminate' },
    });
    await clock.advance(11_000);
    const { causes = [] } = disruption(anInstance(1))?.spec ?? {};
    expect(causes).toMatchObject([{ confirmation: { state: 'Pending' } }]);
  });

  it('ends in the same objects whatever is doubled or comes late', async () => {
    const { cloud, clock, kube, disruption, intake } = await setUp();
    for (const n of [3, 1, 2, 1, 3, 3]) cloud.send(term(n));
    await clock.advance(5_000);
    cloud.send(term(1));
    await clock.advance(5_000);
    expect(cloud.queued).toBe(0);
    expect(intake.stats()).toEqual({ recorded: 7 });
    for (const n of [1, 2, 3]) expect(disruption(anInstance(n))?.spec.causes).toHaveLength(1);
    expect(kube.count('create')).toBeLessThanOrEqual(6);
  });

  it('merges causes of different kinds in one object', async () => {
    const { cloud, clock, disruption } = await setUp();
    cloud.spot.add(anInstance(1));
    cloud.send(term(1));
    cloud.send({
      account,
      region,
      'detail-type': 'EC2 Spot Instance Interruption Warning',
      source: 'aws.ec2',
      time: '2026-01-01T00:00:00Z',
      detail: { 'instance-id': anInstance(1), 'instance-action': 'terminate' },
    });
    await clock.advance(1_000);
    const kinds = disruption(anInstance(1))?.spec.causes.map((cause) => cause.kind);
    expect(kinds?.toSorted()).toEqual(['LifecycleHook', 'SpotInterruption']);
  });

  it.each([-300_000, 300_000])(
    'takes a fresh spot notice with a clock that is off by %i ms',
    async (aheadMs) => {
      const { cloud, clock, disruption } = await setUp();
      cloud.aheadMs = aheadMs;
      cloud.spot.add(anInstance(1));
      const warn = (sentMs: number) =>
        cloud.send({
          account,
          region,
          'detail-type': 'EC2 Spot Instance Interruption Warning',
          source: 'aws.ec2',
          time: new Date(clock.now() + aheadMs - sentMs).toISOString(),
          detail: { 'instance-id': anInstance(1), 'instance-action': 'terminate' },
        });
      const state = () => disruption(anInstance(1))?.spec.causes.at(-1)?.confirmation?.state;
      warn(150_000);
      await clock.advance(1_000);
      expect(state()).toBe('Refuted');
      const now = clock.now();
      warn(20_000);
      await clock.advance(1_000);
      expect(state()).toBe('Confirmed');
      const { deadline = '' } = disruption(anInstance(1))?.spec.causes.at(-1) ?? {};
      expect(Math.abs(Date.parse(deadline) - now - 100_000)).toBeLessThan(1_500);
    },
  );

  it('asks the cloud once for a burst, not once per message', async () => {
    const { cloud, clock, intake } = await setUp();
    for (let n = 0; n < 40; n++) cloud.send(term(n));
    await clock.advance(2_000);
    expect(intake.stats()).toEqual({ recorded: 40 });
    expect(cloud.count('describeGroups')).toBe(1);
    expect(cloud.count('describeHooks')).toBe(1);
  });

  it('keeps a message in flight while the API server is away, then records it', async () => {
    const { cloud, clock, kube, intake, disruption } = await setUp();
    kube.fail('create', 'Unreachable', { times: 10_000 });
    cloud.send(term(1));
    await clock.advance(300_000);
    expect(cloud.queued).toBe(1);
    expect(cloud.count('changeVisibility')).toBeGreaterThanOrEqual(14);
    expect(cloud.count('deleteMessage')).toBe(0);
    kube.heal();
    await clock.advance(31_000);
    expect(disruption(anInstance(1))).toBeDefined();
    expect(cloud.queued).toBe(0);
    expect(intake.stats()).toEqual({ recorded: 1 });
  });

  it('continues reading while other messages keep failing', async () => {
    const { cloud, clock, kube, disruption } = await setUp();
    const create = kube.create.bind(kube);
    const poisoned = new Set<unknown>([anInstance(1), anInstance(2)]);
    kube.create = (type, object, options) =>
      poisoned.has(objectOr(object.metadata).name)
        ? Promise.reject(new KubeError('ServerError', 'poisoned'))
        : create(type, object, options);
    cloud.send(term(1));
    await clock.advance(100);
    cloud.send(term(2));
    await clock.advance(100);
    cloud.send(term(3));
    await clock.advance(1_000);
    expect(disruption(anInstance(3))).toBeDefined();
    expect(cloud.queued).toBe(2);
  });

  it('has no more than 300 messages in hand, and reads on when they are done', async () => {
    const { cloud, clock, kube, intake } = await setUp();
    kube.fail('create', 'Unreachable', { times: 10_000 });
    cloud.putGroup('asg-1', {
      instances: Array.from({ length: 400 }, (_, n) => ({
        instanceId: anInstance(n),
        lifecycleState,
      })),
    });
    for (let n = 0; n < 400; n++) cloud.send(term(n));
    await clock.advance(1_000);
    // 200 messages, plus those that each of ten readers had already requested.
    expect(cloud.inFlight).toBeGreaterThan(100);
    expect(cloud.inFlight).toBeLessThanOrEqual(300);
    kube.heal();
    await clock.advance(60_000);
    expect(intake.stats()).toEqual({ recorded: 400 });
    expect(cloud.queued).toBe(0);
  });

  it('reads a burst with ten readers, and goes back to two that wait', async () => {
    const { cloud, clock } = await setUp();
    cloud.putGroup('asg-1', {
      instances: Array.from({ length: 200 }, (_, n) => ({
        instanceId: anInstance(n),
        lifecycleState,
      })),
    });
    const receive = cloud.receiveMessages.bind(cloud);
    const reading = { now: 0, most: 0 };
    cloud.receiveMessages = async (...args) => {
      reading.most = Math.max(reading.most, ++reading.now);
      // A call to a queue takes a moment; meanwhile the other calls are sent.
      await clock.sleep(5 as never);
      return await receive(...args).finally(() => reading.now--);
    };
    for (let n = 0; n < 200; n++) cloud.send(term(n));
    await clock.advance(21_000);
    expect(cloud.queued).toBe(0);
    expect(reading.most).toBeGreaterThan(4);
    expect(reading.most).toBeLessThanOrEqual(10);
    expect(reading.now).toBe(2);
  });

  it('leaves a message in the queue whose cause has no place, and says so', async () => {
    const { cloud, clock, kube, disruption, intake, log } = await setUp();
    const causes = Array.from({ length: 32 }, (_, n) => ({
      kind: 'Manual',
      id: `manual/${n}`,
      receivedAt: '2026-01-01T00:00:00.000Z',
      onDeadline: 'fail',
      followUp: 'Release',
    }));
    kube.put(resourceTypes.nodedisruptions, { name: anInstance(1), spec: { causes } });
    cloud.send(term(1));
    await clock.advance(1_000);
    expect(intake.stats()).toEqual({ 'kept:full': 1 });
    expect(cloud.queued).toBe(1);
    expect(log.messages('error')).toEqual(['a cause has no place among those in force']);
    // A withdrawn cause makes room: the redelivered message is recorded.
    const withdrawn = causes.map((cause, n) => (n > 0 ? cause : { ...cause, cancelledAt: 'now' }));
    kube.put(resourceTypes.nodedisruptions, { name: anInstance(1), spec: { causes: withdrawn } });
    await clock.advance(120_000);
    expect(cloud.queued).toBe(0);
    expect(disruption(anInstance(1))?.spec.causes.at(-1)?.kind).toBe('LifecycleHook');
  });

  it('leaves a message in the queue whose write is refused for good', async () => {
    const { cloud, clock, kube, intake, log } = await setUp();
    kube.fail('create', 'Forbidden', { times: 2 });
    cloud.send(term(1));
    await clock.advance(10_000);
    expect(intake.stats()).toEqual({ failed: 1 });
    expect(log.messages('error')).toEqual(['message left in the queue']);
    await clock.advance(200_000);
    expect(intake.stats()).toEqual({ failed: 2, recorded: 1 });
    expect(cloud.queued).toBe(0);
  });

  it.each([
    ['whose answer was lost', { landed: true }],
    ['that lost a race', {}],
  ])('records one cause after a write %s', async (_, more) => {
    const { cloud, clock, kube, disruption } = await setUp();
    kube.fail('create', 'landed' in more ? 'Timeout' : 'Conflict', more);
    cloud.send(term(1));
    await clock.advance(5_000);
    expect(disruption(anInstance(1))?.spec.causes).toHaveLength(1);
    expect(cloud.queued).toBe(0);
  });

  it('repeats a delete that failed; the cause stays one', async () => {
    const { cloud, clock, disruption } = await setUp();
    cloud.fail('deleteMessage', 'Throttled', 3);
    cloud.send(term(1));
    await clock.advance(10_000);
    expect(cloud.queued).toBe(0);
    expect(disruption(anInstance(1))?.spec.causes).toHaveLength(1);
  });

  it('drops what is not ours at once, and nonsense after three tries', async () => {
    const { cloud, clock, kube, intake } = await setUp();
    cloud.send({ Event: 'autoscaling:TEST_NOTIFICATION', AutoScalingGroupName: 'asg-1' });
    cloud.send(term(1, { AutoScalingGroupName: 'asg-of-others' }));
    cloud.send(term(1, { LifecycleHookName: 'their-hook' }));
    cloud.send({ Records: [] });
    cloud.send('{');
    await clock.advance(1_000);
    expect(cloud.queued).toBe(1);
    await clock.advance(200_000);
    expect(cloud.queued).toBe(0);
    expect(intake.stats()).toEqual({
      'dropped:test': 1,
      'dropped:foreignGroup': 1,
      'dropped:foreignHook': 1,
      'dropped:foreign': 1,
      'kept:malformed': 2,
      'dropped:malformed': 1,
    });
    expect(kube.count('create')).toBe(0);
  });

  it('does not trust a message that names our group for an instance outside of it', async () => {
    const { cloud, clock, kube, intake } = await setUp();
    cloud.send(term(99));
    await clock.advance(200_000);
    expect(intake.stats()).toEqual({ 'kept:notMember': 2, 'dropped:notMember': 1 });
    expect(kube.count('create')).toBe(0);
  });

  it('records an instance that the cloud lists only a little later', async () => {
    const { cloud, clock, intake } = await setUp();
    cloud.send(term(50));
    await clock.advance(5_000);
    cloud.putGroup('asg-1', { instances: [{ instanceId: anInstance(50), lifecycleState }] });
    await clock.advance(100_000);
    expect(intake.stats()).toEqual({ 'kept:notMember': 1, recorded: 1 });
  });

  it('survives a queue that is away, without storming it', async () => {
    const { cloud, clock, intake } = await setUp();
    await clock.advance(20_000);
    cloud.fail('receiveMessages', 'Unreachable', 10_000);
    cloud.send(term(1));
    const before = cloud.count('receiveMessages');
    await clock.advance(300_000);
    // Long polls that were open when the queue became unreachable may still return the message.
    expect(cloud.count('receiveMessages') - before).toBeLessThan(120);
    expect(intake.stats()).toEqual({ recorded: 1 });
  });

  it('reads nothing while another leads', async () => {
    const { cloud, clock } = await setUp(() => false);
    cloud.send(term(1));
    await clock.advance(10_000);
    expect(cloud.calls).toEqual([]);
  });

  it('records and deletes nothing that it read before it lost the lead', async () => {
    let leads = true;
    const { cloud, clock, kube, disruption } = await setUp(() => leads);
    leads = false;
    cloud.send(term(1));
    await clock.advance(1_000);
    expect(cloud.inFlight).toBe(1);
    expect([kube.count('create'), cloud.count('deleteMessage'), cloud.queued]).toEqual([0, 0, 1]);
    leads = true;
    await clock.advance(61_000);
    expect(disruption(anInstance(1))).toBeDefined();
    expect(cloud.queued).toBe(0);
  });

  it('ends when told, and leaves nothing running', async () => {
    const { clock, stop, running } = await setUp();
    await clock.advance(1_000);
    stop.abort(new Error('stop'));
    await clock.settle();
    await running;
    expect(clock.sleeping).toBe(0);
  });
});
