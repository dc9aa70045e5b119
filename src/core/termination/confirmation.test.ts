// One row per kind of notice and answer of the cloud: whether the cause counts.
import { describe, expect, it } from 'vitest';
import {
  aDisruption,
  aHook,
  aManualCause,
  aMarkedNode,
  confirmedByCloud,
  observe,
  timePlus,
  tPlus,
} from '../../../test/builders/core-termination.ts';
import { epochMs } from '../../api/brand.ts';
import type { InstanceFacts } from '../../api/confirmation.ts';
import { isInForce } from '../../api/confirmation.ts';
import { type CauseKind, causeKinds, type DisruptionCause } from '../../api/disruption.ts';
import { confirmCause, nextLookAt } from './confirmation.ts';
import { decideDisruption } from './decide.ts';

const aNotice = (kind: CauseKind, more: Partial<DisruptionCause> = {}): DisruptionCause => ({
  kind,
  id: `${kind}/1`,
  receivedAt: timePlus(0),
  onDeadline: 'force',
  followUp: 'Release',
  confirmation: { state: 'Pending', at: timePlus(0), reason: 'the cloud is being asked' },
  ...more,
});
const hook = aNotice('LifecycleHook', { hook: aHook(), deadline: timePlus(900) });
const spot = aNotice('SpotInterruption', { deadline: timePlus(120) });
const rebalance = aNotice('RebalanceRecommendation', { onDeadline: 'fail' });
const window = { startsAt: timePlus(3_600), endsAt: timePlus(7_200) };
const stop = aNotice('StateChange', { deadline: timePlus(120) });
const maintenance = aNotice('Maintenance', {
  deadline: timePlus(3_600),
  followUp: 'Replace',
  window,
});
const live = { code: 'system-reboot', notBefore: timePlus(3_600), isOver: false };
const yes = (cause: DisruptionCause): DisruptionCause => ({ ...cause, ...confirmedByCloud });

describe('a notice counts when the cloud says the same, and as long as it does', () => {
  type State = 'Pending' | 'Confirmed' | 'Refuted';
  type Row = readonly [string, DisruptionCause, InstanceFacts, number, State];
  const rows: readonly Row[] = [
    ['a hook, Terminating:Wait', hook, { lifecycleState: 'Terminating:Wait' }, 1, 'Confirmed'],
    ['a hook in a warm pool', hook, { lifecycleState: 'Warmed:Terminating:Wait' }, 1, 'Confirmed'],
    ['a hook, InService', hook, { lifecycleState: 'InService' }, 1, 'Pending'],
    ['a hook, InService two minutes on', hook, { lifecycleState: 'InService' }, 121, 'Refuted'],
    ['a hook, in no group', hook, { lifecycleState: 'none' }, 121, 'Refuted'],
    ['a hook, no answer', hook, { failure: 'Throttled' }, 600, 'Pending'],
    ['a hook, no answer for an hour', hook, { failure: 'AccessDenied' }, 3_600, 'Refuted'],
    ['a hook that was, InService', yes(hook), { lifecycleState: 'InService' }, 60, 'Refuted'],
    ['a hook that was, gone', yes(hook), { lifecycleState: 'none' }, 600, 'Confirmed'],
    ['a hook that was, no answer', yes(hook), {}, 600, 'Confirmed'],
    ['a stop, stopping', stop, { state: 'stopping' }, 1, 'Confirmed'],
    ['a stop, not seen yet', stop, { state: 'running' }, 1, 'Pending'],
    ['a stop that never was', stop, { state: 'running' }, 121, 'Refuted'],
    ['a stop that was, started again', yes(stop), { state: 'running' }, 60, 'Refuted'],
    ['a stop that was, terminated', yes(stop), { state: 'terminated' }, 60, 'Confirmed'],
    ['spot, fresh', spot, { market: 'spot' }, 119, 'Confirmed'],
    ['spot, older than two minutes', spot, { market: 'spot' }, 120, 'Refuted'],
    ['spot, on demand', spot, { market: 'on-demand' }, 1, 'Refuted'],
    ['spot, no answer', spot, { failure: 'AccessDenied' }, 1, 'Pending'],
    ['spot, EC2 took it', yes(spot), { state: 'shutting-down' }, 300, 'Confirmed'],
    ['spot, running a minute after its end', yes(spot), { state: 'running' }, 180, 'Refuted'],
    ['spot, running before that', yes(spot), { state: 'running' }, 179, 'Confirmed'],
    ['rebalance of a spot instance', rebalance, { market: 'spot' }, 1, 'Confirmed'],
    ['rebalance, on demand', rebalance, { market: 'on-demand' }, 1, 'Refuted'],
    ['rebalance, no answer', rebalance, { failure: 'AccessDenied' }, 3_599, 'Pending'],
    ['rebalance, no answer for an hour', rebalance, { failure: 'AccessDenied' }, 3_600, 'Refuted'],
    ['rebalance, instance gone', rebalance, { state: 'none' }, 1, 'Pending'],
    ['rebalance, instance gone two minutes on', rebalance, { state: 'none' }, 120, 'Refuted'],
    ['maintenance that EC2 lists', maintenance, { scheduled: [live] }, 1, 'Confirmed'],
    ['maintenance, not listed', maintenance, { scheduled: [] }, 1, 'Pending'],
    ['maintenance, not listed two minutes on', maintenance, { scheduled: [] }, 120, 'Refuted'],
    ['maintenance, its window open', maintenance, { scheduled: [] }, 3_600, 'Confirmed'],
    ['maintenance, its window over', maintenance, {}, 7_200, 'Refuted'],
    [
      'maintenance that EC2 lists as over',
      maintenance,
      { scheduled: [{ ...live, isOver: true }] },
      120,
      'Refuted',
    ],
    [
      'maintenance that EC2 lists no longer',
      yes(maintenance),
      { scheduled: [], state: 'running' },
      60,
      'Refuted',
    ],
    [
      'maintenance of an instance that stopped',
      yes(maintenance),
      { scheduled: [], state: 'stopped' },
      60,
      'Confirmed',
    ],
  ];
  it.each(rows)('%s', (_, cause, facts, seconds, state) => {
    expect(confirmCause(cause, facts, tPlus(seconds)).confirmation?.state).toBe(state);
  });

  it('says what the cloud answers while the answer may be an old one, and writes it once', () => {
    const facts = { lifecycleState: 'InService' };
    const asked = confirmCause(hook, facts, tPlus(1));
    expect(asked.confirmation).toEqual({
      state: 'Pending',
      at: timePlus(1),
      reason: 'Auto Scaling: InService, not Terminating',
    });
    expect(confirmCause(asked, facts, tPlus(2))).toBe(asked);
  });

  it('nothing brings a refuted cause back but another notice', () => {
    const refuted = confirmCause(spot, { market: 'on-demand' }, tPlus(1));
    expect(confirmCause(refuted, { market: 'spot' }, tPlus(2))).toBe(refuted);
  });

  it('what people and Drover ask for needs no confirmation', () => {
    const own = causeKinds.filter((kind) => isInForce({ ...aManualCause(), kind }));
    expect(own).toEqual(['ScaleIn', 'Update', 'Repair', 'Manual']);
  });
});

