// Canaries of the oracles about how things end: liveness, and blockers named on the way.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/api/json.ts';
import { hookName, i1, judge, Story } from '../../../test/builders/world-check.ts';
import { blockers } from './blockers.ts';
import { liveness } from './liveness/index.ts';

const named = (kind = 'pdb', budgets: readonly string[] = ['demo/web']) => ({
  waitingOn: [{ kind, pod: 'demo/p1', budgets }],
  waitingOnTotal: 1,
});

describe('everything-ends, of node groups', () => {
  const timed = (minutes: number) => new Date(t0 + minutes * 60_000).toISOString();
  const t0 = Date.parse('2022-09-25T13:00:00Z');
  const group = (status: JsonObject, metadata: JsonObject = {}) =>
    new Story({ settled: true }).object('nodegroups', {
      metadata: { name: 'ng', uid: 'ng', ...metadata },
      spec: { scaling: { desired: 1 } },
      status,
    });
  const at = (story: Story, minutes: number) => judge(liveness, story.at(minutes * 60)).said;
  const since = timed(0);

  it('gives each node its time, and then asks why the scale-in continues', () => {
    const scaling = () => group({ desired: 2, scaleIn: { id: 's', target: 1, since } });
    expect(at(scaling(), 39.9)).toEqual([]);
    expect(at(scaling(), 40.1)).toEqual(['ng: still scaling in']);
  });
  it('wants a delete that failed to be tried again', () => {
    const failed = (minutes: number) =>
      group(
        { failure: { code: 'PodEvictionFailure', at: timed(minutes) } },
        { deletionTimestamp: since, finalizers: ['drover.dev/nodegroup'] },
      );
    expect(at(failed(15), 24)).toEqual([]);
    expect(at(failed(15), 26)).toEqual(['ng: is to be deleted, and no one tries any more']);
  });
  it('wants a request carried out, unless it is told what is wrong', () => {
    const asked = (health: JsonObject[]) => at(group({ desired: 2, health }), 11);
    expect(asked([])).toEqual(['ng: asked for as 1, and still told as 2']);
    expect(asked([{ code: 'AccessDenied' }])).toEqual([]);
  });
});

describe('everything-ends', () => {
  const settled = () => new Story({ settled: true });
  const blocked = (status = {}) =>
    settled()
      .pod('p1')
      .budget('web', { desired: 1, allowed: 0 })
      .state(i1, 'Terminating:Wait')
      .draining(i1, { status });

  it('accepts advice that waits for its turn, unmarked, and nothing else that waits so', () => {
    const waiting = (kind: string, phase = 'Pending') =>
      settled().disruption(i1, {
        causes: [{ kind, id: `${kind}/1`, onDeadline: 'fail' }],
        status: { phase, ...named('turn') },
      });
    const said = (story: Story) => judge(liveness, story.at(9)).said;
    expect(said(waiting('Maintenance'))).toEqual([]);
    expect(said(waiting('RebalanceRecommendation'))).toEqual([]);
    expect(said(waiting('LifecycleHook'))).toEqual([`${i1}: still Pending, waiting for turn`]);
    expect(said(waiting('Maintenance', 'Draining'))).toHaveLength(1);
  });

  it('accepts a drain that has ended, and says nothing while things still move', () => {
    const ended = settled()
      .state(i1, 'Terminated')
      .disruption(i1, { status: { phase: 'Ended' } });
    const moving = new Story().draining(i1);
    expect(judge(liveness, ended.at(9))).toEqual({ said: [], saw: 2 });
    expect(judge(liveness, moving.at(9))).toEqual({ said: [], saw: 0 });
  });

  it('reports an open drain and a waiting instance that name no blocker', () => {
    expect(judge(liveness, blocked().at(9)).said).toEqual([
      `${i1}: still Draining, waiting for nothing that it names`,
      `${i1}: still in Terminating:Wait`,
    ]);
  });

  it('accepts a drain that names pod and budget, as long as both are true', () => {
    expect(judge(liveness, blocked(named()).at(9)).said).toEqual([]);
    expect(judge(liveness, blocked(named('pdb', ['demo/other'])).at(9)).said).toHaveLength(2);
    expect(judge(liveness, blocked(named('pdb', [])).at(9)).said).toHaveLength(2);
    expect(judge(liveness, blocked(named('settling')).at(9)).said).toHaveLength(2);
    const gone = blocked(named()).at(5).gone('pods', 'p1').at(9);
    expect(judge(liveness, gone).said).toHaveLength(2);
  });

  it('reports a drain that continues past its forcing deadline, once and also while things move', () => {
    const story = (seconds: number) =>
      new Story()
        .pod('p1')
        .draining(i1, { causes: [{ deadline: 900 }] })
        .at(seconds)
        .pod('p1', { ready: false })
        .at(seconds + 90)
        .pod('p1');
    expect(judge(liveness, story(1201)).said).toEqual([
      `${i1}: still Draining 5 min after its forcing deadline`,
    ]);
    expect(judge(liveness, story(1100)).said).toEqual([]);
  });

  it('leaves an instance to the hook of another actor', () => {
    const story = settled()
      .state(i1, 'Terminating:Wait')
      .at(5)
      .hookEnded(i1, 'completed')
      .disruption(i1, { status: { phase: 'Ended' } });
    expect(judge(liveness, story.at(9)).said).toEqual([]);
  });

  describe('Deployments', () => {
    const deployment = (replicas: number) =>
      settled()
        .object('deployments', {
          metadata: { name: 'web', namespace: 'demo', uid: 'd' },
          spec: { replicas, selector: { matchLabels: { app: 'web' } } },
        })
        .node('n1');

    it('accepts one that is whole, and reports one that lacks a pod', () => {
      expect(judge(liveness, deployment(1).pod('p1').at(300))).toEqual({ said: [], saw: 1 });
      expect(judge(liveness, deployment(2).pod('p1').at(300)).said).toEqual([
        'demo/web: 1 of 2 pods are Ready, and there is room for the others',
      ]);
    });

    it('reports a pod unready for long on a good node, and waits for one that has just come', () => {
      const story = () => deployment(1).at(100).pod('p1', { ready: false });
      expect(judge(liveness, story().at(300)).said).toHaveLength(1);
      expect(judge(liveness, story().at(219)).said).toEqual([]);
    });

    it('excuses a pod on a node that has no address for it', () => {
      const story = (pods: string, hostNetwork: boolean) => {
        const begun = deployment(2).object('nodes', {
          metadata: { name: 'n1', uid: 'uid-n1' },
          status: { allocatable: { pods }, conditions: [{ type: 'Ready', status: 'True' }] },
        });
        const spec = { nodeName: 'n1', hostNetwork };
        const metadata = { namespace: 'demo', name: 'p0', uid: 'p0' };
        return begun
          .pod('p1')
          .pod('p2', { ready: false })
          .object('pods', { metadata, spec, status: { phase: 'Running' } })
          .at(300);
      };
      expect(judge(liveness, story('4', false)).said).toEqual([]);
      expect(judge(liveness, story('5', false)).said).toHaveLength(1);
      expect(judge(liveness, story('4', true)).said).toHaveLength(1);
    });

    it('excuses pods without a place, or on a node that is not Ready', () => {
      const unplaced = deployment(1).pod('p1', { ready: false, node: '' }).at(300);
      const dead = deployment(1).pod('p1', { ready: false }).node('n1', { ready: false }).at(300);
      expect(judge(liveness, unplaced).said).toEqual([]);
      expect(judge(liveness, dead).said).toEqual([]);
    });
  });
});

