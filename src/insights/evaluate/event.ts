// One log event: its text, and lazily parsed values. JSON is parsed on the first access that needs
// it.
import { isObject, type Json, type JsonObject } from '../../api/json.ts';
import { fromJson, type Value } from './values.ts';

/**
 * CloudWatch discovers at most this many fields of a JSON event ("Supported logs and discovered
 * fields").
 */
export const cloudFieldCap = 200;

/** How many fields of an event are named; the others are only in `@message`. */
export interface FieldCap {
  readonly fields: number;
  /** Number of events with more fields. */
  cut: number;
}

/** The source of events. */
export interface LogSource {
  /** `@logStream` */
  readonly stream: string;
  /** `@log`: account and log group, or the file. */
  readonly log: string;
  /** Undefined: all fields are named. */
  readonly cap?: FieldCap;
  /** Called once for each event that looks like a JSON object, when it is first parsed. */
  readonly onParsed?: (isObject: boolean) => void;
}

/** Time fields of an audit event, then of other programs' JSON logs. */
const timeFields = [
  'stageTimestamp',
  'requestReceivedTimestamp',
  '@timestamp',
  'timestamp',
  'time',
  'ts',
  'eventTime',
];
const isoPrefix = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?/;

const unparsed = Symbol('unparsed');

export class LogEvent {
  readonly source: LogSource;
  /** `@message` */
  readonly message: string;
  /** Offset of the line in its source, in bytes. */
  readonly offset: number;
  #time: number | undefined | typeof unparsed;
  #json: JsonObject | undefined | typeof unparsed = unparsed;
  #named: JsonObject | typeof unparsed = unparsed;
  #isCut = false;
  #isTold = false;

  constructor(source: LogSource, message: string, offset: number, timeMs?: number) {
    this.source = source;
    this.message = message;
    this.offset = offset;
    this.#time = timeMs ?? unparsed;
  }

