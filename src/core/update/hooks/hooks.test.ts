// Decisions about hooks: which Jobs start, which nodes wait for them, how a failed one ends the
// update.
import { describe, expect, it } from 'vitest';
import {
  aMember,
  draining,
  fresh,
  held,
  members,
  now,
  observe,
} from '../../../../test/support/update-observations.ts';
import { formatTime } from '../../../api/brand.ts';
import type { NodeGroupUpdateStatus } from '../../../api/nodegroup-update.ts';
import type { HookKind, NodeHook } from '../../../api/update-hooks.ts';
import { decideUpdate } from '../decide.ts';
import type { UpdateInstance, UpdateObservation } from '../observation.ts';
import { hookCalls } from './decide.ts';
import { type HookRun, hookJob, hookJobName, hookRunOf } from './job.ts';

const job = { namespace: 'ops', cronJob: 'work' } as const;
const hook: NodeHook = { job, timeoutSeconds: 100 };
const rolling: Partial<NodeGroupUpdateStatus> = { phase: 'Rolling', strategy: 'SURGE' };
const up = { ...rolling, phase: 'ScalingUp', surge: 1 } as const;
const preDrainOf = (name: string): string => hookJobName('preDrain', `i-${name}`, 'u/update/up');
const postReadyOf = (name: string): string => hookJobName('postReady', `i-${name}`, 'u/');
const since = (secondsAgo: number): HookRun => ({
  state: 'Running',
  since: formatTime((now - secondsAgo * 1000) as typeof now),
});
const failed: HookRun = { state: 'Failed', message: 'exit 1' };

const decide = (
  status: Partial<NodeGroupUpdateStatus>,
  instances: readonly UpdateInstance[],
  more: Partial<UpdateObservation>,
) => decideUpdate(observe(status, instances, { surge: { desired: 1, maxSize: 1 }, ...more }));

/** Drained `secondsAgo`, and kept. */
const emptied = (secondsAgo: number, holdTermination = true): Partial<UpdateInstance> => {
  const drainedAt = formatTime((now - secondsAgo * 1000) as typeof now);
  const [cause] = draining.disruption.spec.causes;
  const causes = [
    { ...cause, cooldownSeconds: 60, holdTermination },
  ] as typeof draining.disruption.spec.causes;
  const status = {
    episode: 1,
    phase: 'Completing',
    outcome: 'Drained',
    drainedAt,
    completingCauses: causes.map(({ id }) => id),
  } as const;
  return {
    ...draining,
    disruption: { ...draining.disruption, spec: { ...draining.disruption.spec, causes }, status },
  };
};

const stepsOf = (...asked: Parameters<typeof decide>): string =>
  decide(...asked)
    .steps.map((step) => {
      if (step.kind === 'RunHook') return `RunHook ${step.call.kind} ${step.call.nodeName}`;
      const of = 'instanceId' in step ? step.instanceId : '';
      const keeps = 'holdTermination' in step ? ' keep' : '';
      return `${step.kind} ${of}${'hold' in step ? ' hold' : ''}${keeps}`.trim();
    })
    .join(', ');

const unmarked = {
  disruption: { ...held.disruption, status: { episode: 1, phase: 'Pending' } },
} as const;
const begun = [aMember('o1', held), ...members(2, 'n', fresh)];
const pre = { hooks: { preDrain: hook }, desired: 2 } as const;
const runs = (run: HookRun) => new Map([[preDrainOf('o1'), run]]);

