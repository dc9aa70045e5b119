// A repair that has started: intent before cause, one action at a time, verification of its effect.
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
import type { DisruptionCause, NodeDisruptionStatus } from '../../api/disruption.ts';
import type { NodeRepairStatus, RepairAction } from '../../api/node-repair.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import { decideRepairs, type RepairMember, type RepairStep } from './index.ts';

const causeId = `repair/${idOf(1)}-1/1/${timeAt(30)}`;
const status = (
  phase: NodeRepairStatus['phase'],
  action: RepairAction = 'Replace',
  more: object = {},
): NodeRepairStatus => ({
  phase,
  action,
  attempts: [{ action, causeId, startedAt: timeAt(30), bootId: 'boot-1', ...more }],
});

const theCause = (more: Partial<DisruptionCause> = {}): DisruptionCause => ({
  kind: 'Repair',
  id: causeId,
  receivedAt: timeAt(30),
  onDeadline: 'force',
  followUp: 'Replace',
  ...more,
});

const served: NodeDisruptionStatus = {
  episode: 1,
  phase: 'Ended',
  outcome: 'Drained',
  message: 'empty',
  handledCauses: [causeId],
};

const decide = (
  m: number,
  repair: NodeRepairStatus,
  more: {
    readonly ill?: RepairMember | undefined;
    readonly cause?: DisruptionCause;
    readonly disruption?: NodeDisruptionStatus;
    readonly others?: readonly RepairMember[];
    readonly desired?: number;
    readonly group?: NodeGroup;
  } = {},
) => {
  const ill = 'ill' in more ? more.ill : aMember(1, m, { conditions: [bad(0)], bootId: 'boot-1' });
  const others = more.others ?? healthyMembers(2, 3, m);
  const members = [...(ill === undefined ? [] : [ill]), ...others];
  const plain = aDisruption(more.cause === undefined ? [] : [more.cause], more.disruption);
  const disruption = { ...plain, metadata: { ...plain.metadata, name: idOf(1) } };
  return decideRepairs(
    aRepairObservation(m, members, {
      repairs: [aRepair(1, 0, repair)],
      disruptions: more.cause === undefined ? new Map() : new Map([[idOf(1), disruption]]),
      desired: more.desired ?? 3,
      ...(more.group === undefined ? {} : { group: more.group }),
    }),
  );
};
const kinds = (steps: readonly RepairStep[]): readonly string[] => steps.map(({ kind }) => kind);

