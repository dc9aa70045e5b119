// Canaries of the oracles about updates: held nodes, and the times that a cause states.
import { describe, expect, it } from 'vitest';
import {
  group,
  hookName,
  i1,
  i2,
  judge,
  Story,
  timeAt,
} from '../../../test/builders/world-check.ts';
import { held } from './held.ts';
import { liveness } from './liveness/index.ts';
import { updateTimes } from './times/index.ts';

type Causes = NonNullable<Parameters<Story['draining']>[1]>['causes'];
const update = { kind: 'Update', id: 'u', onDeadline: 'fail', followUp: 'Replace' } as const;
const holding = { ...update, hold: true };
const waiting = { waitingOn: [{ kind: 'hold', by: 'update u' }], waitingOnTotal: 1 };
const terminated = 'TerminateInstanceInAutoScalingGroup';
const end = (story: Story) => story.call(terminated, { InstanceId: i1 });

describe('held-nodes-keep-their-pods', () => {
  const of = (causes: Causes, status = {}) =>
    new Story()
      .pod('p1')
      .draining(i1, { causes: causes ?? [], status })
      .at(100);
  const said = (story: Story) => judge(held, story).said;

  it('accepts a node that is held, let go, and drained', () => {
    const story = of([holding], waiting)
      .at(200)
      .disruption(i1, { causes: [{ ...update, hold: false }], status: { phase: 'Draining' } })
      .at(201)
      .evict('p1');
    expect(judge(held, story)).toEqual({ said: [], saw: 2 });
  });
  it('reports an eviction, a deletion and a termination while it is held', () => {
    const sent = [`demo/p1: sent away although ${i1} was held`];
    expect(said(of([holding], waiting).evict('p1'))).toEqual(sent);
    expect(said(of([holding]).deletePod('p1'))).toEqual(sent);
    const gone = [`${i1}: terminated although its node was held`];
    expect(said(end(of([holding], waiting)))).toEqual(gone);
  });
  it('reports an eviction before the journal says that it is held no more', () => {
    const story = of([holding], waiting)
      .disruption(i1, { causes: [update], status: { phase: 'Draining', ...waiting } })
      .evict('p1');
    expect(said(story)).toEqual([`demo/p1: sent away before ${i1} said that it is held no more`]);
  });
  it('lets another cause drain it, and what left in the moment of a withdrawal', () => {
    const both: Causes = [holding, { kind: 'Manual', id: 'm' }];
    expect(said(of(both).evict('p1'))).toEqual([]);
    const withdrawn: Causes = [holding, { kind: 'Manual', id: 'm', cancelledAt: 100 }];
    const story = (at: number) =>
      of(both)
        .disruption(i1, { causes: withdrawn, status: { phase: 'Draining', ...waiting } })
        .at(at)
        .evict('p1');
    expect(said(story(101))).toEqual([]);
    expect(said(story(110))).toHaveLength(1);
  });
  it('leaves a scale-in what it has had drained', () => {
    expect(said(end(of([holding, { kind: 'ScaleIn', id: 's' }])))).toEqual([]);
  });
});

describe('everything-ends, of held nodes', () => {
  const settled = (status: object, causes: Causes = [holding]) =>
    judge(
      liveness,
      new Story({ settled: true })
        .pod('p1')
        .draining(i1, { causes, status: { ...status } })
        .at(9),
    ).said;
  it('accepts one that waits for its turn and says so, and no other', () => {
    expect(settled(waiting)).toEqual([]);
    expect(settled({})).toHaveLength(1);
    expect(settled(waiting, [{ ...update, hold: false }])).toHaveLength(1);
  });
});

