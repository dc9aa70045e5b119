// Canaries of the oracles about lifecycle hooks and their messages.
import { describe, expect, it } from 'vitest';
import { group, hookName, i1, i2, judge, Story } from '../../../test/builders/world-check.ts';
import { foreignHooks } from './foreign-hooks.ts';
import { hooksCompleted } from './hooks-completed/index.ts';
import { hooksKept } from './hooks-kept.ts';
import { messages } from './messages.ts';

const heartbeat = 'RecordLifecycleActionHeartbeat';
const complete = 'CompleteLifecycleAction';
const waiting = () => new Story().state(i1, 'Terminating:Wait');

/** The spec names `logs` until second 20; i1 waits from second `startedAt`. */
const dropped = (startedAt: number, how: 'edited' | 'deleted' = 'edited') => {
  const naming = (lifecycleHooks: string[]) => ({
    metadata: { name: 'ng1' },
    spec: { autoScalingGroupName: group, drain: { lifecycleHooks } },
  });
  const story = new Story().object('nodegroups', naming(['logs', 'backup']));
  const wait = () => story.at(startedAt).state(i1, 'Terminating:Wait');
  if (startedAt < 20) wait();
  story.at(20);
  if (how === 'edited') story.object('nodegroups', naming(['backup']));
  else story.gone('nodegroups', 'ng1');
  return startedAt < 20 ? story : wait();
};

describe('hooks-never-run-out', () => {
  it('accepts a hook that was completed', () => {
    const story = waiting().at(100).hookEnded(i1, 'completed');
    expect(judge(hooksKept, story)).toEqual({ said: [], saw: 1 });
  });

  it('reports a hook that ran out, whether kept once before or never', () => {
    expect(judge(hooksKept, waiting().at(1800).hookEnded(i1, 'timeout')).said).toEqual([
      `${i1}: Terminate-LC-Hook ran out and nobody had completed or kept it`,
    ]);
    const once = waiting().at(600).hookCall(heartbeat, i1).at(2400).hookEnded(i1, 'timeout');
    expect(judge(hooksKept, once).said).toHaveLength(1);
  });

  it('excuses us when the cloud refused every call since the last that counted', () => {
    const refused = (error: string) =>
      waiting()
        .at(600)
        .hookCall(heartbeat, i1)
        .at(1200)
        .hookCall(heartbeat, i1, { error })
        .at(2400)
        .hookEnded(i1, 'timeout');
    expect(judge(hooksKept, refused('Throttling')).said).toEqual([]);
    // An invalid call is the controller's own fault.
    expect(judge(hooksKept, refused('ValidationError')).said).toHaveLength(1);
  });

  it('does not excuse one refusal while other calls went through', () => {
    const story = waiting()
      .at(1200)
      .hookCall(heartbeat, i1, { error: 'Throttling' })
      .at(1300)
      .call('DescribeAutoScalingGroups', {})
      .at(1800)
      .hookEnded(i1, 'timeout');
    expect(judge(hooksKept, story).said).toHaveLength(1);
  });

  it('excuses an outage that covers most of the wait, not a short one', () => {
    const down = (until: number) =>
      waiting()
        .at(10)
        .fault('process-down', 'on')
        .at(until)
        .fault('process-down', 'off')
        .at(1800)
        .hookEnded(i1, 'timeout');
    expect(judge(hooksKept, down(1700)).said).toEqual([]);
    expect(judge(hooksKept, down(60)).said).toHaveLength(1);
  });

  it('looks at no hook of others', () => {
    const story = waiting()
      .at(1800)
      .hookEnded(i1, 'timeout', { name: 'their-hook' })
      .state(i2, 'Terminating:Wait', { group: 'theirs' })
      .hookEnded(i2, 'timeout', { group: 'theirs' });
    expect(judge(hooksKept, story)).toEqual({ said: [], saw: 0 });
  });

  it('looks at a hook that the spec has ceased to name only where the action began before', () => {
    const ranOut = (startedAt: number, name = 'logs') =>
      judge(hooksKept, dropped(startedAt).at(1900).hookEnded(i1, 'timeout', { name }));
    expect(ranOut(17).said).toEqual([`${i1}: logs ran out and nobody had completed or kept it`]);
    // The controller may learn of the action only when the spec has changed.
    for (const startedAt of [19, 21, 23]) expect(ranOut(startedAt).saw).toBe(0);
    expect(ranOut(23, 'backup').said).toHaveLength(1);
  });

  it('reports a launch that ran out although its node had been Ready, not one that never was', () => {
    const launch = (ready: boolean) =>
      new Story()
        .state(i1, 'Pending:Wait')
        .at(60)
        .node('n1', { ready })
        .at(1800)
        .hookEnded(i1, 'timeout', { name: 'Launch-LC-Hook', state: 'Pending:Wait' });
    expect(judge(hooksKept, launch(true)).said).toHaveLength(1);
    expect(judge(hooksKept, launch(false)).said).toEqual([]);
  });
});

