// Decisions of an update as tables: texts stay within their bounds, no wait is endless, and no node
// is drained whose pods were not read.

import { describe, expect, it } from 'vitest';
import { epochMs, formatTime } from '../../api/brand.ts';
import { defined } from '../../api/defined.ts';
import type { NodeDisruption } from '../../api/disruption.ts';
import type { NodeGroupUpdateStatus } from '../../api/nodegroup-update.ts';
import { decideUpdate } from './index.ts';
import type { UpdateInstance, UpdateObservation } from './observation.ts';

const now = epochMs(Date.parse('2026-01-01T12:00:00Z'));
const target = { version: '1.32', imageId: 'ami-2', templateVersion: '2' };

const anInstance = (name: string, more: Partial<UpdateInstance> = {}): UpdateInstance => ({
  instanceId: `i-${name}`,
  nodeName: name,
  zone: 'a',
  isCounted: true,
  isTarget: false,
  isReady: true,
  isLabelled: true,
  scaleDownDisabled: 'ours',
  hasOutdatedTaint: true,
  ...more,
});

const aDisruption = (
  cause: Partial<NodeDisruption['spec']['causes'][number]>,
  status: NodeDisruption['status'],
): NodeDisruption => ({
  apiVersion: 'drover.dev/v1alpha1',
  kind: 'NodeDisruption',
  metadata: { name: 'i', uid: 'u', resourceVersion: '1', creationTimestamp: formatTime(now) },
  spec: {
    causes: [
      {
        kind: 'Update',
        id: 'update/up',
        receivedAt: formatTime(now),
        onDeadline: 'fail',
        followUp: 'Replace',
        ...cause,
      },
    ],
  },
  ...defined({ status }),
});

const observe = (
  status: Partial<NodeGroupUpdateStatus>,
  instances: readonly UpdateInstance[],
  more: Partial<UpdateObservation> = {},
): UpdateObservation => ({
  update: {
    apiVersion: 'drover.dev/v1alpha1',
    kind: 'NodeGroupUpdate',
    metadata: { name: 'up', uid: 'u', resourceVersion: '1', creationTimestamp: formatTime(now) },
    spec: { nodeGroup: 'ng', type: 'VersionUpdate', params: [], change: {} },
  },
  status: { status: 'InProgress', target, maxUnavailable: 1, ...status },
  target,
  groupName: 'ng',
  desired: instances.length,
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

const since = (phase: NonNullable<NodeGroupUpdateStatus['phase']>, minutes: number) => ({
  phase,
  phases: [{ phase, at: formatTime(epochMs(now - minutes * 60_000)) }],
});

const range = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, i) => `n${i}`);

describe('what an update reports about its end', () => {
  it('is no more than its definition allows, however many nodes failed', () => {
    const failed = { phase: 'Ended', outcome: 'Failed', handledCauses: ['update/up'] } as const;
    const instances = range(60).map((name) =>
      anInstance(name, {
        disruption: aDisruption({}, { episode: 1, ...failed, node: { name, uid: name } }),
      }),
    );
    const issues = [{ code: 'X', message: 'x'.repeat(9_000), resourceIds: range(90) }];
    for (const strategy of ['DEFAULT', 'SURGE'] as const) {
      const status = { strategy, ...since('Rolling', 1) };
      const { change } = decideUpdate(observe(status, instances, { issues }));
      expect(change?.ending).toBe('Failed');
      expect(change?.errors?.[0]?.resourceIds).toHaveLength(20);
      expect(JSON.stringify(change).length).toBeLessThan(16_384);
    }
  });
});

