// When a node is repaired, and what prevents it: tables over the pure decision. Rows modelled on
// other systems' tests name them.
import { describe, expect, it } from 'vitest';
import {
  aMember,
  aRepair,
  aRepairGroup,
  aRepairObservation,
  atMinute,
  bad,
  healthyMembers,
  idOf,
  outlookOf,
  timeAt,
  verdictOf,
} from '../../../test/builders/core-repair.ts';
import { aDisruption, aManualCause } from '../../../test/builders/core-termination.ts';
import type { NodeRepair, NodeRepairStatus } from '../../api/node-repair.ts';
import type { NodeGroupSpec } from '../../api/nodegroup.ts';
import { healthOf } from '../health/index.ts';
import {
  decideRepairs,
  ineffectiveIssue,
  type RepairMember,
  type RepairObservation,
  repairObservation,
} from './index.ts';

const silent = (n: number, m: number, since = 0, more = {}) =>
  aMember(n, m, { conditions: [bad(since)], ...more });

/** One silent node since minute 0 among healthy ones, looked at in minute `m`. */
const oneOf = (size: number, m: number, more: Partial<RepairObservation> = {}) =>
  aRepairObservation(m, [silent(1, m), ...healthyMembers(2, size, m)], more);

const spec = (more: Partial<NodeGroupSpec>) => ({ group: aRepairGroup(more) });

