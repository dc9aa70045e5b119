// Canaries of the oracles about pods: budgets, force, marks before eviction, drainable pods only.
import { describe, expect, it } from 'vitest';
import { i1, judge, kubectl, Story } from '../../../test/builders/world-check.ts';
import { budgets } from './budgets.ts';
import { drainable } from './drainable.ts';
import { forced } from './forced/index.ts';
import { marksFirst } from './marks-first.ts';

const threeOf = (desired: number): Story =>
  new Story().budget('web', { desired }).pod('p1').pod('p2').pod('p3');

describe('evictions-within-budgets', () => {
  it('accepts an eviction that leaves what the budget wants', () => {
    expect(judge(budgets, threeOf(2).at(10).evict('p1'))).toEqual({ said: [], saw: 1 });
  });

  it('reports the second eviction of two where one was allowed, whoever sent it', () => {
    const story = threeOf(2).at(10).evict('p1').at(11).evict('p2', { by: kubectl });
    expect(judge(budgets, story).said).toEqual([
      'demo/p2: evicted although budget demo/web needs 2 healthy pods and only 1 were left',
    ]);
  });

  it('reports an eviction long after a pod had failed, and forgives one a moment after', () => {
    const failed = () => threeOf(2).at(10).pod('p3', { ready: false });
    expect(judge(budgets, failed().at(13).evict('p1')).said).toHaveLength(1);
    expect(judge(budgets, failed().at(11.5).evict('p1')).said).toEqual([]);
  });

  it('does not forgive that the loss of a moment ago was an eviction itself', () => {
    const story = threeOf(2).at(10).evict('p1').at(10.001).evict('p2');
    expect(judge(budgets, story).said).toHaveLength(1);
  });

  it('reports an unready pod sent away while too few are healthy, unless the policy allows', () => {
    const story = (alwaysAllow: boolean) =>
      new Story()
        .budget('web', { desired: 2, alwaysAllow })
        .pod('p1')
        .pod('p2', { ready: false })
        .at(10)
        .evict('p2', { ready: false });
    expect(judge(budgets, story(false)).said).toHaveLength(1);
    expect(judge(budgets, story(true))).toEqual({ said: [], saw: 0 });
  });

  it('looks past pods that are pending, finished or on their way out, and dry runs', () => {
    const story = threeOf(3)
      .pod('p4', { phase: 'Pending', ready: false })
      .pod('p5', { phase: 'Succeeded', ready: false })
      .at(5)
      .pod('p3', { terminating: true })
      .at(10)
      .evict('p3')
      .evict('p4', { phase: 'Pending', ready: false })
      .evict('p5', { phase: 'Succeeded', ready: false })
      .request({ verb: 'create', resource: 'pods', subresource: 'eviction', dryRun: true });
    expect(judge(budgets, story)).toEqual({ said: [], saw: 0 });
  });

  it('holds a deletion of ours to budgets until the journal forces, and leaves those of people', () => {
    const tight = () => threeOf(3).draining(i1).at(10);
    const forcing = { phase: 'Draining', forcingSince: '2022-09-25T13:00:05Z' };
    const forces = threeOf(3).draining(i1).disruption(i1, { status: forcing }).at(10);
    expect(judge(budgets, tight().deletePod('p1')).said).toEqual([
      'demo/p1: deleted although budget demo/web needs 3 healthy pods and only 2 were left',
    ]);
    expect(judge(budgets, threeOf(2).draining(i1).at(10).deletePod('p1')).said).toEqual([]);
    const two = threeOf(2).draining(i1).at(10).deletePod('p1').at(10.001).deletePod('p2');
    expect(judge(budgets, two).said).toHaveLength(1);
    expect(judge(budgets, tight().deletePod('p1', { by: kubectl })).said).toEqual([]);
    expect(judge(budgets, forces.deletePod('p1')).said).toEqual([]);
  });

  it('lets a leader that stalled force as the episode before did, for as long as it may not know', () => {
    const forcing = { phase: 'Draining', forcingSince: '2022-09-25T13:00:05Z' };
    const late = (seconds: number) =>
      threeOf(3)
        .draining(i1)
        .disruption(i1, { status: forcing })
        .at(10)
        .fault('F6-leader-paused', 'fired')
        .at(30)
        .disruption(i1, { status: { phase: 'Pending', episode: 2 } })
        .at(seconds)
        .deletePod('p1');
    expect(judge(budgets, late(60)).said).toEqual([]);
    expect(judge(budgets, late(95)).said).toHaveLength(1);
  });

  it('counts every budget that covers the pod', () => {
    const story = threeOf(2).budget('strict', { desired: 3 }).at(10).evict('p1');
    expect(judge(budgets, story).said).toEqual([expect.stringContaining('demo/strict')]);
  });
});

