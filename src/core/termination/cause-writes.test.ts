// Which causes are the same, and what is written for each.
import { describe, expect, it } from 'vitest';
import type { DisruptionCause, NodeDisruption, NodeDisruptionSpec } from '../../api/disruption.ts';
import {
  causeWrite,
  hookCauseId,
  liftWrite,
  maxCauses,
  mergeCause,
  withdrawCauseWrite,
  withdrawWrite,
} from './cause-writes.ts';

const aCause = (more: Partial<DisruptionCause> & { readonly id: string }): DisruptionCause => ({
  kind: 'Manual',
  receivedAt: '2026-01-01T00:00:00.000Z',
  onDeadline: 'fail',
  followUp: 'Release',
  ...more,
});
const hook = (token?: string, startedAt = '2026-01-01T00:00:00.000Z'): DisruptionCause => {
  const ref = { autoScalingGroupName: 'asg', name: 'term', ...(token && { token }) };
  return aCause({
    kind: 'LifecycleHook',
    confirmation: { state: 'Confirmed', at: '2026-01-01T00:00:00.000Z', reason: 'EC2' },
    id: hookCauseId(ref),
    hook: { ...ref, startedAt, heartbeatTimeoutSeconds: 1800, globalTimeoutSeconds: 172800 },
  });
};
const spec = (...causes: readonly DisruptionCause[]): NodeDisruptionSpec => ({
  instanceId: 'i-1',
  causes,
});
const ids = (merged: NodeDisruptionSpec): readonly string[] => merged.causes.map(({ id }) => id);

describe('mergeCause', () => {
  it.each([
    ['a new cause is added', spec(aCause({ id: 'a' })), aCause({ id: 'b' }), ['a', 'b']],
    ['the same id never adds a second', spec(aCause({ id: 'a' })), aCause({ id: 'a' }), ['a']],
    ['a message gives a polled hook its token', spec(hook()), hook('t1'), ['hook/asg/term/t1']],
    ['polling finds what the message told', spec(hook('t1')), hook(), ['hook/asg/term/t1']],
    [
      'another token of one hook is another action',
      spec(hook('t1')),
      hook('t2'),
      ['hook/asg/term/t1', 'hook/asg/term/t2'],
    ],
  ])('%s', (_, before, cause, expected) => {
    expect(ids(mergeCause(before, cause))).toEqual(expected);
  });

  it('returns the same object when there is nothing to write', () => {
    const before = spec(hook('t1'));
    expect(mergeCause(before, hook('t1'))).toBe(before);
    expect(mergeCause(before, hook())).toBe(before);
  });

  it('takes the hook’s start from the message, which knows it', () => {
    const merged = mergeCause(spec(hook(undefined, '2026-01-01T00:00:30.000Z')), hook('t1'));
    expect(merged.causes[0]?.hook?.startedAt).toBe('2026-01-01T00:00:00.000Z');
  });

  it('is the same in whichever order message and polling come', () => {
    const a = mergeCause(mergeCause(spec(), hook('t1')), hook());
    const b = mergeCause(mergeCause(spec(), hook()), hook('t1'));
    expect(a).toEqual(b);
  });

  const many = Array.from({ length: maxCauses - 2 }, (_, i) => aCause({ id: `m${i}` }));
  const cancelled = aCause({ id: 'c', cancelledAt: '2026-01-01T00:00:00.000Z' });
  const polled = hookCauseId({ autoScalingGroupName: 'asg', name: 'term' });
  type Full = readonly [string, readonly DisruptionCause[], readonly string[], string | undefined];
  const full: readonly Full[] = [
    ['cancelled causes go first', [hook('t1'), cancelled], ['m3'], 'c'],
    ['then one that was handled', [hook('t1'), aCause({ id: 'y' })], ['m3'], 'm3'],
    ['a hook found by polling too', [hook('t1'), aCause({ id: 'y' })], [polled], hook('t1').id],
    ['one in force never', [hook('t1'), aCause({ id: 'y' })], ['gone'], undefined],
  ];
  it.each(full)('stays bounded: %s', (_, [first, last], handled, dropped) => {
    if (first === undefined || last === undefined) throw new Error('two causes');
    const before = spec(first, ...many, last);
    const merged = mergeCause(before, aCause({ id: 'x' }), handled);
    if (dropped === undefined) expect(merged).toBe(before);
    else {
      expect(merged.causes).toHaveLength(maxCauses);
      expect(ids(before).filter((id) => !ids(merged).includes(id))).toEqual([dropped]);
    }
  });
});

