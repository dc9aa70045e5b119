// Failing steps of Drover's own strategy, as tables: drains that time out by policy, new nodes that
// fail, zones without capacity.
import { describe, expect, it } from 'vitest';
import { epochMs, formatTime } from '../../../api/brand.ts';
import type { DisruptionCause, NodeDisruption } from '../../../api/disruption.ts';
import type { NodeGroupUpdateStatus } from '../../../api/nodegroup-update.ts';
import type { UpdatePolicies } from '../../../api/update-policy.ts';
import { decideUpdate } from '../decide.ts';
import type { UpdateInstance, UpdateObservation } from '../observation.ts';
import { policiesOf } from '../policy.ts';
import { shortagesOf } from '../strategies/shortage.ts';

const now = epochMs(Date.parse('2026-01-01T12:00:00Z'));
const at = (secondsAgo: number): string => formatTime(epochMs(now - secondsAgo * 1000));
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

/**
 * Drained `times` times: all but the last drain were cancelled; the last one failed or was
 * cancelled, too.
 */
const drained = (times: number, last: 'failed' | 'givenBack'): NodeDisruption => {
  const causes = Array.from({ length: times }, (_, index): DisruptionCause => {
    const isLast = index === times - 1;
    return {
      kind: 'Update',
      id: index === 0 ? 'update/up' : `update/up/${index + 1}`,
      receivedAt: at(2_000),
      onDeadline: 'fail',
      followUp: 'Replace',
      ...(isLast && last === 'failed' ? {} : { cancelledAt: at(900) }),
    };
  });
  const outcome = last === 'failed' ? ('Failed' as const) : ('Cancelled' as const);
  return {
    apiVersion: 'drover.dev/v1alpha1',
    kind: 'NodeDisruption',
    metadata: { name: 'i', uid: 'u', resourceVersion: '1', creationTimestamp: at(2_000) },
    spec: { causes },
    status: {
      episode: times,
      phase: 'Ended',
      outcome,
      message: 'not in time',
      handledCauses: causes.map(({ id }) => id),
    },
  };
};

const failedOne = (name: string, times = 1, more: Partial<UpdateInstance> = {}): UpdateInstance =>
  anInstance(name, { disruption: drained(times, 'failed'), ...more });
const givenBack = (name: string, times: number): UpdateInstance =>
  anInstance(name, { disruption: drained(times, 'givenBack') });
const fresh = (name: string, more: Partial<UpdateInstance> = {}): UpdateInstance =>
  anInstance(name, { isTarget: true, hasOutdatedTaint: false, ...more });

const observe = (
  updateConfig: UpdatePolicies,
  instances: readonly UpdateInstance[],
  more: Partial<UpdateObservation> = {},
  status: Partial<NodeGroupUpdateStatus> = {},
): UpdateObservation => {
  const phase = status.phase ?? 'Rolling';
  const policies = policiesOf({ updateConfig }, {}, 'SURGE');
  return {
    update: {
      apiVersion: 'drover.dev/v1alpha1',
      kind: 'NodeGroupUpdate',
      metadata: { name: 'up', uid: 'u', resourceVersion: '1', creationTimestamp: at(4_000) },
      spec: { nodeGroup: 'ng', type: 'VersionUpdate', params: [], change: {} },
    },
    status: {
      status: 'InProgress',
      strategy: 'SURGE',
      target,
      maxUnavailable: 1,
      surge: 1,
      phases: [{ phase, at: at(400) }],
      ...status,
      phase,
    },
    target,
    groupName: 'ng',
    desired: instances.length - 1,
    surge: { desired: 1, maxSize: 1 },
    actualDesired: instances.length,
    suspended: [],
    usesTarget: true,
    instances,
    issues: [],
    drainTimeoutMs: policies.drainTimeoutMs,
    policies,
    now,
    ...more,
  };
};

const kinds = (observation: UpdateObservation): readonly string[] =>
  decideUpdate(observation).steps.map((step) =>
    'instanceId' in step ? `${step.kind} ${step.instanceId}` : step.kind,
  );

