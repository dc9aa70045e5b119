// One row per kind of message and circumstance.
import { describe, expect, it } from 'vitest';
import { aGroupSpec, anInstance } from '../../../../test/builders/controllers.ts';
import { testStart } from '../../../../test/builders/runtime.ts';
import { epochMs, parseInstanceId, parseTime } from '../../../api/brand.ts';
import type { NodeGroup } from '../../../api/nodegroup.ts';
import type { HookNotice, Notice, ScheduledChangeNotice } from '../../../api/notice.ts';
import { decideMessage, type MessageFacts, noticesIn } from './message.ts';

const instanceId = parseInstanceId(anInstance(1)) ?? (() => expect.unreachable())();
const group = (drain?: NodeGroup['spec']['drain']): NodeGroup => ({
  apiVersion: 'drover.dev/v1alpha1',
  kind: 'NodeGroup',
  metadata: {
    name: 'ng',
    uid: 'u',
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
  },
  spec: aGroupSpec(drain === undefined ? {} : { drain }),
});
const facts = (more: Partial<MessageFacts> = {}): MessageFacts => ({
  now: testStart,
  receiveCount: 1,
  sentAt,
  cloudAheadMs: 0,
  instance: { lifecycleState: 'Terminating:Wait', market: 'spot', scheduled: [] },
  group: group(),
  member: true,
  ownsHook: true,
  hookTimes: { heartbeatTimeoutSeconds: 1800, globalTimeoutSeconds: 172_800 },
  nodeName: 'n1',
  ...more,
});
/** Ten seconds in the queue. */
const sentAt = parseTime('2025-12-31T23:59:50.000Z') ?? testStart;

const terminate = (at = '2025-12-31T23:59:49.000Z'): HookNotice => ({
  kind: 'terminate',
  source: 'sns',
  at,
  instanceId,
  autoScalingGroupName: 'asg-1',
  hookName: 'Terminate-LC-Hook',
  token: 't1',
});
const eventNotice = { source: 'eventbridge', instanceId, at: '2025-12-31T23:59:30Z' } as const;
const spot: Notice = { kind: 'spotInterruption', action: 'terminate', ...eventNotice };

describe('a termination of a managed instance', () => {
  it('becomes a cause with EKS’ fifteen minutes from now as its deadline', () => {
    expect(decideMessage(terminate(), facts())).toEqual({
      kind: 'record',
      subject: { name: instanceId, instanceId, nodeGroup: 'ng', nodeName: 'n1' },
      cause: {
        kind: 'LifecycleHook',
        id: 'hook/asg-1/Terminate-LC-Hook/t1',
        receivedAt: '2026-01-01T00:00:00.000Z',
        deadline: '2026-01-01T00:15:00.000Z',
        onDeadline: 'force',
        followUp: 'Release',
        hook: {
          autoScalingGroupName: 'asg-1',
          name: 'Terminate-LC-Hook',
          token: 't1',
          startedAt: '2025-12-31T23:59:50.000Z',
          heartbeatTimeoutSeconds: 1800,
          globalTimeoutSeconds: 172_800,
        },
        confirmation: {
          state: 'Confirmed',
          at: '2026-01-01T00:00:00.000Z',
          reason: 'Auto Scaling: Terminating:Wait',
        },
        requestedBy: 'EC2 Auto Scaling',
        reason: 'lifecycle hook Terminate-LC-Hook',
      },
    });
  });

  it.each<[string, Partial<MessageFacts>, object]>([
    [
      'the group’s own drain timeout',
      { group: group({ timeoutSeconds: 600 }) },
      { deadline: '2026-01-01T00:10:00.000Z', onDeadline: 'force' },
    ],
    [
      // min(172,800 s, 100 heartbeats of 1,800 s) after the start.
      'the hook’s end where the drain is to fail instead of forcing',
      { group: group({ timeoutSeconds: 600, onDeadline: 'fail' }) },
      { deadline: '2026-01-02T23:59:50.000Z', onDeadline: 'fail' },
    ],
    [
      'a drain timeout that is longer than the hook',
      {
        group: group({ timeoutSeconds: 9_000 }),
        hookTimes: { heartbeatTimeoutSeconds: 30, globalTimeoutSeconds: 172_800 },
      },
      { deadline: '2026-01-01T00:49:50.000Z' },
    ],
    [
      'a hook whose settings are unknown: the shortest there is',
      { hookTimes: undefined },
      { hook: { heartbeatTimeoutSeconds: 30 }, deadline: '2026-01-01T00:15:00.000Z' },
    ],
  ])('takes its deadline from %s', (_, more, cause) => {
    expect(decideMessage(terminate(), facts(more))).toMatchObject({ kind: 'record', cause });
  });

  it.each([
    ['in the future by the queue', testStart + 3_600_000],
    ['so long ago that the hook had ended', testStart - 200 * 3_600_000],
  ])('begins when it is first read where it was sent %s', (_, at) => {
    expect(decideMessage(terminate(), facts({ sentAt: epochMs(at) }))).toMatchObject({
      cause: {
        hook: { startedAt: '2026-01-01T00:00:00.000Z' },
        deadline: '2026-01-01T00:15:00.000Z',
      },
    });
  });

  it.each(['2020-01-01T00:00:00Z', '2027-01-01T00:00:00Z'])(
    'takes no time from the message: %s',
    (at) => {
      expect(decideMessage(terminate(at), facts())).toEqual(decideMessage(terminate(), facts()));
    },
  );
});