describe('nothing-forced-early', () => {
  // Forced at 900 - 10 (safety) - 30 (grace) = 860 s.
  const drain = (status = {}) =>
    new Story().pod('p1').draining(i1, {
      causes: [{ deadline: 900, onDeadline: 'force' }],
      status: { deadline: '2022-09-25T13:15:00Z', onDeadline: 'force', ...status },
    });

  it('accepts a deletion at the forced-at time', () => {
    expect(judge(forced, drain().at(860).deletePod('p1'))).toEqual({ said: [], saw: 1 });
  });

  it('accepts a deletion from the moment on that its cause names, and none before', () => {
    const from = (seconds: number) =>
      new Story()
        .pod('p1')
        .draining(i1, {
          causes: [{ deadline: 1560, forceFrom: 900, onDeadline: 'force' }],
          status: { deadline: '2022-09-25T13:26:00Z', onDeadline: 'force' },
        })
        .at(seconds)
        .deletePod('p1');
    expect(judge(forced, from(900)).said).toEqual([]);
    expect(judge(forced, from(899)).said).toHaveLength(1);
  });

  it('reports a deletion a second too early', () => {
    expect(judge(forced, drain().at(859).deletePod('p1')).said).toEqual([
      'demo/p1: deleted 1 s before its forced-at time',
    ]);
  });

  it('goes by the deadline of the episode before, for who stalled when the next one opened', () => {
    const late = (seconds: number) =>
      drain()
        .at(890)
        .fault('F6-leader-paused', 'fired')
        .disruption(i1, {
          causes: [
            { deadline: 900, onDeadline: 'force' },
            { id: 'c2', deadline: 1800, onDeadline: 'force' },
          ],
          status: {
            phase: 'Marking',
            episode: 2,
            handledCauses: ['c1'],
            deadline: '2022-09-25T13:30:00Z',
            onDeadline: 'force',
          },
        })
        .at(890 + seconds)
        .deletePod('p1');
    expect(judge(forced, late(59)).said).toEqual([]);
    expect(judge(forced, late(61)).said).toHaveLength(1);
  });

  it('gives a spot instance five seconds more', () => {
    const spot = (at: number) =>
      new Story()
        .pod('p1', { graceSeconds: 30 })
        .draining(i1, {
          causes: [{ kind: 'SpotInterruption', deadline: 120, onDeadline: 'force' }],
          status: { deadline: '2022-09-25T13:02:00Z', onDeadline: 'force' },
        })
        .at(at)
        .deletePod('p1');
    expect(judge(forced, spot(80)).said).toHaveLength(1);
    expect(judge(forced, spot(85)).said).toEqual([]);
  });

  it('caps a long grace at half of the drain, so that budgets get their time', () => {
    const pod = { graceSeconds: 1800 };
    expect(judge(forced, drain().at(10).deletePod('p1', pod)).said).toHaveLength(1);
    const late = drain().pod('p1', { ...pod, uid: 'long' });
    expect(judge(forced, late.at(440).deletePod('p1', { ...pod, uid: 'long' })).said).toEqual([]);
  });

  it('reports a deletion where no cause forces, where the cause was withdrawn, or without one', () => {
    const failing = new Story()
      .pod('p1')
      .draining(i1, { causes: [{ deadline: 900, onDeadline: 'fail' }] })
      .at(2000)
      .deletePod('p1');
    const withdrawn = drain()
      .at(100)
      .disruption(i1, {
        causes: [{ deadline: 900, onDeadline: 'force', cancelledAt: 100 }],
        status: { phase: 'Draining' },
      })
      .at(870)
      .deletePod('p1');
    const alone = new Story().node('n1').pod('p1').at(5).deletePod('p1');
    expect(judge(forced, failing).said).toEqual([expect.stringContaining('no cause in force')]);
    expect(judge(forced, withdrawn).said).toHaveLength(1);
    expect(judge(forced, alone).said).toEqual(['demo/p1: deleted without a NodeDisruption']);
  });

  it('reports a deletion whose deadline the journal has not recorded', () => {
    const story = drain({ deadline: null }).at(870).deletePod('p1');
    expect(judge(forced, story).said).toEqual([expect.stringContaining('journal names no')]);
  });

  it('does not count a cause that an earlier episode has dealt with', () => {
    const story = drain({ handledCauses: ['c1'] })
      .at(870)
      .deletePod('p1');
    expect(judge(forced, story).said).toHaveLength(1);
  });

  it('reports a grace of 0, and one far below what is left', () => {
    expect(judge(forced, drain().at(895).deletePod('p1', { grace: 0 })).said).toHaveLength(1);
    expect(judge(forced, drain().at(860).deletePod('p1', { grace: 1 })).said).toHaveLength(1);
    expect(judge(forced, drain().at(885).deletePod('p1', { grace: 5 })).said).toEqual([]);
  });

  it('reports an eviction with a shorter grace before the time, but not on a dead node', () => {
    const early = drain().at(100).evict('p1', { grace: 1 });
    const dead = drain().marked('n1', { ready: false }).at(100).evict('p1', { grace: 1 });
    expect(judge(forced, early).said).toHaveLength(1);
    expect(judge(forced, dead).said).toEqual([]);
  });

  it('leaves deletions by others alone', () => {
    const story = drain().at(5).deletePod('p1', { by: kubectl });
    expect(judge(forced, story)).toEqual({ said: [], saw: 0 });
  });
});

