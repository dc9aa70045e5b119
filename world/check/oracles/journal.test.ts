// Canaries of the oracles about the journal: marks are undone, and no write is useless.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/api/json.ts';
import { i1, i2, judge, kubectl, Story } from '../../../test/builders/world-check.ts';
import { economics } from './economics.ts';
import { fixedState } from './fixed-state/index.ts';
import { hotLoop } from './hot-loop/index.ts';
import { marksUndone } from './marks-undone/index.ts';

const undoing = { phase: 'Undoing' };
const journal = (story: Story, phase: string, more = {}) =>
  story.disruption(i1, { status: { phase, ...more } });

describe('marks-undone', () => {
  it('forgives a mark in the form of EKS that lands after the end, and none in our own', () => {
    const late = (compat: 'eks' | 'native', seconds: number) => {
      const causes = [{ cancelledAt: 5 }];
      const story = new Story({ settled: true, compat })
        .node('n1', { by: kubectl })
        .disruption(i1, { status: { phase: 'Marking' } })
        .at(5)
        .fault('F6-leader-paused', 'fired')
        .disruption(i1, { causes, status: { phase: 'Undoing' } })
        .disruption(i1, { causes, status: { phase: 'Ended', outcome: 'Cancelled' } });
      return judge(
        marksUndone,
        story
          .at(5 + seconds)
          .node('n1', { cordon: true })
          .at(200),
      ).said;
    };
    expect(late('eks', 59)).toEqual([]);
    const told = ['n1: every cause was withdrawn, and our cordon stayed'];
    expect([late('eks', 61), late('native', 59)]).toEqual([told, told]);
  });

  const cancel = (story: Story) => journal(story, 'Ended', { outcome: 'Cancelled' });

  it('forgives one that lands after the patch that undid it, before the end is written', () => {
    const late = (compat: 'eks' | 'native', isUndone: boolean) => {
      const causes = [{ cancelledAt: 5 }];
      const begun = new Story({ compat }).node('n1', { by: kubectl }).draining(i1).at(5);
      begun.fault('F6-leader-paused', 'fired').disruption(i1, { causes, status: undoing });
      const label = isUndone ? {} : { label: 'true' };
      const landed = begun
        .at(6)
        .node('n1', label)
        .at(7)
        .node('n1', { ...label, cordon: true });
      return judge(marksUndone, cancel(landed.at(20).node('n1', { cordon: true }))).said;
    };
    expect(late('eks', true)).toEqual([]);
    const told = ['n1: its drain was cancelled, and our cordon stayed'];
    expect([late('native', true), late('eks', false)]).toEqual([told, told]);
  });

  it('forgives in the form of EKS that a cordon passes for ours which came instead of ours', () => {
    const taken = (compat: 'eks' | 'native', phase: string, seconds: number) => {
      const story = new Story({ compat }).node('n1', { by: kubectl });
      story.disruption(i1, { status: { phase } }).fault('F3-crash-after-write', 'fired');
      story.at(seconds).node('n1', { cordon: true, by: kubectl }).at(200);
      return judge(marksUndone, story.disruption(i1, { status: undoing }).node('n1')).said;
    };
    const told = ['n1: a cordon that is not ours was taken away'];
    expect(taken('eks', 'Marking', 59)).toEqual([]);
    expect(taken('eks', 'Marking', 61)).toEqual(told);
    expect(taken('eks', 'Pending', 5)).toEqual(told);
    expect(taken('native', 'Marking', 5)).toEqual(told);
  });

  it('accepts a cancelled drain whose marks went before the end was written', () => {
    const story = new Story().node('n1', { by: kubectl }).draining(i1).at(9).node('n1').at(10);
    expect(judge(marksUndone, cancel(story))).toEqual({ said: [], saw: 3 });
  });

  it('reports a mark of ours that stays, and one that goes a moment after the end', () => {
    const stays = new Story().draining(i1).at(9).node('n1', { cordon: true }).at(10);
    expect(judge(marksUndone, cancel(stays)).said).toEqual([
      'n1: its drain was cancelled, and our cordon stayed',
    ]);
    const late = cancel(new Story().draining(i1).at(10)).at(10.01).node('n1');
    expect(judge(marksUndone, late).said).toHaveLength(1);
  });

  it('lets the marks stand for a cause of an earlier episode, until that is withdrawn too', () => {
    const causesAnd = (first: object) => [
      { id: 'c1', ...first },
      { id: 'c2', cancelledAt: 9 },
    ];
    const journalOf = (first: object, at: number, status: JsonObject) =>
      new Story()
        .draining(i1, { causes: [{ id: 'c1' }] })
        .at(5)
        .disruption(i1, {
          causes: causesAnd(first),
          status: { phase: 'Draining', handledCauses: ['c1'], episode: 2 },
        })
        .at(at)
        .disruption(i1, { causes: causesAnd(first), status: { ...status, episode: 2 } });
    const over = { phase: 'Ended', outcome: 'Cancelled', handledCauses: ['c1', 'c2'] };
    const undoing = { phase: 'Undoing', handledCauses: ['c1'] };
    expect(judge(marksUndone, journalOf({}, 10, over)).said).toEqual([]);
    expect(judge(marksUndone, journalOf({ cancelledAt: 9 }, 10, over)).said).toHaveLength(1);
    // The controller that removes the marks may not have seen a very recent cause.
    expect(judge(marksUndone, journalOf({}, 6.9, undoing).node('n1')).said).toEqual([]);
    expect(judge(marksUndone, journalOf({}, 7.1, undoing).node('n1')).said).toEqual([
      'n1: our label was taken away, and LifecycleHook was not withdrawn',
      'n1: our cordon was taken away, and LifecycleHook was not withdrawn',
    ]);
  });

  it('reports marks taken away from a node whose instance we have had terminated', () => {
    const withdrawn = () =>
      new Story()
        .node('n1', { by: kubectl })
        .draining(i1)
        .at(9)
        .disruption(i1, { causes: [{ cancelledAt: 9 }], status: { phase: 'Undoing' } })
        .at(10);
    const terminate = 'TerminateInstanceInAutoScalingGroup';
    const taken = withdrawn().call(terminate, { InstanceId: i1 }).at(10.01).node('n1');
    const given = withdrawn().node('n1').at(10.01).call(terminate, { InstanceId: i1 });
    expect(judge(marksUndone, taken).said).toEqual([
      'n1: our label was taken away, and our own termination was not withdrawn',
      'n1: our cordon was taken away, and our own termination was not withdrawn',
    ]);
    expect(judge(marksUndone, given).said).toEqual([]);
  });

  it("reports a user's own cordon taken away, and its label overwritten", () => {
    const theirs = new Story().node('n1', { cordon: true, label: 'mine', by: kubectl }).at(5);
    const taken = theirs.draining(i1).at(9).node('n1', { label: 'true' }).at(10);
    expect(judge(marksUndone, taken).said).toEqual([
      'n1: a label that is not ours was overwritten with true',
      'n1: a cordon that is not ours was taken away',
    ]);
  });

  it("leaves a user's own cordon standing without complaint", () => {
    const story = new Story()
      .node('n1', { cordon: true, by: kubectl })
      .at(5)
      .draining(i1)
      .at(9)
      .node('n1', { cordon: true })
      .at(10);
    expect(judge(marksUndone, cancel(story)).said).toEqual([]);
  });

  it('cannot tell whose a mark is that a user set again, and lets it stay or go', () => {
    const again = () =>
      new Story()
        .draining(i1)
        .at(5)
        .node('n1', { label: 'true', by: kubectl })
        .at(6)
        .marked('n1', { by: kubectl });
    const goes = cancel(again().at(9).node('n1').at(10));
    const stays = cancel(again().at(9).node('n1', { cordon: true }).at(10));
    expect(judge(marksUndone, goes).said).toEqual([]);
    expect(judge(marksUndone, stays).said).toEqual([]);
  });

  it('takes a cordon of a moment before our patch for anybody’s, and an older one for theirs', () => {
    const cordoned = (seconds: number) => {
      const story = journal(new Story().node('n1', { by: kubectl }), 'Marking').at(10);
      story
        .node('n1', { cordon: true, by: kubectl })
        .at(10 + seconds)
        .marked('n1');
      return cancel(story.at(60).node('n1').at(61));
    };
    expect(judge(marksUndone, cordoned(0.5)).said).toEqual([]);
    expect(judge(marksUndone, cordoned(5)).said).toEqual([
      'n1: a cordon that is not ours was taken away',
    ]);
  });

  it('reports marks that stand a minute after every cause was withdrawn, whatever the journal says', () => {
    const story = (seconds: number, ...taken: readonly string[]) => {
      const begun = new Story({ settled: true }).node('n1', { by: kubectl }).draining(i1).at(50);
      const causes = [{ cancelledAt: 50 }];
      const ended = { phase: 'Ended', outcome: 'Drained' };
      const over = begun.disruption(i1, { causes, status: ended }).at(51);
      if (taken.length > 0) over.node('n1');
      return over.at(50 + seconds);
    };
    expect(judge(marksUndone, story(61)).said).toEqual([
      'n1: every cause was withdrawn, and our label, cordon stayed',
    ]);
    expect(judge(marksUndone, story(30)).said).toEqual([]);
    expect(judge(marksUndone, story(61, 'both')).said).toEqual([]);
  });

  it('reports taints of others that a patch of ours drops, and only those', () => {
    const node = (keys: readonly string[]) => ({
      metadata: { name: 'n1', uid: 'uid-n1' },
      spec: { taints: keys.map((key) => ({ key, effect: 'NoSchedule' })) },
    });
    const patched = (keys: readonly string[], spec: JsonObject) =>
      new Story()
        .object('nodes', node(['gpu', 'drover.dev/disrupted']))
        .disruption(i1)
        .object('nodes', node(keys))
        .request({ verb: 'patch', resource: 'nodes', name: 'n1', body: { spec } });
    const said = (keys: readonly string[], spec: JsonObject) =>
      judge(marksUndone, patched(keys, spec)).said;
    expect(said([], { taints: null })).toContain(
      'n1: the taint gpu:NoSchedule of others was taken away',
    );
    expect(said(['gpu'], { taints: [] }).join()).not.toContain('of others');
    expect(said(['drover.dev/disrupted'], { unschedulable: true }).join()).not.toContain(
      'of others',
    );
  });

  it('reports a mark on a node that no one disrupts', () => {
    const story = new Story().marked('n1', { instance: i2 }).disruption(i1, { node: 'n2' });
    expect(judge(marksUndone, story).said).toEqual([
      'n1: was given a label without any NodeDisruption',
      'n1: was given a cordon without any NodeDisruption',
    ]);
  });
});

