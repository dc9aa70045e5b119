// GetLogGroupFields: the fields of the events in a time range, and the share of events with each.
// Reads the log backwards from its end to the start of the range.

import { type AwsInput, optionalNumber, optionalText } from '../../../src/aws-wire/index.ts';
import { cloudFieldCap, type LogEvent, type LogSource } from '../../../src/insights/index.ts';
import type { KeptLog } from '../../contracts.ts';
import { eventsBetween, invalidParameter, type LogGroups } from './groups.ts';
import { fieldsOf } from './record.ts';

const minuteMs = 60_000;
/** Without a time, the last 15 minutes are read; with one, the 8 minutes before and after it. */
const usualMinutes = 15;
const minutesAround = 8;
const pageBytes = 4 * 1024 * 1024;
/** Enough for a world's log of these minutes; older events are left out. */
const maxPages = 32;

const systemFields = ['@timestamp', '@ingestionTime', '@message', '@logStream', '@log'] as const;

const eventsWithin = (
  log: KeptLog,
  source: LogSource,
  range: { readonly startMs: number; readonly endMs: number },
): readonly LogEvent[] => {
  const { start, end } = log.extent();
  const found: LogEvent[] = [];
  let to = end;
  for (let page = 0; page < maxPages && to > start; page++) {
    const from = Math.max(start, to - pageBytes);
    const [first, ...others] = eventsBetween(log, source, { from, to });
    // A page may begin within a line, which then belongs to the previous page.
    const events = from === start && first !== undefined ? [first, ...others] : others;
    for (const event of events) {
      const ms = event.timeMs ?? Number.NaN;
      if (ms >= range.startMs && ms <= range.endMs) found.push(event);
    }
    const oldest = events.find(({ timeMs }) => timeMs !== undefined)?.timeMs;
    if (oldest !== undefined && oldest < range.startMs) break;
    to = from === start ? start : (others[0]?.offset ?? from);
  }
  return found;
};

export const discoveredFields = (groups: LogGroups, log: KeptLog, input: AwsInput) => {
  if (
    optionalText(input, 'logGroupName') !== undefined &&
    optionalText(input, 'logGroupIdentifier') !== undefined
  ) {
    throw invalidParameter('logGroupName and logGroupIdentifier cannot be used together.');
  }
  const group = groups.named(input);
  const time = optionalNumber(input, 'time');
  const now = groups.now();
  const range =
    time === undefined
      ? { startMs: now - usualMinutes * minuteMs, endMs: now }
      : {
          startMs: time * 1000 - minutesAround * minuteMs,
          endMs: time * 1000 + minutesAround * minuteMs,
        };
  const events =
    group.auditStream === undefined ? [] : eventsWithin(log, groups.sourceOf(group), range);
  const counts = new Map<string, number>();
  const count = (name: string): void => {
    counts.set(name, (counts.get(name) ?? 0) + 1);
  };
  for (const event of events) {
    for (const name of systemFields) count(name);
    for (const name of Object.keys(fieldsOf(event.json)).slice(0, cloudFieldCap)) count(name);
  }
  return {
    logGroupFields: [...counts]
      .map(([name, times]) => ({ name, percent: Math.round((times / events.length) * 100) }))
      .sort((a, b) => b.percent - a.percent || (a.name < b.name ? -1 : 1)),
  };
};