describe('preDrain', () => {
  it.each<[string, readonly UpdateInstance[], Partial<UpdateObservation>, string]>([
    ['marks the next node and does not drain it', members(2, 'o'), {}, 'Replace i-o2 hold'],
    ['has none where none is asked for', members(2, 'o'), { hooks: {} }, 'Replace i-o2'],
    [
      'is not for an instance that is no node',
      [aMember('o1', { nodeName: undefined as never, isReady: false }), aMember('o2')],
      {},
      'Replace i-o1',
    ],
    ['runs when the marks stand', begun, {}, 'RunHook preDrain o1'],
    ['does not run before they do', [aMember('o1', unmarked), ...members(2, 'n', fresh)], {}, ''],
    ['is waited for', begun, { hookRuns: runs(since(99)) }, ''],
    ['is waited for while Kubernetes may stop it', begun, { hookRuns: runs(since(159)) }, ''],
    [
      'lets the drain begin when it is done',
      begun,
      { hookRuns: runs({ state: 'Succeeded' }) },
      'Lift i-o1',
    ],
    [
      'that failed with Continue lets it begin, too',
      begun,
      { hooks: { preDrain: { ...hook, onFailure: 'Continue' } }, hookRuns: runs(failed) },
      'Lift i-o1',
    ],
    ['that is asked for no more lets it begin', begun, { hooks: {} }, 'Lift i-o1'],
    [
      'takes a place among those out of service',
      [...begun, aMember('o2')],
      { hookRuns: runs(since(1)), desired: 3 },
      '',
    ],
    [
      'is not run again for one that drains',
      [aMember('o1', draining), ...members(2, 'n', fresh)],
      {},
      '',
    ],
  ])('%s', (_, instances, more, expected) => {
    expect(stepsOf(rolling, instances, { ...pre, ...more })).toBe(expected);
  });

  it('continues while the update is held, since its node is begun', () => {
    const hold = { kind: 'Window', reason: 'r', since: formatTime(now) } as const;
    const more = { ...pre, holds: [hold], hookRuns: runs({ state: 'Succeeded' }) };
    expect(stepsOf(rolling, begun, more)).toBe('Lift i-o1');
    expect(stepsOf(rolling, members(2, 'o'), more)).toBe('');
  });

  it('is looked at again after five seconds', () => {
    expect(decide(rolling, begun, { ...pre, hookRuns: runs(since(1)) }).wakeAt).toBe(now + 5_000);
    const done = runs({ state: 'Succeeded' });
    expect(decide(rolling, begun, { ...pre, hookRuns: done }).wakeAt).toBeUndefined();
  });

  it('that failed names the nodes that were in flight beside its own', () => {
    const three = [
      ...begun,
      aMember('o2', { ...begun[0], instanceId: 'i-o2', nodeName: 'o2' as never }),
    ];
    const more = { ...pre, desired: 3, hookRuns: runs(failed) };
    const [error] = decide(rolling, three, more).change?.errors ?? [];
    expect(error?.message).toMatch(
      /of node o1 .* failed: exit 1\. In flight beside it: o2 \(hook preDrain was not over; uncordoned\)\.$/,
    );
  });

  it('that failed on several nodes at once is a sentence for each', () => {
    const second = aMember('o2', { ...begun[0], instanceId: 'i-o2', nodeName: 'o2' as never });
    const hookRuns = new Map([
      [preDrainOf('o1'), failed],
      [preDrainOf('o2'), { state: 'Failed', message: 'it was stopped.' } as const],
    ]);
    const { change } = decide(rolling, [...begun, second], { ...pre, desired: 2, hookRuns });
    const of = (node: string): string =>
      `Hook preDrain of node ${node} (Job ops/${preDrainOf(node)})`;
    expect(change?.errors?.[0]?.message).toBe(
      `${of('o1')} failed: exit 1. ${of('o2')} failed: it was stopped.`,
    );
  });

  it.each<[string, HookRun, string]>([
    ['failed', failed, 'exit 1'],
    ['was not done in time', since(160), 'it was not done in 100 s'],
  ])('that %s ends the update by name', (_, run, why) => {
    const { change, steps } = decide(rolling, begun, { ...pre, hookRuns: runs(run) });
    const message = `Hook preDrain of node o1 (Job ops/${preDrainOf('o1')}) failed: ${why}`;
    expect(change).toMatchObject({
      phase: 'Restoring',
      ending: 'Failed',
      errors: [{ code: 'HookFailed', message, resourceIds: ['o1'] }],
      failedNodes: [{ instanceId: 'i-o1', node: 'o1', message }],
    });
    expect(steps).toEqual([]);
  });

  it('gives the node back when the update is set back', () => {
    const status = { ...rolling, phase: 'Restoring', ending: 'Failed' } as const;
    expect(stepsOf(status, begun, pre)).toContain('Withdraw i-o1');
  });

  it('is in the journal while it runs, and after it failed', () => {
    const one = {
      hook: 'preDrain',
      instanceId: 'i-o1',
      node: 'o1',
      job: `ops/${preDrainOf('o1')}`,
    };
    const hooks = [{ ...one, state: 'Running' }];
    expect(decide(rolling, begun, pre).change?.hooks).toEqual(hooks);
    const known = { ...rolling, hooks } as Partial<NodeGroupUpdateStatus>;
    const running = { ...pre, hookRuns: runs(since(1)) };
    expect('hooks' in (decide(known, begun, running).change ?? {})).toBe(false);
    const done = { ...pre, hookRuns: runs({ state: 'Succeeded' }) };
    expect(decide(known, begun, done).change).toMatchObject({ hooks: undefined });
    const gone = { hooks: { preDrain: { ...hook, onFailure: 'Continue' as const } }, desired: 2 };
    const told = [{ ...one, state: 'Failed', message: 'exit 1' }];
    expect(decide(known, begun, { ...gone, hookRuns: runs(failed) }).change?.hooks).toEqual(told);
  });
});