describe('spot messages', () => {
  it('warnings force after two minutes from the warning, not from its arrival', () => {
    expect(decideMessage(spot, facts())).toMatchObject({
      cause: {
        kind: 'SpotInterruption',
        id: `spot/${instanceId}/2025-12-31T23:59:30Z`,
        deadline: '2026-01-01T00:01:30.000Z',
        onDeadline: 'force',
      },
    });
  });
  it('of a hibernation leave less: EC2 begins at once', () => {
    expect(decideMessage({ ...spot, action: 'hibernate' }, facts())).toMatchObject({
      cause: {
        deadline: '2025-12-31T23:59:50.000Z',
        reason: 'spot interruption warning (hibernate)',
      },
    });
  });
  it('recommendations bind nobody', () => {
    const decision = decideMessage({ kind: 'rebalance', ...eventNotice }, facts());
    expect(decision).toMatchObject({
      cause: { kind: 'RebalanceRecommendation', onDeadline: 'fail' },
    });
    expect(JSON.stringify(decision)).not.toContain('deadline":"');
  });
});

describe('an instance that EC2 stops', () => {
  const stopping: Notice = { kind: 'stateChange', state: 'stopping', ...eventNotice };
  it('is drained once EC2 says the same, and forced after two minutes', () => {
    expect(decideMessage(stopping, facts({ instance: { state: 'stopping' } }))).toMatchObject({
      kind: 'record',
      cause: {
        kind: 'StateChange',
        deadline: '2026-01-01T00:02:00.000Z',
        confirmation: { state: 'Confirmed', reason: 'EC2: stopping' },
      },
    });
  });
  const rows: readonly [string, Notice, Partial<MessageFacts>][] = [
    ['where the policy ignores it', stopping, { group: group({ stateChanges: 'Ignore' }) }],
    ['without a node', stopping, { nodeName: undefined }],
    ['in no group of ours', stopping, { group: undefined }],
    ['of which the begin was told', { ...stopping, state: 'stopped' }, {}],
  ];
  it.each(rows)('is dropped %s', (_, notice, more) => {
    expect(decideMessage(notice, facts(more))).toMatchObject({ kind: 'drop', why: 'stateChange' });
  });
});

