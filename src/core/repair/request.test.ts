// A manual repair: what it skips, what refuses it, what an operator may override, and what the
// controller does then.
import { describe, expect, it } from 'vitest';
import {
  aMember,
  aRepair,
  aRepairGroup,
  aRepairObservation,
  bad,
  healthyMembers,
  idOf,
  timeAt,
} from '../../../test/builders/core-repair.ts';
import { aDisruption, aManualCause } from '../../../test/builders/core-termination.ts';
import type { RepairRequest } from '../../api/node-repair.ts';
import {
  decideRepairs,
  decideRequest,
  type RepairMember,
  type RepairObservation,
} from './index.ts';

const request = (more: Partial<RepairRequest> = {}): RepairRequest => ({
  action: 'Replace',
  at: timeAt(5),
  by: 'ada',
  ...more,
});

/** The request for member 1 of three at minute 5. */
const decide = (
  more: Partial<RepairObservation> = {},
  requested = request(),
  member: RepairMember = aMember(1, 5),
  others = healthyMembers(2, 3, 5),
) => {
  const observation = aRepairObservation(5, [member, ...others], more);
  return decideRequest(observation, member, requested);
};

const verdict = (decision: ReturnType<typeof decideRequest>): string =>
  decision.kind === 'blocked'
    ? `${decision.blockedBy.map(({ kind }) => kind).join(',')} ${decision.isOverrulable}`
    : decision.kind;

