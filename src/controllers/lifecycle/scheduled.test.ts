// Maintenance without a message, or with both a message and an entry in EC2's list, in virtual
// time.
import { describe, expect, it } from 'vitest';
import { aGroupSpec, anInstance, setUpControllers } from '../../../test/builders/controllers.ts';
import { account, region } from '../../../test/builders/controllers-cloud.ts';
import type { ScheduledEvent } from '../../api/cloud.ts';
import { resourceTypes } from '../../api/kube.ts';
import { createIntakeController } from '../intake/index.ts';
import { createLifecycleController } from './index.ts';

const i1 = anInstance(1);
const notBefore = '2026-01-08T00:00:00Z';
const anEvent = (more: Partial<ScheduledEvent> = {}): ScheduledEvent => ({
  id: 'instance-event-0a',
  instanceId: i1,
  code: 'system-reboot',
  notBefore,
  isOver: false,
  ...more,
});
const eventArn = 'arn:aws:health:eu-west-1::event/EC2/X/1';
const aMessage = (statusCode: 'upcoming' | 'closed') => ({
  source: 'aws.health',
  account,
  region,
  'detail-type': 'AWS Health Event',
  detail: {
    service: 'EC2',
    eventTypeCategory: 'scheduledChange',
    eventTypeCode: 'AWS_EC2_SYSTEM_REBOOT_MAINTENANCE_SCHEDULED',
    eventArn,
    statusCode,
    startTime: 'Thu, 08 Jan 2026 00:00:00 GMT',
    affectedEntities: [{ entityValue: i1 }],
  },
});

const setUp = async () => {
  const it = setUpControllers();
  it.kube.put(resourceTypes.nodegroups, { name: 'ng', spec: aGroupSpec() });
  it.cloud.putGroup('asg-1', { instances: [{ instanceId: i1 }] });
  it.putNode('n1', { instanceId: i1 });
  await it.startInformers();
  const start = async () => {
    void createLifecycleController(it).run(it.stop.signal);
    await it.clock.settle();
  };
  const startIntake = () =>
    void createIntakeController({ ...it, queueUrl: 'q' }).run(it.stop.signal);
  const causes = () => it.disruption(i1)?.spec.causes ?? [];
  return { ...it, start, startIntake, causes };
};

