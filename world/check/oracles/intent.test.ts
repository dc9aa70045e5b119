// Canaries of the oracle of intents: the journal announces each effect before it happens.
import { describe, expect, it } from 'vitest';
import { i1, judge, kubectl, Story } from '../../../test/builders/world-check.ts';
import { intent } from './intent/index.ts';

const journal = (story: Story, phase: string, more = {}) =>
  story.disruption(i1, { status: { phase, ...more } });

describe('intent-before-effect', () => {
  it('accepts marks after Marking, evictions after Draining, completion after Completing', () => {
    const story = new Story()
      .node('n1', { by: kubectl })
      .pod('p1')
      .state(i1, 'Terminating:Wait')
      .draining(i1)
      .evict('p1');
    journal(story, 'Completing').hookCall('CompleteLifecycleAction', i1);
    expect(judge(intent, story)).toEqual({ said: [], saw: 3 });
  });

  it('reports an eviction before Draining was committed, even by a moment, or without a journal', () => {
    const early = journal(new Story().pod('p1').node('n1', { by: kubectl }), 'Marking')
      .at(1)
      .evict('p1');
    const late = journal(early, 'Draining').at(2);
    const alone = new Story().node('n1').pod('p1').evict('p1');
    expect(judge(intent, late).said).toEqual([`demo/p1: evicted before ${i1} was Draining`]);
    expect(judge(intent, alone).said).toEqual([
      'demo/p1: evicted from n1 without a NodeDisruption',
    ]);
  });

  it('does not take an earlier episode as intent', () => {
    const story = new Story().pod('p1').draining(i1);
    journal(story.at(50), 'Marking', { episode: 2 }).at(51).evict('p1');
    expect(judge(intent, story).said).toHaveLength(1);
  });

  it('reports what begins after the end, and forgives what was on its way', () => {
    const ended = (seconds: number) =>
      journal(new Story().pod('p1').draining(i1).at(50), 'Ended')
        .at(50 + seconds)
        .evict('p1');
    expect(judge(intent, ended(10)).said).toHaveLength(1);
    expect(judge(intent, ended(1)).said).toEqual([]);
  });

  it('reports a forced deletion before forcingSince was committed', () => {
    const story = (status: object) =>
      new Story()
        .pod('p1')
        .draining(i1, { status: { ...status } })
        .deletePod('p1');
    expect(judge(intent, story({})).said).toHaveLength(1);
    expect(judge(intent, story({ forcingSince: '2022-09-25T13:00:00Z' })).said).toEqual([]);
  });

  it('reports an eviction long after every cause was withdrawn, and forgives one a moment after', () => {
    const withdrawn = (seconds: number) =>
      new Story()
        .pod('p1')
        .draining(i1)
        .at(50)
        .disruption(i1, { causes: [{ cancelledAt: 50 }], status: { phase: 'Draining' } })
        .at(50 + seconds)
        .evict('p1');
    expect(judge(intent, withdrawn(3)).said).toEqual([
      `demo/p1: evicted although every cause of ${i1} had been withdrawn`,
    ]);
    expect(judge(intent, withdrawn(1)).said).toEqual([]);
  });

  it('forgives what was on its way when another leader had dealt with the cause', () => {
    const handled = (seconds: number) =>
      new Story()
        .pod('p1')
        .draining(i1)
        .at(50)
        .fault('F6-leader-paused', 'fired')
        .disruption(i1, { status: { phase: 'Draining', handledCauses: ['c1'] } })
        .at(50 + seconds)
        .evict('p1');
    expect(judge(intent, handled(59)).said).toEqual([]);
    expect(judge(intent, handled(61)).said).toHaveLength(1);
  });

  it('reports an instance that no one asked for, or that is taken before its node is drained', () => {
    const taken = (followUp: string, phase: string) => {
      const causes = [{ kind: 'Manual', followUp }];
      const story = new Story().draining(i1, { causes });
      return story
        .disruption(i1, { causes, status: { phase } })
        .call('TerminateInstanceInAutoScalingGroup', { InstanceId: i1 });
    };
    expect(judge(intent, taken('Release', 'Completing')).said).toEqual([
      `${i1}: terminated although no cause asks for the instance`,
    ]);
    expect(judge(intent, taken('Replace', 'Draining')).said).toHaveLength(1);
    expect(judge(intent, taken('Replace', 'Completing')).said).toEqual([]);
  });

  it('forgives force that the episode before had announced, from who stalled meanwhile', () => {
    const late = (seconds: number, forcing: object) =>
      new Story()
        .pod('p1')
        .draining(i1, { status: { ...forcing } })
        .at(50)
        .fault('F6-leader-paused', 'fired')
        .disruption(i1, { status: { phase: 'Pending', episode: 2 } })
        .at(50 + seconds)
        .deletePod('p1');
    const forcing = { forcingSince: '2022-09-25T13:00:00Z' };
    expect(judge(intent, late(59, forcing)).said).toEqual([]);
    expect(judge(intent, late(61, forcing)).said).toHaveLength(1);
    expect(judge(intent, late(59, {})).said).toHaveLength(1);
  });

  it('forgives a termination that was decided before the episode which it meets', () => {
    const cause = { kind: 'ScaleIn', id: 's' };
    const met = (seconds: number, first = cause) =>
      new Story()
        .disruption(i1, { causes: [first], status: { phase: 'Completing' } })
        .disruption(i1, { causes: [first], status: { phase: 'Ended', handledCauses: ['s'] } })
        .at(10)
        .fault('F6-leader-paused', 'fired')
        .disruption(i1, {
          causes: [
            { ...first, cancelledAt: 10 },
            { ...cause, id: 's/2' },
          ],
          status: { phase: 'Draining', episode: 2, handledCauses: ['s'] },
        })
        .at(10 + seconds)
        .call('TerminateInstanceInAutoScalingGroup', { InstanceId: i1 });
    expect(judge(intent, met(59)).said).toEqual([]);
    expect(judge(intent, met(61)).said).toEqual([`${i1}: terminated before its node was drained`]);
    // A drain for a cause that did not request termination does not justify one.
    expect(judge(intent, met(1, { kind: 'Manual', id: 's' })).said).toHaveLength(1);
  });

  it('reports marks set before Marking, and taken away before Undoing', () => {
    const story = journal(new Story().node('n1', { by: kubectl }), 'Pending').marked('n1');
    expect(judge(intent, story).said).toHaveLength(1);
    const undone = new Story().draining(i1).at(9).node('n1');
    expect(judge(intent, undone).said).toEqual([expect.stringContaining('was Undoing')]);
  });

  it('forgives marks that the episode before had announced, from who stalled meanwhile', () => {
    const late = (seconds: number, before: string) => {
      const story = journal(new Story().node('n1', { by: kubectl }), before).at(50);
      journal(story.fault('F6-leader-paused', 'fired'), 'Pending', { episode: 2 });
      return story.at(50 + seconds).marked('n1');
    };
    expect(judge(intent, late(59, 'Marking')).said).toEqual([]);
    expect(judge(intent, late(61, 'Marking')).said).toHaveLength(1);
    expect(judge(intent, late(59, 'Pending')).said).toHaveLength(1);
  });

  it('reports a hook call without a journal, and a completion before its phase', () => {
    const wait = () => new Story().state(i1, 'Terminating:Wait');
    const heartbeat = wait().hookCall('RecordLifecycleActionHeartbeat', i1);
    const early = journal(wait(), 'Marking').hookCall('CompleteLifecycleAction', i1);
    expect(judge(intent, heartbeat).said).toHaveLength(1);
    expect(judge(intent, early).said).toHaveLength(1);
  });
});