describe('marks-before-eviction', () => {
  it('accepts marks that are there before the first eviction', () => {
    const story = new Story().pod('p1').draining(i1).at(1).evict('p1');
    expect(judge(marksFirst, story)).toEqual({ said: [], saw: 1 });
  });

  it('reports a missing label, a missing cordon, and marks that come a moment too late', () => {
    const first = (node: { label?: string; cordon?: boolean }) =>
      new Story().node('n1', node).pod('p1').disruption(i1).at(1).evict('p1');
    const late = first({}).at(1.001).marked('n1').at(2).evict('p2');
    expect(judge(marksFirst, first({ cordon: true })).said).toEqual([
      'n1: demo/p1 was the first pod to go while the node had no label',
    ]);
    expect(judge(marksFirst, first({ label: 'true' })).said).toHaveLength(1);
    expect(judge(marksFirst, late).said).toHaveLength(1);
  });

  it('wants the taint too where we use one', () => {
    const story = (taint: boolean) =>
      new Story({ compat: 'native' }).marked('n1', { taint }).pod('p1').at(1).evict('p1');
    expect(judge(marksFirst, story(false)).said).toHaveLength(1);
    expect(judge(marksFirst, story(true)).said).toEqual([]);
  });

  it('asks again in the next episode', () => {
    const again = new Story()
      .pod('p1')
      .pod('p2')
      .draining(i1)
      .evict('p1')
      .at(100)
      .node('n1')
      .disruption(i1, { status: { episode: 2, phase: 'Draining' } })
      .at(200)
      .evict('p2');
    expect(judge(marksFirst, again)).toEqual({ said: [expect.any(String)], saw: 2 });
  });

  it('forgives that another actor took the marks just now, but not long ago', () => {
    const story = (seconds: number) =>
      new Story().pod('p1').draining(i1).at(10).node('n1', { by: kubectl }).at(seconds).evict('p1');
    expect(judge(marksFirst, story(11)).said).toEqual([]);
    expect(judge(marksFirst, story(60)).said).toHaveLength(1);
  });
});

describe('only-drainable-pods', () => {
  it('accepts an ordinary pod, and one that finished a moment ago', () => {
    const done = { phase: 'Succeeded', ready: false };
    const story = new Story().pod('p1').evict('p1').pod('p2').pod('p2', done).at(1);
    expect(judge(drainable, story.evict('p2', done))).toEqual({ said: [], saw: 2 });
  });

  it("reports a DaemonSet's pod, a mirror pod and a pod that finished long ago", () => {
    const done = { phase: 'Succeeded', ready: false };
    const story = new Story()
      .pod('ds', { owner: 'DaemonSet/aws-node' })
      .pod('m', { mirror: true })
      .pod('job')
      .pod('job', done)
      .at(60)
      .evict('ds', { owner: 'DaemonSet/aws-node' })
      .evict('m', { mirror: true })
      .evict('job', done);
    expect(judge(drainable, story).said).toEqual([
      'demo/ds: a pod of DaemonSet aws-node was sent away',
      expect.stringContaining('mirror pod'),
      'demo/job: a pod that was Succeeded already was sent away',
    ]);
  });

  it('lets an orphan of a DaemonSet go once the DaemonSet is known to be gone', () => {
    const set = { metadata: { name: 'other', namespace: 'demo', uid: 'u' } };
    const story = new Story()
      .object('daemonsets', set)
      .pod('ds', { owner: 'DaemonSet/aws-node' })
      .evict('ds', { owner: 'DaemonSet/aws-node' });
    expect(judge(drainable, story)).toEqual({ said: [], saw: 1 });
  });
});