describe('unconfirmed causes', () => {
  const at = '2026-01-01T00:00:00.000Z';
  const notice = (
    id: string,
    state: 'Pending' | 'Refuted',
    kind: 'Maintenance' | 'SpotInterruption',
  ) => aCause({ id, kind, confirmation: { state, at, reason: 'EC2' } });
  const forged = (state: 'Pending' | 'Refuted') =>
    Array.from({ length: 8 }, (_, i) => notice(`f${i}`, state, 'Maintenance'));

  it('make room for a notice that may be true, the oldest refuted one first', () => {
    const merged = mergeCause(spec(...forged('Refuted')), notice('m', 'Pending', 'Maintenance'));
    expect(ids(merged)).toEqual(['f1', 'f2', 'f3', 'f4', 'f5', 'f6', 'f7', 'm']);
  });

  it('of one kind keep none of another kind out', () => {
    const merged = mergeCause(
      spec(...forged('Pending')),
      notice('s', 'Pending', 'SpotInterruption'),
    );
    expect(ids(merged)).toContain('s');
  });

  it('cost no write where another forgery comes to many', () => {
    for (const state of ['Pending', 'Refuted'] as const) {
      const before = spec(...forged(state));
      expect(mergeCause(before, notice('m', 'Refuted', 'Maintenance'))).toBe(before);
    }
    const waiting = spec(...forged('Pending'));
    expect(mergeCause(waiting, notice('m', 'Pending', 'Maintenance'))).toBe(waiting);
  });

  it('that may still be true are dropped after all others', () => {
    const pending = notice('p', 'Pending', 'Maintenance');
    const refuted = notice('r', 'Refuted', 'Maintenance');
    const rest = Array.from({ length: maxCauses - 2 }, (_, i) => aCause({ id: `m${i}` }));
    const merged = mergeCause(spec(pending, ...rest, refuted), hook('t1'));
    expect(ids(merged)).toContain('p');
    expect(ids(merged)).not.toContain('r');
  });
});

