// Maintenance windows as tables: crontab's rules, clock changes of time zones, unions, freezes.
// Times in rows with a zone name are local; all others are UTC.

import { describe, expect, it, vi } from 'vitest';
import { epochMs, formatTime, parseTime } from '../../../api/brand.ts';
import { parseCron } from '../../../api/crontab.ts';
import { defined } from '../../../api/defined.ts';
import type { UpdatePacing } from '../../../api/update-pacing.ts';
import { windowState } from './windows.ts';

const at = (text: string) => epochMs(Date.parse(text));

const told = (pacing: UpdatePacing, now: string): string => {
  const state = windowState(pacing, at(now));
  const until =
    state.until === undefined ? 'for ever' : formatTime(state.until).replace('.000Z', 'Z');
  return state.kind === 'open' ? `open until ${until}` : `${state.by} until ${until}`;
};

const daily = (cron: string, hours: number, timeZone?: string): UpdatePacing => ({
  windows: [{ cron, durationSeconds: hours * 3600, ...defined({ timeZone }) }],
});

const anHour = { cron: '0 2 * * *', durationSeconds: 3600 };

describe('a crontab line', () => {
  it.each([
    ['0 2 * * *', '2026-01-05T02:00:00Z'],
    ['30 22-23 * * *', '2026-01-05T22:30:00Z'],
    ['*/20 4 * * *', '2026-01-05T04:00:00Z'],
    ['50/5 4 * * *', '2026-01-05T04:50:00Z'],
    ['0 2 * * mon', '2026-01-05T02:00:00Z'],
    ['0 2 * * 7', '2026-01-11T02:00:00Z'],
    ['0 2 * * SAT-7', '2026-01-10T02:00:00Z'],
    ['0 2 * * 5-7', '2026-01-09T02:00:00Z'],
    ['0 2 1,15 * *', '2026-01-15T02:00:00Z'],
    // If both day fields are restricted, either matches. If one is a star or a step of one, both
    // must match.
    ['0 2 15 * fri', '2026-01-09T02:00:00Z'],
    ['0 2 */2 * fri', '2026-01-09T02:00:00Z'],
    ['0 2 * feb-mar *', '2026-02-01T02:00:00Z'],
    ['0 2 29 2 *', '2028-02-29T02:00:00Z'],
    ['0 2 31 6 *', 'never'],
  ])('%s opens next at %s', (cron, next) => {
    const pacing = { windows: [{ cron, durationSeconds: 60 }] };
    const state = windowState(pacing, at('2026-01-05T01:59:59Z'));
    expect(state.until && formatTime(state.until)).toBe(
      next === 'never' ? undefined : next.replace('Z', '.000Z'),
    );
  });

  it.each([
    ['0 2 * *', 'has 4 fields'],
    ['60 2 * * *', 'no minute'],
    ['0 24 * * *', 'no hour'],
    ['0 2 0 * *', 'no day of month'],
    ['0 2 * 13 *', 'no month'],
    ['0 2 * * 8', 'no day of week'],
    ['0 5-2 * * *', 'no hour'],
    ['*/0 2 * * *', 'no minute'],
    ['0 2 * * fun', 'no day of week'],
    ['@daily', 'has 1 fields'],
    ['0 2 ? * *', 'no day of month'],
    ['1-2-3 2 * * *', 'no minute'],
    ['1/2/3 2 * * *', 'no minute'],
    ['-1 2 * * *', 'no minute'],
    [', 2 * * *', 'no minute'],
  ])('%s is refused: %s', (cron, complaint) => {
    expect(parseCron(cron)).toContain(complaint);
  });
});

