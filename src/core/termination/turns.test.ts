// The group's disruption ledger, as a table: who may begin among those that may wait.
import { describe, expect, it } from 'vitest';
import {
  aDisruption,
  aGroup,
  aHookCause,
  aManualCause,
  confirmedByCloud,
  Model,
  observe,
  stepNames,
  timePlus,
  tPlus,
} from '../../../test/builders/core-termination.ts';
import { decideDisruption } from './decide.ts';
import type { Ledger } from './observation.ts';
import { awaitsTurn, isOutOfService, mayBegin, slotsOf } from './turns.ts';

const minutes = 60;
const ledger = (more: Partial<Ledger> = {}): Ledger => ({
  maxUnavailable: 1,
  drainMs: 15 * minutes * 1000,
  out: 0,
  waiting: [{ name: 'a', dueAt: undefined }],
  ...more,
});
const due = (...inMinutes: readonly number[]) =>
  inMinutes.map((at, index) => ({ name: `n${index}`, dueAt: tPlus(at * minutes) }));

describe('slotsOf', () => {
  it.each<[string, Partial<Ledger>, number]>([
    ['nothing is due', {}, 1],
    ['the group allows more', { maxUnavailable: 3 }, 3],
    ['ten are due tomorrow', { waiting: due(...Array(10).fill(24 * 60)) }, 1],
    ['ten are due in an hour: three rounds of four', { waiting: due(...Array(10).fill(60)) }, 3],
    ['two are due in less than one drain', { waiting: due(10, 10) }, 2],
    ['one is due now, one tomorrow', { waiting: due(0, 24 * 60) }, 1],
    ['one is due now beside one that is out', { out: 1, waiting: due(0) }, 2],
  ])('%s', (_what, more, slots) => {
    expect(slotsOf(ledger(more), tPlus(0))).toBe(slots);
  });
});

describe('mayBegin', () => {
  it.each<[string, Partial<Ledger>, string, boolean]>([
    ['no node is out', {}, 'a', true],
    ['one is out', { out: 1 }, 'a', false],
    ['first of those that are due', { waiting: due(600, 500) }, 'n1', true],
    ['second of those that are due', { waiting: due(600, 500) }, 'n0', false],
    [
      'a recommendation beside maintenance that waits',
      { waiting: [...due(600), { name: 'a', dueAt: undefined }] },
      'a',
      true,
    ],
  ])('%s', (_what, more, name, answer) => {
    expect(mayBegin(ledger(more), name, tPlus(0))).toBe(answer);
  });
});

const rebalance = aManualCause({
  kind: 'RebalanceRecommendation',
  ...confirmedByCloud,
  id: 'rebalance/1',
});
const maintenance = aManualCause({
  kind: 'Maintenance',
  ...confirmedByCloud,
  id: 'maintenance/1',
  followUp: 'Replace',
});

describe('awaitsTurn', () => {
  it.each([
    ['a recommendation', [rebalance], true],
    ['maintenance', [maintenance], true],
    ['both', [rebalance, maintenance], true],
    ['a recommendation beside a hook', [rebalance, aHookCause()], false],
    ['a drain by hand', [aManualCause()], false],
    ['nothing', [], false],
  ])('%s: %s', (_what, causes, answer) => {
    expect(awaitsTurn(aDisruption(causes), undefined)).toBe(answer);
  });
});

describe('isOutOfService', () => {
  const scaleIn = aManualCause({ kind: 'ScaleIn', id: 'scale-in/1' });
  it.each([
    ['being drained', aDisruption([rebalance], { episode: 1, phase: 'Draining' }), true],
    ['waiting', aDisruption([rebalance]), false],
    ['scaled in', aDisruption([scaleIn], { episode: 1, phase: 'Draining' }), false],
  ])('%s: %s', (_what, disruption, answer) => {
    expect(isOutOfService(disruption, undefined)).toBe(answer);
  });
});

const waiting = (more: Partial<Ledger> = {}, causes = [rebalance]): Model =>
  new Model(
    observe({
      disruption: aDisruption(causes),
      group: aGroup(undefined),
      ledger: ledger({
        waiting: [{ name: aDisruption().metadata.name, dueAt: undefined }],
        ...more,
      }),
    }),
  );

describe('a recommendation', () => {
  it('begins once its replacement is in service', () => {
    const model = waiting();
    model.replacement = { rebalances: true, serving: 2, desired: 3 };
    expect(model.settle()).toEqual(['Confirm', 'Pending']);
    expect(model.status?.waitingOn).toEqual([
      {
        kind: 'turn',
        message: '2 other nodes of asg-1 in service, 3 desired: the replacement is not Ready yet',
      },
    ]);
    expect(decideDisruption(model.observation).nextCheckAt).toBe(tPlus(15));
    model.replacement = { rebalances: true, serving: 3, desired: 3 };
    model.at(15);
    expect(model.settle().slice(0, 2)).toEqual(['Confirm', 'Marking']);
  });
  it('waits while another node of the group is out of service', () => {
    const model = waiting({ out: 1 });
    expect(model.settle()).toEqual(['Confirm', 'Pending']);
    const message = "1 of the group's nodes are out of service, and 1 may be at once";
    expect(model.status?.waitingOn).toEqual([{ kind: 'turn', message }]);
    expect(model.settle()).toEqual([]);
  });
  it('never begins where the group does not rebalance, and is withdrawn after 60 min', () => {
    const model = waiting();
    model.replacement = { rebalances: false, serving: 3, desired: 3 };
    model.settle();
    expect(model.status?.phase).toBe('Pending');
    model.at(3600);
    expect(model.settle()).toContain('WithdrawCause');
    expect(model.status).toMatchObject({ phase: 'Ended', outcome: 'Cancelled' });
  });
  it('returns a drained node to service after 60 min, and says why', () => {
    const model = waiting();
    model.settle();
    model.at(30);
    model.settle();
    expect(model.status).toMatchObject({ phase: 'Ended', outcome: 'Drained' });
    model.at(3600);
    expect(model.settle()).toEqual(['WithdrawCause', 'Undoing', 'PatchNode', 'Ended']);
    expect(model.status?.message).toBe(
      `returned to service: nothing followed the rebalance recommendation of ${timePlus(0)} within 60 min`,
    );
  });
  it('is obeyed at once where a hook takes the instance besides', () => {
    const model = waiting({ out: 3 }, [rebalance, aHookCause()]);
    const { ledger: _ledger, ...observation } = model.observation;
    expect(stepNames(decideDisruption(observation))).toContain('Marking');
  });
});

describe('maintenance', () => {
  it('begins without a replacement when its turn has come', () => {
    expect(waiting({}, [maintenance]).settle()[0]).toBe('Marking');
    expect(waiting({ out: 1 }, [maintenance]).settle()).toEqual(['Pending']);
  });
});