describe('a wait', () => {
  it('opens an episode at once, and is 30 minutes from its start', () => {
    const plan = decideRepairs(oneOf(3, 0.5));
    expect(plan.steps).toMatchObject([
      { kind: 'OpenRepair', name: `${idOf(1)}-1`, spec: { unhealthySince: timeAt(0) } },
    ]);
    const repairs = [aRepair(1, 0)];
    expect(verdictOf(oneOf(3, 29.9, { repairs }), 1)).toBe('Waiting');
    expect(verdictOf(oneOf(3, 30, { repairs }), 1)).toBe('Repairing');
    expect(outlookOf(decideRepairs(oneOf(3, 5, { repairs })), 1)?.status.eligibleAt).toBe(
      timeAt(30),
    );
  });

  it('is looked at again exactly when it is over', () => {
    const { nextCheckAt } = decideRepairs(oneOf(3, 29.9, { repairs: [aRepair(1, 0)] }));
    expect(nextCheckAt).toBe(atMinute(30));
  });

  it('is 10 minutes for accelerators, and what an override or a rule says for its reason', () => {
    const gpu = (reason: string, m: number, more: Partial<NodeGroupSpec> = {}) => {
      const member = aMember(1, m, {
        conditions: [bad(0, { type: 'AcceleratedHardwareReady', status: 'False', reason })],
      });
      const all = [member, ...healthyMembers(2, 3, m)];
      const repairs = [aRepair(1, 0)];
      const { status } =
        outlookOf(decideRepairs(aRepairObservation(m, all, { repairs, ...spec(more) })), 1) ?? {};
      return `${status?.phase} ${status?.action ?? '-'}`;
    };
    expect(gpu('NvidiaXID79Error', 9)).toBe('Waiting Replace');
    expect(gpu('NvidiaXID79Error', 10)).toBe('Repairing Replace');
    expect(gpu('NvidiaXID94Error', 10)).toBe('Repairing Reboot');
    expect(gpu('DCGMDiagnosticFailure', 60)).toBe('Cancelled -');
    const nodeRepairConfigOverrides = [
      {
        nodeMonitoringCondition: 'AcceleratedHardwareReady',
        nodeUnhealthyReason: 'NvidiaXID79Error',
        minRepairWaitTimeMins: 45,
        repairAction: 'Reboot' as const,
      },
    ];
    const config = { enabled: true, nodeRepairConfigOverrides };
    expect(gpu('NvidiaXID79Error', 44, { nodeRepairConfig: config })).toBe('Waiting Reboot');
    expect(gpu('NvidiaXID79Error', 45, { nodeRepairConfig: config })).toBe('Repairing Reboot');
    expect(gpu('NvidiaXID74Error', 10, { nodeRepairConfig: config })).toBe('Repairing Replace');
    const rules = [
      { condition: 'AcceleratedHardwareReady', waitSeconds: 60 },
      { condition: 'AcceleratedHardwareReady', reason: 'NvidiaXID*', waitSeconds: 1200 },
    ];
    expect(gpu('NvidiaXID74Error', 19, { nodeRepair: { rules } })).toBe('Waiting Replace');
    expect(gpu('NvidiaFabricError', 2, { nodeRepair: { rules } })).toBe('Repairing Replace');
    expect(gpu('NvidiaXID79Error', 44, { nodeRepairConfig: config, nodeRepair: { rules } })).toBe(
      'Waiting Reboot',
    );
  });

  it('is not begun again by a flap, a second reason or a restart', () => {
    const findings = [{ condition: 'Ready', reason: 'NodeStatusUnknown', since: timeAt(0) }];
    const repairs = [aRepair(1, 0, { phase: 'Waiting', findings })];
    // NotReady again since minute 25, after one healthy minute, and for another reason.
    const conditions = [bad(25, { status: 'False', reason: 'KubeletNotReady' })];
    const again = (m: number) =>
      aRepairObservation(m, [aMember(1, m, { conditions }), ...healthyMembers(2, 3, m)], {
        repairs,
      });
    expect(verdictOf(again(29), 1)).toBe('Waiting');
    expect(verdictOf(again(30), 1)).toBe('Repairing');
  });

  it('of a deleted Node is begun again once the Node has been there meanwhile', () => {
    const deleted = { condition: 'NodeRegistered', reason: 'NodeDeleted', since: timeAt(0) };
    const repairs = [aRepair(1, 0, { phase: 'Waiting', findings: [deleted] })];
    // Registered again with another finding: the deletion is over, the episode is not.
    const conditions = [
      bad(1, { type: 'NetworkingReady', status: 'False', reason: 'IPAMDNotReady' }),
    ];
    const members = [aMember(1, 2, { conditions }), ...healthyMembers(2, 3, 2)];
    const status = outlookOf(decideRepairs(aRepairObservation(2, members, { repairs })), 1)?.status;
    expect(status?.findings).toMatchObject([{ condition: 'NetworkingReady' }]);
    const ready = [bad(1, { status: 'True', reason: 'KubeletReady' })];
    const back = [aMember(1, 2, { conditions: ready }), ...healthyMembers(2, 3, 2)];
    const well = outlookOf(decideRepairs(aRepairObservation(2, back, { repairs })), 1)?.status;
    expect(well).toMatchObject({ phase: 'Waiting', findings: [] });
  });

  it('of one condition does not shorten that of another', () => {
    const conditions = [
      bad(0, { type: 'KernelReady', status: 'False', reason: 'KernelBug' }),
      bad(15, { type: 'AcceleratedHardwareReady', status: 'False', reason: 'NvidiaXID79Error' }),
    ];
    const both = (m: number) =>
      aRepairObservation(m, [aMember(1, m, { conditions }), ...healthyMembers(2, 3, m)], {
        repairs: [aRepair(1, 0)],
      });
    expect(outlookOf(decideRepairs(both(16)), 1)?.status.eligibleAt).toBe(timeAt(25));
    expect(verdictOf(both(24), 1)).toBe('Waiting');
  });

  it('ends when the node is healthy for three minutes, and not before', () => {
    const conditions = [bad(20, { status: 'True', reason: 'KubeletReady' })];
    const good = (m: number) =>
      aRepairObservation(m, [aMember(1, m, { conditions }), ...healthyMembers(2, 3, m)], {
        repairs: [aRepair(1, 0)],
      });
    expect(verdictOf(good(22.9), 1)).toBe('Waiting');
    expect(verdictOf(good(23), 1)).toBe('Cancelled');
    expect(verdictOf(good(31), 1)).toBe('Cancelled');
  });

  it('is skipped by an operator who asks for the repair now', () => {
    const annotations = { 'drover.dev/repair': 'now' };
    const all = [silent(1, 2, 0, { annotations }), ...healthyMembers(2, 3, 2)];
    expect(verdictOf(aRepairObservation(2, all, { repairs: [aRepair(1, 0)] }), 1)).toBe(
      'Repairing',
    );
  });

  it('that an operator skips is over at the first look, however often it is looked at', () => {
    const annotations = { 'drover.dev/repair': 'now', 'drover.dev/preserve': 'now' };
    const look = (m: number, status?: NodeRepairStatus) => {
      const all = [silent(1, m, 0, { annotations }), ...healthyMembers(2, 3, m)];
      const repairs = [aRepair(1, 0, status)];
      return outlookOf(decideRepairs(aRepairObservation(m, all, { repairs })), 1)?.status;
    };
    const first = look(2);
    expect(first).toMatchObject({ phase: 'Blocked', eligibleAt: timeAt(2) });
    expect(look(5, first)).toEqual(first);
    expect(look(2, { phase: 'Waiting', eligibleAt: timeAt(30) })?.eligibleAt).toBe(timeAt(2));
  });
});