describe('a drain that is not over in time', () => {
  const others = [anInstance('n2'), anInstance('n3'), fresh('n4')];
  it.each<readonly [UpdatePolicies, readonly string[], string | undefined]>([
    [{}, [], 'Failed'],
    [{ drain: { onTimeout: 'Force' } }, [], 'Failed'],
    [{ drain: { onTimeout: 'Skip' } }, ['Withdraw i-n1', 'Replace i-n3'], undefined],
    [{ drain: { onTimeout: 'Pause' } }, ['Pause', 'Withdraw i-n1'], undefined],
    [{ drain: { onTimeout: 'Quarantine' } }, ['Quarantine', 'Replace i-n3'], undefined],
  ])('under %j: %j, ending %s', (policies, steps, ending) => {
    const observation = observe(policies, [failedOne('n1'), ...others]);
    expect(kinds(observation)).toEqual(steps);
    expect(decideUpdate(observation).change?.ending).toBe(ending);
  });

  it('under Skip is tried once more, after all others, and then no more', () => {
    const policies: UpdatePolicies = { drain: { onTimeout: 'Skip' } };
    const first = observe(policies, [givenBack('n1', 1), anInstance('n2'), fresh('n3')]);
    expect(kinds(first)).toEqual(['Replace i-n2']);
    const second = observe(policies, [givenBack('n1', 1), fresh('n2'), fresh('n3')]);
    expect(kinds(second)).toEqual(['Retire i-n1']);
    const failedNodes = [
      { instanceId: 'i-n1', node: 'n1', message: 'held', outcome: 'Skipped' as const },
    ];
    const last = observe(
      policies,
      [givenBack('n1', 2), fresh('n2'), fresh('n3')],
      {},
      { failedNodes },
    );
    expect(decideUpdate(last).change).toMatchObject({
      ending: 'Failed',
      errors: [{ code: 'PodEvictionFailure', resourceIds: ['n1'] }],
    });
  });

  it('under Quarantine keeps a new node for each, and ends when only such are left', () => {
    const policies: UpdatePolicies = { drain: { onTimeout: 'Quarantine' }, maxQuarantined: 2 };
    const marked = { isQuarantined: true };
    const held = [failedOne('n1', 1, marked), failedOne('n2', 1, marked)];
    const more = { desired: 3, surge: { desired: 1, maxSize: 1 }, actualDesired: 4 };
    const growing = decideUpdate(observe(policies, [...held, fresh('n3'), fresh('n4')], more));
    expect(growing.surge).toEqual({ desired: 2, maxSize: 2 });
    expect(growing.change?.ending).toBeUndefined();
    const through = { desired: 3, surge: { desired: 2, maxSize: 2 }, actualDesired: 5 };
    const all = [...held, fresh('n3'), fresh('n4'), fresh('n5')];
    expect(decideUpdate(observe(policies, all, through)).change).toMatchObject({
      phase: 'Restoring',
      ending: 'Failed',
      leftover: 2,
    });
    const tooMany = observe({ ...policies, maxQuarantined: 1 }, all, through);
    expect(decideUpdate(tooMany).change?.leftover).toBeUndefined();
    expect(decideUpdate(tooMany).change?.ending).toBe('Failed');
  });
});

describe('new nodes that do not become Ready', () => {
  const rollback = { auto: true, failedNewNodes: 1 };
  const ill = { isReady: false, notReadySince: at(901) };
  const unjoined = (name: string) => [
    { code: 'NodeCreationFailure', message: 'm', resourceIds: [`i-${name}`] },
  ];
  it.each<readonly [string, UpdatePolicies, UpdateInstance, Partial<UpdateObservation>, boolean]>([
    ['is ill for 15 minutes', { rollback }, fresh('n2', ill), {}, true],
    ['is ill for less', { rollback }, fresh('n2', { ...ill, notReadySince: at(899) }), {}, false],
    [
      'never joined',
      { rollback },
      fresh('n2', { isReady: false }),
      { issues: unjoined('n2') },
      true,
    ],
    [
      'is another’s',
      { rollback },
      fresh('n2', { isReady: false }),
      { issues: unjoined('x') },
      false,
    ],
    [
      'and one is not two',
      { rollback: { auto: true, failedNewNodes: 2 } },
      fresh('n2', ill),
      {},
      false,
    ],
    ['and nobody asked', {}, fresh('n2', ill), {}, false],
    ['and the policy is off', { rollback: { auto: false } }, fresh('n2', ill), {}, false],
  ])('one that %s', (_, policies, one, more, goesBack) => {
    const { change } = decideUpdate(observe(policies, [anInstance('n1'), one, fresh('n3')], more));
    expect(change?.goesBack !== undefined).toBe(goesBack);
    expect(change?.ending).toBe(goesBack ? 'Failed' : undefined);
  });
});