describe('a repair by hand', () => {
  it('starts at once on a healthy node, drains it and replaces it', () => {
    const decision = decide();
    expect(decision).toMatchObject({
      kind: 'accepted',
      name: `${idOf(1)}-1`,
      write: { kind: 'create', spec: { condition: 'Operator', requested: { action: 'Replace' } } },
      steps: [
        { kind: 'WriteRepair', status: { phase: 'Repairing', message: 'Replace decided' } },
        {
          kind: 'RecordCause',
          instanceId: idOf(1),
          cause: { followUp: 'Replace', requestedBy: 'ada', onDeadline: 'force' },
        },
      ],
    });
  });

  it.each([
    ['off', aRepairGroup({ nodeRepairConfig: { enabled: false } })],
    ['audited', aRepairGroup({ nodeRepair: { mode: 'Audit' } })],
  ])('starts in a group whose own repair is %s', (_, group) => {
    expect(verdict(decide({ group }))).toBe('accepted');
  });

  it('takes over the episode that waits, and skips its wait', () => {
    const repairs = [aRepair(1, 0, { phase: 'Waiting' })];
    const ill = aMember(1, 5, { conditions: [bad(0)] });
    expect(decide({ repairs }, request({ action: 'Reboot' }), ill)).toMatchObject({
      kind: 'accepted',
      write: { kind: 'patch', name: `${idOf(1)}-1`, resourceVersion: '1' },
      steps: [{}, { kind: 'RecordCause', cause: { followUp: 'Reboot' } }],
    });
  });

  it('is refused while a repair of the instance runs', () => {
    const repairs = [aRepair(1, 0, { phase: 'Repairing' })];
    expect(verdict(decide({ repairs }))).toBe('underWay');
  });

  it.each([
    ['hold', aMember(1, 5, { annotations: { 'drover.dev/repair': 'hold' } }), {}],
    ['preserve', aMember(1, 5, { annotations: { 'drover.dev/preserve': 'now' } }), {}],
    [
      'draining',
      aMember(1, 5),
      {
        disruptions: new Map([
          [idOf(1), aDisruption([aManualCause()], { episode: 1, phase: 'Draining' })],
        ]),
      },
    ],
  ] as const)('is refused by %s, which nobody may overrule', (kind, member, more) => {
    expect(verdict(decide(more, request(), member))).toBe(`${kind} false`);
  });

  const silent = (n: number) => aMember(n, 5, { conditions: [bad(0)] });

  it('is refused by a breaker with its words, and starts when that is overruled', () => {
    const others = [silent(2), silent(3), ...healthyMembers(4, 10, 5)];
    const of = (requested: RepairRequest) => decide({}, requested, silent(1), others);
    expect(of(request())).toMatchObject({
      kind: 'blocked',
      isOverrulable: true,
      blockedBy: [
        { kind: 'controlPlane', message: expect.stringContaining('fell silent') },
        { kind: 'sameSignal' },
        { kind: 'groupUnhealthy', message: expect.stringContaining('repairs stop above 2') },
      ],
    });
    const most = ['controlPlane', 'sameSignal'] as const;
    expect(verdict(of(request({ overrule: most })))).toBe('groupUnhealthy true');
    const all = [...most, 'groupUnhealthy'] as const;
    expect(verdict(of(request({ overrule: all })))).toBe('accepted');
  });

  it('prints the request for logs and the cause after it, where the group asks for them', () => {
    const group = aRepairGroup({ nodeRepair: { collectBundle: true } });
    const kinds = (member?: RepairMember) => {
      const decision = decide({ group }, request(), member);
      return decision.kind === 'accepted' ? decision.steps.map(({ kind }) => kind) : decision;
    };
    expect(kinds()).toEqual(['WriteRepair', 'AskForBundle', 'RecordCause']);
    expect(kinds({ ...aMember(1, 5), node: undefined })).toEqual(['WriteRepair', 'RecordCause']);
  });

  it('quarantines a node, and refuses where it would have to be replaced instead', () => {
    const requested = request({ action: 'Quarantine' });
    expect(decide({}, requested)).toMatchObject({
      kind: 'accepted',
      steps: [
        { kind: 'WriteRepair', status: { message: 'Quarantine decided' } },
        { kind: 'RecordCause', cause: { followUp: 'Detach' } },
      ],
    });
    expect(decide({}, requested, silent(1))).toEqual({
      kind: 'impossible',
      message: expect.stringContaining('not quarantined: its kubelet is not Ready'),
    });
    const repairs = [aRepair(2, 0, { phase: 'Quarantined' })];
    expect(decide({ repairs }, requested)).toEqual({
      kind: 'impossible',
      message: expect.stringContaining('1 of 1 instances are in quarantine; Replace would'),
    });
  });

  it('quarantines no more nodes in one pass than maxInstances', () => {
    const group = aRepairGroup({
      updateConfig: { maxUnavailable: 3 },
      nodeRepairConfig: { maxParallelNodesRepairedCount: 3 },
    });
    const requested = request({ action: 'Quarantine' });
    const repairs = [1, 2].map((n) => {
      const repair = aRepair(n, 5);
      return { ...repair, spec: { ...repair.spec, requested } };
    });
    const plan = decideRepairs(aRepairObservation(5, healthyMembers(1, 8, 5), { group, repairs }));
    expect(plan.outlook.map(({ status }) => status)).toMatchObject([
      { phase: 'Repairing', message: 'Quarantine decided' },
      { phase: 'Cancelled', message: expect.stringContaining('1 of 1 instances') },
    ]);
  });

  it('does not take a place in the ledger that is taken', () => {
    const group = aRepairGroup({ updateConfig: { maxUnavailable: 1 } });
    const decision = decide({ group }, request(), aMember(1, 5), [silent(2), aMember(3, 5)]);
    expect(verdict(decision)).toBe('ledger false');
  });

  it('is not withdrawn because its node is healthy', () => {
    const decision = decide();
    if (decision.kind !== 'accepted') throw new Error(decision.kind);
    const [, record] = decision.steps;
    if (record?.kind !== 'RecordCause') throw new Error('no cause');
    const [first] = decision.steps;
    if (first?.kind !== 'WriteRepair') throw new Error('no attempt');
    const repair = {
      ...aRepair(1, 5, first.status),
      spec: { ...aRepair(1, 5).spec, requested: request() },
    };
    const members = [aMember(1, 30), ...healthyMembers(2, 3, 30)];
    const disruption = aDisruption([record.cause], { episode: 1, phase: 'Draining' });
    const later = aRepairObservation(30, members, {
      repairs: [repair],
      disruptions: new Map([[idOf(1), disruption]]),
    });
    expect(decideRepairs(later).steps).toEqual([]);
  });
});
