// Events that EC2 schedules: announced, described, carried out or cancelled.
import { describe, expect, it } from 'vitest';
import { parseNotice } from '../../../src/formats/index.ts';
import { aGroup, aTestWorld, type TestWorld } from '../../../test/builders/world-aws.ts';

const day = 24 * 3600;

const withInstance = (): { world: TestWorld; id: string } => {
  const world = aTestWorld();
  aGroup(world);
  world.advance(30);
  world.takeMessages();
  const [id = ''] = Object.keys(world.states('g'));
  return { world, id };
};

const notices = (world: TestWorld) =>
  world
    .takeMessages()
    .map(parseNotice)
    .filter((notice) => notice.kind === 'scheduledChange');

const events = (world: TestWorld, id: string) =>
  world.call('ec2', 'DescribeInstanceStatus', { InstanceIds: [id], IncludeAllInstances: true })
    .InstanceStatuses?.[0]?.Events;

describe('an event that EC2 schedules', () => {
  it('is shown by DescribeInstanceStatus and told by AWS Health', () => {
    const { world, id } = withInstance();
    expect(world.aws.scheduleEvent(id, 'system-reboot')).toBe(true);
    expect(world.aws.scheduleEvent(id, 'system-reboot')).toBe(false);
    const opens = Math.ceil(world.parts.scope.now() / 1000) * 1000 + 7 * day * 1000;
    expect(events(world, id)).toEqual([
      {
        InstanceEventId: expect.stringMatching(/^instance-event-0[0-9a-f]{16}$/),
        Code: 'system-reboot',
        Description: 'The instance is scheduled for a reboot',
        NotBefore: opens,
        NotAfter: opens + 7_200_000,
      },
    ]);
    world.advance(5);
    expect(notices(world)).toMatchObject([
      {
        instanceIds: [id],
        eventTypeCode: 'AWS_EC2_SYSTEM_REBOOT_MAINTENANCE_SCHEDULED',
        status: 'upcoming',
        startsAt: new Date(opens).toISOString().replace('.000Z', 'Z'),
      },
    ]);
  });

  it('reboots or stops the instance when its time has come', () => {
    const { world, id } = withInstance();
    world.aws.scheduleEvent(id, 'system-reboot');
    world.advance(7 * day + 60);
    expect(world.host.log).toContain(`reboot ${id}`);
    expect(events(world, id)).toMatchObject([
      { Description: '[Completed] The instance is scheduled for a reboot' },
    ]);
    // The queue no longer keeps the older announcement.
    expect(notices(world)).toMatchObject([{ status: 'closed' }]);
    world.aws.scheduleEvent(id, 'instance-retirement');
    world.advance(14 * day + 600);
    expect(world.host.log).toContain(`off ${id}`);
    expect(Object.keys(world.states('g'))).not.toContain(id);
  });

  it('does nothing once it was called off', () => {
    const { world, id } = withInstance();
    world.aws.scheduleEvent(id, 'instance-retirement');
    expect(world.aws.cancelEvents('system-reboot')).toBe(0);
    expect(world.aws.cancelEvents()).toBe(1);
    world.advance(5);
    expect(notices(world).map((notice) => 'status' in notice && notice.status)).toEqual([
      'upcoming',
      'closed',
    ]);
    expect(events(world, id)).toMatchObject([
      { Description: '[Canceled] The instance is running on degraded hardware' },
    ]);
    world.advance(15 * day);
    expect(world.states('g')).toEqual({ [id]: 'InService' });
    expect(events(world, id)).toEqual([]);
  });
});