describe('the time of a drain', () => {
  it('runs from its confirmation', () => {
    const found = confirmCause(hook, { lifecycleState: 'Terminating' }, tPlus(100));
    expect(found).toMatchObject({ receivedAt: timePlus(100), deadline: timePlus(1_000) });
  });
  it('of maintenance is that of EC2, whatever the message says', () => {
    const scheduled = [{ ...live, notBefore: timePlus(9_000) }];
    expect(confirmCause(maintenance, { scheduled }, tPlus(1)).deadline).toBe(timePlus(9_000));
  });
  it('forces nothing where a message alone says that its window is open', () => {
    const found = confirmCause(maintenance, { scheduled: [] }, tPlus(3_600));
    expect(found.onDeadline).toBe('fail');
    expect(found.deadline).toBeUndefined();
  });
});

describe('a disruption of unconfirmed causes', () => {
  it.each(['Pending', 'Marking', 'Draining'] as const)('waits as it is: %s', (phase) => {
    const disruption = aDisruption([hook], { episode: 1, phase });
    expect(decideDisruption(observe({ disruption })).steps).toEqual([]);
  });

  it('ends without a mark once they are refuted', () => {
    const refuted = confirmCause(spot, { market: 'on-demand' }, tPlus(1));
    const [step, ...rest] = decideDisruption(observe({ disruption: aDisruption([refuted]) })).steps;
    expect(rest).toEqual([]);
    expect(step).toMatchObject({
      kind: 'WriteStatus',
      status: { phase: 'Ended', message: 'the cloud does not confirm it: nothing was done' },
    });
  });

  it('that has ended is returned to service when its reason is lost', () => {
    const lost = confirmCause(yes(spot), { state: 'running' }, tPlus(300));
    const status = {
      episode: 1,
      phase: 'Ended' as const,
      outcome: 'Drained' as const,
      followUp: 'Release' as const,
      handledCauses: [lost.id],
      node: { name: 'n1', uid: 'uid-n1' },
      ownedMarks: { excludeLabel: true, unschedulable: true, taint: false, annotation: false },
    };
    const disruption = aDisruption([lost], status);
    const plan = decideDisruption(observe({ disruption, node: aMarkedNode(), now: tPlus(300) }));
    expect(plan.steps).toMatchObject([{ kind: 'WriteStatus', status: { phase: 'Undoing' } }]);
  });
});

describe('the cloud is asked again', () => {
  it.each([
    [0, 1_000],
    [1_500, 2_000],
    [4_000, 5_000],
    [60_000, 10_000],
  ])('about an unconfirmed cause %i ms old after %i ms', (age, wait) => {
    const now = epochMs(tPlus(0) + age);
    expect(nextLookAt(hook, now)).toBe(now + wait);
  });
  it('about a spot notice when its two minutes and one more have passed', () => {
    expect(nextLookAt(yes(spot), tPlus(10))).toBe(tPlus(180));
  });
  it('never about what people asked for', () => {
    expect(nextLookAt(aManualCause(), tPlus(0))).toBeUndefined();
  });
});