describe('an end that is reported beside a node that a budget keeps', () => {
  const time = (minutes: number): string => formatTime(epochMs(now + minutes * 60_000));
  const eta = { p50: time(1), p90: time(3) };
  const kept = (neverAllows: boolean, cause: Parameters<typeof aDisruption>[0]) =>
    aDisruption(cause, {
      episode: 1,
      phase: 'Draining',
      waitingOn: [{ kind: 'pdb', pod: 'a/p', budgets: ['a/b'], message: '', neverAllows }],
    });
  const told = (disruption: NodeDisruption) => {
    const status = {
      strategy: 'DEFAULT',
      ...since('Rolling', 5),
      pace: [{ at: time(-5), done: 0 }],
      progress: { total: 2, done: 0, draining: 1, failed: 0, eta },
    } as const;
    const instances = [anInstance('n1', { disruption }), anInstance('n2')];
    const { change } = decideUpdate(observe(status, instances));
    return change !== undefined && 'progress' in change ? change.progress?.eta : eta;
  };
  it('is none where the budget never lets it go', () => {
    expect(told(kept(false, {}))).toEqual(eta);
    expect(told(kept(true, {}))).toBeUndefined();
  });
  it('is not before its pods are forced', () => {
    const forced = kept(true, { onDeadline: 'force', forceFrom: time(2) });
    expect(told(forced)).toEqual({ p50: time(2), p90: time(3) });
  });
});

describe('marking', () => {
  const instances = [anInstance('n1', { disruption: aDisruption({ hold: true }, undefined) })];
  it.each([
    [14, undefined],
    [15, 'Failed'],
  ])('that is not done after %d minutes ends: %s', (minutes, ending) => {
    const status = { strategy: 'MINIMAL', ...since('Marking', minutes) } as const;
    const { change } = decideUpdate(observe(status, instances));
    expect(change?.ending).toBe(ending);
    if (ending !== undefined) expect(change?.errors?.[0]?.resourceIds).toEqual(['n1']);
  });

  it('of which nothing could be written in 15 minutes ends, unless something held it until now', () => {
    const untouched = [anInstance('n1')];
    const status = { strategy: 'MINIMAL', ...since('Marking', 15) } as const;
    expect(decideUpdate(observe(status, untouched)).change?.ending).toBe('Failed');
    const holds = [{ kind: 'Paused', reason: 'paused', since: formatTime(now) }] as const;
    for (const minutes of [14, 15]) {
      const held = { strategy: 'MINIMAL', ...since('Marking', minutes), holds } as const;
      const released = decideUpdate(observe(held, untouched));
      expect(released.change?.ending).toBeUndefined();
      // The timeout starts again.
      expect(released.change?.phases?.at(-1)).toEqual({ phase: 'Marking', at: formatTime(now) });
      expect(released.steps).toContainEqual(expect.objectContaining({ instanceId: 'i-n1' }));
    }
  });
});

describe('a node that was held before it told that it is new', () => {
  it.each(['Rolling', 'ScalingDown', 'Restoring'] as const)('is uncordoned in %s', (phase) => {
    const held = aDisruption({ hold: true }, { episode: 1, phase: 'Draining' });
    const instances = [anInstance('n1', { isTarget: true, disruption: held })];
    const status = { strategy: 'MINIMAL', ...since(phase, 1) } as const;
    const { steps, end } = decideUpdate(observe(status, instances));
    expect(steps).toContainEqual({ kind: 'Withdraw', instanceId: 'i-n1' });
    expect(end).toBeUndefined();
  });
});

describe('the gate', () => {
  it('lets no node through whose pods no one has looked at', () => {
    const loads = [{ budget: 'default/web', pods: 1, allowed: 1, recoveryMs: 1_000 }];
    const names = range(60);
    const instances = names.map((name, i) => anInstance(name, i < 10 ? { pods: 1, loads } : {}));
    const status = { strategy: 'SURGE', maxUnavailable: 30, ...since('Rolling', 1) } as const;
    const { steps } = decideUpdate(observe(status, instances));
    const chosen = steps.flatMap((one) =>
      one.kind === 'Replace' || one.kind === 'Retire' ? [one] : [],
    );
    expect(chosen).toHaveLength(10);
    for (const { instanceId } of chosen)
      expect(names.indexOf(instanceId.slice(2))).toBeLessThan(10);
  });
});