describe('a node is never repaired', () => {
  it('where node repair is off, and only audited in audit mode', () => {
    expect(verdictOf(oneOf(3, 40, spec({ nodeRepairConfig: { enabled: false } })), 1)).toBe('none');
    const { nodeRepairConfig: _none, ...rest } = aRepairGroup().spec;
    const plain = { ...aRepairGroup(), spec: rest };
    expect(verdictOf(oneOf(3, 40, { group: plain }), 1)).toBe('none');
    const audit = spec({ nodeRepair: { mode: 'Audit' } });
    const plan = decideRepairs(oneOf(3, 40, { repairs: [aRepair(1, 0)], ...audit }));
    expect(outlookOf(plan, 1)?.status).toMatchObject({ phase: 'WouldRepair', action: 'Replace' });
    expect(plan.steps.map(({ kind }) => kind)).toEqual(['WriteRepair']);
  });

  it('for pressure, or for a condition that no rule names', () => {
    const of = (type: string, status: 'True' | 'False') => {
      const conditions = [bad(0, { type, status, reason: 'r' })];
      const all = [aMember(1, 90, { conditions }), ...healthyMembers(2, 3, 90)];
      return verdictOf(aRepairObservation(90, all), 1);
    };
    expect(of('MemoryPressure', 'True')).toBe('none');
    expect(of('SomethingElse', 'False')).toBe('none');
    expect(of('NetworkingReady', 'False')).not.toBe('none');
  });

  it('while an operator, an update or another cause holds it', () => {
    const held = (annotations: Readonly<Record<string, string>>) => {
      const all = [silent(1, 40, 0, { annotations }), ...healthyMembers(2, 3, 40)];
      return verdictOf(aRepairObservation(40, all, { repairs: [aRepair(1, 0)] }), 1);
    };
    expect(held({ 'drover.dev/repair': 'hold' })).toBe('Blocked hold');
    expect(held({ 'drover.dev/preserve': 'now' })).toBe('Blocked preserve');
    expect(held({ 'drover.dev/preserve': 'when-failed' })).toBe('Blocked preserve');
    expect(held({ 'drover.dev/preserve': 'false' })).toBe('Repairing');
    const repairs = [aRepair(1, 0)];
    const drained = {
      ...aDisruption([aManualCause()]),
      metadata: { ...aDisruption().metadata, name: idOf(1) },
    };
    const disruptions = new Map([[idOf(1), drained]]);
    expect(verdictOf(oneOf(3, 40, { repairs, disruptions }), 1)).toBe('Blocked draining');
    // The other cause may terminate it: no episode is opened beside it.
    expect(verdictOf(oneOf(3, 40, { disruptions }), 1)).toBe('none');
  });
});

/** An instance of the group that has no Node object, as it is at minute `m`. */
const withoutNode = (n: number, m: number, more: object): RepairMember => ({
  instanceId: idOf(n),
  availabilityZone: 'eu-west-1a',
  node: undefined,
  health: healthOf({ node: undefined, now: atMinute(m), ...more }),
  isInService: false,
});