describe('a window', () => {
  const night = daily('0 22 * * *', 4);
  it.each([
    ['2026-01-05T21:59:59Z', 'Window until 2026-01-05T22:00:00Z'],
    ['2026-01-05T22:00:00Z', 'open until 2026-01-06T02:00:00Z'],
    ['2026-01-06T01:59:59Z', 'open until 2026-01-06T02:00:00Z'],
    ['2026-01-06T02:00:00Z', 'Window until 2026-01-06T22:00:00Z'],
  ])('at %s is %s', (now, state) => expect(told(night, now)).toBe(state));

  it('longer than its recurrence is always open', () => {
    expect(told(daily('0 22 * * *', 25), '2026-01-05T21:00:00Z')).toBe('open until for ever');
    expect(
      told({ windows: [{ cron: '* * * * *', durationSeconds: 60 }] }, '2026-01-05T21:00:30Z'),
    ).toBe('open until for ever');
  });

  it('is open as long as one of several is, with those that open meanwhile', () => {
    const both = {
      windows: [...(night.windows ?? []), { cron: '0 1 * * *', durationSeconds: 3 * 3600 }],
    };
    expect(told(both, '2026-01-05T23:00:00Z')).toBe('open until 2026-01-06T04:00:00Z');
    expect(told(both, '2026-01-06T04:00:00Z')).toBe('Window until 2026-01-06T22:00:00Z');
  });

  it('that cannot be read is never open, and said to be so', () => {
    const pacing = {
      windows: [
        { cron: '0 25 * * *', durationSeconds: 3600 },
        { cron: '0 2 * * *', durationSeconds: 3600, timeZone: 'Mars/Olympus' },
      ],
    };
    const state = windowState(pacing, at('2026-01-05T02:30:00Z'));
    expect(state.kind === 'closed' && state.reason).toMatch(
      /no hour.*"Mars\/Olympus" is no time zone/,
    );
    expect(state.until).toBeUndefined();
    const good = { windows: [...pacing.windows, { cron: '0 2 * * *', durationSeconds: 3600 }] };
    expect(told(good, '2026-01-05T02:30:00Z')).toBe('open until 2026-01-05T03:00:00Z');
  });

  it('is not needed where none is defined, unless closed is the default', () => {
    expect(told({}, '2026-01-05T12:00:00Z')).toBe('open until for ever');
    expect(told({ windowDefault: 'Open' }, '2026-01-05T12:00:00Z')).toBe('open until for ever');
    expect(told({ windowDefault: 'Closed' }, '2026-01-05T12:00:00Z')).toBe('Window until for ever');
    expect(told({ ...night, windowDefault: 'Closed' }, '2026-01-05T23:00:00Z')).toContain('open');
  });
});

describe('a window in a time zone', () => {
  it.each([
    // Berlin: UTC+1 in winter, UTC+2 in summer.
    ['0 22 * * *', 'Europe/Berlin', '2026-01-05T20:00:00Z', 'Window until 2026-01-05T21:00:00Z'],
    ['0 22 * * *', 'Europe/Berlin', '2026-07-05T19:00:00Z', 'Window until 2026-07-05T20:00:00Z'],
    // The local day differs from UTC's: Sunday 23:00 in New York is Monday 04:00.
    ['0 23 * * sun', 'America/New_York', '2026-01-05T04:30:00Z', 'open until 2026-01-05T05:00:00Z'],
    // A zone with an offset in minutes.
    ['0 2 * * *', 'Asia/Kathmandu', '2026-01-05T00:00:00Z', 'Window until 2026-01-05T20:15:00Z'],
    // Set forward on 2026-03-29 from 02:00 to 03:00: 02:30 does not occur, and the window opens at
    // 03:00.
    ['30 2 * * *', 'Europe/Berlin', '2026-03-29T00:59:59Z', 'Window until 2026-03-29T01:00:00Z'],
    ['30 2 * * *', 'Europe/Berlin', '2026-03-29T01:30:00Z', 'open until 2026-03-29T02:00:00Z'],
    // The day after the change is a normal day.
    ['30 2 * * *', 'Europe/Berlin', '2026-03-29T12:00:00Z', 'Window until 2026-03-30T00:30:00Z'],
    // Set back on 2026-10-25 from 03:00 to 02:00: 02:30 occurs twice, and the window opens once.
    ['30 2 * * *', 'Europe/Berlin', '2026-10-25T00:00:00Z', 'Window until 2026-10-25T00:30:00Z'],
    ['30 2 * * *', 'Europe/Berlin', '2026-10-25T01:29:59Z', 'open until 2026-10-25T01:30:00Z'],
    ['30 2 * * *', 'Europe/Berlin', '2026-10-25T01:30:00Z', 'Window until 2026-10-26T01:30:00Z'],
    // Every hour means every elapsed hour, so both of the repeated ones.
    ['30 * * * *', 'Europe/Berlin', '2026-10-25T01:30:00Z', 'open until for ever'],
    // Lord Howe changes its clocks by half an hour; the skipped 02:15 opens at 02:30 (15:30 UTC).
    [
      '15 2 * * *',
      'Australia/Lord_Howe',
      '2026-10-03T15:00:00Z',
      'Window until 2026-10-03T15:30:00Z',
    ],
    // Havana skips midnight itself: 00:00 to 00:59 of 2026-03-08.
    ['30 0 * * *', 'America/Havana', '2026-03-08T04:00:00Z', 'Window until 2026-03-08T05:00:00Z'],
  ])('%s %s at %s: %s', (cron, timeZone, now, state) => {
    expect(told(daily(cron, 1, timeZone), now)).toBe(state);
  });

  it('lasts as long as it says while clocks are set', () => {
    const long = daily('0 1 * * *', 3, 'Europe/Berlin');
    expect(told(long, '2026-03-29T00:30:00Z')).toBe('open until 2026-03-29T03:00:00Z');
    expect(told(long, '2026-10-25T00:30:00Z')).toBe('open until 2026-10-25T02:00:00Z');
  });
});