describe('maintenance that EC2 has scheduled', () => {
  it('is found within a minute without its message, and written once', async () => {
    const { cloud, clock, start, causes, disruption, kube, journal } = await setUp();
    await start();
    cloud.scheduledEvents = [anEvent()];
    await clock.advance(60_000);
    expect(causes()).toEqual([
      {
        kind: 'Maintenance',
        id: 'maintenance/instance-event-0a',
        receivedAt: '2026-01-01T00:01:00.000Z',
        deadline: '2026-01-08T00:00:00.000Z',
        onDeadline: 'force',
        followUp: 'Replace',
        requestedBy: 'EC2',
        reason: 'found scheduled: system-reboot at 2026-01-08T00:00:00Z',
        confirmation: {
          state: 'Confirmed',
          at: '2026-01-01T00:01:00.000Z',
          reason: 'EC2: system-reboot is scheduled',
        },
      },
    ]);
    expect(disruption(i1)?.spec).toMatchObject({ nodeName: 'n1', nodeGroup: 'ng' });
    await clock.advance(600_000);
    expect(kube.count('create') + kube.count('patch')).toBe(1);
    expect(journal.types()).toEqual(['lifecycle:maintenance:found']);
  });

  it('is found where a message that was not so named a sooner start', async () => {
    const { cloud, clock, kube, start, causes } = await setUp();
    const at = '2026-01-01T00:00:00.000Z';
    const refuted = {
      kind: 'Maintenance',
      id: `maintenance/${eventArn}`,
      receivedAt: at,
      deadline: '2026-01-02T00:00:00.000Z',
      onDeadline: 'force',
      followUp: 'Replace',
      confirmation: { state: 'Refuted', at, reason: 'EC2 lists no such event' },
    };
    const spec = { instanceId: i1, nodeName: 'n1', nodeGroup: 'ng', causes: [refuted] };
    kube.put(resourceTypes.nodedisruptions, { name: i1, spec });
    cloud.scheduledEvents = [anEvent()];
    await start();
    await clock.advance(60_000);
    expect(causes()).toMatchObject([{ id: 'maintenance/instance-event-0a' }, refuted]);
  });

  it('costs one call a minute, however many instances of others have events', async () => {
    const { cloud, clock, start, causes } = await setUp();
    const theirs = (n: number) => anEvent({ id: `instance-event-${n}`, instanceId: anInstance(n) });
    cloud.scheduledEvents = [2, 3, 4, 5].map(theirs);
    await start();
    const groupsBefore = cloud.count('describeGroups');
    await clock.advance(600_000);
    expect(cloud.count('describeScheduledEvents')).toBe(11);
    // The backstop's own poll every 30 s, and at most one more per minute.
    expect(cloud.count('describeGroups') - groupsBefore).toBeLessThanOrEqual(30);
    expect(causes()).toEqual([]);
  });

  it.each([
    ['first the message, then the list', true, `maintenance/${eventArn}`],
    ['first the list, then the message', false, 'maintenance/instance-event-0a'],
  ])('is one cause: %s', async (_, messageFirst, id) => {
    const { cloud, clock, start, startIntake, causes } = await setUp();
    await start();
    startIntake();
    const tell = [
      () => cloud.send(aMessage('upcoming')),
      () => {
        cloud.scheduledEvents = [anEvent()];
      },
    ];
    for (const one of messageFirst ? tell : tell.toReversed()) {
      one();
      await clock.advance(90_000);
    }
    expect(causes().map((cause) => cause.id)).toEqual([id]);
  });

  it('that is over withdraws its cause, from wherever it was known', async () => {
    const { cloud, clock, start, startIntake, causes, journal } = await setUp();
    await start();
    startIntake();
    cloud.send(aMessage('upcoming'));
    cloud.scheduledEvents = [anEvent()];
    await clock.advance(90_000);
    cloud.scheduledEvents = [anEvent({ isOver: true })];
    await clock.advance(60_000);
    expect(causes()).toMatchObject([
      { id: `maintenance/${eventArn}`, cancelledAt: '2026-01-01T00:02:00.000Z' },
    ]);
    // A late copy of the announcement has no effect.
    cloud.send(aMessage('upcoming'));
    await clock.advance(120_000);
    expect(causes()).toHaveLength(1);
    expect(journal.types()).toContain('lifecycle:maintenance:over');
  });

  it('sooner than what is known is recorded besides, later is not', async () => {
    const { cloud, clock, start, causes } = await setUp();
    cloud.scheduledEvents = [
      anEvent(),
      anEvent({ id: 'instance-event-0b', notBefore: '2026-01-09T00:00:00Z' }),
    ];
    await start();
    await clock.advance(60_000);
    expect(causes()).toHaveLength(1);
    cloud.scheduledEvents = [
      ...cloud.scheduledEvents,
      anEvent({ id: 'instance-event-0c', notBefore: '2026-01-02T00:00:00Z' }),
    ];
    await clock.advance(60_000);
    expect(causes().map(({ id }) => id)).toEqual([
      'maintenance/instance-event-0a',
      'maintenance/instance-event-0c',
    ]);
  });

  it.each([
    ['found in the list', 'list', 'maintenance/instance-event-0a'],
    ['told by a message', 'message', `maintenance/${eventArn}`],
  ])('that moves earlier under its own id is due earlier: %s', async (_, source, id) => {
    const { cloud, clock, start, startIntake, causes } = await setUp();
    await start();
    startIntake();
    const tell = (startsAt: string): void => {
      cloud.scheduledEvents = [anEvent({ notBefore: startsAt })];
      if (source === 'message') {
        const { detail, ...message } = aMessage('upcoming');
        cloud.send({
          ...message,
          detail: { ...detail, startTime: new Date(startsAt).toUTCString() },
        });
      }
    };
    tell(notBefore);
    await clock.advance(90_000);
    tell('2026-01-03T00:00:00Z');
    await clock.advance(90_000);
    expect(causes()).toMatchObject([{ id, deadline: '2026-01-03T00:00:00.000Z' }]);
    expect(causes()[0]?.reason).toContain('2026-01-03');
    expect(causes()[0]?.receivedAt).toMatch(/^2026-01-01T00:0[01]/);
    // Postponed again: a replacement that is in time for the earlier date is in time for this one,
    // too.
    tell(notBefore);
    await clock.advance(90_000);
    expect(causes()).toMatchObject([{ id, deadline: '2026-01-03T00:00:00.000Z' }]);
  });

  it('that moves earlier after it was withdrawn stays withdrawn', async () => {
    const { cloud, clock, start, causes } = await setUp();
    await start();
    cloud.scheduledEvents = [anEvent()];
    await clock.advance(60_000);
    cloud.scheduledEvents = [anEvent({ isOver: true })];
    await clock.advance(60_000);
    const before = causes();
    cloud.scheduledEvents = [anEvent({ notBefore: '2026-01-03T00:00:00Z' })];
    await clock.advance(60_000);
    expect(causes()).toEqual(before);
  });

  it('is still found when calls are refused, and hooks are looked at meanwhile', async () => {
    const { cloud, clock, start, causes } = await setUp();
    cloud.scheduledEvents = [anEvent()];
    cloud.fail('describeScheduledEvents', 'AccessDenied', 3);
    await start();
    const before = cloud.count('describeGroups');
    await clock.advance(300_000);
    expect(cloud.count('describeGroups')).toBeGreaterThan(before + 8);
    expect(causes()).toHaveLength(1);
  });
});
