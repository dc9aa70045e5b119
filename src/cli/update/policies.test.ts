// The flags of an update's policies only.
import { describe, expect, it } from 'vitest';
import { type PolicyFlags, policiesAsked } from './policies.ts';

describe('the flags of policies', () => {
  it.each<readonly [PolicyFlags, ReturnType<typeof policiesAsked>]>([
    [{}, undefined],
    [{ onTimeout: 'skip' }, { drain: { onTimeout: 'Skip' } }],
    [
      { drainTimeout: '5m', cooldown: '0s' },
      { drain: { timeoutSeconds: 300, cooldownSeconds: 0 } },
    ],
    [
      { onTimeout: 'Force', forceAfter: '90s' },
      { drain: { onTimeout: 'Force', forceAfterSeconds: 90 } },
    ],
    [
      { onTimeout: 'Quarantine', maxQuarantined: '2' },
      { drain: { onTimeout: 'Quarantine' }, maxQuarantined: 2 },
    ],
    [
      { onShortage: 'minimal', shortageWait: '1m' },
      { capacity: { onShortage: 'Minimal', waitSeconds: 60 } },
    ],
    [{ autoRollback: true }, { rollback: { auto: true } }],
    [{ autoRollback: '2' }, { rollback: { auto: true, failedNewNodes: 2 } }],
  ])('%j become %j', (flags, policies) => {
    expect(policiesAsked(flags)).toEqual(policies);
  });

  it.each<readonly [PolicyFlags, RegExp]>([
    [{ onTimeout: 'Ignore' }, /--on-timeout takes one of Fail, Skip, Quarantine, Force, Pause/],
    [{ drainTimeout: '5' }, /--drain-timeout takes a duration/],
    [{ drainTimeout: '0s' }, /--drain-timeout takes 1s to 2d, not 0s/],
    [{ drainTimeout: '49h' }, /--drain-timeout takes 1s to 2d, not 49h/],
    [{ cooldown: '61m' }, /--cooldown takes 0s to 1h, not 61m/],
    [{ soak: '8d' }, /--soak takes 0s to 7d, not 8d/],
    [{ shortageWait: '3d' }, /--shortage-wait takes 0s to 2d, not 3d/],
    [{ forceAfter: '5m' }, /--force-after goes with --on-timeout Force/],
    [{ onTimeout: 'Skip', maxQuarantined: '1' }, /goes with --on-timeout Quarantine/],
    [{ onTimeout: 'Quarantine', maxQuarantined: '21' }, /from 1 to 20, not 21/],
    [{ onShortage: 'None' }, /--on-shortage takes one of Elsewhere, Minimal, Fail/],
    [{ autoRollback: 'two' }, /--auto-rollback takes a number/],
  ])('%j are refused', (flags, message) => {
    expect(() => policiesAsked(flags)).toThrow(message);
  });
});