describe('zones without room', () => {
  const launch = (zone: string, status: string, message: string, secondsAgo: number) => ({
    description: 'Launching a new EC2 instance',
    status,
    message,
    startedAt: at(secondsAgo),
    zone,
  });
  const noCapacity = 'InsufficientInstanceCapacity - none';

  it('are those whose last launch failed for want of room', () => {
    const found = shortagesOf([
      launch('a', 'Failed', noCapacity, 10),
      launch('b', 'Successful', '', 20),
      launch('b', 'Failed', noCapacity, 30),
      launch('c', 'Failed', 'The image id does not exist', 40),
      { ...launch('d', 'Successful', '', 50), description: 'Terminating EC2 instance: i-1' },
      launch('d', 'Failed', 'not enough free addresses in subnet', 60),
    ]);
    expect(found.map(({ zone, code }) => [zone, code])).toEqual([
      ['a', 'AsgInstanceLaunchFailures'],
      ['d', 'InsufficientFreeAddresses'],
    ]);
  });

  const instances = [anInstance('n1', { zone: 'b' }), anInstance('n2'), fresh('n3', { zone: 'c' })];
  const short = (secondsAgo: number) => ({
    shortages: shortagesOf([launch('b', 'Failed', noCapacity, secondsAgo)]),
  });
  const last = [anInstance('n1', { zone: 'b' }), fresh('n2'), fresh('n3')];

  it.each<readonly [string, readonly UpdateInstance[], UpdatePolicies, number, readonly string[]]>([
    ['go last', instances, {}, 10, ['Replace i-n2']],
    ['go last after their wait, too', instances, {}, 400, ['Replace i-n2']],
    ['wait', last, {}, 299, []],
    ['go after their wait', last, {}, 301, ['Retire i-n1']],
    ['wait as long as is said', last, { capacity: { waitSeconds: 5 } }, 10, ['Retire i-n1']],
    ['stay where that is said', last, { capacity: { onShortage: 'Fail' } }, 10, []],
  ])('%s', (_, some, policies, secondsAgo, steps) => {
    expect(kinds(observe(policies, some, short(secondsAgo)))).toEqual(steps);
  });

  it('that are to stay end the update after their wait', () => {
    const policies: UpdatePolicies = { capacity: { onShortage: 'Fail' } };
    expect(decideUpdate(observe(policies, last, short(299))).change?.ending).toBeUndefined();
    const { change } = decideUpdate(observe(policies, last, short(301)));
    expect(change).toMatchObject({
      ending: 'Failed',
      errors: [{ code: 'NodeCreationFailure', resourceIds: ['n1'] }],
    });
  });

  it.each<readonly [UpdatePolicies, UpdateInstance]>([
    [{ drain: { onTimeout: 'Quarantine' } }, failedOne('n2', 1, { isQuarantined: true })],
    [{ drain: { onTimeout: 'Skip' } }, givenBack('n2', 2)],
  ])('end it as well beside nodes that are set aside under %j', (policy, aside) => {
    const policies: UpdatePolicies = { ...policy, capacity: { onShortage: 'Fail' } };
    const some = [anInstance('n1', { zone: 'b' }), aside, fresh('n3'), fresh('n4')];
    const failedNodes = [
      { instanceId: 'i-n2', node: 'n2', message: 'm', outcome: 'Skipped' },
    ] as const;
    const end = (secondsAgo: number) =>
      decideUpdate(observe(policies, some, short(secondsAgo), { failedNodes })).change;
    expect(end(299)?.ending).toBeUndefined();
    expect(end(301)).toMatchObject({
      ending: 'Failed',
      errors: [
        { code: 'NodeCreationFailure', resourceIds: ['n1'] },
        { code: 'PodEvictionFailure', resourceIds: ['n2'] },
      ],
      failedNodes: [{ instanceId: 'i-n2' }],
    });
  });

  it.each<readonly [UpdatePolicies, string, string | undefined]>([
    [{}, 'AsgInstanceLaunchFailures', undefined],
    [{ capacity: { onShortage: 'Minimal' } }, 'AsgInstanceLaunchFailures', 'Rolling'],
    [{ capacity: { onShortage: 'Minimal' } }, 'AccessDenied', undefined],
    [
      { capacity: { onShortage: 'Minimal', waitSeconds: 500 } },
      'AsgInstanceLaunchFailures',
      undefined,
    ],
  ])('everywhere, under %j and %s, lead to %s', (policies, code, phase) => {
    const issues = [{ code, message: 'm', resourceIds: [] }];
    const more = { desired: 2, actualDesired: 3, issues };
    const two = [anInstance('n1'), anInstance('n2')];
    const decided = decideUpdate(observe(policies, two, more, { phase: 'ScalingUp' }));
    expect(decided.change?.phase).toBe(phase);
    if (phase !== undefined) expect(decided.steps).toEqual([{ kind: 'Lower', desired: 2 }]);
  });
});

