// FilterLogEvents and GetLogEvents over the control plane's audit log, page by page. A page reads a
// bounded part of the log and may have a token without events, as CloudWatch documents it.

import {
  type AwsInput,
  optionalFlag,
  optionalNumber,
  optionalText,
  texts,
} from '../../../src/aws-wire/index.ts';
import type { LogEvent } from '../../../src/insights/index.ts';
import type { KeptLog } from '../../contracts.ts';
import { refuse, type ServiceHandlers } from '../scope.ts';
import { compileFilterPattern } from './filter-pattern.ts';
import {
  eventsBetween,
  invalidParameter,
  invalidToken,
  type LogGroup,
  type LogGroups,
} from './groups.ts';

/** Maximum number of events per page: CloudWatch's limit and default. */
const maxEvents = 10_000;
/** Maximum size of the messages of a page. */
const maxPageBytes = 1024 * 1024;
/** Bytes of the log that one page reads. */
const scanBytes = 16 * 1024 * 1024;

interface TimeRange {
  readonly startMs: number;
  readonly endMs: number;
}

const timeRange = (input: AwsInput): TimeRange => ({
  startMs: optionalNumber(input, 'startTime') ?? 0,
  endMs: optionalNumber(input, 'endTime') ?? Number.POSITIVE_INFINITY,
});

const limitOf = (input: AwsInput): number => optionalNumber(input, 'limit') ?? maxEvents;

/** Number of the events that fit into a page. */
const fitting = (events: readonly LogEvent[], limit: number): number => {
  let bytes = 0;
  let count = 0;
  for (const event of events) {
    bytes += event.message.length;
    if (count >= limit || (count > 0 && bytes > maxPageBytes)) break;
    count++;
  }
  return count;
};

interface Page {
  readonly events: readonly LogEvent[];
  /** Position at which the next page starts; undefined at the end of the log. */
  readonly next: number | undefined;
}

/**
 * The matching events from a position on, until the page is full or its part of the log is read.
 */
const forward = (
  log: KeptLog,
  source: Parameters<typeof eventsBetween>[1],
  page: {
    readonly from: number;
    readonly limit: number;
    readonly wanted: (event: LogEvent) => boolean;
  },
): Page => {
  const { start, end } = log.extent();
  const from = Math.max(start, page.from);
  const read = eventsBetween(log, source, { from, to: Math.min(end, from + scanBytes) });
  // The last line of a part may be incomplete: the next page begins with it.
  const isPart = from + scanBytes < end;
  const whole = isPart ? read.slice(0, -1) : read;
  const wanted = whole.filter(page.wanted);
  const count = fitting(wanted, page.limit);
  const rest = wanted[count];
  if (rest !== undefined) return { events: wanted.slice(0, count), next: rest.offset };
  return { events: wanted, next: isPart ? read.at(-1)?.offset : undefined };
};

const isWithin = ({ startMs, endMs }: TimeRange) => {
  return ({ timeMs }: LogEvent): boolean =>
    timeMs !== undefined && timeMs >= startMs && timeMs < endMs;
};

const streamsWanted = (group: LogGroup, input: AwsInput): boolean => {
  const names = texts(input, 'logStreamNames');
  const prefix = optionalText(input, 'logStreamNamePrefix');
  if (names.length > 0 && prefix !== undefined) {
    throw invalidParameter('logStreamNames and logStreamNamePrefix cannot be used together.');
  }
  if (names.some((name) => !group.streams.includes(name))) throw noStream();
  const { auditStream } = group;
  if (auditStream === undefined) return false;
  return names.length > 0 ? names.includes(auditStream) : auditStream.startsWith(prefix ?? '');
};

const noStream = () =>
  refuse('ResourceNotFoundException', 'The specified log stream does not exist.');

const positionOf = (token: string | undefined, form: RegExp): number | undefined => {
  if (token === undefined) return undefined;
  const match = form.exec(token);
  if (match === null) throw invalidToken();
  return Number(match[1]);
};

const rendered = (event: LogEvent) => ({
  timestamp: event.timeMs,
  message: event.message,
  ingestionTime: event.timeMs,
});

const filterEvents = (groups: LogGroups, log: KeptLog, input: AwsInput) => {
  const group = groups.named(input);
  const matches = compileFilterPattern(optionalText(input, 'filterPattern') ?? '');
  const inRange = isWithin(timeRange(input));
  if (!streamsWanted(group, input)) return { events: [], searchedLogStreams: [] };
  const { events, next } = forward(log, groups.sourceOf(group), {
    from: positionOf(optionalText(input, 'nextToken'), /^e\/(\d{1,15})$/) ?? 0,
    limit: limitOf(input),
    wanted: (event) => inRange(event) && matches(event),
  });
  return {
    events: events.map((event) => ({
      logStreamName: event.source.stream,
      ...rendered(event),
      eventId: String(event.offset).padStart(56, '0'),
    })),
    searchedLogStreams: [],
    ...(next === undefined ? {} : { nextToken: `e/${next}` }),
  };
};

const getEvents = (groups: LogGroups, log: KeptLog, input: AwsInput) => {
  const group = groups.named(input);
  const name = optionalText(input, 'logStreamName') ?? '';
  if (!group.streams.includes(name)) throw noStream();
  const token = optionalText(input, 'nextToken');
  const place = positionOf(token, /^[fb]\/(\d{1,15})$/);
  const isForward = token?.startsWith('f') ?? optionalFlag(input, 'startFromHead') ?? false;
  const { start, end } = log.extent();
  const at = place ?? (isForward ? start : end);
  if (name !== group.auditStream) return eventPage([], at, at);
  const source = groups.sourceOf(group);
  const inRange = isWithin(timeRange(input));
  const limit = limitOf(input);
  if (isForward) {
    const { events, next } = forward(log, source, { from: at, limit, wanted: inRange });
    return eventPage(events, events[0]?.offset ?? at, next ?? end);
  }
  const from = Math.max(start, at - scanBytes);
  const read = eventsBetween(log, source, { from, to: at });
  // The first line of a part may be incomplete.
  const whole = (from > start ? read.slice(1) : read).filter(inRange).toReversed();
  const events = whole.slice(0, fitting(whole, limit)).toReversed();
  return eventPage(events, events[0]?.offset ?? from, at);
};

const eventPage = (events: readonly LogEvent[], before: number, after: number) => ({
  events: events.map(rendered),
  nextForwardToken: `f/${after}`,
  nextBackwardToken: `b/${before}`,
});

export const eventHandlers = (groups: LogGroups, log: KeptLog): ServiceHandlers => ({
  FilterLogEvents: (input) => filterEvents(groups, log, input),
  GetLogEvents: (input) => getEvents(groups, log, input),
});
