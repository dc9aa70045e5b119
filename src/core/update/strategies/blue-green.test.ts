// Blue/green as tables: what each phase requests next, what delays it, and the state after each
// end.

import { describe, expect, it } from 'vitest';
import {
  aMember,
  fresh,
  members,
  now,
  observe,
} from '../../../../test/support/update-observations.ts';
import { epochMs, formatTime } from '../../../api/brand.ts';
import { defined } from '../../../api/defined.ts';
import type { NodeDisruption, NodeDisruptionStatus } from '../../../api/disruption.ts';
import type {
  NodeGroupUpdateStatus,
  UpdateEta,
  UpdatePhase,
  UpdateProgress,
} from '../../../api/nodegroup-update.ts';
import { decideUpdate, policiesOf } from '../index.ts';
import type { UpdateInstance, UpdateObservation } from '../observation.ts';

const strategy = 'BLUE_GREEN';
const blueGreen = { soakSeconds: 600, batchSoakSeconds: 0 };
const update = { policies: { blueGreen } };
const policies = policiesOf({}, update, strategy);
const ago = (seconds: number): string => formatTime(epochMs(now - seconds * 1000));

/** The update's cause, and the state of its drain. */
const asked = (
  followUp: 'Release' | 'Terminate',
  status: Partial<NodeDisruptionStatus> = {},
): { readonly disruption: NodeDisruption } => ({
  disruption: {
    apiVersion: 'drover.dev/v1alpha1',
    kind: 'NodeDisruption',
    metadata: { name: 'i', uid: 'u', resourceVersion: '1', creationTimestamp: ago(0) },
    spec: {
      causes: [
        { kind: 'Update', id: 'update/up', receivedAt: ago(60), onDeadline: 'fail', followUp },
      ],
    },
    status: { episode: 1, phase: 'Draining', ...status },
  },
});
const over = (seconds: number, outcome: NodeDisruptionStatus['outcome'] = 'Drained') => ({
  phase: 'Ended' as const,
  outcome: outcome ?? 'Drained',
  handledCauses: ['update/up'],
  endedAt: ago(seconds),
});
const emptied = (seconds = 30) => asked('Release', over(seconds));
const emptying = asked('Release');
const closed = { isClosed: true } as const;

const old = (count: number, more: Partial<UpdateInstance> = {}): readonly UpdateInstance[] =>
  members(count, 'old', { ...closed, ...more });
const green = (count: number, more: Partial<UpdateInstance> = {}): readonly UpdateInstance[] =>
  members(count, 'new', { ...fresh, hasOutdatedTaint: false, ...more });

const decide = (
  phase: UpdatePhase,
  instances: readonly UpdateInstance[],
  {
    status = {},
    seconds = 0,
    ...more
  }: Partial<Omit<UpdateObservation, 'status'>> & {
    readonly status?: Partial<NodeGroupUpdateStatus>;
    readonly seconds?: number;
  } = {},
) => {
  const phases = [{ phase, at: ago(seconds) }];
  const journal = { strategy, phase, phases, surge: 3, ...status } as const;
  const around = { desired: 3, surge: { desired: 3, maxSize: 3 }, policies };
  return decideUpdate(observe(journal, instances, { ...around, ...more }));
};
const stepsOf = ({ steps }: ReturnType<typeof decide>): readonly string[] =>
  steps.map((step) => `${step.kind}${'instanceId' in step ? ` ${step.instanceId}` : ''}`);

