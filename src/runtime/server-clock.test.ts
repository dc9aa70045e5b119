import { describe, expect, it } from 'vitest';
import { epochMs } from '../api/brand.ts';
import type { Clock } from '../ports/index.ts';
import { ServerClock } from './server-clock.ts';

const serverStart = Date.parse('2026-01-01T00:00:00.700Z');

/** A process whose clock is `skewMs` ahead of the server's, and a call of a given duration. */
const processOf = (skewMs: number) => {
  let server = serverStart;
  const own: Clock = { now: () => epochMs(server + skewMs), sleep: async () => undefined };
  const clock = new ServerClock(own);
  return {
    now: () => clock.now(),
    error: () => clock.now() - server,
    pass: (ms: number) => {
      server += ms;
    },
    call: (thereMs: number, backMs: number, date?: string) => {
      const answered = clock.sent();
      server += thereMs;
      const header = date ?? new Date(server).toUTCString();
      server += backMs;
      answered(header);
    },
  };
};

describe('the API server’s time', () => {
  it.each([300_000, -300_000, 5_000, -1_500])('is known within a second: %i ms off', (skewMs) => {
    const { call, error } = processOf(skewMs);
    expect(error()).toBe(skewMs);
    call(20, 30);
    expect(Math.abs(error())).toBeLessThanOrEqual(1_050);
  });

  it('leaves a clock that is right alone, however slow the answers are', () => {
    const { call, error, pass } = processOf(0);
    for (const [there, back] of [
      [0, 0],
      [900, 20],
      [10, 25_000],
    ] as const) {
      call(there, back);
      pass(130);
      expect(error()).toBe(0);
    }
  });

  it('does not run back while answers correct it by less than a second', () => {
    const { call, error, pass, now } = processOf(800);
    const seen: number[] = [];
    for (let i = 0; i < 60; i++) {
      call(1, 1);
      seen.push(now());
      pass(2);
      seen.push(now());
    }
    expect(seen.toSorted((one, other) => one - other)).toEqual(seen);
    pass(1_000);
    call(1, 1);
    expect(error()).toBeLessThan(800);
  });

  it('gets nearer with each answer, and stays where they agree', () => {
    const { call, error, pass } = processOf(-40_000);
    for (let i = 0; i < 40; i++) {
      call(2, 2);
      pass(97);
    }
    expect(Math.abs(error())).toBeLessThanOrEqual(110);
    const settled = error();
    call(2, 2);
    expect(error()).toBe(settled);
  });

  it('is its own where answers name no date', () => {
    const { call, error } = processOf(70_000);
    call(1, 1, 'soon');
    expect(error()).toBe(70_000);
  });
});