describe('fixed-state-writes-nothing', () => {
  const useless = (story: Story) =>
    story.request({ verb: 'patch', resource: 'nodedisruptions', name: i1 });

  it('accepts writes that change something', () => {
    const story = new Story().draining(i1).disruption(i1, { status: { phase: 'Completing' } });
    expect(judge(fixedState, story)).toEqual({ said: [], saw: 4 });
  });

  it('reports a write that changes nothing at the first time', () => {
    expect(judge(fixedState, useless(new Story().draining(i1).at(5))).said).toEqual([
      `nodedisruptions ${i1}: patch wrote what was there already (1 in a row)`,
    ]);
  });

  it('forgives a repeat while answers get lost, but not for ever', () => {
    const story = new Story().draining(i1).fault('F4-answer-lost', 'fired').at(1);
    expect(judge(fixedState, useless(useless(useless(story)))).said).toEqual([]);
    expect(judge(fixedState, useless(story)).said).toHaveLength(1);
    const later = new Story().draining(i1).fault('F4-answer-lost', 'fired').at(120);
    expect(judge(fixedState, useless(later)).said).toHaveLength(1);
  });

  it('forgives a patch that another actor has just made needless, not one long after', () => {
    const story = (seconds: number) =>
      new Story()
        .marked('n1', { by: kubectl })
        .at(seconds)
        .request({ verb: 'patch', resource: 'nodes', name: 'n1' });
    expect(judge(fixedState, story(1)).said).toEqual([]);
    expect(judge(fixedState, story(10)).said).toHaveLength(1);
  });

  it('takes a deadline that passes for an event, and not the minutes around it', () => {
    const written = (deadline: number) => {
      const causes = [{ deadline }];
      const story = new Story().draining(i1, { causes }).at(630);
      for (const phase of ['Draining', 'Completing', 'Ended']) {
        story.disruption(i1, { causes, status: { phase, message: phase } });
      }
      return judge(fixedState, story.at(900)).said;
    };
    expect(written(640)).toEqual([]);
    expect(written(661)).toHaveLength(1);
    expect(written(539)).toHaveLength(1);
  });

  it('reports a write in a minute without any event once drains have ended', () => {
    const story = journal(new Story().draining(i1).at(30), 'Ended').at(300);
    journal(story, 'Ended', { message: 'again' }).at(600);
    expect(judge(fixedState, story).said).toEqual([
      expect.stringContaining('1 writes in a minute in which nothing happened (0 drains open)'),
    ]);
  });

  it('lets an open drain refresh its journal now and then, not in a rush', () => {
    const write = (times: number) => {
      const story = new Story().draining(i1).at(300);
      for (let i = 0; i < times; i++) {
        journal(story.at(300 + i), 'Draining', { progressAt: String(i) });
      }
      return story.at(600);
    };
    expect(judge(fixedState, write(2)).said).toEqual([]);
    expect(judge(fixedState, write(3)).said).toHaveLength(1);
  });

  it('takes what happens to pods, groups and faults as a reason to write', () => {
    const told = (event: (story: Story) => Story) =>
      journal(event(new Story().draining(i1).at(290)).at(310), 'Ended').at(600);
    for (const event of [
      (story: Story) => story.pod('p1'),
      (story: Story) => story.state(i1, 'Terminating'),
      (story: Story) => story.fault('api-errors', 'off'),
      (story: Story) =>
        story.request({ verb: 'patch', resource: 'nodegroups', name: 'g1', by: kubectl }),
    ]) {
      expect(judge(fixedState, told(event)).said).toEqual([]);
    }
    const ours = (story: Story) =>
      story.request({ verb: 'patch', resource: 'nodegroups', name: 'g1' });
    expect(judge(fixedState, told(ours)).said).toHaveLength(1);
  });
});