  /** The message as a JSON object; undefined when it is not one. */
  get json(): JsonObject | undefined {
    if (this.#json === unparsed) {
      const may = looksLikeObject(this.message);
      this.#json = may ? parseObject(this.message) : undefined;
      if (may && !this.#isTold) {
        this.#isTold = true;
        this.source.onParsed?.(this.#json !== undefined);
      }
    }
    return this.#json;
  }

  /** The part of the JSON whose fields are named. */
  get named(): JsonObject | undefined {
    const { cap } = this.source;
    const { json } = this;
    if (cap === undefined || json === undefined) return json;
    if (this.#named === unparsed) {
      this.#named = capped(json, cap.fields);
      if (this.#named !== json && !this.#isCut) {
        this.#isCut = true;
        cap.cut++;
      }
    }
    return this.#named;
  }

  /** Epoch milliseconds; undefined when the event has no time. */
  get timeMs(): number | undefined {
    if (this.#time === unparsed) this.#time = timeOf(this);
    return this.#time;
  }

  /** `@ptr` */
  get pointer(): string {
    return btoa(encodeURIComponent(`${this.source.stream}\n${this.offset}`));
  }

  /** Drops what can be parsed again, for events that are kept. */
  release(): void {
    // Keeps the result for text that is not JSON.
    if (this.#json !== undefined) this.#json = unparsed;
    this.#named = unparsed;
  }
}

const openBrace = 0x7b;
const closeBrace = 0x7d;

/**
 * Starts and ends like an object, apart from blanks; other text is counted without being parsed.
 */
const looksLikeObject = (text: string): boolean => {
  // Fast path: nearly all of the millions of events.
  if (text.charCodeAt(0) === openBrace && text.charCodeAt(text.length - 1) === closeBrace) {
    return true;
  }
  let [from, to] = [0, text.length - 1];
  while (isBlank(text[from])) from++;
  while (isBlank(text[to])) to--;
  return text[from] === '{' && text[to] === '}';
};
const isBlank = (unit: string | undefined): boolean => unit === ' ' || unit === '\t';

/** Deeper values count as one field, because queries do not name them. */
const maxCapDepth = 100;

/** The first fields in text order; the same object when there are no more. */
const capped = (json: JsonObject, fields: number): JsonObject => {
  if (leavesOf(json, fields) <= fields) return json;
  let left = fields;
  const keep = (value: Json, depth = 0): Json | undefined => {
    if (left <= 0) return undefined;
    if (typeof value !== 'object' || value === null || depth > maxCapDepth) {
      left--;
      return value;
    }
    if (Array.isArray(value)) {
      return value.map((one) => keep(one, depth + 1)).filter((one) => one !== undefined);
    }
    const members = Object.entries(value).map(
      ([name, one]) => [name, keep(one as Json, depth + 1)] as const,
    );
    return Object.fromEntries(members.filter(([, one]) => one !== undefined)) as JsonObject;
  };
  return keep(json) as JsonObject;
};

/** Counts up to one more than `enough`. */
const leavesOf = (value: Json, enough: number, depth = 0): number => {
  if (typeof value !== 'object' || value === null || depth > maxCapDepth) return 1;
  let count = 0;
  for (const one of Object.values(value)) {
    count += leavesOf(one as Json, enough - count, depth + 1);
    if (count > enough) break;
  }
  return count;
};

/** The target of `@ptr`; undefined when the text is not a pointer. */
export const readPointer = (
  pointer: string,
): { readonly stream: string; readonly offset: number } | undefined => {
  let text: string;
  try {
    text = decodeURIComponent(atob(pointer));
  } catch {
    return undefined;
  }
  const match = /^([^\n]*)\n(\d{1,15})$/.exec(text);
  return match === null ? undefined : { stream: match[1] ?? '', offset: Number(match[2]) };
};

const parseObject = (text: string): JsonObject | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

const timeOf = ({ json, message }: LogEvent): number | undefined => {
  if (json === undefined) {
    const prefix = isoPrefix.exec(message)?.[0];
    return prefix === undefined ? undefined : readTime(prefix);
  }
  for (const name of timeFields) {
    const found = readTime(json[name]);
    if (found !== undefined) return found;
  }
  return undefined;
};

/** Seconds since 1970 are below this until the year 5138; milliseconds exceed it since 1973. */
const largestSeconds = 1e11;

const readTime = (value: Json | undefined): number | undefined => {
  if (typeof value === 'number') {
    return Math.floor(Math.abs(value) < largestSeconds ? value * 1000 : value);
  }
  if (typeof value !== 'string') return undefined;
  const ms = Date.parse(
    /\d$/.test(value) ? `${value.replace(' ', 'T')}Z` : value.replace(' ', 'T'),
  );
  return Number.isNaN(ms) ? undefined : ms;
};

/** Reads a path in a JSON value. */
export type PathReader = (root: Json | undefined) => Value;

const memberOf = (value: Json | undefined, name: string): Json | undefined => {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) return /^\d+$/.test(name) ? value[Number(name)] : undefined;
  return Object.hasOwn(value, name) ? (value as JsonObject)[name] : undefined;
};

/**
 * A path's parts name nested members. If that fails, parts joined by dots are tried as one member's
 * name, because names in Kubernetes contain dots.
 */
const search = (
  value: Json | undefined,
  path: readonly string[],
  from: number,
): Json | undefined => {
  if (from === path.length) return value;
  for (let to = from + 1; to <= path.length; to++) {
    const below = memberOf(value, path.slice(from, to).join('.'));
    const found = below === undefined ? undefined : search(below, path, to);
    if (found !== undefined) return found;
  }
  return undefined;
};

export const pathReader = (parts: readonly string[]): PathReader => {
  const path = parts.flatMap((part) => part.split('.'));
  const [first, second] = path;
  if (first !== undefined && path.length === 1) return (root) => fromJson(memberOf(root, first));
  if (first !== undefined && second !== undefined && path.length === 2) {
    return (root) => {
      const found = memberOf(memberOf(root, first), second);
      return fromJson(found === undefined ? memberOf(root, `${first}.${second}`) : found);
    };
  }
  return (root) => fromJson(search(root, path, 0));
};
