// What an update cause adds to its drain: time before forced deletion, time before termination, and
// a failure that terminates nothing.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aBudget } from '../../../test/builders/core-drain.ts';
import {
  aHookCause,
  aManualCause,
  aPod,
  blocked,
  confirmedByCloud,
  draining,
  kubeTimePlus,
  type Model,
  timePlus,
  tPlus,
} from '../../../test/builders/core-termination.ts';
import type { DisruptionCause } from '../../api/disruption.ts';
import { allocate, BudgetIndex, classifyPods, defaultLimits, Ledger } from '../drain/index.ts';
import { demandOf } from './causes.ts';
import { decideDisruption } from './decide.ts';
import { drainOf } from './drains.ts';

const update = (more: Partial<DisruptionCause> = {}): DisruptionCause => ({
  kind: 'Update',
  id: 'update/u-1',
  receivedAt: timePlus(0),
  hold: false,
  deadline: timePlus(900),
  onDeadline: 'fail',
  followUp: 'Replace',
  cooldownSeconds: 60,
  ...more,
});
const spot: DisruptionCause = {
  kind: 'SpotInterruption',
  ...confirmedByCloud,
  id: 'spot/1',
  receivedAt: timePlus(0),
  deadline: timePlus(120),
  onDeadline: 'force',
  followUp: 'Release',
};

const drained = (cause: DisruptionCause = update()): Model => {
  const model = draining([cause]);
  model.change({ pods: [] });
  model.at(100);
  model.settle();
  return model;
};
const cooling = [{ kind: 'cooldown', until: timePlus(160) }];

describe('the time between empty and terminate', () => {
  it('is waited, said in plan and status, and then the instance is terminated', () => {
    const model = drained();
    expect(model.status).toMatchObject({
      phase: 'Completing',
      outcome: 'Drained',
      drainedAt: timePlus(100),
      waitingOn: cooling,
      waitingOnTotal: 1,
    });
    const plan = decideDisruption(model.observation);
    expect(plan).toMatchObject({ steps: [], waitingOn: cooling, nextCheckAt: tPlus(160) });
    model.at(159.999);
    expect(model.settle()).toEqual([]);
    model.at(160);
    expect(model.settle()).toEqual(['TerminateInstance', 'Ended']);
    expect(model.status?.waitingOn).toBeUndefined();
  });
  it('is neither begun anew nor skipped by another process', () => {
    const model = drained();
    model.at(130);
    model.forget();
    expect(decideDisruption(model.observation).nextCheckAt).toBe(tPlus(160));
    model.at(200);
    model.forget();
    expect(model.settle()).toEqual(['TerminateInstance', 'Ended']);
  });
  it('is the longest of those that are asked for', () => {
    const model = draining([update(), aManualCause({ cooldownSeconds: 90 })]);
    model.change({ pods: [] });
    model.at(100);
    model.settle();
    expect(decideDisruption(model.observation).nextCheckAt).toBe(tPlus(190));
  });
  it('follows a drain by force too, and what was left stays named', () => {
    const model = draining([update({ onDeadline: 'force' })]);
    model.change({ blockers: blocked });
    for (const at of [860, 900]) {
      model.at(at);
      model.settle();
    }
    expect(model.status?.waitingOn).toMatchObject([{ kind: 'cooldown' }, { kind: 'pdb' }]);
    expect(model.status?.waitingOnTotal).toBe(2);
    model.at(959);
    expect(model.settle()).toEqual([]);
    model.at(960);
    expect(model.settle()).toEqual(['TerminateInstance', 'Ended']);
    expect(model.status?.waitingOn).toMatchObject([{ kind: 'pdb' }]);
    expect(model.status?.waitingOnTotal).toBe(1);
  });
  it('is not waited where the instance goes anyway', () => {
    const model = drained();
    model.at(110);
    const late = aHookCause({ receivedAt: timePlus(105), deadline: timePlus(1005) });
    model.causes([update(), late]);
    model.settle();
    expect(model.done).not.toContain('TerminateInstance');
    expect(model.status).toMatchObject({ episode: 2 });
    const together = draining([update(), aHookCause()]);
    together.change({ pods: [] });
    together.at(100);
    expect(together.settle()).toEqual(['Confirm', 'Completing', 'CompleteHook', 'Ended']);
    expect(together.status?.waitingOn).toBeUndefined();
  });
  it('ends at once, and the node is given back, where the update is withdrawn', () => {
    const model = drained();
    model.at(110);
    model.causes([update({ cancelledAt: timePlus(110) })]);
    expect(model.settle()).toEqual(['Confirm', 'Ended', 'Undoing', 'PatchNode', 'Ended']);
  });
  it('is not waited for a node that is not there', () => {
    const model = draining([update()]);
    model.change({ node: undefined, pods: [] });
    model.at(40);
    model.settle();
    expect(model.status?.outcome).toBe('NothingToDrain');
    expect(model.done).toContain('TerminateInstance');
  });
});

