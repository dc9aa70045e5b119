import { describe, expect, it } from 'vitest';
import { formatDuration, parseDuration } from './duration.ts';

describe('durations', () => {
  it.each([
    ['30s', 30],
    ['15m', 900],
    ['1h30m', 5400],
    ['1.5h', 5400],
    ['2d', 172_800],
    ['30', undefined],
    ['', undefined],
    ['-5m', undefined],
    ['5 m', undefined],
    ['5w', undefined],
  ])('reads %j as %j seconds', (text, seconds) => {
    expect(parseDuration(text)).toBe(seconds);
  });

  it.each([
    [0, '0s'],
    [59.6, '1m'],
    [75, '1m15s'],
    [5400, '1h30m'],
    [90_061, '1d1h'],
  ])('prints %d seconds as %s', (seconds, text) => {
    expect(formatDuration(seconds)).toBe(text);
  });
});
