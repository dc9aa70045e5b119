// Quarantine: when a node is detached instead of replaced, and when its instance ends.
import { describe, expect, it } from 'vitest';
import {
  aMember,
  aRepair,
  aRepairGroup,
  aRepairObservation,
  bad,
  healthyMembers,
  idOf,
  outlookOf,
  timeAt,
} from '../../../test/builders/core-repair.ts';
import { aDisruption } from '../../../test/builders/core-termination.ts';
import { defined } from '../../api/defined.ts';
import type { NodeDisruption } from '../../api/disruption.ts';
import type { NodeRepair, NodeRepairPolicy, NodeRepairStatus } from '../../api/node-repair.ts';
import { decideRepairs, type RepairMember } from './index.ts';

const policy: NodeRepairPolicy = {
  rules: [
    { condition: 'KernelReady', waitSeconds: 60, actions: ['Quarantine'] },
    { condition: 'Ready', waitSeconds: 60, actions: ['Quarantine'] },
  ],
  quarantine: { timeLimitSeconds: 3600 },
};
const kernel = bad(0, { type: 'KernelReady', status: 'False', reason: 'KernelBug' });
const causeId = `repair/${idOf(1)}-1/1/${timeAt(30)}`;

const decide = (
  m: number,
  repairs: readonly NodeRepair[],
  more: {
    readonly ill?: RepairMember;
    readonly nodeRepair?: NodeRepairPolicy;
    readonly disruption?: NodeDisruption;
    readonly deletedAt?: string;
    readonly deletionPolicy?: 'Delete' | 'Retain';
    readonly gone?: ReadonlySet<string>;
  } = {},
) => {
  const { ill, nodeRepair = policy, disruption, deletedAt, gone } = more;
  const { deletionPolicy = 'Delete' } = more;
  const group = aRepairGroup({ nodeRepair, deletionPolicy });
  const metadata = {
    ...group.metadata,
    ...(deletedAt === undefined ? {} : { deletionTimestamp: deletedAt }),
  };
  const members = [...(ill === undefined ? [] : [ill]), ...healthyMembers(2, 4, m)];
  return decideRepairs(
    aRepairObservation(m, members, {
      repairs,
      disruptions: disruption === undefined ? new Map() : new Map([[idOf(1), disruption]]),
      desired: 3,
      ...defined({ gone }),
      group: { ...group, metadata },
    }),
  );
};
const started = (...given: Parameters<typeof decide>): NodeRepairStatus | undefined =>
  outlookOf(decide(...given), 1)?.status;

const attempt = { action: 'Quarantine', causeId, startedAt: timeAt(30), endedAt: timeAt(31) };
const inQuarantine = (until: number): NodeRepairStatus => ({
  phase: 'Quarantined',
  attempts: [{ ...attempt, action: 'Quarantine', outcome: 'Succeeded' }],
  quarantinedUntil: timeAt(until),
});