describe('a drain of an update that fails', () => {
  const failed = (): Model => {
    const model = draining([update()]);
    model.change({ blockers: blocked });
    model.at(900);
    model.settle();
    return model;
  };
  it('ends as Failed with pod and budget named, and the instance stays', () => {
    const model = failed();
    expect(model.done).not.toContain('TerminateInstance');
    expect(model.status).toMatchObject({
      phase: 'Ended',
      outcome: 'Failed',
      waitingOn: [{ kind: 'pdb', pod: 'demo/p1', budgets: ['demo/web'] }],
    });
    model.at(10_000);
    expect(model.settle()).toEqual([]);
    expect(model.observation.node?.spec.unschedulable).toBe(true);
  });
  it('fails for a pod that comes back, named with its owner; any other drain ends without it', () => {
    const tolerations = [{ operator: 'Exists' as const }];
    const back = (name: string) => aPod(name, { createdAt: kubeTimePlus(3), tolerations });
    const kept = (cause: DisruptionCause): Model => {
      const model = draining([cause], []);
      for (const pods of [[back('p1')], [back('p2')]]) {
        model.at(pods[0]?.metadata.name === 'p1' ? 4 : 8);
        model.change({ pods, blockers: [] });
        model.settle();
      }
      model.at(900);
      model.settle();
      return model;
    };
    expect(kept(update()).status).toMatchObject({
      outcome: 'Failed',
      podsRemaining: 1,
      waitingOn: [{ kind: 'boomerang', pod: 'demo/p2', owner: 'ReplicaSet/web' }],
    });
    expect(kept(aManualCause({ followUp: 'Release' })).status?.outcome).toBe('Drained');
  });
  it('waits a moment for those who name what kept it, where another process comes to it', () => {
    const model = draining([update()]);
    model.at(2000);
    model.change({ blockers: undefined, memory: { hooks: new Map(), firstLookAt: tPlus(2000) } });
    expect(model.settle()).toEqual([]);
    expect(decideDisruption(model.observation).nextCheckAt).toBe(tPlus(2005));
    model.change({ blockers: blocked });
    model.settle();
    expect(model.status).toMatchObject({ outcome: 'Failed', waitingOn: [{ kind: 'pdb' }] });
  });
  it('is given back when the update withdraws its cause', () => {
    const model = failed();
    model.causes([update({ cancelledAt: timePlus(901) })]);
    expect(model.settle()).toEqual(['Undoing', 'PatchNode', 'Ended']);
    expect(model.observation.node?.spec.unschedulable).toBeUndefined();
    expect(model.observation.node?.metadata.labels).toEqual({});
  });
  it('is drained anew for the next update', () => {
    const model = failed();
    model.causes([update(), update({ id: 'update/u-2', hold: true })]);
    model.settle();
    expect(model.status).toMatchObject({
      episode: 2,
      phase: 'Draining',
      waitingOn: [{ kind: 'hold', by: 'update u-2' }],
    });
  });
});

