// Webhooks in the status of an update: the intent is recorded before the first call, and tries are
// recorded rarely. Completed ones are remembered while the update runs.
import { describe, expect, it } from 'vitest';
import {
  aMember,
  fresh,
  held,
  members,
  now,
  observe,
} from '../../../../test/support/update-observations.ts';
import { epochMs, formatTime } from '../../../api/brand.ts';
import type { NodeGroupUpdateStatus } from '../../../api/nodegroup-update.ts';
import type { NodeHook } from '../../../api/update-hooks.ts';
import { decideUpdate } from '../decide.ts';
import type { UpdateInstance, UpdateObservation } from '../observation.ts';
import { type HookRun, hookJobName } from './job.ts';

const url = 'https://ops.example/drain';
const shown = 'https://ops.example/...';
const preDrain: NodeHook = { webhook: { url }, timeoutSeconds: 100 };
const name = hookJobName('preDrain', 'i-o1', 'u/update/up');
const begun = [aMember('o1', held), ...members(2, 'n', fresh)];
const entry = {
  hook: 'preDrain',
  instanceId: 'i-o1',
  node: 'o1',
  webhook: shown,
  id: name,
} as const;
const since = formatTime(now);

const decide = (
  run: HookRun | undefined,
  status: Partial<NodeGroupUpdateStatus> = {},
  more: Partial<UpdateObservation> = {},
) =>
  decideUpdate(
    observe({ phase: 'Rolling', strategy: 'SURGE', ...status }, begun, {
      surge: { desired: 1, maxSize: 1 },
      desired: 2,
      hooks: { preDrain },
      hookRuns: new Map(run === undefined ? [] : [[name, run]]),
      ...more,
    }),
  );
const running = (more: object = {}) => ({ ...entry, state: 'Running', since, ...more }) as const;

describe('a webhook in the journal', () => {
  it('exists before it is asked, and is no step', () => {
    const { change, steps } = decide(undefined);
    expect(change?.hooks).toEqual([running()]);
    expect(steps).toEqual([]);
  });

  it.each<[string, number, object, object | undefined]>([
    ['the first try', 1, {}, { attempt: 1, message: 'it answered 503' }],
    ['a third', 3, { attempt: 2, message: 'it answered 503' }, undefined],
    ['a fourth', 4, { attempt: 2, message: 'it answered 503' }, { attempt: 4 }],
    ['another answer', 3, { attempt: 2, message: 'it answered 500' }, { attempt: 3 }],
  ])('reports %s: %d after %j', (_, attempt, before, told) => {
    const run: HookRun = { state: 'Running', since, attempt, message: 'it answered 503' };
    const { change } = decide(run, { hooks: [running(before)] });
    if (told === undefined) expect(change?.hooks).toBeUndefined();
    else expect(change?.hooks).toMatchObject([told]);
  });

  it('of a second try is another than that of the first, which stays told', () => {
    const first = { ...entry, id: hookJobName('preDrain', 'i-o1', 'u/update/before') };
    const failed = { ...first, state: 'Failed', message: 'it answered 404' } as const;
    const { change, steps } = decide(undefined, { hooks: [failed] });
    expect(change?.hooks).toEqual([failed, running()]);
    expect(steps).toEqual([]);
  });

  it('is asked again when its answer says so, and at its end', () => {
    const run = (seconds: number): HookRun => ({
      state: 'Running',
      since,
      attempt: 1,
      nextAt: epochMs(now + seconds * 1000),
    });
    expect(decide(run(7), { hooks: [running({ attempt: 1 })] }).wakeAt).toBe(now + 7_000);
    expect(decide(run(500), { hooks: [running({ attempt: 1 })] }).wakeAt).toBe(now + 100_000);
  });

  it('has its time from the journal, and says what it answered at last', () => {
    const run: HookRun = { state: 'Running', since, attempt: 9, message: 'it answered 503' };
    const late = { now: epochMs(now + 100_000) };
    const { change } = decide(run, { hooks: [running({ attempt: 8 })] }, late);
    const why = `Hook preDrain of node o1 (webhook ${shown}) failed: it was not done in 100 s; at last it answered 503`;
    expect(change).toMatchObject({
      phase: 'Restoring',
      errors: [{ code: 'HookFailed', message: why }],
    });
    const early = { now: epochMs(now + 99_999) };
    expect(decide(run, { hooks: [running({ attempt: 8 })] }, early).change?.phase).toBeUndefined();
  });

  it('is remembered when it is done, until the update is set back', () => {
    const done: HookRun = { state: 'Succeeded', seconds: 41.6 };
    const { change, steps } = decide(done, { hooks: [running()] });
    const hookTimes = [{ hook: 'preDrain', seconds: 42 }];
    expect(change).toMatchObject({ hooks: undefined, webhooksDone: [name], hookTimes });
    expect(steps).toEqual([{ kind: 'Lift', instanceId: 'i-o1' }]);
    const known = { webhooksDone: [name] };
    const later = decide(done, known).change ?? {};
    expect(later).not.toHaveProperty('webhooksDone');
    expect(later).not.toHaveProperty('hookTimes');
    const left = decide({ state: 'Failed', message: 'it answered 400' }, known).change;
    expect(left).toMatchObject({ phase: 'Restoring', webhooksDone: undefined });
  });
});

