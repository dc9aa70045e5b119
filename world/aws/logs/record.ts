// GetLogRecord: one event with all its fields, found by the pointer (`@ptr`) of a query's row.
import type { Json } from '../../../src/api/json.ts';
import { readPointer } from '../../../src/insights/index.ts';
import type { KeptLog } from '../../contracts.ts';
import { refuse } from '../scope.ts';
import { eventsBetween, invalidParameter, type LogGroups } from './groups.ts';

/** An event has the objects of a request and a response, up to 3 MiB each. */
const longestLineBytes = 8 * 1024 * 1024;

/** Members at all depths by their dotted names; list elements by their index. */
const flattened = (value: Json | undefined, name: string, into: Record<string, string>): void => {
  if (value === undefined || value === null) return;
  if (typeof value !== 'object') into[name] = String(value);
  else {
    for (const [key, below] of Object.entries(value)) {
      // A JSON member whose name begins with @ is shown with a second @.
      const shown = name === '' && key.startsWith('@') ? `@${key}` : key;
      flattened(below as Json, name === '' ? shown : `${name}.${shown}`, into);
    }
  }
};

/** An event's fields by their dotted names. */
export const fieldsOf = (json: Json | undefined): Readonly<Record<string, string>> => {
  const fields: Record<string, string> = {};
  flattened(json, '', fields);
  return fields;
};

export const eventAt = (
  groups: LogGroups,
  log: KeptLog,
  pointer: string,
): Readonly<Record<string, string>> => {
  const place = readPointer(pointer);
  if (place === undefined) throw invalidParameter('The specified log record pointer is invalid.');
  const group = groups.all().find(({ auditStream }) => auditStream === place.stream);
  const { start, end } = log.extent();
  const gone = () =>
    refuse('ResourceNotFoundException', 'The specified log record does not exist.');
  if (group === undefined || place.offset < start || place.offset >= end) throw gone();
  const source = groups.sourceOf(group);
  const to = Math.min(end, place.offset + longestLineBytes);
  const [event] = eventsBetween(log, source, { from: place.offset, to });
  if (event?.json === undefined) throw gone();
  const record = fieldsOf(event.json);
  const time = event.timeMs === undefined ? {} : { '@timestamp': String(event.timeMs) };
  const { stream, log: logName } = source;
  return {
    ...record,
    ...time,
    '@ingestionTime': time['@timestamp'] ?? '0',
    '@logStream': stream,
    '@log': logName,
    '@message': event.message,
    '@ptr': pointer,
  };
};
