// How an update begins and ends if the cloud or an admission webhook refuses its requests, as
// tables. It waits as long as EKS does and reports nodes that it could not handle.

import { describe, expect, it } from 'vitest';
import { epochMs, formatTime } from '../../../api/brand.ts';
import { defined } from '../../../api/defined.ts';
import type { NodeDisruption } from '../../../api/disruption.ts';
import type { NodeGroupUpdateStatus, UpdatePhase } from '../../../api/nodegroup-update.ts';
import { decideUpdate } from '../index.ts';
import type { UpdateInstance, UpdateObservation } from '../observation.ts';

const now = epochMs(Date.parse('2026-01-01T12:00:00Z'));
const ago = (minutes: number): string => formatTime(epochMs(now - minutes * 60_000));
const counts = { total: 3, done: 1, draining: 0, failed: 0 };
const target = { version: '1.32', imageId: 'ami-2', templateVersion: '2' };

const some = (zone: string, count: number, isTarget: boolean): readonly UpdateInstance[] =>
  Array.from({ length: count }, (_, i) => {
    const name = `${isTarget ? 'new' : 'old'}-${zone}${i}`;
    return {
      instanceId: `i-${name}`,
      nodeName: name,
      zone,
      isCounted: true,
      isTarget,
      isReady: true,
      isLabelled: true,
      hasOutdatedTaint: false,
      scaleDownDisabled: 'theirs',
    };
  });

const decide = (
  phase: UpdatePhase,
  minutes: number,
  instances: readonly UpdateInstance[],
  {
    status = {},
    force = false,
    paused = false,
    ...more
  }: Omit<Partial<UpdateObservation>, 'status'> & {
    status?: Partial<NodeGroupUpdateStatus>;
    force?: boolean;
    paused?: boolean;
  } = {},
) =>
  decideUpdate({
    update: {
      apiVersion: 'drover.dev/v1alpha1',
      kind: 'NodeGroupUpdate',
      metadata: { name: 'up', uid: 'u', resourceVersion: '1', creationTimestamp: ago(60) },
      spec: { nodeGroup: 'ng', type: 'VersionUpdate', params: [], change: {}, force, paused },
    },
    status: {
      status: 'InProgress',
      strategy: 'DEFAULT',
      target,
      maxUnavailable: 1,
      phase,
      phases: [{ phase, at: ago(minutes) }],
      ...status,
    },
    target,
    groupName: 'ng',
    desired: 5,
    surge: { desired: 0, maxSize: 0 },
    actualDesired: instances.length,
    suspended: [],
    usesTarget: true,
    instances,
    issues: [],
    drainTimeoutMs: 900_000,
    now,
    ...more,
  });

describe('new nodes in every zone', () => {
  const surge = { desired: 6, maxSize: 6 };
  it.each([
    // EC2 Auto Scaling balances zones: the zone with the most instances gets none of the six.
    [
      'where one zone had all',
      [...some('c', 5, false), ...some('a', 3, true), ...some('b', 3, true)],
      'Marking',
    ],
    ['where each has one', [...some('a', 5, false), ...some('a', 6, true)], 'Marking'],
    // Zone c has the fewest nodes and got none: it has no capacity.
    [
      'where the emptiest zone gets none',
      [
        ...some('a', 2, false),
        ...some('b', 2, false),
        ...some('c', 1, false),
        ...some('a', 3, true),
        ...some('b', 3, true),
      ],
      'Restoring',
    ],
  ] as const)('%s', (_what, instances, phase) => {
    const status = { surge: 6 };
    expect(decide('ScalingUp', 15, instances, { surge, status }).change?.phase).toBe(phase);
  });
});

