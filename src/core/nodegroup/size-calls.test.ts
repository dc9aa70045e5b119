// Calls that set sizes, recorded by one leader and judged by the next, as a table.
import { describe, expect, it } from 'vitest';
import { epochMs } from '../../api/brand.ts';
import type { SizeCall } from '../../api/nodegroup.ts';
import { type GroupSizes, notedCalls, sizesWithoutLateCall } from './size-calls.ts';

const at = '2026-01-01T00:00:00.000Z';
const now = epochMs(Date.parse(at) + 60_000);
const minutesLater = (minutes: number) => epochMs(Date.parse(at) + minutes * 60_000);
const sizes = (desired: number, minSize = 0, maxSize = 9) => ({ desired, minSize, maxSize });
const raise: SizeCall = { desired: 4, epoch: 1, at };
const seen = (more: Partial<GroupSizes> = {}): GroupSizes => ({
  epoch: 2,
  actual: sizes(4),
  told: sizes(1),
  isShrinking: false,
  gone: 0,
  now,
  ...more,
});

describe('what is read where a call of an earlier leader may have arrived', () => {
  it.each<[string, readonly SizeCall[], Partial<GroupSizes>, object]>([
    ['it arrived after the last look', [raise], {}, { desired: 1 }],
    ['it had arrived before that', [raise], { told: sizes(4) }, {}],
    ['another size than it asked for', [raise], { actual: sizes(5) }, {}],
    ['our own call', [raise, { ...raise, epoch: 2 }], {}, {}],
    [
      'a newer call that set both fields, of which an older one set one',
      [
        { maxSize: 10, epoch: 0, at },
        { ...raise, maxSize: 10 },
      ],
      { actual: sizes(4, 0, 10) },
      { desired: 1, maxSize: 9 },
    ],
    ['our own term', [{ ...raise, epoch: 2 }], {}, {}],
    ['nobody else ever leads', [raise], { epoch: undefined }, {}],
    ['almost 5 minutes old', [raise], { now: minutesLater(4.9) }, { desired: 1 }],
    [
      'fewer, as each that is ended leaves behind',
      [{ ...raise, desired: 1 }],
      { actual: sizes(1), told: sizes(2), isShrinking: true },
      {},
    ],
    [
      'fewer, and none is ended',
      [{ ...raise, desired: 1 }],
      { actual: sizes(1), told: sizes(2) },
      { desired: 2 },
    ],
    [
      'as many as told, since one is gone that the call has brought back',
      [raise],
      { told: sizes(4), isShrinking: true, gone: 1 },
      { desired: 3 },
    ],
    [
      'on its way back, and one is gone with its place',
      [{ ...raise, instead: { desired: 2 } }],
      { actual: sizes(3), isShrinking: true, gone: 1 },
      { desired: 1 },
    ],
    [
      'our own call, and one is gone since',
      [
        { ...raise, instead: { desired: 1 } },
        { ...raise, desired: 3, epoch: 2 },
      ],
      { actual: sizes(2), isShrinking: true, gone: 1 },
      {},
    ],
    ['5 minutes old', [raise], { now: minutesLater(5) }, {}],
    ['never looked at', [raise], { told: undefined }, {}],
    [
      'with bounds',
      [{ ...raise, minSize: 3 }],
      { actual: sizes(4, 3) },
      { desired: 1, minSize: 0 },
    ],
    ['with bounds that it did not set', [{ ...raise, minSize: 3 }], {}, {}],
    ['a maximum alone', [{ maxSize: 5, epoch: 1, at }], { actual: sizes(1, 0, 5) }, { maxSize: 9 }],
    [
      'on its way back',
      [{ ...raise, instead: { desired: 1 } }],
      { actual: sizes(2) },
      { desired: 1 },
    ],
    ['back', [{ ...raise, instead: { desired: 1 } }], { actual: sizes(1) }, {}],
    ['beyond: a wish', [{ ...raise, instead: { desired: 1 } }], { actual: sizes(6) }, {}],
    ['the other way: a wish', [{ ...raise, instead: { desired: 1 } }], { actual: sizes(0) }, {}],
  ])('%s', (_name, calls, facts, expected) => {
    expect(sizesWithoutLateCall(calls, seen(facts))).toEqual(expected);
  });
});

describe('what is noted', () => {
  const none = { asks: {}, late: {} };

  it('is what is asked for, once', () => {
    const [first] = notedCalls([], seen(), { asks: { desired: 7 }, late: {} });
    expect(first).toEqual({ desired: 7, epoch: 2, at: '2026-01-01T00:01:00.000Z' });
    const again = seen({ now: minutesLater(2) });
    expect(notedCalls(first && [first], again, { asks: { desired: 7 }, late: {} })).toEqual([
      first,
    ]);
    expect(notedCalls(first && [first], again, none)).toEqual([]);
  });

  it('keeps those of earlier leaders, the newest five in all', () => {
    expect(notedCalls([raise], seen({ told: sizes(4) }), none)).toEqual([raise]);
    const six = [1, 2, 3, 4, 5, 6].map((desired) => ({ desired, epoch: 1, at }));
    const noted = notedCalls(six, seen(), { asks: { desired: 7 }, late: {} });
    expect(noted.map(({ desired }) => desired)).toEqual([3, 4, 5, 6, 7]);
  });

  it('drops what is too old with the next note alone, so that nothing is written for it', () => {
    const later = seen({ now: minutesLater(20), told: sizes(4) });
    expect(notedCalls([raise], later, none)).toEqual([raise]);
    expect(notedCalls([raise], later, { asks: { desired: 7 }, late: {} })).toMatchObject([
      { desired: 7 },
    ]);
  });

  it('marks one that arrived, until the group is back', () => {
    const marked = notedCalls([raise], seen(), { asks: {}, late: { desired: 1 } });
    expect(marked).toEqual([{ ...raise, instead: { desired: 1 } }]);
    expect(notedCalls(marked, seen({ actual: sizes(2) }), none)).toEqual(marked);
    expect(notedCalls(marked, seen({ actual: sizes(1) }), none)).toEqual([]);
    // Recorded after instances were terminated; from then on the recorded sizes count without them.
    expect(notedCalls(marked, seen({ actual: sizes(3), gone: 1 }), none)).toEqual([
      { ...raise, instead: { desired: 0 } },
    ]);
    // One field has been reset and the other is recorded: the terminated instances do not count
    // there either.
    const both = [{ ...raise, minSize: 2, instead: { desired: 3, minSize: 0 } }];
    const isBack = seen({ actual: sizes(2, 2), gone: 1 });
    expect(notedCalls(both, isBack, none)).toEqual([
      { ...raise, minSize: 2, instead: { desired: 2, minSize: 0 } },
    ]);
    // The call had the requested effect.
    expect(notedCalls([raise], seen(), none)).toEqual([raise]);
  });

  it('is nothing where no one else leads', () => {
    expect(notedCalls([], seen({ epoch: undefined }), { asks: { desired: 1 }, late: {} })).toEqual(
      [],
    );
  });
});
