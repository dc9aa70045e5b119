import { describe, expect, it } from 'vitest';
import {
  aDisruption,
  aGroup,
  aHook,
  aHookCause,
  aManualCause,
  confirmedByCloud,
  observe,
  timePlus,
  tPlus,
} from '../../../test/builders/core-termination.ts';
import type { DisruptionCause } from '../../api/disruption.ts';
import { causesInForce, demandOf } from './causes.ts';

const untimedSpot: DisruptionCause = {
  kind: 'SpotInterruption',
  ...confirmedByCloud,
  id: 'spot/1',
  receivedAt: timePlus(60),
  onDeadline: 'force',
  followUp: 'Release',
};
const spot: DisruptionCause = { ...untimedSpot, deadline: timePlus(170) };
const update: DisruptionCause = {
  kind: 'Update',
  id: 'update/1',
  receivedAt: timePlus(0),
  onDeadline: 'fail',
  followUp: 'Replace',
};
const failing = aHookCause({ onDeadline: 'fail' });
const retiring: DisruptionCause = {
  kind: 'Maintenance',
  ...confirmedByCloud,
  id: 'maintenance/1',
  receivedAt: timePlus(0),
  deadline: timePlus(14 * 86_400),
  onDeadline: 'force',
  followUp: 'Replace',
};
const shortHook = aHook({ heartbeatTimeoutSeconds: 30, globalTimeoutSeconds: 300 });
const { token: _token, ...withoutToken } = aHook({ startedAt: timePlus(30) });
const manual = (deadline: number) => aManualCause({ deadline: timePlus(deadline) });

const demand = (causes: readonly DisruptionCause[], group?: ReturnType<typeof aGroup>) =>
  demandOf(observe({ disruption: aDisruption(causes), group }));

describe('the deadline of merged causes', () => {
  type Row = readonly [string, readonly DisruptionCause[], number | undefined, 'force' | 'fail'];
  const rows: readonly Row[] = [
    ['a hook: 15 minutes, as EKS waits', [aHookCause()], 900, 'force'],
    ['a hook with an earlier deadline', [aHookCause({ deadline: timePlus(60) })], 60, 'force'],
    [
      'a hook that ends sooner: a tenth of it is margin',
      [aHookCause({ hook: shortHook })],
      270,
      'force',
    ],
    ['a hook that must not force: its end less a minute', [failing], 172_740, 'fail'],
    ['a manual drain has none', [aManualCause()], undefined, 'fail'],
    ['a manual drain with its own', [manual(50)], 50, 'fail'],
    ['a spot notice', [spot], 170, 'force'],
    ['a spot notice that names no time', [untimedSpot], 180, 'force'],
    ['an update: 15 minutes', [update], 900, 'fail'],
    ['the earliest of those that force', [aHookCause(), spot], 170, 'force'],
    ['one that fails earlier does not force', [aHookCause(), manual(50)], 900, 'force'],
    ['only failing ones: the last to give up', [manual(50), update], 900, 'fail'],
    ['one of the failing ones has all the time', [aManualCause(), update], undefined, 'fail'],
    ['one that forces before a hook that must not', [failing, spot], 170, 'force'],
    ['one that forces only after such a hook has ended', [failing, retiring], 172_740, 'fail'],
    ['a hook bounds a drain without deadline', [aManualCause(), failing], 172_740, 'fail'],
  ];
  it.each(rows)('%s', (_name, causes, deadline, onDeadline) => {
    const merged = demand(causes);
    expect(merged.deadline).toBe(deadline === undefined ? undefined : tPlus(deadline));
    expect(merged.onDeadline).toBe(onDeadline);
  });

  it('is what was recorded, whatever the group’s drain policy says by now', () => {
    for (const timeoutSeconds of [120, 7200]) {
      const group = aGroup({ timeoutSeconds, onDeadline: 'force' });
      expect(demand([aHookCause()], group).deadline).toBe(tPlus(900));
      const kept = demand([failing], group);
      expect([kept.onDeadline, kept.deadline]).toEqual(['fail', tPlus(172_740)]);
    }
    expect(demand([aHookCause()], aGroup({ onDeadline: 'fail' })).onDeadline).toBe('force');
  });
  it('follows the group’s drain policy where none was recorded', () => {
    const { deadline: _none, ...open } = aHookCause();
    expect(demand([open], aGroup({ timeoutSeconds: 120 })).deadline).toBe(tPlus(120));
    expect(demand([open], aGroup({ timeoutSeconds: 7200 })).deadline).toBe(tPlus(7200));
  });
  it('leaves 5 s instead of 10 s when it is a spot notice that presses', () => {
    expect(demand([aHookCause(), spot]).safetyMs).toBe(5_000);
    const late = { ...spot, deadline: timePlus(2000) };
    expect(demand([aHookCause(), late]).safetyMs).toBe(10_000);
  });
});

describe('the follow-up of merged causes', () => {
  it.each([
    [['Release', 'Replace'], 'Replace'],
    [['Terminate', 'Replace', 'Reboot'], 'Terminate'],
    [['Release', 'Reboot'], 'Reboot'],
    [['Release'], 'Release'],
  ] as const)('%j: %s', (each, strongest) => {
    const causes = each.map((followUp, i) => aManualCause({ id: `m${i}`, followUp }));
    expect(demand(causes).followUp).toBe(strongest);
  });
});

describe('the hooks of merged causes', () => {
  it('are each there once, with the earliest start and whoever’s token', () => {
    const polled = aHookCause({
      id: 'hook/asg-1/Terminate-LC-Hook/polled',
      hook: withoutToken,
    });
    const second = aHookCause({
      id: 'second',
      hook: aHook({ name: 'ours-too', token: 'token-2' }),
    });
    const { hooks } = demand([polled, aHookCause(), second]);
    expect(hooks.map(({ ref }) => [ref.name, ref.token, ref.startedAt])).toEqual([
      ['Terminate-LC-Hook', 'token-1', timePlus(0)],
      ['ours-too', 'token-2', timePlus(0)],
    ]);
  });
  it('end after 48 h, the global timeout or 100 heartbeats', () => {
    const ends = (heartbeatTimeoutSeconds: number, globalTimeoutSeconds: number) =>
      demand([aHookCause({ hook: aHook({ heartbeatTimeoutSeconds, globalTimeoutSeconds }) })])
        .hooks[0]?.status.endsAt;
    expect(ends(1800, 172_800)).toBe(timePlus(172_800));
    expect(ends(30, 172_800)).toBe(timePlus(3_000));
    expect(ends(1800, 600)).toBe(timePlus(600));
    expect(ends(7200, 999_999)).toBe(timePlus(172_800));
  });
});

describe('causes in force', () => {
  it('are neither withdrawn nor dealt with in an earlier episode', () => {
    const polledId = 'hook/asg-1/Terminate-LC-Hook/polled';
    const status = { episode: 1, phase: 'Ended' as const, handledCauses: ['old', polledId] };
    const causes = [
      aManualCause({ id: 'old' }),
      aManualCause({ id: 'withdrawn', cancelledAt: timePlus(1) }),
      // Found by polling and handled; its message arrived later and added the token.
      aHookCause(),
      aManualCause({ id: 'new' }),
    ];
    expect(causesInForce(aDisruption(causes, status)).map(({ id }) => id)).toEqual(['new']);
  });
});