describe('a repair that has started', () => {
  it('is written down before its cause is recorded, in a pass of its own', () => {
    const first = decide(30, { phase: 'Waiting' });
    expect(kinds(first.steps)).toEqual(['WriteRepair']);
    expect(outlookOf(first, 1)?.status).toMatchObject({
      phase: 'Repairing',
      attempts: [{ action: 'Replace', causeId, bootId: 'boot-1' }],
    });
    const second = decide(30, status('Repairing'));
    expect(second.steps).toMatchObject([
      { kind: 'RecordCause', instanceId: idOf(1), cause: { id: causeId, followUp: 'Replace' } },
    ]);
  });

  it('is not served by what was done for a deleted NodeRepair of the same name', () => {
    const started = (m: number, more: Parameters<typeof decide>[2]) =>
      outlookOf(decide(m, { phase: 'Waiting' }, more), 1)?.status;
    const id = started(30, {})?.attempts?.[0]?.causeId ?? '';
    const before = { cause: theCause({ id }), disruption: { ...served, handledCauses: [id] } };
    const again = started(90, before);
    expect(again?.phase).toBe('Repairing');
    expect(kinds(decide(90, again ?? { phase: 'Waiting' }, before).steps)).toEqual(['RecordCause']);
  });

  it('gives a dead kubelet two minutes, and a living one the drain of its group', () => {
    const deadline = (ill: RepairMember) => {
      const [step] = decide(30, status('Repairing'), { ill }).steps;
      return step?.kind === 'RecordCause' ? step.cause.deadline : 'no step';
    };
    expect(deadline(aMember(1, 30, { conditions: [bad(0)] }))).toBe(timeAt(32));
    const kernel = bad(0, { type: 'KernelReady', status: 'False', reason: 'KernelBug' });
    expect(deadline(aMember(1, 30, { conditions: [kernel] }))).toBeUndefined();
  });

  it('does nothing more while the node is drained', () => {
    const drained = { ...served, phase: 'Draining', handledCauses: [] } as const;
    expect(
      decide(31, status('Repairing'), { cause: theCause(), disruption: drained }).steps,
    ).toEqual([]);
  });

  it('is taken back when the node is healthy for three minutes before its end', () => {
    const draining = { ...served, phase: 'Draining', handledCauses: [] } as const;
    const back = (m: number, disruption: NodeDisruptionStatus) => {
      const ready = bad(30, { status: 'True', reason: 'KubeletReady' });
      const ill = aMember(1, m, { conditions: [ready] });
      return kinds(decide(m, status('Repairing'), { ill, cause: theCause(), disruption }).steps);
    };
    expect(back(32, draining)).toEqual([]);
    expect(back(33, draining)).toEqual(['WithdrawCause']);
    expect(back(33, { ...draining, phase: 'Completing' })).toEqual([]);
  });

  it('is cancelled when its cause was withdrawn', () => {
    const cause = theCause({ cancelledAt: timeAt(31) });
    const plan = decide(32, status('Repairing'), { cause, disruption: served });
    expect(outlookOf(plan, 1)?.status.phase).toBe('Cancelled');
  });

  it('is proven by a healthy node that is younger than it', () => {
    const verify = status('Verifying', 'Replace', { endedAt: timeAt(31) });
    const gone = { ill: undefined, cause: theCause(), disruption: served };
    const phase = (m: number, others: readonly RepairMember[]) =>
      outlookOf(decide(m, verify, { ...gone, others }), 1)?.status;
    const old = healthyMembers(2, 3, 35);
    expect(phase(35, old)?.phase).toBe('Verifying');
    const fresh = aMember(9, 35, { created: 33 });
    expect(phase(35, [...old, fresh])).toMatchObject({
      phase: 'Succeeded',
      replacement: idOf(9),
      attempts: [{ outcome: 'Succeeded' }],
    });
    const starting = aMember(9, 35, {
      created: 33,
      conditions: [bad(33, { status: 'False', reason: 'KubeletNotReady' })],
    });
    expect(phase(35, [...old, starting])?.phase).toBe('Verifying');
    expect(phase(51, healthyMembers(2, 3, 51))?.phase).toBe('Failed');
  });

  it('is not proven by a node that another repair counts as its own', () => {
    const verify = status('Verifying', 'Replace', { endedAt: timeAt(31) });
    const fresh = aMember(9, 35, { created: 33 });
    const other = aRepair(8, 0, { phase: 'Succeeded', replacement: idOf(9), endedAt: timeAt(34) });
    const plan = decideRepairs(
      aRepairObservation(35, [...healthyMembers(2, 2, 35), fresh], {
        repairs: [aRepair(1, 0, verify), other],
        desired: 3,
      }),
    );
    expect(outlookOf(plan, 1)?.status.phase).toBe('Verifying');
  });

  it('is not proven by a node that another repair counts in the same pass', () => {
    const verify = status('Verifying', 'Replace', { endedAt: timeAt(31) });
    const fresh = aMember(9, 35, { created: 33 });
    const plan = decideRepairs(
      aRepairObservation(35, [...healthyMembers(3, 3, 35), fresh], {
        repairs: [aRepair(1, 0, verify), aRepair(2, 0, verify)],
        desired: 3,
      }),
    );
    expect(outlookOf(plan, 1)?.status).toMatchObject({ replacement: idOf(9) });
    expect(outlookOf(plan, 2)?.status.phase).toBe('Verifying');
  });

  it('of a group that needs fewer nodes by then has succeeded, too', () => {
    const verify = status('Verifying', 'Replace', { endedAt: timeAt(31) });
    const plan = decide(35, verify, {
      ill: undefined,
      cause: theCause(),
      disruption: served,
      desired: 2,
    });
    expect(outlookOf(plan, 1)?.status.phase).toBe('Succeeded');
  });
});

describe('a reboot', () => {
  const verify = status('Verifying', 'Reboot', { endedAt: timeAt(31) });
  const look = (m: number, bootId: string, more: Partial<DisruptionCause> = {}) => {
    const ready = bad(33, { status: 'True', reason: 'KubeletReady' });
    const ill = aMember(1, m, { conditions: [ready], bootId });
    return decide(m, verify, {
      ill,
      cause: theCause({ followUp: 'Reboot', ...more }),
      disruption: served,
    });
  };
  it('has helped once the boot id differs and the node is healthy for three minutes', () => {
    expect(kinds(look(35, 'boot-2').steps)).toEqual([]);
    expect(kinds(look(36, 'boot-2').steps)).toEqual(['WithdrawCause']);
    const done = look(37, 'boot-2', { cancelledAt: timeAt(36) });
    expect(outlookOf(done, 1)?.status.phase).toBe('Succeeded');
  });
  it('that changes no boot id has not happened: the node is replaced, once', () => {
    expect(kinds(look(40, 'boot-1').steps)).toEqual([]);
    const failed = outlookOf(look(41, 'boot-1'), 1)?.status;
    expect(failed).toMatchObject({
      phase: 'Repairing',
      action: 'Replace',
      attempts: [
        { action: 'Reboot', outcome: 'Failed', message: 'the boot id did not change' },
        { action: 'Replace', causeId: `repair/${idOf(1)}-1/2/${timeAt(41)}` },
      ],
    });
  });
});