describe('breakers', () => {
  it('stop all repairs of a group during a zonal shift; running ones go on', () => {
    const group = aRepairGroup();
    const annotations = { 'drover.dev/zonal-shift': 'eu-west-1b' };
    const shifted = { group: { ...group, metadata: { ...group.metadata, annotations } } };
    const repairs = [aRepair(1, 0)];
    expect(verdictOf(oneOf(3, 40, { repairs, ...shifted }), 1)).toBe('Blocked zonalShift');
    const running = [aRepair(1, 0, { phase: 'Verifying', action: 'Replace' })];
    expect(verdictOf(oneOf(3, 40, { repairs: running, ...shifted }), 1)).toBe('Verifying');
  });

  it.each([
    ['one of two', 1, 2, { missedSince: atMinute(5) }, 'Repairing'],
    ['both of two', 2, 2, { missedSince: atMinute(5) }, 'Blocked sameSignal'],
    ['half of four', 2, 4, { missedSince: atMinute(5) }, 'Blocked sameSignal'],
    ['one of four', 1, 4, { missedSince: atMinute(5) }, 'Repairing'],
    [
      'two that a new process finds without',
      2,
      2,
      { launchedAt: atMinute(-90) },
      'Blocked sameSignal',
    ],
    ['one that never joined', 1, 2, { launchedAt: atMinute(-8) }, 'Repairing'],
    ['two new ones that never joined', 2, 2, { launchedAt: atMinute(-8) }, 'Repairing'],
  ] as const)('hold deleted Node objects: %s', (_, lost, size, facts, expected) => {
    const m = 8;
    const members = [
      ...Array.from({ length: lost }, (_one, index) => withoutNode(index + 1, m, facts)),
      ...healthyMembers(lost + 1, size, m),
    ];
    const repairs = [aRepair(1, 5)];
    expect(verdictOf(aRepairObservation(m, members, { repairs, cluster: [] }), 1)).toBe(expected);
  });

  /** Two of two members without a Node whose repairs were opened as NeverJoined at `opened`. */
  const neverJoined = (m: number, opened: number, more: Partial<NodeGroupSpec> = {}) => {
    const { startupTimeoutSeconds = 900 } = more.nodeRepair ?? {};
    const facts = { launchedAt: atMinute(0), startupTimeoutMs: startupTimeoutSeconds * 1000 };
    const members = [1, 2].map((n) => withoutNode(n, m, facts));
    const repairs = [1, 2].map((n) => {
      const repair = aRepair(n, opened);
      const since = { unhealthySince: timeAt(0), condition: 'NodeRegistered' };
      return { ...repair, spec: { ...repair.spec, ...since, reason: 'NeverJoined' } };
    });
    return aRepairObservation(m, members, { repairs, cluster: [], ...spec(more) });
  };

  it('do not count an instance that never joined as one that lost its Node, however old', () => {
    expect(verdictOf(neverJoined(90, 16), 1)).toBe('Repairing');
    const patient = { nodeRepair: { startupTimeoutSeconds: 7200 } };
    expect(verdictOf(neverJoined(150, 121, patient), 1)).toBe('Repairing');
    // A process that found it old cannot know.
    expect(verdictOf(neverJoined(90, 80), 1)).toBe('Blocked sameSignal');
    expect(verdictOf(neverJoined(90, 61), 1)).toBe('Blocked sameSignal');
  });

  it('are not needed for a Node that is registered again a minute after the first look', () => {
    const first = { ...neverJoined(40, 40), repairs: [] };
    expect(outlookOf(decideRepairs(first), 1)?.status).toMatchObject({
      phase: 'Waiting',
      eligibleAt: timeAt(41),
    });
    expect(verdictOf(neverJoined(40.9, 40), 1)).toBe('Waiting');
    expect(verdictOf(neverJoined(41, 40), 1)).toBe('Repairing');
  });

  /** `ill` of `size` nodes silent since minutes that are far apart, each eligible. */
  const some = (ill: number, size: number, more: Partial<NodeGroupSpec> = {}) => {
    const m = 400;
    const members = [
      ...Array.from({ length: ill }, (_, index) => silent(index + 1, m, index * 15)),
      ...healthyMembers(ill + 1, size, m),
    ];
    const repairs = Array.from({ length: ill }, (_, index) => aRepair(index + 1, index * 15));
    return aRepairObservation(m, members, { repairs, ...spec(more) });
  };
  it.each([
    // Karpenter's and Cluster API's rows.
    [3, 10, {}, 'Blocked groupUnhealthy'],
    [1, 3, {}, 'Repairing'],
    [2, 10, {}, 'Repairing'],
    [2, 6, {}, 'Blocked groupUnhealthy'],
    [1, 6, {}, 'Repairing'],
    // EKS: no percentage up to five nodes.
    [3, 5, {}, 'Repairing'],
    [4, 6, { maxUnhealthyNodeThresholdCount: 4 }, 'Repairing'],
    [5, 6, { maxUnhealthyNodeThresholdCount: 4 }, 'Blocked groupUnhealthy'],
    [2, 6, { maxUnhealthyNodeThresholdPercentage: 40 }, 'Repairing'],
    [3, 6, { maxUnhealthyNodeThresholdPercentage: 40 }, 'Blocked groupUnhealthy'],
    [4, 7, { maxUnhealthyNodeThresholdPercentage: 60 }, 'Repairing'],
    [1, 3, { maxUnhealthyNodeThresholdPercentage: 20 }, 'Repairing'],
  ])('of the group: %i of %i ill, %o: %s', (ill, size, config, expected) => {
    expect(verdictOf(some(ill, size, { nodeRepairConfig: { enabled: true, ...config } }), 1)).toBe(
      expected,
    );
  });

  it('let as many repairs run at once as asked for, else as an update may take', () => {
    const running = (more: Partial<NodeGroupSpec>) =>
      decideRepairs(some(4, 5, more)).outlook.filter(({ status }) => status.phase === 'Repairing')
        .length;
    expect(running({})).toBe(1);
    expect(running({ updateConfig: { maxUnavailable: 3 } })).toBe(3);
    const config = (more: object) => ({ nodeRepairConfig: { enabled: true, ...more } });
    expect(running(config({ maxParallelNodesRepairedCount: 2 }))).toBe(2);
    // The percentage refers to the unhealthy nodes whose findings are recorded.
    const half = some(4, 5, config({ maxParallelNodesRepairedPercentage: 50 }));
    const recordedIn = (count: number) =>
      half.repairs.map((repair, index) =>
        index < count ? { ...repair, status: { phase: 'Waiting' as const, findings: [] } } : repair,
      );
    const runningOf = (repairs: readonly NodeRepair[]) =>
      decideRepairs({ ...half, repairs }).outlook.filter(
        ({ status }) => status.phase === 'Repairing',
      ).length;
    expect(runningOf(recordedIn(4))).toBe(2);
    expect(runningOf(recordedIn(3))).toBe(1);
    expect(verdictOf(some(4, 5), 2)).toBe('Blocked parallel');
  });

  it('of a zone hold its nodes, and no others', () => {
    const m = 400;
    const of = (n: number, zone: string, since?: number) =>
      aMember(n, m, { zone, ...(since === undefined ? {} : { conditions: [bad(since)] }) });
    const members = [
      of(1, 'a', 0),
      of(2, 'a', 20),
      of(3, 'a'),
      ...[4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14].map((n) => of(n, 'b')),
      of(15, 'c', 40),
    ];
    const repairs = [aRepair(1, 0), aRepair(2, 20), aRepair(15, 40)];
    const observation = aRepairObservation(m, members, { repairs });
    expect(verdictOf(observation, 1)).toContain('zoneOutage');
    expect(verdictOf(observation, 15)).toBe('Repairing');
    // One dead node is not an outage, though it is half of its zone.
    const small = [of(1, 'a', 0), of(2, 'a'), of(3, 'b'), of(4, 'b'), of(5, 'c')];
    const one = aRepairObservation(m, small, { repairs: [aRepair(1, 0)] });
    expect(verdictOf(one, 1)).toBe('Repairing');
  });

  it('of the control plane hold all when a third of the cluster falls silent together', () => {
    const m = 60;
    const gone = [1, 2, 3].map((n) => silent(n, m, n / 2));
    const repairs = [1, 2, 3].map((n) => aRepair(n, n / 2));
    const of = (size: number) =>
      verdictOf(aRepairObservation(m, [...gone, ...healthyMembers(4, size, m)], { repairs }), 1);
    expect(of(10)).toContain('controlPlane');
    expect(of(11)).not.toContain('controlPlane');
    const two = [silent(1, m), silent(2, m)];
    const few = aRepairObservation(m, [...two, aMember(3, m)], { repairs: repairs.slice(0, 2) });
    expect(verdictOf(few, 1)).toBe('Repairing');
  });

  it('stop one signal that many nodes send within ten minutes', () => {
    const m = 60;
    const marked = (n: number, since: number) =>
      aMember(n, m, {
        conditions: [bad(since, { type: 'KernelReady', status: 'False', reason: 'KernelBug' })],
      });
    const config = { nodeRepairConfig: { enabled: true, maxUnhealthyNodeThresholdCount: 99 } };
    const repairs = [1, 2, 3].map((n) => aRepair(n, 0));
    const of = (last: number, size: number) => {
      const members = [marked(1, 0), marked(2, 5), marked(3, last), ...healthyMembers(4, size, m)];
      return verdictOf(aRepairObservation(m, members, { repairs, ...spec(config) }), 1);
    };
    expect(of(10, 15)).toContain('sameSignal');
    expect(of(11, 15)).toBe('Repairing');
    expect(of(10, 16)).toBe('Repairing');
  });

  it('count no blip', () => {
    const m = 400;
    const members = [
      silent(1, m),
      silent(2, m, 397.5),
      silent(3, m, 398),
      ...healthyMembers(4, 10, m),
    ];
    const repairs = [aRepair(1, 0)];
    expect(verdictOf(aRepairObservation(m, members, { repairs }), 1)).toBe('Repairing');
  });

  it('rest for five minutes after they have closed, and again when they trip meanwhile', () => {
    const m = 400;
    const blocked: NodeRepairStatus = {
      phase: 'Blocked',
      blockedBy: [{ kind: 'groupUnhealthy', message: 'm' }],
    };
    const repairs = [aRepair(1, 0, blocked)];
    const closed = oneOf(10, m, { repairs });
    expect(verdictOf(closed, 1)).toBe('Blocked cooldown');
    const resting = outlookOf(decideRepairs(closed), 1)?.status ?? { phase: 'Waiting' as const };
    expect(resting.cooldownUntil).toBe(timeAt(m + 5));
    const later = (at: number) => oneOf(10, at, { repairs: [aRepair(1, 0, resting)] });
    expect(verdictOf(later(m + 4.9), 1)).toBe('Blocked cooldown');
    expect(verdictOf(later(m + 5), 1)).toBe('Repairing');
    // A second process reads the same from the record; a tripped breaker starts over.
    const tripped = some(3, 10);
    expect(verdictOf({ ...tripped, repairs: [aRepair(1, 0, resting)] }, 1)).toBe(
      'Blocked groupUnhealthy',
    );
  });

  it('keep a serving node until the group has room in its disruption ledger', () => {
    const conditions = [bad(0, { type: 'KernelReady', status: 'False', reason: 'KernelBug' })];
    const m = 40;
    const repairs = [aRepair(1, 0)];
    const whole = [aMember(1, m, { conditions }), ...healthyMembers(2, 3, m)];
    expect(verdictOf(aRepairObservation(m, whole, { repairs }), 1)).toBe('Repairing');
    const short = [aMember(1, m, { conditions }), silent(2, m, 39), aMember(3, m)];
    expect(verdictOf(aRepairObservation(m, short, { repairs }), 1)).toBe('Blocked ledger');
  });

  it('wait longer and longer where repairs do not help', () => {
    const failed = (m: number): NodeRepairStatus => ({
      phase: 'Failed',
      endedAt: timeAt(m),
    });
    const of = (m: number, ...ends: readonly number[]) => {
      const past = ends.map((end, i) => aRepair(10 + i, end - 30, failed(end)));
      return verdictOf(oneOf(3, m, { repairs: [aRepair(1, 300), ...past] }), 1);
    };
    expect(of(400, 395)).toBe('Repairing');
    expect(of(404, 380, 395)).toBe('Blocked ineffective');
    expect(of(405, 380, 395)).toBe('Repairing');
    expect(of(414, 360, 380, 395)).toBe('Blocked ineffective');
    expect(of(415, 360, 380, 395)).toBe('Repairing');
  });
});

