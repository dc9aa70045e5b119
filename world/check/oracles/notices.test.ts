// Canaries of the oracle about notices that the cloud denies.

import { describe, expect, it } from 'vitest';
import { defined } from '../../../src/api/defined.ts';
import { i1, i2, judge, kubectl, Story, us } from '../../../test/builders/world-check.ts';
import { notices } from './notices.ts';

interface Told {
  readonly kind?: string;
  readonly market?: 'spot' | 'on-demand';
  readonly state?: string;
  readonly window?: readonly [number, number];
  readonly others?: readonly { readonly kind: string; readonly cancelledAt?: number }[];
  readonly by?: string;
  /** The instance for which EC2 lists an event. */
  readonly scheduled?: string;
  readonly evictedAt?: number;
}

/** A node is drained for one notice that the journal records as confirmed. */
const drained = (told: Told) => {
  const { kind = 'SpotInterruption', market, state = 'InService', window, others = [] } = told;
  const story = new Story().state(i1, state);
  if (market !== undefined) {
    story.add({ kind: 'instance', at: story.micros, instanceId: i1, state: 'running', market });
  }
  if (told.scheduled !== undefined) {
    story.fault('system-reboot', 'on', { id: 'e1', instanceId: told.scheduled });
  }
  const more = others.map((cause, i) => ({ ...cause, id: `o${i}` }));
  const causes = [{ kind, ...defined({ window }) }, ...more];
  story.at(100).pod('web-1').draining(i1, { causes });
  return judge(notices, story.at(told.evictedAt ?? 101).evict('web-1', { by: told.by ?? us }));
};

describe('unconfirmed-notices-move-nothing', () => {
  it.each<[string, Told]>([
    ['a spot notice of an on-demand instance', { market: 'on-demand' }],
    [
      'a rebalance of an on-demand instance',
      { kind: 'RebalanceRecommendation', market: 'on-demand' },
    ],
    ['a hook while the instance is in service', { kind: 'LifecycleHook' }],
    ['maintenance that EC2 lists for another', { kind: 'Maintenance', scheduled: i2 }],
    [
      'maintenance a second before its window',
      { kind: 'Maintenance', scheduled: i2, window: [102, 900] },
    ],
    [
      'a second notice that is denied as well',
      { market: 'on-demand', others: [{ kind: 'LifecycleHook' }] },
    ],
    [
      'one beside a drain that was called off long ago',
      { market: 'on-demand', others: [{ kind: 'Manual', cancelledAt: 1 }], evictedAt: 103 },
    ],
  ])('reports %s', (_, told) => {
    const { said } = drained(told);
    expect(said).toHaveLength(1);
    expect(said[0]).toMatch(/^demo\/web-1: sent away for notices of i-0123/);
  });

  it('counts versions whose notices are all denied, and no others', () => {
    expect(drained({ market: 'on-demand' }).saw).toBe(2);
    expect(drained({ market: 'spot' }).saw).toBe(0);
  });

  it.each<[string, Told]>([
    ['a spot notice of a spot instance', { market: 'spot' }],
    ['a spot notice where the trace does not tell the market', {}],
    ['a hook of an instance that terminates', { kind: 'LifecycleHook', state: 'Terminating:Wait' }],
    ['maintenance that EC2 lists', { kind: 'Maintenance', scheduled: i1 }],
    ['maintenance in its window', { kind: 'Maintenance', scheduled: i2, window: [101, 900] }],
    ['maintenance where the trace lists no event', { kind: 'Maintenance' }],
    [
      'a manual drain that was called off a second ago',
      { market: 'on-demand', others: [{ kind: 'Manual', cancelledAt: 100 }] },
    ],
    ['a manual drain beside the notice', { market: 'on-demand', others: [{ kind: 'Manual' }] }],
    [
      'a true notice beside a forged one',
      {
        market: 'on-demand',
        state: 'Terminating:Wait',
        others: [{ kind: 'LifecycleHook' }],
      },
    ],
    ['an eviction of a person', { market: 'on-demand', by: kubectl }],
  ])('accepts %s', (_, told) => {
    expect(drained(told).said).toEqual([]);
  });
});
