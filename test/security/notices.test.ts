// Forged, stale, duplicated, reordered and foreign notices. The tests check the resulting cause for
// every combination of kind, cloud state, age and order, and for a flood of notices (attacks 1 and
// 2).
import { describe, expect, it } from 'vitest';
import { isInForce } from '../../src/api/confirmation.ts';
import { resourceTypes } from '../../src/api/kube.ts';
import { createIntakeController } from '../../src/controllers/intake/index.ts';
import { aGroupSpec, anInstance, setUpControllers } from '../builders/controllers.ts';
import { account, region } from '../builders/controllers-cloud.ts';

const i1 = anInstance(1);
const foreign = '999999999999';

const setUp = async (instances = 1) => {
  const it = setUpControllers();
  it.kube.put(resourceTypes.nodegroups, { name: 'ng', spec: aGroupSpec() });
  const state = (lifecycleState: string) =>
    it.cloud.putGroup('asg-1', {
      instances: Array.from({ length: instances }, (_, n) => ({
        instanceId: anInstance(n + 1),
        lifecycleState,
      })),
    });
  state('InService');
  it.cloud.putHook({ name: 'Terminate-LC-Hook', autoScalingGroupName: 'asg-1' });
  const intake = createIntakeController({ ...it, queueUrl: 'q' });
  void intake.run(it.stop.signal);
  await it.startInformers();
  const states = (id = i1) =>
    it.disruption(id)?.spec.causes.map((cause) => (isInForce(cause) ? 'in force' : 'idle')) ?? [];
  return { ...it, intake, state, states };
};
type Setup = Awaited<ReturnType<typeof setUp>>;

const kinds = ['hook', 'spot', 'rebalance', 'maintenance', 'maintenance closed'] as const;
type Kind = (typeof kinds)[number];

const httpTime = (ms: number): string => new Date(ms).toUTCString();

/** A message about i1, as its sender would write it `agoMs` milliseconds ago. */
const message = (
  kind: Kind,
  at: number,
  of: { readonly account: string; readonly id?: string },
) => {
  const time = new Date(at).toISOString();
  const event = (source: string, detailType: string, detail: object) => ({
    source,
    'detail-type': detailType,
    account: of.account,
    region,
    time,
    detail,
  });
  const id = of.id ?? i1;
  if (kind === 'hook') {
    return {
      LifecycleTransition: 'autoscaling:EC2_INSTANCE_TERMINATING',
      LifecycleHookName: 'Terminate-LC-Hook',
      AutoScalingGroupName: 'asg-1',
      EC2InstanceId: id,
      LifecycleActionToken: `t-${at}`,
      AccountId: of.account,
      Time: time,
    };
  }
  if (kind === 'spot') {
    const detail = { 'instance-id': id, 'instance-action': 'terminate' };
    return event('aws.ec2', 'EC2 Spot Instance Interruption Warning', detail);
  }
  if (kind === 'rebalance') {
    return event('aws.ec2', 'EC2 Instance Rebalance Recommendation', { 'instance-id': id });
  }
  return event('aws.health', 'AWS Health Event', {
    service: 'EC2',
    eventTypeCategory: 'scheduledChange',
    eventTypeCode: 'AWS_EC2_SYSTEM_REBOOT_MAINTENANCE_SCHEDULED',
    eventArn: 'arn:aws:health:eu-west-1::event/EC2/X/1',
    statusCode: kind === 'maintenance' ? 'upcoming' : 'closed',
    startTime: httpTime(at + 7 * 86_400_000),
    endTime: httpTime(at + 7 * 86_400_000 + 7_200_000),
    affectedEntities: [{ entityValue: id }],
  });
};

/** Makes the cloud confirm what the notice claims. */
const confirm = ({ cloud, state }: Setup, at: number): void => {
  state('Terminating:Wait');
  cloud.spot.add(i1);
  const notBefore = new Date(at + 7 * 86_400_000).toISOString();
  cloud.scheduledEvents = [
    { id: 'instance-event-1', instanceId: i1, code: 'system-reboot', notBefore, isOver: false },
  ];
};

const ages = { fresh: 1_000, stale: 600_000, 'of 2020': 6 * 365 * 86_400_000 } as const;
type Age = keyof typeof ages;
const orders = ['once', 'doubled', 'after it was closed'] as const;

/** Whether a notice counts: all combinations in four rules. */
const counts = (kind: Kind, isTrue: boolean, age: Age, order: string): boolean => {
  if (kind === 'maintenance closed' || !isTrue) return false;
  if (kind === 'maintenance' && order === 'after it was closed') return false;
  if (kind === 'spot') return age === 'fresh';
  return true;
};

const rows = kinds.flatMap((kind) =>
  [true, false].flatMap((isTrue) =>
    (Object.keys(ages) as Age[]).flatMap((age) =>
      orders.map((order) => [kind, isTrue, age, order] as const),
    ),
  ),
);

describe('a notice counts only where the cloud says the same', () => {
  it.each(rows)('%s, cloud agrees: %s, %s, %s', async (kind, isTrue, age, order) => {
    const all = await setUp();
    const at = all.clock.now() - ages[age];
    if (order === 'after it was closed') {
      all.cloud.send(message('maintenance closed', at, { account }));
      await all.clock.advance(1_000);
    }
    if (isTrue) confirm(all, at);
    for (const _ of order === 'doubled' ? [1, 2] : [1]) {
      all.cloud.send(message(kind, at, { account }));
    }
    await all.clock.advance(5_000);
    expect(all.states().includes('in force')).toBe(counts(kind, isTrue, age, order));
    expect(all.cloud.queued).toBe(0);
  });

  it.each(kinds)('%s of another account counts nowhere, whatever the cloud says', async (kind) => {
    const all = await setUp();
    confirm(all, all.clock.now());
    all.cloud.send(message(kind, all.clock.now(), { account: foreign }));
    await all.clock.advance(5_000);
    expect(all.states()).not.toContain('in force');
    expect(all.cloud.queued).toBe(0);
  });
});

describe('a flood of forged messages', () => {
  it('is noted once for each instance and kind, and holds no real notice up', async () => {
    const all = await setUp(10);
    const at = all.clock.now() - 30 * 86_400_000;
    const flood = async (): Promise<void> => {
      for (let n = 0; n < 3_000; n++) {
        const id = anInstance(1 + (n % 9));
        all.cloud.send(message(n % 2 === 0 ? 'hook' : 'spot', at + n, { account: foreign, id }));
      }
      await all.clock.advance(60_000);
      expect(all.cloud.queued).toBe(0);
    };
    await flood();
    for (let n = 1; n <= 9; n++) expect(all.states(anInstance(n))).toEqual(['idle', 'idle']);
    const writes = () => all.kube.count('create') + all.kube.count('patch');
    const before = writes();
    await flood();
    expect(writes()).toBe(before);
    const real = anInstance(10);
    // After all requests that the flood caused.
    await all.clock.advance(1);
    all.state('Terminating:Wait');
    all.cloud.send(message('hook', all.clock.now(), { account, id: real }));
    await all.clock.advance(1_000);
    expect(all.states(real)).toEqual(['in force']);
  });
});