describe('a surplus that EC2 Auto Scaling does not take back', () => {
  // Six healthy new nodes for a desired size of five, and none is terminated.
  const stuck = {
    actualDesired: 5,
    status: { surge: 6, original: { minSize: 0, maxSize: 9, desired: 5 } },
  };
  const instances = some('a', 6, true);
  it('is waited for since it was first seen', () => {
    const { change, end } = decide('ScalingDown', 30, instances, stuck);
    expect(change?.waitingSince).toBe(formatTime(now));
    expect(end).toBeUndefined();
  });
  it.each([
    [14, undefined],
    [15, 'Successful'],
  ])('ends the update after %d minutes: %s', (minutes, ended) => {
    const status = { ...stuck.status, waitingSince: ago(minutes) };
    const { end } = decide('ScalingDown', 30, instances, { ...stuck, status });
    expect(end?.status).toBe(ended);
    if (ended !== undefined) expect(end?.message).toContain('protection from scale-in');
  });
  it('is asked for as a whole before that', () => {
    const status = { ...stuck.status, waitingSince: ago(15) };
    const surge = { desired: 2, maxSize: 2 };
    const more = { actualDesired: 7, surge, status, force: true };
    const decided = decide('ScalingDown', 30, some('a', 8, true), more);
    expect(decided.surge).toEqual({ desired: 0, maxSize: 0 });
    expect(decided.steps).toEqual([{ kind: 'Lower', desired: 5 }]);
    expect(decided.end).toBeUndefined();
  });
});

describe('the surplus of DEFAULT, without force', () => {
  const surge = { desired: 3, maxSize: 3 };
  const status = { surge: 3, original: { minSize: 0, maxSize: 9, desired: 5 } };
  const load = { budget: 'default/web', pods: 1, recoveryMs: 1_000 };
  const loaded = (one: UpdateInstance, allowed: number, pods = 1): UpdateInstance => ({
    ...one,
    pods,
    loads: pods === 0 ? [] : [{ ...load, allowed }],
  });
  const eight = [...some('a', 3, true), ...some('b', 3, true), ...some('c', 2, true)];
  const chosen = (instances: readonly UpdateInstance[]) =>
    decide('ScalingDown', 1, instances, { surge, status });

  it('is drained one by one, of the fullest zones, what budgets never let go last', () => {
    const looked = eight.map((one) => loaded(one, one.zone === 'a' ? 0 : 1));
    const decided = chosen(looked);
    expect(decided.steps).toEqual([{ kind: 'Retire', instanceId: 'i-new-b0', isSurplus: true }]);
    expect(decided.surge).toEqual({ desired: 2, maxSize: 2 });
    const empty = looked.map((one) =>
      one.instanceId === 'i-new-a2' || one.zone === 'c' ? loaded(one, 0, 0) : one,
    );
    expect(chosen(empty).steps).toMatchObject([{ instanceId: 'i-new-a2' }]);
    const idle = looked.map((one, i) => (i === 7 ? { ...one, isReady: false } : one));
    expect(chosen(idle).steps).toMatchObject([{ instanceId: 'i-new-c1' }]);
  });

  it('waits while it is paused', () => {
    const paused = decide('ScalingDown', 1, eight, { surge, status, paused: true });
    expect(paused.steps).toEqual([]);
    expect(paused.end).toBeUndefined();
  });

  it('that is protected from scale-in is not left to Auto Scaling: it stays, and is reported', () => {
    const instances = eight.map((one) => ({ ...one, isProtected: true }));
    const at = (minutes: number) =>
      decide('ScalingDown', 30, instances, {
        surge,
        status: { ...status, waitingSince: ago(minutes) },
      });
    expect(at(14)).toMatchObject({ steps: [] });
    expect(at(14).end).toBeUndefined();
    const { steps, surge: kept, change, end } = at(15);
    expect(steps).toEqual([]);
    expect(kept).toEqual(surge);
    expect(change).toMatchObject({ leftover: 3 });
    expect(end?.status).toBe('Successful');
    expect(end?.message).toContain('protected from scale-in');
  });

  it('that never started is no longer asked for', () => {
    const decided = decide('ScalingDown', 1, some('a', 5, true), {
      surge,
      status,
      actualDesired: 8,
    });
    expect(decided.steps).toEqual([{ kind: 'Lower', desired: 5 }]);
    expect(decided.surge).toEqual({ desired: 0, maxSize: 0 });
  });
});

