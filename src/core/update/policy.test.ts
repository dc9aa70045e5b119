// Precedence of policies: the update's, then the group's, then EKS' values. EKS' strategies use
// EKS' values only.
import { describe, expect, it } from 'vitest';
import { policiesOf } from './policy.ts';

const eks = {
  onTimeout: 'Fail',
  drainTimeoutMs: 900_000,
  forceAfterMs: 0,
  cooldownSeconds: 60,
  maxQuarantined: 1,
  onShortage: 'Elsewhere',
  shortageWaitMs: 300_000,
};

const updateConfig = {
  drain: { timeoutSeconds: 60, cooldownSeconds: 5, onTimeout: 'Quarantine' },
  maxQuarantined: 3,
  rollback: { auto: true, failedNewNodes: 2 },
} as const;
const own = {
  ...eks,
  onTimeout: 'Quarantine',
  drainTimeoutMs: 60_000,
  cooldownSeconds: 5,
  maxQuarantined: 3,
  failedNewNodes: 2,
};

describe('the policies of an update', () => {
  it.each([
    ['nothing is said', {}, {}, 'SURGE', eks],
    ['the group says', { updateConfig }, {}, 'SURGE', own],
    ['EKS’ strategy', { updateConfig }, {}, 'DEFAULT', eks],
    [
      'EKS’ strategy and the group’s drain',
      { drain: { timeoutSeconds: 30 } },
      {},
      'MINIMAL',
      { ...eks, drainTimeoutMs: 30_000 },
    ],
    [
      'EKS’ strategy with force',
      { updateConfig },
      { force: true },
      'DEFAULT',
      { ...eks, onTimeout: 'Force' },
    ],
    [
      'the update says more',
      { updateConfig },
      { policies: { drain: { onTimeout: 'Force', forceAfterSeconds: 7 } } },
      'SURGE',
      { ...own, onTimeout: 'Force', forceAfterMs: 7_000 },
    ],
    [
      'with force at once, whatever is said',
      { updateConfig: { drain: { onTimeout: 'Force', forceAfterSeconds: 7 } } },
      { force: true },
      'SURGE',
      { ...eks, onTimeout: 'Force' },
    ],
  ] as const)('%s', (_, group, update, strategy, policies) => {
    expect(policiesOf(group, update, strategy)).toEqual(policies);
  });

  it('of blue/green have no quarantine, that its group may be told while it runs', () => {
    expect(policiesOf({ updateConfig }, {}, 'BLUE_GREEN').onTimeout).toBe('Fail');
    expect(policiesOf({ updateConfig }, { force: true }, 'BLUE_GREEN').onTimeout).toBe('Force');
  });

  it('of a rollback have no way back', () => {
    const policies = policiesOf({ updateConfig }, { action: 'Rollback' }, 'SURGE');
    expect(policies.failedNewNodes).toBeUndefined();
  });
});