describe('causeWrite', () => {
  const existing = (...causes: readonly DisruptionCause[]): NodeDisruption => ({
    apiVersion: 'drover.dev/v1alpha1',
    kind: 'NodeDisruption',
    metadata: {
      name: 'i-1',
      uid: 'u',
      resourceVersion: '7',
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    spec: spec(...causes),
  });
  const subject = { name: 'i-1', instanceId: 'i-1' };

  it('creates the object for a first cause', () => {
    const write = causeWrite(undefined, { ...subject, nodeGroup: 'ng' }, aCause({ id: 'a' }));
    expect(write).toMatchObject({
      kind: 'create',
      object: { metadata: { name: 'i-1' }, spec: { nodeGroup: 'ng', causes: [{ id: 'a' }] } },
    });
  });

  it('patches with the resourceVersion it decided from', () => {
    expect(causeWrite(existing(aCause({ id: 'a' })), subject, aCause({ id: 'b' }))).toMatchObject({
      kind: 'patch',
      body: { metadata: { resourceVersion: '7' }, spec: { causes: [{ id: 'a' }, { id: 'b' }] } },
    });
  });

  it('says so when there is no room, and makes it from what the status calls handled', () => {
    const causes = Array.from({ length: maxCauses }, (_, i) => aCause({ id: `m${i}` }));
    const at = existing(...causes);
    expect(causeWrite(at, subject, hook('t'))).toEqual({ kind: 'recorded', refused: true });
    const status = { episode: 2, phase: 'Draining' as const, handledCauses: ['m0'] };
    expect(causeWrite({ ...at, status }, subject, hook('t')).kind).toBe('patch');
  });

  it('puts the cause that governs first, where people look', () => {
    const confirmation = { state: 'Refuted', at: '2026-01-01T00:00:00.000Z', reason: '' } as const;
    const refuted = aCause({ id: 'r', kind: 'SpotInterruption', confirmation });
    expect(causeWrite(existing(refuted), subject, hook('t'))).toMatchObject({
      body: { spec: { causes: [{ kind: 'LifecycleHook' }, { id: 'r' }] } },
    });
  });

  it('writes nothing for a cause that is recorded', () => {
    const write = causeWrite(existing(hook('t')), subject, hook('t'));
    expect(write).toEqual({ kind: 'recorded' });
  });
});

describe('withdrawWrite', () => {
  const at = '2026-01-01T00:05:00.000Z';
  const disruption = (...causes: readonly DisruptionCause[]): NodeDisruption => ({
    apiVersion: 'drover.dev/v1alpha1',
    kind: 'NodeDisruption',
    metadata: { name: 'i-1', uid: 'u', resourceVersion: '7', creationTimestamp: at },
    spec: spec(...causes),
  });

  it('cancels every drain by hand that still counts, and nothing else', () => {
    const before = aCause({ id: 'c', cancelledAt: '2026-01-01T00:01:00.000Z' });
    expect(withdrawWrite(disruption(aCause({ id: 'a' }), hook('t'), before), at)).toEqual({
      kind: 'patch',
      body: {
        metadata: { resourceVersion: '7' },
        spec: { causes: [hook('t'), aCause({ id: 'a', cancelledAt: at }), before] },
      },
    });
  });

  it('writes nothing when there is none', () => {
    expect(withdrawWrite(disruption(hook('t')), at)).toEqual({ kind: 'recorded' });
  });
});

describe('one cause among others', () => {
  const at = '2026-01-01T00:05:00.000Z';
  const lifted = {
    deadline: '2026-01-01T01:00:00.000Z',
    onDeadline: 'force',
    forceFrom: '2026-01-01T00:50:00.000Z',
  } as const;
  const held = aCause({ id: 'update/u', kind: 'Update', hold: true, cooldownSeconds: 60 });
  const disruption = (...causes: readonly DisruptionCause[]): NodeDisruption => ({
    apiVersion: 'drover.dev/v1alpha1',
    kind: 'NodeDisruption',
    metadata: { name: 'i-1', uid: 'u', resourceVersion: '7', creationTimestamp: at },
    spec: spec(...causes),
  });
  const patched = (...causes: readonly DisruptionCause[]) => ({
    kind: 'patch',
    body: { metadata: { resourceVersion: '7' }, spec: { causes } },
  });

  it('is let go with its deadline, the others stay as they are', () => {
    const other = { ...held, id: 'update/v' };
    const free = { ...held, ...lifted, hold: false };
    const write = liftWrite(disruption(other, held, hook('t')), 'update/u', lifted);
    expect(write).toEqual(patched(other, free, hook('t')));
  });

  it('is not let go twice, nor when it was withdrawn or never held', () => {
    const before = [
      { ...held, hold: false, deadline: '2026-01-01T00:30:00.000Z' },
      { ...held, cancelledAt: at },
      aCause({ id: 'update/u' }),
      aCause({ id: 'update/v', hold: true }),
    ];
    for (const cause of before) {
      expect(liftWrite(disruption(cause), 'update/u', lifted)).toEqual({ kind: 'recorded' });
    }
  });

  it('is withdrawn alone and once, also after it was dealt with', () => {
    const dealtWith = { episode: 1, phase: 'Ended' as const, handledCauses: ['update/u'] };
    const before = { ...disruption(held, hook('t')), status: dealtWith };
    const write = withdrawCauseWrite(before, 'update/u', at);
    expect(write).toEqual(patched(hook('t'), { ...held, cancelledAt: at }));
    const after = disruption({ ...held, cancelledAt: '2026-01-01T00:04:00.000Z' });
    expect(withdrawCauseWrite(after, 'update/u', at)).toEqual({ kind: 'recorded' });
    expect(withdrawCauseWrite(after, 'update/x', at)).toEqual({ kind: 'recorded' });
  });
});