describe('the surplus of an update that is set back', () => {
  it('goes so that zones stay even, whatever runs there', () => {
    const eight = [...some('a', 3, true), ...some('b', 3, true), ...some('c', 2, true)];
    const looked = eight.map((one) => ({ ...one, pods: one.zone === 'c' ? 0 : 5 }));
    const { steps } = decide('Restoring', 1, looked, {
      status: {
        ending: 'Failed',
        surge: 5,
        progress: counts,
        original: { minSize: 0, maxSize: 9, desired: 3 },
      },
      surge: { desired: 5, maxSize: 5 },
      desired: 3,
    });
    const zones = steps.map((one) => ('instanceId' in one ? one.instanceId.at(6) : ''));
    expect(zones.toSorted().join('')).toBe('aabbc');
  });
});

describe('a new node that goes, where a user wants more meanwhile', () => {
  const going = (one: UpdateInstance, status: NodeDisruption['status']): UpdateInstance => ({
    ...one,
    disruption: {
      apiVersion: 'drover.dev/v1alpha1',
      kind: 'NodeDisruption',
      metadata: { name: one.instanceId, uid: 'd', resourceVersion: '1', creationTimestamp: ago(9) },
      spec: {
        instanceId: one.instanceId,
        nodeGroup: 'ng',
        causes: [
          {
            kind: 'Update',
            id: 'update/up',
            followUp: 'Terminate',
            onDeadline: 'fail',
            receivedAt: ago(9),
            deadline: formatTime(epochMs(now + 60_000)),
            cooldownSeconds: 60,
          },
        ],
      },
      ...defined({ status }),
    },
  });
  const [first, second, ...rest] = some('a', 5, true);
  if (first === undefined || second === undefined) throw new Error('no instances');
  const drained = (minutes: number): NodeDisruption['status'] => ({
    phase: 'Completing',
    episode: 1,
    outcome: 'Drained',
    drainedAt: ago(minutes),
    completingCauses: ['update/up'],
    node: { name: first.nodeName ?? '', uid: 'n' },
  });
  const looked = (minutes: number) =>
    decide('Restoring', 1, [going(first, drained(minutes)), going(second, drained(0.5)), ...rest], {
      status: { ending: 'Failed', progress: counts },
    }).steps;
  const withdrawn = (one: UpdateInstance) => ({ kind: 'Withdraw', instanceId: one.instanceId });

  it('stays, unless our call that ends it may have been made', () => {
    expect(looked(0.9)).toEqual([withdrawn(first), withdrawn(second)]);
    expect(looked(1.1)).toEqual([withdrawn(second)]);
  });
});

describe('an update that is set back', () => {
  const failingProbes = [{ name: 'slo', failures: 2, message: '503' }];
  const told = { waitingSince: ago(5), failingProbes, phase: 'Restoring' as const };
  it.each([
    ['Cancelled', { waitingSince: undefined, failingProbes: undefined }],
    // The failing probe that caused the failure stays in the status.
    ['Failed', { waitingSince: undefined }],
  ] as const)('waits for nothing any more: %s', (ending, gone) => {
    const { change } = decide('Restoring', 1, some('a', 5, true), { status: { ...told, ending } });
    expect(change).toEqual({ ...gone, progress: expect.anything() });
  });
});

describe('a surplus that could not be drained and shrinks meanwhile', () => {
  it('is noted as what is left of it, not asked for again', () => {
    // Four nodes above a desired size of zero; the cloud has launched three of them.
    const decided = decide('Restoring', 5, some('a', 3, true), {
      status: { strategy: 'SURGE', ending: 'Cancelled', leftover: 4, progress: counts },
      desired: 0,
      actualDesired: 4,
      surge: { desired: 4, maxSize: 4 },
    });
    expect(decided.steps).toEqual([{ kind: 'Lower', desired: 3 }]);
    expect(decided.surge).toEqual({ desired: 3, maxSize: 3 });
  });
});

describe('marks that no one lets us take off', () => {
  const instances = some('a', 5, true).map((one) => ({
    ...one,
    scaleDownDisabled: 'ours' as const,
  }));
  it.each([
    [14, undefined],
    [15, 'Successful'],
  ])('hold the end up for less than %d minutes: %s', (minutes, ended) => {
    const { steps, end } = decide('Restoring', minutes, instances, {
      status: { strategy: 'SURGE' },
    });
    expect(end?.status).toBe(ended);
    if (ended === undefined) expect(steps[0]).toEqual({ kind: 'Unshield', nodeName: 'new-a0' });
  });
});