const completing = { phase: 'Completing' };

describe('hooks-complete-when-empty', () => {
  const drain = (deadline = 900, onDeadline: 'force' | 'fail' = 'force') =>
    waiting()
      .pod('p1')
      .pod('ds', { owner: 'DaemonSet/aws-node' })
      .draining(i1, { causes: [{ deadline, onDeadline, hook: hookName }] });

  it('accepts the completion of an empty node, DaemonSets not counted', () => {
    const story = drain().at(50).evict('p1').at(60).gone('pods', 'p1').hookCall(complete, i1);
    expect(judge(hooksCompleted, story)).toEqual({ said: [], saw: 1 });
  });

  it('reports a completion while a pod runs, and while one is still stopping', () => {
    expect(judge(hooksCompleted, drain().at(50).hookCall(complete, i1)).said).toEqual([
      `${i1}: completed while demo/p1 still ran on n1`,
    ]);
    const stopping = drain().at(50).evict('p1').at(79).hookCall(complete, i1);
    expect(judge(hooksCompleted, stopping).said).toHaveLength(1);
  });

  it('accepts one while a dead kubelet still has a pod that was told to stop 30 s before', () => {
    const dead = (told: number, completed: number) =>
      drain().at(told).evict('p1').node('n1', { ready: false }).at(completed);
    const said = (story: Story) => judge(hooksCompleted, story.hookCall(complete, i1)).said;
    expect(said(dead(50, 81))).toEqual([]);
    expect(said(dead(50, 78))).toHaveLength(1);
    expect(said(drain().node('n1', { ready: false }).at(500))).toHaveLength(1);
    const wokenAt = (seconds: number) => dead(50, seconds).node('n1').at(400);
    expect(said(wokenAt(100))).toHaveLength(1);
    expect(said(wokenAt(399))).toEqual([]);
  });

  it('forgives one that an episode before had decided, as long as the next may be unknown', () => {
    const causes = [{ deadline: 900, hook: hookName }];
    const back = (seconds: number, phase: string) =>
      waiting()
        .disruption(i1, { causes, status: { phase } })
        .at(10)
        .fault('F6-leader-paused', 'fired')
        .pod('p1')
        .draining(i1, { causes, status: { episode: 2 } })
        .at(10 + seconds)
        .hookCall(complete, i1);
    expect(judge(hooksCompleted, back(59, 'Completing')).said).toEqual([]);
    expect(judge(hooksCompleted, back(61, 'Completing')).said).toHaveLength(1);
    expect(judge(hooksCompleted, back(1, 'Draining')).said).toHaveLength(1);
  });

  it('forgives one that was decided without a node, as long as its return may be unknown', () => {
    const causes = [{ deadline: 900, hook: hookName }];
    const decided = (outcome: string) =>
      drain()
        .at(10)
        .gone('nodes', 'n1')
        .disruption(i1, { causes, status: { ...completing, outcome } });
    const back = (story: Story, seconds: number) =>
      story
        .at(13)
        .node('n1', { uid: 'anew' })
        .at(13 + seconds)
        .hookCall(complete, i1);
    const said = (story: Story) => judge(hooksCompleted, story).said;
    const paused = () => decided('NothingToDrain').fault('F6-leader-paused', 'fired');
    expect(said(back(paused(), 50))).toEqual([]);
    expect(said(back(decided('NothingToDrain'), 1))).toEqual([]);
    const early = [`${i1}: completed while demo/p1 still ran on n1`];
    expect(said(back(decided('NothingToDrain'), 3))).toEqual(early);
    expect(said(back(paused(), 61))).toEqual(early);
    expect(said(back(decided('Failed'), 1))).toEqual(early);
    // A node that existed throughout does not count as a node that registered again.
    const status = { ...completing, outcome: 'NothingToDrain' };
    const blind = drain().at(10).disruption(i1, { causes, status });
    blind.fault('F6-leader-paused', 'fired').at(11).hookCall(complete, i1);
    expect(said(blind)).toEqual(early);
  });

  it('reports one while pods are bound to a node that was deleted under its instance', () => {
    const deleted = () => drain().at(50).gone('nodes', 'n1').at(60);
    expect(judge(hooksCompleted, deleted().hookCall(complete, i1)).said).toEqual([
      `${i1}: completed while demo/p1 still ran on n1`,
    ]);
    const collected = deleted().gone('pods', 'p1').hookCall(complete, i1);
    expect(judge(hooksCompleted, collected).said).toEqual([]);
    const late = deleted().at(901).hookCall(complete, i1);
    expect(judge(hooksCompleted, late).said).toEqual([]);
  });

  it('accepts it at the forcing deadline, and reports it seconds before', () => {
    const forced = drain().at(860).deletePod('p1').at(900).hookCall(complete, i1);
    expect(judge(hooksCompleted, forced).said).toEqual([]);
    expect(judge(hooksCompleted, drain().at(890).hookCall(complete, i1)).said).toHaveLength(1);
  });

  it('reports a pod that was left to die with its instance, unless it had only just come', () => {
    const late = (at: number) =>
      drain()
        .at(860)
        .deletePod('p1')
        .gone('pods', 'p1')
        .at(at)
        .pod('p2')
        .at(900)
        .hookCall(complete, i1);
    expect(judge(hooksCompleted, drain().at(900).hookCall(complete, i1)).said).toEqual([
      `${i1}: completed at its deadline, and demo/p1 had not been told to stop`,
    ]);
    expect(judge(hooksCompleted, late(860)).said).toHaveLength(1);
    expect(judge(hooksCompleted, late(880)).said).toEqual([]);
  });

  it('keeps a hook that may not force until shortly before its own end', () => {
    const failing = (at: number) => drain(900, 'fail').at(at).hookCall(complete, i1);
    expect(judge(hooksCompleted, failing(901)).said).toHaveLength(1);
    expect(judge(hooksCompleted, failing(172_790)).said).toEqual([]);
    const [kept, later] = [
      { deadline: 900, onDeadline: 'fail', hook: hookName },
      { id: 'later', kind: 'Maintenance', deadline: 1_000_000 },
    ] as const;
    const both = (at: number) =>
      waiting()
        .pod('p1')
        .draining(i1, { causes: [kept, later] })
        .at(at)
        .hookCall(complete, i1);
    expect(judge(hooksCompleted, both(901)).said).toHaveLength(1);
    expect(judge(hooksCompleted, both(172_790)).said).toEqual([]);
  });

  it('accepts it where there is no node, or EC2 had ended the instance', () => {
    const noNode = waiting().at(5).hookCall(complete, i1);
    const dead = drain().add({ kind: 'instance', at: 0, instanceId: i1, state: 'terminated' });
    expect(judge(hooksCompleted, noNode)).toEqual({ said: [], saw: 1 });
    expect(judge(hooksCompleted, dead.at(50).hookCall(complete, i1)).said).toEqual([]);
  });

  it('believes outcome InstanceGone only where the trace has no EC2 states', () => {
    const gone = (story: Story) =>
      story
        .at(50)
        .hookCall(complete, i1)
        .disruption(i1, {
          causes: [{ deadline: 900, hook: hookName }],
          status: { phase: 'Ended', outcome: 'InstanceGone' },
        });
    const running = drain().add({ kind: 'instance', at: 0, instanceId: i1, state: 'running' });
    expect(judge(hooksCompleted, gone(drain())).said).toEqual([]);
    expect(judge(hooksCompleted, gone(running)).said).toHaveLength(1);
  });

  it('lets a pod go that came after the journal had given the node up, not one before', () => {
    const causes = [{ deadline: 900, onDeadline: 'force' as const, hook: hookName }];
    const story = (boundAt: number, decidedAt: number) => {
      const both = [
        [boundAt, (one: Story) => one.pod('p2')],
        [decidedAt, (one: Story) => one.disruption(i1, { causes, status: completing })],
      ] as const;
      const empty = drain().at(50).evict('p1').at(60).gone('pods', 'p1');
      for (const [at, step] of both.toSorted(([a], [b]) => a - b)) step(empty.at(at));
      return empty.at(90).hookCall(complete, i1);
    };
    expect(judge(hooksCompleted, story(75, 70)).said).toEqual([]);
    expect(judge(hooksCompleted, story(70, 75)).said).toHaveLength(1);
  });

  it('reports a drain that is reported as Drained while a pod runs, with or without a hook', () => {
    const told = (outcome: string, at: number) =>
      new Story()
        .draining(i1)
        .pod('p1')
        .at(at)
        .disruption(i1, { status: { phase: 'Completing', outcome } })
        .disruption(i1, { status: { phase: 'Ended', outcome } });
    expect(judge(hooksCompleted, told('Drained', 50)).said).toEqual([
      `${i1}: told as Drained while demo/p1 still ran on n1`,
    ]);
    expect(judge(hooksCompleted, told('Forced', 50)).said).toEqual([]);
    expect(judge(hooksCompleted, told('Drained', 1.5)).said).toEqual([]);
  });

  it('does not wait for a pod that its owner keeps putting back', () => {
    const status = { phase: 'Draining', boomerangs: [{ owner: 'uid-web-5d', podUids: [] }] };
    const story = drain().disruption(i1, { status }).at(50).hookCall(complete, i1);
    expect(judge(hooksCompleted, story).said).toEqual([]);
  });

  it('reports a launch completed before its node was Ready, or was there', () => {
    const launch = (story: Story) =>
      story.state(i1, 'Pending:Wait').at(60).hookCall(complete, i1, { hook: 'Launch-LC-Hook' });
    expect(judge(hooksCompleted, launch(new Story().node('n1'))).said).toEqual([]);
    expect(
      judge(hooksCompleted, launch(new Story().node('n1', { ready: false }))).said,
    ).toHaveLength(1);
    expect(judge(hooksCompleted, launch(new Story())).said).toHaveLength(1);
  });
});