describe('which node goes next', () => {
  const load = (budget: string, pods: number, seconds: number) => ({
    budget,
    pods,
    allowed: 1,
    recoveryMs: seconds * 1000,
  });
  const draining = aDisruption({}, { episode: 1, phase: 'Draining' });
  const chosen = (instances: readonly UpdateInstance[], maxUnavailable = 1) => {
    const status = { strategy: 'SURGE', maxUnavailable, ...since('Rolling', 1) } as const;
    const { steps } = decideUpdate(observe(status, instances));
    return steps.flatMap((one) => ('instanceId' in one ? [one.instanceId.slice(2)] : []));
  };
  it.each([
    [
      'is the one whose budget has the longest way to go',
      [
        anInstance('web1', { pods: 9, loads: [load('web', 1, 10)] }),
        anInstance('db1', { pods: 9, loads: [load('db', 1, 100)] }),
        anInstance('web2', { pods: 9, loads: [load('web', 1, 10)] }),
      ],
      'db1',
    ],
    [
      'is none that would wait for a budget in use, where another need not',
      [
        anInstance('db1', { pods: 9, loads: [load('db', 1, 100)], disruption: draining }),
        anInstance('db2', { pods: 9, loads: [load('db', 1, 100)] }),
        anInstance('web1', { pods: 9, loads: [load('web', 1, 10)] }),
      ],
      'web1',
    ],
    [
      'is in the zone that has most, whatever budgets say',
      [
        anInstance('web1', { pods: 9, loads: [load('web', 1, 10)] }),
        anInstance('web2', { pods: 9, loads: [load('web', 1, 10)] }),
        anInstance('db1', { pods: 9, zone: 'b', loads: [load('db', 1, 100)] }),
      ],
      /web/,
    ],
    [
      'is not the one that no budget lets go, while there is another',
      [
        anInstance('stuck', { pods: 9, loads: [{ ...load('never', 1, 100), allowed: 0 }] }),
        anInstance('web1', { pods: 9, loads: [load('web', 1, 10)] }),
      ],
      'web1',
    ],
  ] as const)('%s', (_what, instances, expected) => {
    const already = instances.filter(({ disruption }) => disruption !== undefined).length;
    expect(chosen(instances, already + 1)).toEqual([expect.stringMatching(expected)]);
  });
});

describe('how soon it is looked at again', () => {
  const leaves = (phase: 'Draining' | 'Ended', minutes: number) => {
    const startedAt = formatTime(epochMs(now - minutes * 60_000));
    const disruption = aDisruption({ kind: 'LifecycleHook' }, { episode: 1, phase, startedAt });
    return anInstance('n1', { isCounted: false, disruption });
  };
  const busy = (instances: readonly UpdateInstance[], more: Partial<UpdateObservation> = {}) =>
    decideUpdate(observe({ strategy: 'DEFAULT', ...since('Rolling', 1) }, instances, more))
      .isMoving === true;
  it.each([
    ['soon where an instance leaves', [anInstance('n1', { isCounted: false })], {}, true],
    ['soon where one that leaves was drained', [leaves('Ended', 200)], {}, true],
    ['soon where one that leaves is drained since minutes', [leaves('Draining', 2)], {}, true],
    [
      'not while budgets hold one that leaves',
      [leaves('Draining', 4)],
      { actualDesired: 0 },
      false,
    ],
    ['soon where one is missing', [anInstance('n1')], { actualDesired: 2 }, true],
    [
      'not while a drain goes on',
      [anInstance('n1', { disruption: aDisruption({}, { episode: 1, phase: 'Draining' }) })],
      {},
      false,
    ],
  ] as const)('%s', (_what, instances, more, expected) => {
    expect(busy(instances, more)).toBe(expected);
  });
});