describe('the time before force', () => {
  const forcing = (more: Partial<DisruptionCause> = {}) =>
    update({ onDeadline: 'force', forceFrom: timePlus(900), deadline: timePlus(1500), ...more });

  it('holds for the longest grace', () => {
    const model = draining([forcing()], [aPod('p1', { graceSeconds: 3600 })]);
    model.change({ blockers: blocked });
    model.at(899);
    model.settle();
    expect(model.status?.forcingSince).toBeUndefined();
    expect(decideDisruption(model.observation).nextCheckAt).toBe(tPlus(900));
    model.at(900);
    model.settle();
    expect(model.status?.forcingSince).toBe(timePlus(900));
  });
  it('is before the deadline, whatever was asked for', () => {
    const demand = (cause: DisruptionCause) => demandOf(draining([cause]).observation);
    expect(demand(forcing({ deadline: timePlus(900) })).deadline).toBe(tPlus(910));
    const { deadline: _none, ...open } = forcing();
    expect(demand(open).deadline).toBe(tPlus(910));
    expect(demand(forcing({ onDeadline: 'fail', deadline: timePlus(60) }))).toMatchObject({
      deadline: tPlus(60),
      onDeadline: 'fail',
    });
  });
  it('does not hold up another cause that forces earlier', () => {
    const { forceFrom, deadline } = demandOf(draining([forcing(), spot]).observation);
    expect([forceFrom, deadline]).toEqual([undefined, tPlus(120)]);
  });
  it('holds although a hook ends first that forces nothing', () => {
    const hook = { heartbeatTimeoutSeconds: 30, globalTimeoutSeconds: 600 };
    const kept = aHookCause({ onDeadline: 'fail', receivedAt: timePlus(0) });
    const short = kept.hook === undefined ? kept : { ...kept, hook: { ...kept.hook, ...hook } };
    const model = draining([forcing(), short]);
    model.change({ blockers: blocked });
    model.at(540);
    model.settle();
    expect(model.status?.forcingSince).toBeUndefined();
    expect(model.done).toContain('CompleteHook');
  });

  /**
   * The deletions that would be sent at this time: plain ones, and those that shorten the grace
   * period.
   */
  const deletions = ({ observation }: Model) => {
    const { disruption, node, options, pods, now } = observation;
    const classified = classifyPods(pods ?? []);
    const { compat } = options;
    const demand = demandOf(observation);
    const drain = drainOf({ disruption, node, classified, demand, compat });
    const budgets = new BudgetIndex();
    budgets.set(aBudget('web', { allowed: 0 }));
    const drains = drain === undefined ? [] : [drain];
    const ledger = new Ledger();
    return allocate({ drains, budgets, ledger, now, limits: defaultLimits }).grants.filter(
      ({ kind }) => kind === 'delete',
    );
  };

  it('holds for any grace, deadline and time, also for pods that are stopping', () => {
    const pod = fc.record({
      graceSeconds: fc.integer({ min: 0, max: 5000 }),
      dying: fc.option(fc.integer({ min: 0, max: 5000 }), { nil: undefined }),
    });
    let forced = 0;
    fc.assert(
      fc.property(
        fc.array(pod, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 60, max: 2000 }),
        fc.integer({ min: -300, max: 3000 }),
        fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 5, maxLength: 25 }),
        (some, from, more, waits) => {
          const pods = some.map(({ graceSeconds, dying }, i) =>
            aPod(`p${i}`, {
              graceSeconds,
              ...(dying === undefined ? {} : { deletionTimestamp: kubeTimePlus(dying) }),
            }),
          );
          const times = { forceFrom: timePlus(from), deadline: timePlus(from + more) };
          const model = draining([forcing(times)], pods);
          let at = 0;
          for (const wait of waits) {
            at += wait;
            model.at(at);
            model.settle();
            if (model.status?.phase !== 'Draining') return;
            const found = deletions(model);
            forced += found.length;
            if (at < from) {
              expect(found).toEqual([]);
              expect(model.status.forcingSince).toBeUndefined();
            }
          }
        },
      ),
      { numRuns: 300 },
    );
    expect(forced).toBeGreaterThan(50);
  });
});