describe('new nodes of a blue/green update', () => {
  const zoned = (some: readonly UpdateInstance[]): readonly UpdateInstance[] =>
    some.map((one, i) => ({ ...one, zone: i % 2 === 0 ? 'a' : 'b' }));
  const blue = zoned(old(3));
  const small = { desired: 2, maxSize: 2 };

  it('begin with one in each zone that has old ones', () => {
    const { surge, change } = decide('ScalingUp', blue, { surge: { desired: 0, maxSize: 0 } });
    expect(surge).toEqual(small);
    expect(change?.phase).toBeUndefined();
  });

  it.each([
    ['not before the first are Ready', green(2, { isReady: false }), small, undefined],
    ['as many as there are old ones, then', green(2), { desired: 3, maxSize: 3 }, undefined],
  ])('come %s', (_, first, surge, phase) => {
    const decided = decide('ScalingUp', [...blue, ...zoned(first)], { surge: small });
    expect(decided.surge).toEqual(surge);
    expect(decided.change?.phase).toBe(phase);
    expect(decided.steps).toEqual([]);
  });

  it.each([
    ['two of three', green(2), undefined],
    [
      'three, one not Ready',
      [...green(2), aMember('new3', { ...fresh, isReady: false })],
      undefined,
    ],
    ['all', green(3), 'Marking'],
  ])('are waited for: %s', (_, some, phase) => {
    expect(decide('ScalingUp', [...blue, ...some], { actualDesired: 6 }).change?.phase).toBe(phase);
  });

  it.each([
    [14 * 60, undefined],
    [15 * 60, 'Failed'],
  ])('have %d s to join: %s', (seconds, ending) => {
    const some = [...blue, ...green(2)];
    const status = { waitingSince: ago(seconds) };
    const { change, steps } = decide('ScalingUp', some, { actualDesired: 6, status });
    expect(change?.ending).toBe(ending);
    expect(steps).toEqual([]);
  });

  it('are as many as there are old ones by then: some were started after they had been counted', () => {
    const decided = decide('ScalingUp', [...old(5), ...green(3)], { desired: 5, actualDesired: 8 });
    expect(decided.change?.surge).toBe(5);
    const noted = { desired: 5, actualDesired: 8, status: { surge: 5 } };
    const next = decide('ScalingUp', [...old(5), ...green(3)], noted);
    expect(next.change?.surge).toBeUndefined();
    expect(next.surge).toEqual({ desired: 5, maxSize: 5 });
  });

  it('do not come beyond the first while it is paused', () => {
    const seen = observe({ strategy, phase: 'ScalingUp', surge: 3 }, [...blue, ...green(2)]);
    const paused = { ...seen.update, spec: { ...seen.update.spec, paused: true } };
    const decided = decideUpdate({ ...seen, desired: 3, surge: small, update: paused, policies });
    expect(decided.surge).toEqual(small);
  });

  it('are kept from the autoscaler while a freeze holds, which closes no old node', () => {
    const { scaleDownDisabled: _none, ...withoutShield } = aMember('new3', fresh);
    const seen = observe({ strategy, phase: 'ScalingUp', surge: 3 }, [
      ...old(3, { isClosed: false }),
      ...green(2),
      withoutShield,
    ]);
    const holds = [{ kind: 'Freeze', reason: 'sale', since: ago(60) }] as const;
    const surge = { desired: 3, maxSize: 3 };
    const status = { ...seen.status, waitingSince: ago(600) };
    const around = { ...seen, status, desired: 3, actualDesired: 6, surge, policies };
    const decided = decideUpdate({ ...around, holds });
    expect(decided.change).toHaveProperty('waitingSince', undefined);
    expect(decided.change?.phase).toBeUndefined();
    expect(decided.steps).toEqual([{ kind: 'Shield', nodeName: 'new3' }]);
    expect(decideUpdate(around).change?.phase).toBe('Marking');
  });
});

