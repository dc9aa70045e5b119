import { describe, expect, it } from 'vitest';
import { timePlus, tPlus } from '../../../test/builders/core-drain.ts';
import type { CauseKind, DisruptionCause } from '../../api/disruption.ts';
import type { DrainPolicy } from '../../api/drain-policy.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import { criticalLast } from '../drain/index.ts';
import { waitsOf } from './waits.ts';

const causeOf = (kind: CauseKind): DisruptionCause => ({
  kind,
  id: kind,
  receivedAt: timePlus(0),
  onDeadline: 'force',
  followUp: 'Terminate',
});

interface Given {
  readonly causes?: readonly CauseKind[];
  readonly deadline?: number;
  readonly drain?: DrainPolicy;
  readonly compat?: 'eks' | 'native';
  readonly heldUntil?: number;
}

const waits = ({ causes = ['Update'], deadline, drain, compat = 'eks', heldUntil }: Given) =>
  waitsOf({
    demand: {
      causes: causes.map(causeOf),
      ...(deadline === undefined ? {} : { deadline: tPlus(deadline) }),
    },
    status: {
      startedAt: timePlus(0),
      ...(heldUntil === undefined ? {} : { heldUntil: timePlus(heldUntil) }),
    },
    group: { spec: { drain } } as unknown as NodeGroup,
    compat,
  });

describe('waitsOf', () => {
  const drain = { doNotEvict: { waitSeconds: 100 }, jobs: { waitSeconds: 0 } };
  const rows: readonly [string, Given, number | undefined, number | undefined][] = [
    ['without a policy or deadline', { causes: ['Manual'] }, 600, 600],
    ['half of the time to the deadline', { deadline: 900 }, 450, 450],
    ['what the policy says', { drain, deadline: 900 }, 100, undefined],
    ['not longer than half, whatever the policy says', { drain, deadline: 60 }, 30, undefined],
    ['from the end of a hold', { drain, heldUntil: 40 }, 140, undefined],
    ['a terminate hook', { causes: ['LifecycleHook'], deadline: 900 }, 450, 450],
    ['a spot interruption', { causes: ['SpotInterruption'], deadline: 120 }, undefined, undefined],
    ['one that joins an update', { causes: ['Update', 'SpotInterruption'] }, undefined, undefined],
    ['a repair', { causes: ['Repair'] }, undefined, undefined],
    ['a deadline that has passed', { deadline: 0 }, undefined, undefined],
  ];
  it.each(rows)('%s', (_name, given, doNotEvict, jobs) => {
    const { doNotEvictUntil, jobsUntil } = waits(given);
    expect(doNotEvictUntil).toBe(doNotEvict && tPlus(doNotEvict));
    expect(jobsUntil).toBe(jobs && tPlus(jobs));
  });

  it('ends the waits of tiers after half of the time', () => {
    expect(waits({ deadline: 900 }).tiersUntil).toBe(tPlus(450));
    expect(waits({})).not.toHaveProperty('tiersUntil');
  });

  it('has tiers of its policy, sorted; else those of the marks', () => {
    const tiers = [{ priority: 10 }, { priority: -1, waitSeconds: 5 }];
    expect(waits({ drain: { tiers } }).tiers.map(({ priority }) => priority)).toEqual([-1, 10]);
    expect(waits({}).tiers).toEqual([]);
    expect(waits({ compat: 'native' }).tiers).toBe(criticalLast);
    expect(waits({ compat: 'native', drain: { tiers: [] } }).tiers).toEqual([]);
  });
});