describe('foreign-hooks-left-alone', () => {
  it('accepts calls about our own hooks', () => {
    expect(judge(foreignHooks, waiting().hookCall(heartbeat, i1))).toEqual({ said: [], saw: 1 });
  });

  it('reports a call about a foreign group, a foreign name, and a refused one too', () => {
    const story = waiting()
      .hookCall(heartbeat, i1, { group: 'theirs' })
      .hookCall(complete, i1, { hook: 'their-hook' })
      .hookCall(complete, i1, { hook: 'their-hook', error: 'Throttling' });
    expect(judge(foreignHooks, story).said).toEqual([
      'theirs/Terminate-LC-Hook: RecordLifecycleActionHeartbeat on a foreign hook',
      'eks-ng1/their-hook: CompleteLifecycleAction on a foreign hook',
      'eks-ng1/their-hook: CompleteLifecycleAction on a foreign hook',
    ]);
  });

  it('accepts a hook once the spec of its NodeGroup names it, and no other', () => {
    const spec = { autoScalingGroupName: group, drain: { lifecycleHooks: ['logs'] } };
    const story = new Story()
      .hookCall(complete, i1, { hook: 'logs' })
      .object('nodegroups', { metadata: { name: 'ng1' }, spec })
      .hookCall(complete, i1, { hook: 'logs' })
      .hookCall(complete, i1, { hook: 'backup' });
    expect(judge(foreignHooks, story).said).toEqual([
      `${group}/logs: CompleteLifecycleAction on a foreign hook`,
      `${group}/backup: CompleteLifecycleAction on a foreign hook`,
    ]);
  });

  it('accepts a hook that the spec has ceased to name only where the action began before', () => {
    for (const how of ['edited', 'deleted'] as const) {
      const answered = (startedAt: number, hook = 'logs') =>
        judge(foreignHooks, dropped(startedAt, how).at(60).hookCall(complete, i1, { hook })).said;
      // The controller may not know yet that the spec has changed.
      for (const startedAt of [17, 19, 21]) expect(answered(startedAt)).toEqual([]);
      expect(answered(23)).toEqual([`${group}/logs: CompleteLifecycleAction on a foreign hook`]);
      expect(answered(23, 'backup')).toHaveLength(how === 'edited' ? 0 : 1);
    }
  });

  it('takes the names of our hooks from the trace where it gives them', () => {
    const story = new Story({ ownHooks: ['mine'] }).hookCall(complete, i1, { hook: 'mine' });
    expect(judge(foreignHooks, story).said).toEqual([]);
  });
});