describe('no-hot-loop', () => {
  const many = (times: number, more: { everySeconds: number; spread?: boolean }) => {
    const story = new Story();
    for (let i = 0; i < times; i++) {
      const name = more.spread ? `p${i}` : 'p1';
      story.at(600 + i * more.everySeconds);
      story.request({ verb: 'patch', resource: 'pods', namespace: 'demo', name, code: 409 });
    }
    return story;
  };

  it('accepts a busy minute in which much happens', () => {
    const story = many(400, { everySeconds: 0.1, spread: true });
    for (let i = 0; i < 20; i++) story.pod(`x${i}`);
    expect(judge(hotLoop, story)).toEqual({ said: [], saw: 1 });
  });

  it('reports one object written again and again within a minute, refused or not', () => {
    expect(judge(hotLoop, many(31, { everySeconds: 1 })).said).toEqual([
      'patch pods/ demo/p1: asked for more than 30 times within a minute',
    ]);
    expect(judge(hotLoop, many(31, { everySeconds: 3 })).said).toEqual([]);
  });

  it('counts lists by what they select: the pods of each node are their own', () => {
    const lists = (nodes: number) => {
      const story = new Story();
      for (let i = 0; i < 31; i++) {
        const selector = `fieldSelector=spec.nodeName%3Dn${i % nodes}`;
        story.at(600 + i).request({ verb: 'list', resource: 'pods', selector, code: 200 });
      }
      return judge(hotLoop, story).said;
    };
    expect(lists(2)).toEqual([]);
    expect(lists(1)).toEqual([
      'list pods/ fieldSelector=spec.nodeName%3Dn0: asked for more than 30 times within a minute',
    ]);
  });

  it('reports many requests in a minute in which nothing happens', () => {
    const story = many(260, { everySeconds: 0.1, spread: true });
    expect(judge(hotLoop, story).said).toEqual(['requests: 260 in a minute with 0 changes']);
  });

  it('reports a loop of cloud calls', () => {
    const story = new Story().at(600);
    for (let i = 0; i < 40; i++) story.hookCall('RecordLifecycleActionHeartbeat', i1);
    for (let i = 0; i < 301; i++) story.call('DescribeAutoScalingGroups', { NextToken: `${i}` });
    expect(judge(hotLoop, story).said).toHaveLength(2);
  });
});