describe('what is dropped, and what stays', () => {
  it.each<[string, Notice, Partial<MessageFacts>, string]>([
    ['a foreign group', terminate(), { group: undefined }, 'drop foreignGroup'],
    ['a foreign hook', terminate(), { ownsHook: false }, 'drop foreignHook'],
    ['an instance not in its group, once', terminate(), { member: false }, 'keep notMember'],
    [
      'an instance not in its group, three times',
      terminate(),
      { member: false, receiveCount: 3 },
      'drop notMember',
    ],
    ['spot of an instance of nobody', spot, { group: undefined }, 'drop foreignGroup'],
    ['a launch', { ...terminate(), kind: 'launch' }, {}, 'drop launch'],
    [
      'a state change',
      { kind: 'stateChange', state: 'terminated', ...eventNotice },
      {},
      'drop stateChange',
    ],
    ['a test', { kind: 'test', source: 'sns', autoScalingGroupName: 'asg-1' }, {}, 'drop test'],
    ['something else', { kind: 'foreign', what: 'x' }, {}, 'drop foreign'],
    ['nonsense, once', { kind: 'malformed', why: 'x' }, {}, 'keep malformed'],
    ['nonsense, twice', { kind: 'malformed', why: 'x' }, { receiveCount: 2 }, 'keep malformed'],
    [
      'nonsense, three times',
      { kind: 'malformed', why: 'x' },
      { receiveCount: 3 },
      'drop malformed',
    ],
  ])('%s', (_, notice, more, expected) => {
    const decision = decideMessage(notice, facts(more));
    const why = 'why' in decision ? decision.why : '';
    expect(`${decision.kind} ${why}`).toBe(expected);
  });
});

describe('scheduled maintenance', () => {
  const maintenance = (more: Partial<ScheduledChangeNotice> = {}): ScheduledChangeNotice => ({
    kind: 'scheduledChange',
    source: 'eventbridge',
    instanceIds: [instanceId],
    eventArn: 'arn:aws:health:eu-west-1::event/EC2/X/1',
    eventTypeCode: 'AWS_EC2_SYSTEM_REBOOT_MAINTENANCE_SCHEDULED',
    status: 'upcoming',
    startsAt: '2026-01-08T00:00:00Z',
    ...more,
  });
  const scheduled = [
    { code: 'system-reboot', notBefore: '2026-01-08T00:00:00Z', isOver: false },
  ] as const;
  const id = 'maintenance/arn:aws:health:eu-west-1::event/EC2/X/1';

  it('becomes a cause that replaces the instance before its window opens', () => {
    expect(decideMessage(maintenance(), facts({ instance: { scheduled } }))).toEqual({
      kind: 'record',
      subject: { name: instanceId, instanceId, nodeGroup: 'ng', nodeName: 'n1' },
      cause: {
        kind: 'Maintenance',
        id,
        receivedAt: '2026-01-01T00:00:00.000Z',
        deadline: '2026-01-08T00:00:00.000Z',
        onDeadline: 'force',
        followUp: 'Replace',
        confirmation: {
          state: 'Confirmed',
          at: '2026-01-01T00:00:00.000Z',
          reason: 'EC2: system-reboot is scheduled',
        },
        window: { startsAt: '2026-01-08T00:00:00.000Z' },
        requestedBy: 'AWS Health',
        reason: 'AWS_EC2_SYSTEM_REBOOT_MAINTENANCE_SCHEDULED at 2026-01-08T00:00:00Z',
      },
    });
  });

  it.each<[string, Partial<ScheduledChangeNotice>, Partial<MessageFacts>, object]>([
    [
      'leaves two minutes where the window is open already',
      { startsAt: '2025-12-31T00:00:00Z', status: 'open' },
      {
        instance: {
          scheduled: [{ code: 'system-reboot', notBefore: '2025-12-31T00:00:00Z', isOver: false }],
        },
      },
      { cause: { deadline: '2026-01-01T00:02:00.000Z' } },
    ],
    [
      'forces nothing in a group whose drains fail',
      {},
      { group: group({ onDeadline: 'fail' }) },
      { cause: { onDeadline: 'fail' } },
    ],
    [
      'is withdrawn when it is called off',
      { status: 'closed' },
      {},
      { kind: 'withdraw', cause: { id, cancelledAt: '2026-01-01T00:00:00.000Z' } },
    ],
    ['of others’ instances is dropped', {}, { group: undefined }, { why: 'foreignGroup' }],
  ])('%s', (_, notice, more, expected) => {
    const listed = { instance: { scheduled: notice.status === 'closed' ? [] : scheduled } };
    expect(decideMessage(maintenance(notice), facts({ ...listed, ...more }))).toMatchObject(
      expected,
    );
  });

  it('of several instances is a notice for each', () => {
    const [first, second] = [instanceId, parseInstanceId(anInstance(2)) ?? instanceId];
    const notices = noticesIn(maintenance({ instanceIds: [first, second] }));
    expect(notices).toMatchObject([{ instanceIds: [first] }, { instanceIds: [second] }]);
  });
});