describe('a freeze', () => {
  const frozen = {
    freezes: [{ from: '2026-12-20T00:00:00Z', until: '2027-01-04T00:00:00Z', reason: 'holidays' }],
  };
  it.each([
    [frozen, '2026-12-19T23:59:59Z', 'open until 2026-12-20T00:00:00Z'],
    [frozen, '2026-12-20T00:00:00Z', 'Freeze until 2027-01-04T00:00:00Z'],
    [frozen, '2027-01-04T00:00:00Z', 'open until for ever'],
    [
      { ...frozen, ...daily('0 22 * * *', 4) },
      '2026-12-24T23:00:00Z',
      'Freeze until 2027-01-04T00:00:00Z',
    ],
    [
      { ...frozen, ...daily('0 22 * * *', 2) },
      '2026-12-24T23:00:00Z',
      'Freeze until 2027-01-04T22:00:00Z',
    ],
    [
      { ...frozen, ...daily('0 22 * * *', 4) },
      '2026-12-19T23:00:00Z',
      'open until 2026-12-20T00:00:00Z',
    ],
    [
      { freezes: [{ from: '2026-02-02T00:00:00Z', until: '2026-02-01T00:00:00Z' }] },
      '2026-02-01T12:00:00Z',
      'open until for ever',
    ],
  ] as const)('%j at %s: %s', (pacing, now, state) => expect(told(pacing, now)).toBe(state));

  it.each([
    [
      daily('0 2 * * *', 1, 'Mars/Base'),
      /holidays; and after that no window opens any more. Never open: "Mars\/Base" is no time zone/,
    ],
    [{ windowDefault: 'Closed' }, /holidays; and after that no maintenance window is defined/],
    [
      { windows: [...(daily('0 2 * * *', 1, 'Mars/Base').windows ?? []), anHour] },
      /holidays. Never open: "Mars\/Base" is no time zone/,
    ],
  ] as const)('a freeze does not hide what keeps windows shut: %j', (pacing, words) => {
    const state = windowState({ ...frozen, ...pacing }, at('2026-12-24T00:00:00Z'));
    expect(state.kind === 'closed' && state.reason).toMatch(words);
  });

  it('says why', () => {
    const state = windowState(frozen, at('2026-12-24T00:00:00Z'));
    expect(state.kind === 'closed' && state.reason).toBe(
      'frozen until 2027-01-04T00:00:00.000Z: holidays',
    );
    expect(parseTime('2027-01-04T00:00:00Z')).toBe(state.until);
  });
});

describe('windows of lines that cannot be read', () => {
  it('are told of in no more than the status of an update takes', () => {
    const cron = `${Array(23).fill('59-0').join()} * * * *`;
    const windows = Array.from({ length: 20 }, () => ({ cron, durationSeconds: 60 }));
    const state = windowState({ windows }, at('2026-01-05T00:00:00Z'));
    expect(state.kind === 'closed' && state.reason).toMatch(/Never open: "59-0,.* is no minute/);
    expect(state.kind === 'closed' && state.reason.length).toBeLessThanOrEqual(4096);
  });
});

describe('a window that opens every minute', () => {
  it('asks a zone for its clock a bounded number of times, near a day on which that is set too', () => {
    const asked = vi.spyOn(Intl.DateTimeFormat.prototype, 'formatToParts');
    const windows = [{ cron: '* * * * *', durationSeconds: 60, timeZone: 'Europe/Berlin' }];
    expect(told({ windows }, '2026-10-24T22:00:00Z')).toBe('open until for ever');
    expect(asked.mock.calls.length).toBeLessThan(50_000);
    asked.mockRestore();
  });
});