describe('updates-keep-their-times', () => {
  const said = (story: Story) => judge(updateTimes, story).said;
  const over = (outcome: string, more: object = {}) => ({ phase: 'Completing', outcome, ...more });
  const cool: Causes = [{ ...update, cooldownSeconds: 60 }];
  const drained = (causes: Causes, outcome = 'Drained') =>
    new Story()
      .draining(i1, { causes: causes ?? [] })
      .at(100)
      .disruption(i1, { causes: causes ?? [], status: over(outcome) });

  it('wants the cooldown between the end of a drain and our termination', () => {
    const early = [`${i1}: terminated 28 s before its cooldown was over`];
    expect(said(end(drained(cool).at(130)))).toEqual(early);
    expect(said(end(drained(cool, 'Forced').at(130)))).toEqual(early);
    expect(judge(updateTimes, end(drained(cool).at(160)))).toEqual({ said: [], saw: 1 });
  });
  describe('where the end was written later than it was, or by another clock', () => {
    const written = (
      story: Story,
      how: { drainedAt: number; paused?: boolean; leftAt?: number },
    ) => {
      story.pod('p1').draining(i1, { causes: cool });
      if (how.leftAt !== undefined) story.at(how.leftAt).gone('pods', 'p1');
      if (how.paused === true) story.at(80).fault('F6-leader-paused', 'fired');
      const status = over('Drained', { drainedAt: timeAt(how.drainedAt) });
      return story.at(100).disruption(i1, { causes: cool, status });
    };
    const paused = (drainedAt: number, leftAt: number) =>
      written(new Story(), { drainedAt, leftAt, paused: true });
    const early = (seconds: number) => [
      `${i1}: terminated ${seconds} s before its cooldown was over`,
    ];
    it('counts from the end that a leader had found before it stalled', () => {
      expect(judge(updateTimes, end(paused(80, 75).at(140)))).toEqual({ said: [], saw: 1 });
      expect(said(end(paused(80, 75).at(137)))).toEqual(early(1));
    });
    it('counts from no time at which a pod was still there', () => {
      expect(said(end(paused(80, 90).at(140)))).toEqual(early(8));
    });
    it('believes no such time where no one stalled', () => {
      expect(said(end(written(new Story(), { drainedAt: 80 }).at(140)))).toEqual(early(16));
    });
    it('lets one clock begin what another ends, each off by as much as clocks are', () => {
      const off = () => written(new Story({ clockSkew: 5_000_000 }), { drainedAt: 95 });
      expect(said(end(off().at(150)))).toEqual([]);
      expect(said(end(off().at(147)))).toEqual(early(1));
    });
  });
  it('asks for none where no one does, or no longer does, or too late', () => {
    expect(said(end(drained([update]).at(101)))).toEqual([]);
    expect(said(end(drained(cool, 'NothingToDrain').at(101)))).toEqual([]);
    const withdrawn = [{ ...update, cooldownSeconds: 60, cancelledAt: 100 }];
    expect(said(end(drained([update, ...withdrawn]).at(101)))).toEqual([]);
    const late = drained([update])
      .at(110)
      .disruption(i1, {
        causes: [update, { ...update, id: 'v', cooldownSeconds: 60 }],
        status: over('Drained'),
      });
    expect(said(end(late.at(111)))).toEqual([]);
  });
  describe('of an update without force, and of a size of ours', () => {
    const forcing = { kind: 'LifecycleHook', id: 'h', deadline: 900, hook: hookName } as const;
    const size = (story: Story, DesiredCapacity: number) =>
      story.call('SetDesiredCapacity', { AutoScalingGroupName: group, DesiredCapacity });
    const begun = (updating: object = {}) =>
      new Story()
        .object('nodegroups', {
          metadata: { name: 'ng1' },
          spec: { autoScalingGroupName: group },
          status: { minSize: 0, maxSize: 9, desired: 2 },
        })
        .object('nodegroupupdates', {
          metadata: { name: 'u' },
          spec: { type: 'VersionUpdate', nodeGroup: 'ng1', ...updating },
          status: { status: 'InProgress', phase: 'ScalingDown', strategy: 'DEFAULT' },
        })
        .state(i1, 'InService')
        .state(i2, 'InService')
        .budget('web', { desired: 1, allowed: 0 })
        .pod('p1');
    const deleted = (story: Story, causes: Causes) =>
      story
        .draining(i1, { causes: causes ?? [] })
        .at(880)
        .deletePod('p1');
    const chosen = (story: Story, causes: Causes = [forcing]) =>
      said(deleted(story.state(i1, 'Terminating:Wait'), causes));
    it('reports the deletion of a protected pod where Auto Scaling chose for our size', () => {
      expect(chosen(size(begun(), 1))).toEqual([
        'demo/p1: deleted on node n1, which Auto Scaling chose for a size of ours, although budget demo/web covers it',
      ]);
    });
    it('accepts one where another actor gave notice', () => {
      expect(chosen(begun())).toEqual([]);
      // The size equals the number of instances: none had to be terminated.
      expect(chosen(size(begun(), 2))).toEqual([]);
      const named = begun().call(terminated, { InstanceId: i1 });
      expect(chosen(size(named, 1))).toEqual([]);
      const theirs = size(begun(), 1).add({
        ...size(new Story(), 1).trace().entries[0],
        userAgent: 'aws-cli',
      } as never);
      expect(chosen(theirs)).toEqual([]);
    });
    it('accepts one that goes for a size of another actor, though we asked for one more since', () => {
      const none = size(new Story(), 0).trace().entries[0];
      const asked = begun().add({ ...none, userAgent: 'aws-cli' } as never);
      expect(chosen(size(asked, 1))).toEqual([]);
      const two = size(new Story(), 2).trace().entries[0];
      expect(chosen(size(begun().add({ ...two, userAgent: 'aws-cli' } as never), 1))).toHaveLength(
        1,
      );
    });
    it('accepts one that goes for a size which a leader that stalled had announced', () => {
      const late = (announced: number, fault: 'F5-cloud-error' | 'F6-leader-paused') => {
        const story = begun().object('nodegroups', {
          metadata: { name: 'ng1' },
          spec: { autoScalingGroupName: group },
          status: { desired: 2, sizeCalls: [{ desired: announced, epoch: 1 }] },
        });
        return chosen(size(story.fault(fault, 'fired'), 1));
      };
      expect(late(1, 'F6-leader-paused')).toEqual([]);
      expect(late(2, 'F6-leader-paused')).toHaveLength(1);
      expect(late(1, 'F5-cloud-error')).toHaveLength(1);
    });
    it('reports one that the update forces without having been asked to', () => {
      const own = { ...update, id: 'update/u', onDeadline: 'force', deadline: 900 } as const;
      const why = 'deleted on node n1, which update u empties without force';
      expect(said(deleted(begun(), [own]))).toEqual([
        `demo/p1: ${why}, although budget demo/web covers it`,
      ]);
      expect(said(deleted(begun({ force: true }), [own]))).toEqual([]);
      expect(said(deleted(begun(), [own, forcing]))).toEqual([]);
    });
  });
  it('reports a termination before its owner let the drained instance go', () => {
    const keeping = { ...update, cooldownSeconds: 60, holdTermination: true };
    const early = [`${i1}: terminated although its owner had not let it go`];
    expect(said(end(drained([keeping]).at(400)))).toEqual(early);
    const free = { ...update, id: 'v' };
    expect(said(end(drained([keeping, free]).at(400)))).toEqual([]);
    expect(said(end(drained([{ ...keeping, holdTermination: false }]).at(400)))).toEqual([]);
  });
  it('reports a termination after a drain that failed', () => {
    expect(said(end(drained(cool, 'Failed').at(400)))).toEqual([
      `${i1}: terminated although its drain had failed`,
    ]);
  });

  const forcing = { ...update, onDeadline: 'force', deadline: 1500, forceFrom: 900 } as const;
  const forced = (causes: Causes, at: number) =>
    new Story()
      .pod('p1', { graceSeconds: 600 })
      .draining(i1, { causes: causes ?? [] })
      .at(at)
      .deletePod('p1', { graceSeconds: 600 });
  it('reports what is forced before it may be', () => {
    expect(said(forced([forcing], 890))).toEqual(['demo/p1: forced 10 s before anything may be']);
    expect(judge(updateTimes, forced([forcing], 900))).toEqual({ said: [], saw: 1 });
    const spot = { kind: 'SpotInterruption', id: 's', deadline: 120 };
    expect(said(forced([forcing, spot], 100))).toEqual([]);
  });
  it('counts an eviction that cuts the grace as force, and no other', () => {
    const evicted = (grace?: number) =>
      new Story()
        .pod('p1')
        .draining(i1, { causes: [forcing] })
        .at(100)
        .evict('p1', grace === undefined ? {} : { grace });
    expect(said(evicted(5))).toHaveLength(1);
    expect(said(evicted())).toEqual([]);
  });

  it('reports a drain that does not give up, once', () => {
    const story = (causes: Causes, at: number) =>
      new Story()
        .pod('p1')
        .draining(i1, { causes: causes ?? [] })
        .at(at)
        .pod('x')
        .at(at + 90)
        .pod('y');
    const failing = { ...update, deadline: 900 };
    expect(said(story([failing], 1300))).toEqual([
      `${i1}: still Draining 5 min after it had to give up`,
    ]);
    expect(said(story([failing], 1000))).toEqual([]);
    expect(said(story([failing, update], 1300))).toEqual([]);
    expect(said(story([{ ...failing, hold: true }], 1300))).toEqual([]);
    expect(said(story([failing, { deadline: 900 }], 1300))).toEqual([]);
  });
  it('wants those named that kept it from being empty', () => {
    const failing = [{ ...update, deadline: 900 }];
    const kept = (status: object) =>
      new Story()
        .pod('p1')
        .budget('web', { desired: 1, allowed: 0 })
        .draining(i1, { causes: failing })
        .at(900)
        .disruption(i1, { causes: failing, status: over('Failed', status) });
    const named = { waitingOn: [{ kind: 'pdb', pod: 'demo/p1', budgets: ['demo/web'] }] };
    expect(judge(updateTimes, kept(named))).toEqual({ said: [], saw: 2 });
    expect(said(kept({}))).toEqual([`${i1}: given up, and demo/p1 under demo/web is not named`]);
    expect(said(kept({}).budget('web', { desired: 1, allowed: 0 }))).toHaveLength(1);
  });
});
