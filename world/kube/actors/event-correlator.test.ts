// client-go's limits on events: similar events are aggregated, noisy sources are rate-limited.
import { describe, expect, it } from 'vitest';
import { type Micros, microsPerSecond } from '../../kernel/index.ts';
import { EventCorrelator } from './event-correlator.ts';

const start: Micros = 1_700_000_000_000_000;
const about = 'uid-1';
const kind = 'SuccessfulCreate';

const told = (correlator: EventCorrelator, messages: readonly string[], at = start) =>
  messages.map((message) => correlator.correlate({ about, kind, message }, at));

const numbered = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, i) => `Created pod: p${i}`);

describe('events of one object', () => {
  it('are reported one by one up to nine different messages, then as one', () => {
    const correlated = told(new EventCorrelator(10), numbered(12));
    expect(correlated.slice(0, 9).map(({ message }) => message)).toEqual(numbered(9));
    expect(correlated[9]?.message).toBe('(combined from similar events): Created pod: p9');
    expect(new Set(correlated.map(({ key }) => key)).size).toBe(10);
    expect(correlated[11]?.key).toBe(correlated[9]?.key);
  });

  it('are reported one by one again when ten minutes passed without any', () => {
    const correlator = new EventCorrelator(10);
    told(correlator, numbered(12));
    const later = told(correlator, ['Created pod: p20'], start + 601 * microsPerSecond);
    expect(later[0]?.message).toBe('Created pod: p20');
  });

  it('keep their message when it is a repeat', () => {
    const correlator = new EventCorrelator(10);
    const [first] = told(correlator, numbered(9));
    expect(told(correlator, ['Created pod: p0'])).toEqual([first]);
  });

  it('are heard 25 times at once, then once in five minutes', () => {
    const correlator = new EventCorrelator(10);
    const heard = Array.from({ length: 30 }, () => correlator.isHeard(about, start));
    expect(heard.filter(Boolean)).toHaveLength(25);
    expect(correlator.isHeard(about, start + 299 * microsPerSecond)).toBe(false);
    expect(correlator.isHeard(about, start + 300 * microsPerSecond)).toBe(true);
    expect(correlator.isHeard(about, start + 301 * microsPerSecond)).toBe(false);
    expect(correlator.isHeard('uid-2', start)).toBe(true);
  });
});