describe('messages-are-durable', () => {
  const notice = (token: string) =>
    JSON.stringify({
      LifecycleTransition: 'autoscaling:EC2_INSTANCE_TERMINATING',
      AutoScalingGroupName: group,
      EC2InstanceId: i1,
      LifecycleHookName: hookName,
      LifecycleActionToken: token,
    });
  const remove = (story: Story, message: string) =>
    story.call('DeleteMessage', { ReceiptHandle: 'r' }, { message });
  const recorded = (story: Story, token = 't1') =>
    story.disruption(i1, { causes: [{ hook: hookName, token }] });

  it('accepts a message that goes after its cause was recorded', () => {
    const story = remove(recorded(waiting().at(1)).at(2), notice('t1'));
    expect(judge(messages, story)).toEqual({ said: [], saw: 1 });
  });

  it('reports one that goes a moment before, with another token, or as the only trace', () => {
    const early = recorded(remove(waiting().at(1), notice('t1')).at(1.01));
    const other = remove(recorded(waiting().at(1), 't0').at(2), notice('t1'));
    const lost = remove(waiting().at(1), notice('t1'));
    for (const story of [early, other, lost]) expect(judge(messages, story).said).toHaveLength(1);
  });

  it('wants nothing of duplicates of what is over, of tests, and of foreign groups and hooks', () => {
    const over = waiting().at(50).hookEnded(i1, 'completed').state(i1, 'Terminating:Proceed');
    remove(over, notice('t1'));
    remove(over, JSON.stringify({ Event: 'autoscaling:TEST_NOTIFICATION' }));
    remove(over, 'not JSON');
    const theirs = new Story().state(i1, 'Terminating:Wait', { group: 'theirs' });
    expect(judge(messages, over)).toEqual({ said: [], saw: 0 });
    expect(judge(messages, remove(theirs, notice('t1')))).toEqual({ said: [], saw: 0 });
    const [named, ceased] = ['backup', 'logs'].map((name) =>
      remove(dropped(17).at(30), notice('t1').replace(hookName, name)),
    );
    expect(named && judge(messages, named).said).toHaveLength(1);
    expect(ceased && judge(messages, ceased)).toEqual({ said: [], saw: 0 });
  });

  it('reports a long wait in our hook that the journal never named', () => {
    expect(judge(messages, waiting().at(400)).said).toEqual([
      expect.stringContaining('no NodeDisruption ever named the hook'),
    ]);
    expect(judge(messages, recorded(waiting().at(100)).at(400)).said).toEqual([]);
    expect(judge(messages, waiting().at(200))).toEqual({ said: [], saw: 0 });
  });

  it('wants a spot notice recorded while the instance still runs', () => {
    const spot = JSON.stringify({
      source: 'aws.ec2',
      account: '123456789012',
      region: 'eu-west-1',
      'detail-type': 'EC2 Spot Instance Interruption Warning',
      detail: { 'instance-id': i1, 'instance-action': 'terminate' },
    });
    const serving = () => new Story().state(i1, 'InService').at(1);
    const known = serving().disruption(i1, { causes: [{ kind: 'SpotInterruption' }] });
    expect(judge(messages, remove(serving(), spot)).said).toHaveLength(1);
    expect(judge(messages, remove(known, spot))).toEqual({ said: [], saw: 1 });
  });
});