describe('a wait for new nodes', () => {
  const waits = (strategy: 'SURGE' | 'MINIMAL') =>
    observe(
      {},
      [anInstance('n1'), fresh('n3', { isReady: false })],
      { desired: 2 },
      { strategy, waitingSince: at(7_200) },
    );
  it.each(['SURGE', 'MINIMAL'] as const)(
    'of %s begins again after a pause or a window',
    (strategy) => {
      const one = waits(strategy);
      const { update } = one;
      const paused = { ...one, update: { ...update, spec: { ...update.spec, paused: true } } };
      expect(decideUpdate(paused).change).toHaveProperty('waitingSince', undefined);
      const holds = [{ kind: 'Window', reason: 'closed', since: at(60) }] as const;
      expect(decideUpdate({ ...one, holds }).change).toHaveProperty('waitingSince', undefined);
      const probe = [{ kind: 'Probe', reason: 'fails', since: at(60) }] as const;
      expect(decideUpdate({ ...one, holds: probe }).change).not.toHaveProperty('waitingSince');
    },
  );
});

describe('an update that begins with what another has left', () => {
  const joining = fresh('n3', { isReady: false, isLabelled: false });
  const late = { notReadySince: at(901) };
  it.each<readonly [string, readonly UpdateInstance[], number]>([
    ['waits for its first new node', [anInstance('n1'), anInstance('n2'), joining], 0],
    [
      'lets go what is more than wanted meanwhile',
      [anInstance('n1'), anInstance('n2'), anInstance('n4'), joining],
      1,
    ],
    [
      'waits where its only new node serves no more',
      [anInstance('n1'), anInstance('n2'), fresh('n3', { isReady: false, notReadySince: at(60) })],
      0,
    ],
    ['goes on beside a new one', [anInstance('n1'), anInstance('n2'), fresh('n3')], 1],
    [
      'goes on where a new one has had its time',
      [anInstance('n1'), anInstance('n2'), { ...joining, ...late }],
      1,
    ],
    [
      'lets one go that does not serve',
      [anInstance('n1', { isReady: false }), anInstance('n2'), anInstance('n4'), joining],
      1,
    ],
  ])('%s', (_, instances, count) => {
    const more = { desired: 2, actualDesired: instances.length };
    const begun = kinds(observe({}, instances, more)).filter((one) => /^Re/.test(one));
    expect(begun).toHaveLength(count);
  });
});