describe('postDrain and preTerminate', () => {
  const both = { postDrain: hook, preTerminate: hook };
  const around = { hooks: both, desired: 2 } as const;
  const groupNodes = (secondsAgo: number) => [
    aMember('o1', emptied(secondsAgo)),
    ...members(2, 'n', fresh),
  ];
  const nameFor = (kind: HookKind): string => hookJobName(kind, 'i-o1', 'u/update/up');
  const ran = (...ended: readonly [HookKind, HookRun][]) =>
    new Map(ended.map(([kind, run]) => [nameFor(kind), run]));
  const done: HookRun = { state: 'Succeeded' };

  it.each<[string, readonly UpdateInstance[], Partial<UpdateObservation>, string]>([
    ['keep the instance of a node that is begun', members(2, 'o'), {}, 'Replace i-o2 keep'],
    [
      'keep it where one of them is asked for',
      members(2, 'o'),
      { hooks: { preDrain: hook, preTerminate: hook } },
      'Replace i-o2 hold keep',
    ],
    ['the first runs when the drain is over', groupNodes(0), {}, 'RunHook postDrain o1'],
    ['and not before', [aMember('o1', draining), ...members(2, 'n', fresh)], {}, ''],
    ['the second waits for it', groupNodes(90), {}, 'RunHook postDrain o1'],
    ['while it runs, too', groupNodes(90), { hookRuns: ran(['postDrain', since(9)]) }, ''],
    ['and for the time after empty', groupNodes(59), { hookRuns: ran(['postDrain', done]) }, ''],
    [
      'and runs then',
      groupNodes(60),
      { hookRuns: ran(['postDrain', done]) },
      'RunHook preTerminate o1',
    ],
    [
      'the instance is let go after both',
      groupNodes(60),
      { hookRuns: ran(['postDrain', done], ['preTerminate', done]) },
      'LetGo i-o1',
    ],
    [
      'it waits for nobody after the first where there is no second',
      groupNodes(1),
      { hooks: { postDrain: hook }, hookRuns: ran(['postDrain', done]) },
      'LetGo i-o1',
    ],
    ['one that is asked for no more lets it go', groupNodes(1), { hooks: {} }, 'LetGo i-o1'],
    [
      'one that failed with Continue lets it go, too',
      groupNodes(60),
      {
        hooks: { preTerminate: { ...hook, onFailure: 'Continue' } },
        hookRuns: ran(['preTerminate', failed]),
      },
      'LetGo i-o1',
    ],
    [
      'a node that was deleted has none',
      [aMember('o1', { ...emptied(1), nodeName: undefined as never }), ...members(2, 'n', fresh)],
      {},
      'LetGo i-o1',
    ],
    [
      'an instance that was let go is not let go again',
      [aMember('o1', emptied(60, false)), ...members(2, 'n', fresh)],
      {},
      '',
    ],
  ])('%s', (_, instances, more, expected) => {
    expect(stepsOf(rolling, instances, { ...around, ...more })).toBe(expected);
  });

  it('the second is looked for when the time after empty is over', () => {
    const more = { ...around, hookRuns: ran(['postDrain', done]) };
    expect(decide(rolling, groupNodes(20), more).wakeAt).toBe(now + 40_000);
  });

  it.each(['postDrain', 'preTerminate'] as const)('%s that fails ends the update', (kind) => {
    const more = { hooks: { [kind]: hook }, desired: 2, hookRuns: ran([kind, failed]) };
    const { change, steps } = decide(rolling, groupNodes(60), more);
    expect(change).toMatchObject({
      phase: 'Restoring',
      ending: 'Failed',
      errors: [{ code: 'HookFailed', resourceIds: ['o1'] }],
    });
    expect(change?.message).toContain(`Hook ${kind} of node o1`);
    expect(steps).toEqual([]);
  });

  it('give the empty node back when the update is set back, and wait for drains under way', () => {
    const status = { ...rolling, phase: 'Restoring', ending: 'Failed' } as const;
    const steps = stepsOf(status, [...groupNodes(5), aMember('o2', draining)], around);
    expect(steps).toContain('Withdraw i-o1');
    expect(steps).not.toContain('i-o2');
  });

  it('take as long as they take: a drain that was over in time has not failed meanwhile', () => {
    const late = { now: (now + 3_600_000) as typeof now, hookRuns: ran(['postDrain', since(5)]) };
    const { change } = decide(rolling, groupNodes(0), {
      ...around,
      hooks: { postDrain: { ...hook, timeoutSeconds: 7_200 } },
      ...late,
    });
    expect(change?.phase).toBeUndefined();
  });
});