describe('messages-are-durable, of what EC2 schedules', () => {
  const facts = { id: 'instance-event-1', instanceId: i1 };
  const scheduled = (more: { group?: string } = {}) =>
    new Story().state(i1, 'InService', more).at(1).fault('system-reboot', 'on', facts);
  const maintenance = { kind: 'Maintenance', id: 'maintenance/instance-event-1' };

  it('reports maintenance of an instance that serves on and that no cause names', () => {
    expect(judge(messages, scheduled().at(302)).said).toEqual([
      expect.stringContaining('no NodeDisruption ever said so'),
    ]);
    const known = scheduled()
      .at(300)
      .disruption(i1, { causes: [maintenance] });
    expect(judge(messages, known.at(302))).toEqual({ said: [], saw: 1 });
  });

  it('owes nothing within five minutes, to who leaves first, and to foreign groups', () => {
    const leaves = scheduled().at(200).state(i1, 'Terminating:Wait').at(302);
    leaves.state(i1, 'Terminating:Proceed').at(400);
    for (const story of [scheduled().at(300), scheduled({ group: 'theirs' }).at(400), leaves]) {
      expect(judge(messages, story)).toEqual({ said: [], saw: 0 });
    }
  });

  it('reports a cause that remains long after its event was called off', () => {
    const off = () =>
      scheduled()
        .at(5)
        .disruption(i1, { causes: [maintenance] })
        .at(10)
        .fault('system-reboot', 'off', facts);
    expect(judge(messages, off().at(311)).said).toEqual([
      expect.stringContaining('was never withdrawn'),
    ]);
    const withdrawn = off()
      .at(70)
      .disruption(i1, { causes: [{ ...maintenance, cancelledAt: 70 }] });
    expect(judge(messages, withdrawn.at(311))).toEqual({ said: [], saw: 1 });
  });

  it('accepts the cause of another event, though its instance was leaving by then', () => {
    const next = { id: 'instance-event-2', instanceId: i1 };
    const story = scheduled()
      .at(10)
      .fault('system-reboot', 'off', facts)
      .at(320)
      .state(i1, 'Terminating:Wait')
      .at(325)
      .fault('instance-retirement', 'on', next)
      .disruption(i1, { causes: [{ ...maintenance, id: 'maintenance/instance-event-2' }] });
    expect(judge(messages, story.at(330))).toEqual({ said: [], saw: 0 });
    const alone = scheduled()
      .at(5)
      .disruption(i1, { causes: [maintenance] });
    alone.at(10).fault('system-reboot', 'off', facts);
    alone.at(320).state(i1, 'Terminating:Wait');
    expect(judge(messages, alone.at(330)).said).toHaveLength(1);
  });
});
