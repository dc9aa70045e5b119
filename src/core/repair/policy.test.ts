// The table of accelerator reasons and their actions: XIDs as EKS' guide lists them.
import { describe, expect, it } from 'vitest';
import { aRepairGroup, atMinute } from '../../../test/builders/core-repair.ts';
import { repairRuleOf } from './index.ts';

const actionsOf = (reason: string): readonly string[] => {
  const condition = 'AcceleratedHardwareReady';
  const finding = { condition, reason, status: 'False', since: atMinute(0) } as const;
  return repairRuleOf(aRepairGroup(), finding).actions;
};

describe('an accelerator', () => {
  it.each([13, 31, 48, 63, 64, 94, 95])('with XID %i is rebooted, then replaced', (xid) => {
    expect(actionsOf(`NvidiaXID${xid}Error`)).toEqual(['Reboot', 'Replace']);
  });
  it.each([74, 79, 119, 120, 121, 140])('with XID %i is replaced', (xid) => {
    expect(actionsOf(`NvidiaXID${xid}Error`)).toEqual(['Replace']);
  });
  it.each([
    ['NvidiaDoubleBitError', ['Replace']],
    ['NeuronDMAError', ['Replace']],
    ['NvidiaXID1234Error', ['Replace']],
    ['NvidiaXIDError', ['Replace']],
    ['DCGMError', []],
    ['DCGMDiagnosticFailure', []],
    ['DCGMHealthCode12', []],
  ])('with %s has the actions %j', (reason, actions) => {
    expect(actionsOf(reason)).toEqual(actions);
  });
});