describe('postReady', () => {
  const post = { hooks: { postReady: hook }, desired: 1, actualDesired: 2 } as const;
  const joined = [aMember('o1'), aMember('n1', fresh)];
  const ran = (run: HookRun) => new Map([[postReadyOf('n1'), run]]);

  it.each<[string, readonly UpdateInstance[], Partial<UpdateObservation>, string]>([
    ['runs when the new node is Ready', joined, {}, 'RunHook postReady n1'],
    ['does not before', [aMember('o1'), aMember('n1', { ...fresh, isReady: false })], {}, ''],
    ['keeps the phase while it runs', joined, { hookRuns: ran(since(1)) }, ''],
  ])('%s', (_, instances, more, expected) => {
    expect(stepsOf(up, instances, { ...post, ...more })).toBe(expected);
    expect(decide(up, instances, { ...post, ...more }).change?.phase).toBeUndefined();
  });

  it('lets the first node be begun when it is done', () => {
    const hookRuns = ran({ state: 'Succeeded' });
    expect(decide(up, joined, { ...post, hookRuns }).change?.phase).toBe('Rolling');
  });

  it('that fails is a new node that does not join', () => {
    const { change } = decide(up, joined, { ...post, hookRuns: ran(failed) });
    expect(change?.errors).toMatchObject([{ code: 'NodeCreationFailure', resourceIds: ['n1'] }]);
  });

  it('that takes longer than nodes may take to join is not looked at without a pause', () => {
    const more = { ...post, hookRuns: ran(since(1)) };
    const late = (now + 20 * 60_000) as typeof now;
    const long = { hooks: { postReady: { ...hook, timeoutSeconds: 7_200 } }, now: late };
    const phases = [{ phase: 'ScalingUp', at: formatTime(now) }] as const;
    expect(decide({ ...up, phases }, joined, { ...more, ...long }).wakeAt).toBe(late + 5_000);
  });

  it('that is not over takes no node away: those that serve stay enough', () => {
    const more = { ...post, hookRuns: ran(since(1)), desired: 2 };
    expect(
      stepsOf(rolling, [...members(2, 'o'), aMember('n1', fresh)], { ...more, desired: 3 }),
    ).toBe('');
  });

  it('is of Drover’s own strategy alone', () => {
    const observation = observe({ phase: 'ScalingUp', strategy: 'DEFAULT' }, joined, post);
    expect(hookCalls(observation)).toEqual([]);
  });
});

describe('the Job of a hook', () => {
  const { update } = observe({}, []);
  const call = {
    kind: 'preDrain',
    hook,
    job,
    instanceId: 'i-1',
    nodeName: 'n1',
    name: 'j',
  } as const;
  const metadata = { name: 'work', uid: 'c', resourceVersion: '1', creationTimestamp: 't' };
  const cronJob = (spec: object) => ({
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata,
    spec: {
      jobTemplate: { spec: { template: { spec: { containers: [{ name: 'a' }] } }, ...spec } },
    },
  });

  it.each([
    [{}, 100],
    [{ activeDeadlineSeconds: 30 }, 30],
    [{ activeDeadlineSeconds: 300 }, 100],
  ])('with %j has %d s', (spec, seconds) => {
    expect(hookJob(cronJob(spec), update, call).spec).toMatchObject({
      activeDeadlineSeconds: seconds,
    });
  });

  it('is reported by its labels, and by its conditions how it ended', () => {
    const made = hookJob(cronJob({}), update, call) as unknown as Parameters<typeof hookRunOf>[0];
    const at = { ...made, metadata: { ...made.metadata, creationTimestamp: 't' } };
    const ended = (type: string, status = 'True') =>
      hookRunOf(
        { ...at, status: { conditions: [{ type, status, reason: 'R', message: 'm' }] } },
        update,
        call,
      );
    expect(hookRunOf(at, update, call)).toEqual({ state: 'Running', since: 't' });
    expect(ended('Complete')).toEqual({ state: 'Succeeded' });
    expect(ended('Complete', 'False')).toMatchObject({ state: 'Running' });
    expect(ended('Failed')).toEqual({ state: 'Failed', message: 'R: m' });
    const theirs = hookRunOf(at, update, { ...call, instanceId: 'i-2' });
    expect(theirs).toMatchObject({ state: 'Failed' });
  });
});