describe('old nodes of a blue/green update', () => {
  it('are closed to new pods before the first is emptied, and nothing is evicted', () => {
    const open = old(3, { isClosed: false });
    const { steps, change } = decide('Marking', [...open, ...green(3)]);
    const effect = 'NoSchedule';
    expect(steps).toEqual(open.map(({ nodeName }) => ({ kind: 'Discourage', nodeName, effect })));
    expect(change?.phase).toBeUndefined();
    expect(decide('Marking', [...old(3), ...green(3)]).change?.phase).toBe('Rolling');
  });

  it.each([
    ['none', old(3), 1],
    ['one that is being emptied', [...old(2), aMember('o', { ...closed, ...emptying })], 0],
    ['one that is empty', [...old(2), aMember('o', { ...closed, ...emptied() })], 1],
  ])('are emptied one at a time, beside %s', (_, blue, begun) => {
    const decided = decide('Rolling', [...blue, ...green(3)]);
    expect(stepsOf(decided).filter((step) => step.startsWith('Empty'))).toHaveLength(begun);
    expect(decided.steps.every(({ kind }) => kind === 'Empty')).toBe(true);
  });

  it.each([
    [299, 0],
    [300, 1],
  ])('of the next batch wait for the rest of the last, over for %d s', (seconds, begun) => {
    const rests = policiesOf({}, { policies: { blueGreen: { batchSoakSeconds: 300 } } }, strategy);
    const some = [...old(2), aMember('o', { ...closed, ...emptied(seconds) }), ...green(3)];
    const decided = decide('Rolling', some, { policies: rests });
    expect(decided.steps).toHaveLength(begun);
    if (begun === 0) expect(decided.wakeAt).toBe(now + 1000);
    const holds = begun === 0 ? [{ kind: 'Soak', until: ago(-1), since: ago(0) }] : [];
    expect(decided.change?.holds ?? []).toMatchObject(holds);
  });

  it.each<readonly [string, readonly UpdateInstance[], string | undefined]>([
    ['all are empty', [...old(3, emptied()), ...green(3)], 'Soaking'],
    ['a new one is missing', [...old(3, emptied()), ...green(2)], undefined],
    [
      'one is not empty',
      [...old(2, emptied()), aMember('o', { ...closed, ...emptying }), ...green(3)],
      undefined,
    ],
    ['none is left', green(3), 'ScalingDown'],
  ])('rest when %s: %s', (_, some, phase) => {
    const actualDesired = some.length === 3 ? 3 : 6;
    expect(decide('Rolling', some, { actualDesired }).change?.phase).toBe(phase);
  });

  it.each<readonly [string, number, readonly UpdateInstance[], string | undefined]>([
    ['before its end', 599, [...old(3, emptied()), ...green(3)], undefined],
    ['at its end', 600, [...old(3, emptied()), ...green(3)], 'ScalingDown'],
    ['when a new one is missing', 600, [...old(3, emptied()), ...green(2)], undefined],
    ['when one was uncordoned', 10, [...old(2, emptied()), ...old(1), ...green(3)], 'Rolling'],
  ])('of a soak, %s', (_, seconds, some, phase) => {
    const decided = decide('Soaking', some, { seconds, actualDesired: 6 });
    expect(decided.change?.phase).toBe(phase);
    expect(decided.steps).toEqual([]);
    if (seconds !== 599) return;
    expect(decided.change?.holds).toMatchObject([
      { kind: 'Soak', until: formatTime(epochMs(now + 1000)) },
    ]);
    expect(decided.wakeAt).toBe(now + 1000);
  });

  it('tell an end that does not move with the clock when the soak is over and something is missing', () => {
    const some = [...old(3, emptied()), ...green(2)];
    const told = (eta: UpdateEta | undefined, seconds = 700) => {
      const counts = { total: 3, done: 0, draining: 0, failed: 0, emptied: 3 };
      const progress = { ...counts, ...defined({ eta }) };
      const decided = decide('Soaking', some, { seconds, status: { progress }, actualDesired: 6 });
      return decided.change?.progress === undefined ? 'as before' : decided.change.progress.eta;
    };
    const inSeconds = (p50: number, p90: number) => ({ p50: ago(-p50), p90: ago(-p90) });
    expect(told(inSeconds(20, 140))).toBe('as before');
    expect(told(inSeconds(-120, 0))).toBe('as before');
    expect(told(inSeconds(-121, -1))).toBeUndefined();
    expect(told(undefined)).toBe('as before');
    // The soak was cut short.
    expect(told(inSeconds(3600, 3720))).toEqual(inSeconds(120, 240));
    // Before the end of the soak, counted from that end.
    expect(told(undefined, 590)).toEqual(inSeconds(130, 250));
  });

  const hooks = {
    preTerminate: { job: { namespace: 'ops', cronJob: 'last' }, timeoutSeconds: 300 },
  };
  const ran = (...seconds: readonly number[]) =>
    seconds.map((took) => ({ hook: 'preTerminate' as const, seconds: took }));

  it.each<readonly [string, Partial<UpdateObservation>, readonly [number, number] | undefined]>([
    ['of a hook that was seen', { hookHistory: ran(40) }, [10 + 40 + 120, 10 + 40 + 240]],
    // The slowest of three nodes that run the hook in parallel decides.
    ['of the slowest', { hookHistory: ran(40, 50, 60, 70, 80) }, [10 + 70 + 120, 10 + 80 + 240]],
    ['of one that is ended then', { hookHistory: ran(900) }, [10 + 300 + 120, 10 + 300 + 240]],
    ['of none that ran', { hookHistory: [{ hook: 'preDrain', seconds: 40 }] }, undefined],
  ])('tell an end with the time %s before old nodes go', (_, history, told) => {
    const some = [...old(3, emptied()), ...green(3)];
    const counts = { total: 3, done: 0, draining: 0, failed: 0, emptied: 3 };
    const soaks = (seconds: number, progress: UpdateProgress) =>
      decide('Soaking', some, {
        hooks,
        ...history,
        seconds,
        status: { progress },
        actualDesired: 6,
      });
    const { change } = soaks(590, { ...counts, total: 2 });
    const noticedAt = (seconds: number): UpdateEta | undefined =>
      told && { p50: ago(seconds - told[0]), p90: ago(seconds - told[1]) };
    const eta = noticedAt(0);
    expect(change?.progress?.eta).toEqual(eta);
    const reason = change?.holds?.find(({ kind }) => kind === 'Soak')?.reason ?? '';
    expect(reason.includes('There is no ETA: hook preTerminate')).toBe(told === undefined);
    // A later pass writes no new ETA, nor does one after the soak while hooks run.
    for (const seconds of [0, 5, 30, 60]) {
      const known = noticedAt(seconds);
      const next = { ...counts, ...defined({ eta: known }) };
      expect(soaks(590 + seconds, next).change?.progress).toBeUndefined();
    }
  });

  /** Drained `seconds` ago, and drained again for another actor. */
  const anew = (seconds: number, outcome: NodeDisruptionStatus['outcome'] = 'Drained') => {
    const previous = { episode: 1, outcome: outcome ?? 'Drained', endedAt: ago(seconds) };
    const { disruption } = asked('Release', { handledCauses: ['update/up'], episode: 2, previous });
    const [cause] = disruption.spec.causes;
    const late = { ...cause, kind: 'Update', deadline: ago(3600) } as const;
    const by = { kind: 'Manual', id: 'x', receivedAt: ago(5), followUp: 'Release' } as const;
    const causes = [late, { ...by, onDeadline: 'fail' }] as NodeDisruption['spec']['causes'];
    return { disruption: { ...disruption, spec: { causes } } };
  };

  it.each(['Drained', 'Forced'] as const)('stay kept when a user drains one (%s)', (outcome) => {
    const [one, ...others] = old(3, emptied());
    const some = [{ ...one, ...anew(7200, outcome) } as UpdateInstance, ...others, ...green(3)];
    const decided = decide('Soaking', some, { actualDesired: 6 });
    expect(decided.change?.phase).toBeUndefined();
    expect(decided.change?.ending).toBeUndefined();
    expect(decided.change?.progress).toMatchObject({ emptied: 3 });
    expect(decide('Rolling', some, { actualDesired: 6 }).change?.phase).toBe('Soaking');
  });

  it('count a batch’s rest from their own end, whoever drains one since', () => {
    const rests = policiesOf({}, { policies: { blueGreen: { batchSoakSeconds: 300 } } }, strategy);
    const some = [...old(2), aMember('o', { ...closed, ...anew(299) }), ...green(3)];
    const { steps, wakeAt } = decide('Rolling', some, { policies: rests });
    expect([steps.length, wakeAt]).toEqual([0, now + 1000]);
  });

  it('go all at once, each with its place', () => {
    const decided = decide('ScalingDown', [...old(3, emptied()), ...green(3)]);
    expect(stepsOf(decided)).toEqual(['Retire i-old1', 'Retire i-old2', 'Retire i-old3']);
    expect(decided.surge).toEqual({ desired: 0, maxSize: 0 });
    const going = old(3, asked('Terminate'));
    expect(decide('ScalingDown', [...going, ...green(3)]).steps).toEqual([]);
    expect(decide('ScalingDown', green(3)).change?.phase).toBe('Restoring');
  });
});