describe('repairs that do not help', () => {
  const failed = (n: number, m: number) =>
    aRepair(n, m - 30, { phase: 'Failed', endedAt: timeAt(m) });
  const issue = (m: number, ...repairs: Parameters<typeof ineffectiveIssue>[0]) =>
    ineffectiveIssue(repairs, aRepairGroup(), atMinute(m));

  it('are an issue of the group from the second in a row on, with its image', () => {
    expect(issue(396, failed(10, 395))).toBeUndefined();
    expect(issue(396, failed(10, 380), failed(11, 395))).toMatchObject({
      code: 'RepairIneffective',
      message: expect.stringMatching(/last 2 repairs did not help.*The image is /),
      resourceIds: [idOf(11), idOf(10)],
    });
  });

  it('are none that an operator asked for, and no relapse is', () => {
    const requested = { action: 'Replace', at: timeAt(390) } as const;
    const byHand = (repair: ReturnType<typeof failed>) => ({
      ...repair,
      spec: { ...repair.spec, requested },
    });
    expect(issue(396, byHand(failed(10, 380)), failed(11, 395))).toBeUndefined();
    expect(issue(396, byHand(failed(10, 380)), byHand(failed(11, 395)))).toBeUndefined();
    const replaced = (n: number, by: number, m: number) =>
      aRepair(n, m - 30, { phase: 'Succeeded', endedAt: timeAt(m), replacement: idOf(by) });
    const helped = [replaced(1, 3, 380), replaced(2, 4, 385)];
    const ill = [aRepair(3, 390), aRepair(4, 391)];
    expect(issue(396, ...helped, ...ill)).toBeDefined();
    expect(issue(396, ...helped, ...ill.map(byHand))).toBeUndefined();
  });

  it('are one until the wait is over and no node is ill any more, or one has helped', () => {
    const useless = [failed(10, 380), failed(11, 395)];
    expect(issue(406, ...useless)).toBeUndefined();
    expect(issue(406, ...useless, aRepair(1, 400, { phase: 'Waiting' }))).toBeDefined();
    const helped = aRepair(2, 370, { phase: 'Succeeded', endedAt: timeAt(398) });
    expect(issue(399, ...useless, helped)).toBeUndefined();
  });
});

describe('a process that begins', () => {
  it('finds in the open episode that a Node object was deleted', () => {
    const group = aRepairGroup();
    const scaling = {
      desiredCapacity: 1,
      instances: [
        { instanceId: idOf(1), availabilityZone: 'eu-west-1a', lifecycleState: 'InService' },
      ],
    };
    const open = aRepair(1, 5, { phase: 'Waiting' });
    const repairs = [{ ...open, spec: { ...open.spec, condition: 'Node', reason: 'NodeDeleted' } }];
    const { members } = repairObservation({
      group,
      scaling: scaling as unknown as Parameters<typeof repairObservation>[0]['scaling'],
      nodeOf: () => undefined,
      nodes: [],
      repairs,
      disruptionOf: () => undefined,
      launchedAt: new Map([[idOf(1), atMinute(0)]]),
      missedSince: new Map(),
      impaired: new Map(),
      now: atMinute(7),
    });
    expect(members[0]?.health).toMatchObject({
      state: 'Unhealthy',
      findings: [{ reason: 'NodeDeleted', since: atMinute(5) }],
    });
  });
});