describe('journal-economics', () => {
  const drain = (steps: number, refreshes: number) => {
    const story = new Story();
    for (let i = 0; i < steps; i++) journal(story.at(i), 'Draining', { drainedAt: `${i}` });
    for (let i = 0; i < refreshes; i++) {
      const hooks = [{ name: 'h', state: 'Open', lastHeartbeatAt: `${i}` }];
      journal(story, 'Draining', { drainedAt: `${steps - 1}`, waitingOnTotal: i, hooks: [] });
      journal(story, 'Draining', { drainedAt: `${steps - 1}`, podsRemaining: i, hooks });
    }
    return journal(story.at(60), 'Ended', { outcome: 'Drained' });
  };

  it('counts the term that a new leader enters as no step', () => {
    const story = new Story();
    for (let i = 0; i < 30; i++) journal(story.at(i * 20), 'Draining', { leaderEpoch: i });
    const ended = journal(story.at(600), 'Ended', { outcome: 'Drained', leaderEpoch: 29 });
    expect(judge(economics, ended)).toEqual({ said: [], saw: 1 });
  });

  it('accepts few steps and some refreshes', () => {
    expect(judge(economics, drain(6, 0))).toEqual({ said: [], saw: 1 });
  });

  it('reports a journal that is written too often, by steps or by refreshes', () => {
    expect(judge(economics, drain(30, 0)).said).toEqual([`${i1} episode 1: 31 journal writes`]);
    const refreshed = new Story();
    for (let i = 0; i < 40; i++) journal(refreshed, 'Draining', { podsRemaining: i });
    const said = judge(economics, journal(refreshed.at(60), 'Ended')).said;
    expect(said).toEqual([`${i1} episode 1: 39 refreshes in 1 min`]);
  });

  it('counts a heartbeat as a refresh and a closed hook as a step', () => {
    const hooks = (seen: string, state: string) => ({
      hooks: [{ name: 'h', state, lastHeartbeatAt: seen }],
    });
    const story = new Story();
    for (let i = 0; i < 30; i++) journal(story, 'Draining', hooks(String(i), 'Open'));
    expect(judge(economics, story.at(60)).said).toEqual([]);
    for (let i = 0; i < 30; i++) journal(story, 'Draining', hooks('x', `Closed${i}`));
    expect(judge(economics, story).said).toHaveLength(1);
  });
});