describe('a blue/green update that does not succeed', () => {
  const failedStatus = {
    ending: 'Cancelled',
    phases: [{ phase: 'Rolling', at: ago(60) }],
  } as const;

  it.each<readonly [string, Partial<UpdateInstance>]>([
    ['empty', emptied()],
    ['being emptied', emptying],
  ])('gives back old nodes that are %s, and opens them', (_, state) => {
    const decided = decide('Restoring', [...old(1, state), ...green(3)], { status: failedStatus });
    expect(stepsOf(decided)).toEqual([
      'Withdraw i-old1',
      'Encourage',
      'Unshield',
      'Unshield',
      'Unshield',
      'Unshield',
    ]);
  });

  it('lets those go that were to go for good', () => {
    const going = old(1, {
      ...asked('Terminate'),
      scaleDownDisabled: 'theirs',
      hasOutdatedTaint: false,
    });
    const decided = decide('Restoring', [...going, ...green(3, { scaleDownDisabled: 'theirs' })], {
      status: failedStatus,
    });
    expect(decided.steps).toEqual([]);
    expect(decided.end).toBeUndefined();
  });

  const back = { scaleDownDisabled: 'theirs', hasOutdatedTaint: false, isClosed: false } as const;

  it('sets back what new nodes are made of, then takes those that it made, few at a time', () => {
    const blue = old(3, back);
    const some = [...blue, ...green(3, { scaleDownDisabled: 'theirs' })];
    expect(decide('Restoring', some, { status: failedStatus }).steps).toEqual([
      { kind: 'RestoreTemplate' },
    ]);
    const restored = { status: failedStatus, usesTarget: false } as const;
    expect(stepsOf(decide('Restoring', some, restored))).toEqual(['Retire i-new1']);
    const [first, ...others] = green(3, { scaleDownDisabled: 'theirs' });
    const going = { ...first, ...asked('Terminate') } as UpdateInstance;
    const surge = { desired: 0, maxSize: 0 };
    const next = decide('Restoring', [...blue, going, ...others], { ...restored, surge });
    expect(next.steps).toEqual([]);
    expect(next.end).toBeUndefined();
    const stuck = { ...first, ...asked('Terminate', over(1, 'Failed')) } as UpdateInstance;
    const beside = decide('Restoring', [...blue, stuck, ...others], { ...restored, surge });
    expect(stepsOf(beside)).toEqual(['Retire i-new2']);
  });

  it('with Skip ends when all that is left was tried twice, whatever is kept', () => {
    const skips = policiesOf({}, { policies: { drain: { onTimeout: 'Skip' } } }, strategy);
    const causes = ['update/up', 'update/up/2'].map((id) => ({
      kind: 'Update' as const,
      id,
      receivedAt: ago(60),
      onDeadline: 'fail' as const,
      followUp: 'Release' as const,
      cancelledAt: ago(30),
    }));
    const { disruption } = emptying;
    const given = old(1, { disruption: { ...disruption, spec: { causes } } });
    const kept = aMember('kept', { ...closed, ...emptied() });
    const { change } = decide('Rolling', [...given, kept, ...green(3)], { policies: skips });
    expect(change).toMatchObject({ phase: 'Restoring', ending: 'Failed' });
  });

  it('ends, and goes back, though its group was told to quarantine meanwhile', () => {
    const updateConfig = { drain: { onTimeout: 'Quarantine' } } as const;
    const told = policiesOf({ updateConfig }, update, strategy);
    const stuck = aMember('stuck', { ...closed, ...asked('Release', over(1, 'Failed')) });
    const some = [...old(2, emptied()), stuck, ...green(3)];
    const { change } = decide('Rolling', some, { policies: told, actualDesired: 6 });
    expect(change).toMatchObject({ phase: 'Restoring', ending: 'Failed' });
  });

  it('says that a probe failed while old nodes are kept, and goes back', () => {
    const probes = [{ name: 'web', onFailure: 'Fail', failureThreshold: 2 }] as const;
    const probed = [{ name: 'web', isPassing: false, failures: 2, message: 'no', at: ago(0) }];
    const some = [...old(3, emptied()), ...green(3)];
    const { change } = decide('Soaking', some, { probes, probed, actualDesired: 6 });
    expect(change).toMatchObject({ phase: 'Restoring', ending: 'Failed' });
  });

  it('looks at probes in their intervals while old nodes are kept', () => {
    const probes = [{ name: 'web', intervalSeconds: 20 }];
    const probed = [{ name: 'web', isPassing: true, failures: 0, message: '', at: ago(5) }];
    const some = [...old(3, emptied()), ...green(3)];
    const { wakeAt } = decide('Soaking', some, { probes, probed, actualDesired: 6 });
    expect(wakeAt).toBe(now + 15_000);
  });
});