describe('blockers-are-named', () => {
  const drain = (status = {}, allowed = 0) =>
    new Story()
      .pod('p1')
      .budget('web', { desired: 1, allowed })
      .draining(i1, { causes: [{ hook: hookName }], status });

  it('accepts a pod that is named with its budget within 15 minutes', () => {
    expect(judge(blockers, drain(named()).at(900).pod('x'))).toEqual({ said: [], saw: 2 });
  });

  it('reports a pod that is not named, or with another budget, at 15 minutes and not before', () => {
    const told = `${i1}: demo/p1 has been kept by demo/web for 15 min and is not named`;
    expect(judge(blockers, drain().at(900)).said).toEqual([told]);
    expect(judge(blockers, drain(named('pdb', ['demo/x'])).at(900)).said).toEqual([told]);
    expect(judge(blockers, drain().at(899))).toEqual({ said: [], saw: 0 });
  });

  it('reports a name that was taken out again', () => {
    const story = drain(named())
      .at(300)
      .disruption(i1, { status: { phase: 'Draining' } });
    expect(judge(blockers, story.at(960)).said).toHaveLength(1);
  });

  it('wants no one named of pods that are forced', () => {
    const status = { phase: 'Draining', forcingSince: '2022-09-25T13:14:00Z' };
    const story = drain(named()).at(840).disruption(i1, { status });
    expect(judge(blockers, story.at(960))).toEqual({ said: [], saw: 0 });
  });

  it('counts only budgets that stayed closed all the time', () => {
    const opened = drain().at(500).budget('web', { desired: 1, allowed: 1 }).at(501);
    const story = opened.budget('web', { desired: 1, allowed: 0 }).at(1000);
    expect(judge(blockers, story)).toEqual({ said: [], saw: 0 });
    expect(judge(blockers, drain({}, 1).at(1000))).toEqual({ said: [], saw: 0 });
  });

  it('wants both of two budgets, which refuse whatever they allow', () => {
    const two = (status: object) =>
      drain({ ...status }, 1)
        .budget('second', { desired: 1, allowed: 1 })
        .at(900);
    const both = named('multiplePdbs', ['demo/web', 'demo/second']);
    expect(judge(blockers, two(named())).said).toHaveLength(1);
    expect(judge(blockers, two(both)).said).toEqual([]);
  });

  it('looks past pods that are not due: unready, bound late, or waiting for an earlier tier', () => {
    const unready = drain().pod('p1', { ready: false }).at(900);
    const late = new Story().budget('web', { desired: 1, allowed: 0 }).draining(i1);
    const tier = drain(named('tier', [])).at(900);
    expect(judge(blockers, unready).saw).toBe(0);
    expect(judge(blockers, late.at(100).pod('p1').at(900)).saw).toBe(0);
    expect(judge(blockers, tier).said).toEqual([]);
  });
});