describe('Quarantine', () => {
  it('is decided as its rule says, and its cause detaches the instance', () => {
    const ill = aMember(1, 30, { conditions: [kernel] });
    const status = started(30, [aRepair(1, 0, { phase: 'Waiting' })], { ill });
    expect(status).toMatchObject({ phase: 'Repairing', action: 'Quarantine' });
    const [step] = decide(30, [aRepair(1, 0, status)], { ill }).steps;
    expect(step).toMatchObject({ kind: 'RecordCause', cause: { followUp: 'Detach' } });
  });

  it.each([
    ['the kubelet is not Ready', { conditions: [bad(0)] }, [], /would run on/],
    [
      'another instance is in quarantine',
      { conditions: [kernel] },
      [aRepair(9, 0, inQuarantine(90))],
      /1 of 1 instances are in quarantine/,
    ],
  ])('is Replace where %s', (_when, more, others, why) => {
    const ill = aMember(1, 30, more);
    const status = started(30, [aRepair(1, 0, { phase: 'Waiting' }), ...others], { ill });
    expect(status).toMatchObject({ action: 'Replace', message: expect.stringMatching(why) });
  });

  it('begins when the replacement is healthy, and counts from the detachment', () => {
    const verifying = { phase: 'Verifying', attempts: [attempt], message: 'detached' } as const;
    const status = started(40, [aRepair(1, 0, verifying as unknown as NodeRepairStatus)]);
    expect(status).toMatchObject({ phase: 'Quarantined', quarantinedUntil: timeAt(91) });
    expect(status?.endedAt).toBeUndefined();
  });

  it('neither ends nor is repeated before its limit', () => {
    const plan = decide(60, [aRepair(1, 0, inQuarantine(91))]);
    expect(plan.steps).toEqual([]);
  });

  it.each([
    ['at its limit', 91, undefined],
    ['with its group', 60, timeAt(59)],
  ])('ends %s by a cause that terminates the detached instance', (_when, m, deletedAt) => {
    const more = deletedAt === undefined ? {} : { deletedAt };
    const [step] = decide(m, [aRepair(1, 0, inQuarantine(91))], more).steps;
    const cause = { id: `${causeId}/end`, followUp: 'Terminate', isDetached: true };
    expect(step).toMatchObject({ kind: 'RecordCause', instanceId: idOf(1), cause });
  });

  it.each([
    ['EC2 has terminated', { gone: new Set([idOf(1)]) }, 40, 'Succeeded'],
    ['is still in its group', { ill: aMember(1, 40, { conditions: [kernel] }) }, 90, 'Failed'],
  ])('does not begin with an instance that %s', (_what, more, m, phase) => {
    const verifying = { phase: 'Verifying', attempts: [attempt], message: 'detached' } as const;
    const repairs = [aRepair(1, 0, verifying as unknown as NodeRepairStatus)];
    const status = outlookOf(decide(m, repairs, more), 1)?.status;
    expect(status?.phase).toBe(phase);
    expect(status?.quarantinedUntil).toBeUndefined();
  });

  const released = { deletedAt: timeAt(59), deletionPolicy: 'Retain' } as const;
  const detach = {
    kind: 'Repair',
    id: causeId,
    receivedAt: timeAt(30),
    onDeadline: 'force',
    followUp: 'Detach',
  } as const;

  it('of a released group ends without a cause: the instance stays', () => {
    const disruption = aDisruption([detach], {
      episode: 1,
      phase: 'Ended',
      outcome: 'Drained',
      handledCauses: [causeId],
    });
    const { steps } = decide(95, [aRepair(1, 0, inQuarantine(91))], { ...released, disruption });
    expect(steps).toMatchObject([{ kind: 'WriteRepair', status: { phase: 'Cancelled' } }]);
  });

  it('withdraws its end, and a drain before it, when the group is released', () => {
    const end = { ...detach, id: `${causeId}/end`, followUp: 'Terminate' } as const;
    const handled = { episode: 2, phase: 'Draining', handledCauses: [causeId] } as const;
    const ending = { ...released, disruption: aDisruption([detach, end], handled) };
    expect(decide(95, [aRepair(1, 0, inQuarantine(91))], ending).steps).toMatchObject([
      { kind: 'WithdrawCause', causeId: end.id },
    ]);
    const { endedAt: _endedAt, ...begun } = attempt;
    const repairing = { phase: 'Repairing', attempts: [begun] } as unknown as NodeRepairStatus;
    const draining = { ...released, disruption: aDisruption([detach]) };
    expect(decide(60, [aRepair(1, 0, repairing)], draining).steps).toMatchObject([
      { kind: 'WithdrawCause', causeId },
    ]);
    const cancelled = aDisruption([{ ...detach, cancelledAt: timeAt(60) }]);
    const later = { ...released, disruption: cancelled };
    expect(decide(60, [aRepair(1, 0, repairing)], later).steps).toMatchObject([
      { kind: 'WriteRepair', status: { phase: 'Cancelled' } },
    ]);
  });

  it('is over once that cause is served', () => {
    const cause = { kind: 'Repair', id: `${causeId}/end`, receivedAt: timeAt(91) } as const;
    const disruption = aDisruption([{ ...cause, onDeadline: 'force', followUp: 'Terminate' }], {
      episode: 2,
      phase: 'Ended',
      outcome: 'Drained',
      handledCauses: [cause.id],
    });
    const status = started(92, [aRepair(1, 0, inQuarantine(91))], { disruption });
    expect(status).toMatchObject({ phase: 'Succeeded', endedAt: timeAt(92) });
  });
});