describe('a hold that comes after the start', () => {
  const verify = status('Verifying', 'Reboot', { endedAt: timeAt(31) });
  const annotated = (annotations: Readonly<Record<string, string>>): NodeGroup => {
    const group = aRepairGroup();
    return { ...group, metadata: { ...group.metadata, annotations } };
  };
  const failed = (
    more: {
      readonly annotations?: Readonly<Record<string, string>>;
      readonly group?: NodeGroup;
      readonly repair?: NodeRepairStatus;
    } = {},
  ) => {
    const { annotations = {}, group = aRepairGroup(), repair = verify } = more;
    const ill = aMember(1, 60, { conditions: [bad(0)], bootId: 'boot-1', annotations });
    const cause = theCause({ followUp: 'Reboot' });
    const plan = decide(60, repair, { ill, cause, disruption: served, group });
    return outlookOf(plan, 1)?.status;
  };
  const none = { phase: 'Verifying', attempts: [{ action: 'Reboot' }] };

  it.each([
    ['the node is held', { annotations: { 'drover.dev/repair': 'hold' } }, ['hold']],
    ['the node is preserved', { annotations: { 'drover.dev/preserve': 'now' } }, ['preserve']],
    ['the group is held', { group: annotated({ 'drover.dev/repair': 'hold' }) }, ['hold']],
  ])('keeps Replace from following a reboot: %s', (_, more, kinds) => {
    const waiting = failed(more);
    expect(waiting).toMatchObject(none);
    expect(waiting?.attempts).toHaveLength(1);
    expect(waiting?.blockedBy?.map(({ kind }) => kind)).toEqual(kinds);
    expect(waiting?.message).toMatch(/^the boot id did not change; Replace waits: annotation/);
    expect(failed({ ...more, repair: waiting ?? verify })).toEqual(waiting);
    const after = failed({ repair: waiting ?? verify });
    expect(after).toMatchObject({ phase: 'Repairing', action: 'Replace' });
    expect(after?.attempts).toHaveLength(2);
    expect(after?.blockedBy).toBeUndefined();
  });

  it('keeps Replace from following a reboot whose drain failed', () => {
    const annotations = { 'drover.dev/repair': 'hold' };
    const ill = aMember(1, 60, { conditions: [bad(0)], bootId: 'boot-1', annotations });
    const cause = theCause({ followUp: 'Reboot' });
    const disruption = { ...served, outcome: 'Failed' as const };
    const plan = decide(60, status('Repairing', 'Reboot'), { ill, cause, disruption });
    expect(outlookOf(plan, 1)?.status).toMatchObject({
      phase: 'Repairing',
      message: expect.stringMatching(/; Replace waits: annotation drover.dev.repair=hold/),
    });
    expect(outlookOf(plan, 1)?.status.attempts).toHaveLength(1);
  });

  it.each([
    ['Off', { nodeRepairConfig: { enabled: false } }],
    ['Audit', { nodeRepair: { mode: 'Audit' } }],
  ] as const)('is none, and ends the repair, in mode %s', (mode, spec) => {
    const over = failed({ group: aRepairGroup(spec) });
    expect(over).toMatchObject({ phase: 'Failed', attempts: [{ outcome: 'Failed' }] });
    expect(over?.attempts).toHaveLength(1);
    expect(over?.message).toContain(`Replace does not follow in mode ${mode}`);
  });

  it('keeps the cause of a decided act from being recorded', () => {
    const annotations = { 'drover.dev/repair': 'hold' };
    const ill = aMember(1, 30, { conditions: [bad(0)], annotations });
    const held = decide(30, status('Repairing'), { ill });
    expect(kinds(held.steps)).toEqual(['WriteRepair']);
    const waiting = outlookOf(held, 1)?.status;
    expect(waiting).toMatchObject({ phase: 'Repairing', blockedBy: [{ kind: 'hold' }] });
    const after = decide(31, waiting ?? status('Repairing'));
    expect(kinds(after.steps)).toEqual(['WriteRepair', 'RecordCause']);
    expect(outlookOf(after, 1)?.status.blockedBy).toBeUndefined();
  });
});