describe('more webhooks than the journal tells', () => {
  const idOf = (of: string): string => hookJobName('postReady', `i-${of}`, 'u/');
  const runsOf = (instances: readonly UpdateInstance[], run: HookRun) =>
    new Map(instances.map(({ nodeName = '' }) => [idOf(nodeName), run]));
  const bad: HookRun = { state: 'Failed', message: 'it answered 404' };
  const webhook: NodeHook = { webhook: { url }, onFailure: 'Continue' };
  const postReady = { postReady: webhook };

  const oldOnes = members(2, 'o');

  /** The status after `count` passes, and what each of them wrote. */
  const passes = (
    count: number,
    instances: readonly UpdateInstance[],
    more: Partial<UpdateObservation>,
    before: Partial<NodeGroupUpdateStatus> = {},
  ) => {
    let status: Partial<NodeGroupUpdateStatus> = { phase: 'Rolling', strategy: 'SURGE', ...before };
    const written = [];
    for (let i = 0; i < count; i++) {
      const { change = {} } = decideUpdate(observe(status, [...oldOnes, ...instances], more));
      written.push(Object.keys(change));
      status = { ...status, ...change } as typeof status;
    }
    return { status, written };
  };
  const nodesOf = ({ hooks }: Partial<NodeGroupUpdateStatus>, state: string) =>
    (hooks ?? []).filter((one) => one.state === state).map(({ node }) => node);

  it.each<[string, Partial<UpdateObservation>]>([
    ['a new node', { hooks: postReady }],
    ['a node of before', { hooks: { preDrain, ...postReady } }],
    [
      'a node of before, with Jobs',
      {
        hooks: {
          preDrain,
          postReady: { job: { namespace: 'a', cronJob: 'b' }, onFailure: 'Continue' },
        },
      },
    ],
  ])('that of %s has a place before 40 that failed', (of, more) => {
    const failedOnes = members(40, 'f', fresh);
    const next = of === 'a new node' ? aMember('z', fresh) : aMember('z', held);
    const all = [...failedOnes, next];
    const around = { ...more, desired: 41, hookRuns: runsOf(failedOnes, bad) };
    const full = passes(1, failedOnes, { ...around, desired: 40 });
    expect(nodesOf(full.status, 'Failed')).toHaveLength(40);
    const { status, written } = passes(3, all, around, full.status);
    expect(nodesOf(status, 'Running')).toEqual(['z']);
    expect(nodesOf(status, 'Failed')).toHaveLength(39);
    expect(written.slice(1).flat()).not.toContain('hooks');
  });

  it('have a place before Jobs, which run without one', () => {
    const jobs = { job: { namespace: 'a', cronJob: 'b' } };
    const all = [...members(41, 'f', fresh), aMember('z', held)];
    const hooks = { preDrain, postReady: jobs };
    const hookRuns = runsOf(all.slice(0, 41), { state: 'Running', since });
    const full = passes(1, all.slice(0, 41), { hooks, hookRuns, desired: 41 });
    const { status } = passes(2, all, { hooks, hookRuns, desired: 42 }, full.status);
    expect(status.hooks).toHaveLength(40);
    expect(nodesOf(status, 'Running')).toContain('z');
  });

  it('that run keep their places before one that has none', () => {
    const all = members(41, 'r', fresh);
    const hookRuns = runsOf(all.slice(1), { state: 'Running', since, attempt: 1 });
    const around = { hooks: postReady, desired: 41, hookRuns };
    const full = passes(1, all.slice(1), { ...around, desired: 40 });
    const { status, written } = passes(2, all, around, full.status);
    expect(nodesOf(status, 'Running')).not.toContain('r1');
    expect(written.flat()).not.toContain('hooks');
    const done = new Map([...hookRuns, [idOf('r2'), { state: 'Succeeded' } as const]]);
    const after = passes(1, all, { ...around, hookRuns: done }, status);
    expect(nodesOf(after.status, 'Running')).toContain('r1');
  });

  it('that just failed are told, and those that failed earlier give up their place', () => {
    const all = members(41, 'f', fresh);
    const around = { hooks: postReady, desired: 41 };
    const before = passes(1, all, { ...around, hookRuns: runsOf(all.slice(1), bad) });
    expect(nodesOf(before.status, 'Running')).toEqual(['f1']);
    const { status, written } = passes(
      3,
      all,
      { ...around, hookRuns: runsOf(all, bad) },
      before.status,
    );
    expect(nodesOf(status, 'Failed')).toContain('f1');
    expect(status.hooks).toHaveLength(40);
    expect(written.slice(1).flat()).not.toContain('hooks');
    // All of them, so that none is called again after a crash.
    expect(status.webhooksDone?.toSorted()).toEqual(
      all.map(({ nodeName = '' }) => idOf(nodeName)).toSorted(),
    );
  });

  it('are noted when they are done, however many, in one write', () => {
    const all = members(130, 'n', fresh);
    const hookRuns = runsOf(all, { state: 'Succeeded' });
    const { status, written } = passes(4, all, { hooks: postReady, hookRuns, desired: 130 });
    expect(status.webhooksDone).toHaveLength(130);
    expect(written[0]).toContain('webhooksDone');
    expect(written.slice(1).flat()).not.toContain('webhooksDone');
  });

  it('are noted as long as their instances are there, and of a drain the latest try', () => {
    const done: HookRun = { state: 'Succeeded' };
    const gone = hookJobName('preTerminate', 'i-gone', 'u/update/up');
    const first = hookJobName('preDrain', 'i-o1', 'u/update/before');
    const other = idOf('n1');
    const { change } = decide(done, { webhooksDone: [gone, first, other] });
    expect(change?.webhooksDone).toEqual([other, name]);
  });
});
