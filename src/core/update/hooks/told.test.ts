// Hooks that are webhooks in an update's journal: the intent stands there before the first call, tries are told
// rarely, what is done is remembered while the update goes on.
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
import type { UpdateObservation } from '../observation.ts';
import { type HookRun, hookJobName } from './job.ts';

const url = 'https://ops.example/drain';
const preDrain: NodeHook = { webhook: { url }, timeoutSeconds: 100 };
const name = hookJobName('preDrain', 'i-o1', 'u/update/up');
const begun = [aMember('o1', held), ...members(2, 'n', fresh)];
const entry = { hook: 'preDrain', instanceId: 'i-o1', node: 'o1', webhook: url } as const;
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
  it('stands there before it is asked, and is no step', () => {
    const { change, steps } = decide(undefined);
    expect(change?.hooks).toEqual([running()]);
    expect(steps).toEqual([]);
  });

  it.each<[string, number, object, object | undefined]>([
    ['the first try', 1, {}, { attempt: 1, message: 'it answered 503' }],
    ['a third', 3, { attempt: 2, message: 'it answered 503' }, undefined],
    ['a fourth', 4, { attempt: 2, message: 'it answered 503' }, { attempt: 4 }],
    ['another answer', 3, { attempt: 2, message: 'it answered 500' }, { attempt: 3 }],
  ])('tells of %s: %d after %j', (_, attempt, before, told) => {
    const run: HookRun = { state: 'Running', since, attempt, message: 'it answered 503' };
    const { change } = decide(run, { hooks: [running(before)] });
    if (told === undefined) expect(change?.hooks).toBeUndefined();
    else expect(change?.hooks).toMatchObject([told]);
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
    const why = `Hook preDrain of node o1 (webhook ${url}) failed: it was not done in 100 s; at last it answered 503`;
    expect(change).toMatchObject({
      phase: 'Restoring',
      errors: [{ code: 'Unknown', message: why }],
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
