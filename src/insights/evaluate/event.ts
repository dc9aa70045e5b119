// One log event: its text, and what is read from it when somebody asks. JSON is parsed at the first
// question that needs it and never before.
import { isObject, type Json, type JsonObject } from '../../api/json.ts';
import { fromJson, type Value } from './values.ts';

/** CloudWatch discovers so many fields of a JSON event ("Supported logs and discovered fields"). */
export const cloudFieldCap = 200;

/** How many fields of an event have names; the others are in `@message` alone. */
export interface FieldCap {
  readonly fields: number;
  /** Events that had more. */
  cut: number;
}

/** Where events come from. */
export interface LogSource {
  /** `@logStream` */
  readonly stream: string;
  /** `@log`: account and log group, or the file. */
  readonly log: string;
  /** All fields have names where it is absent. */
  readonly cap?: FieldCap;
  /**
   * Told once of each event that looks like a JSON object, when somebody asked whether it is one.
   */
  readonly onParsed?: (isObject: boolean) => void;
}

/** Fields of an audit event, then of other programs' JSON logs, that tell when it happened. */
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
  /** Where the line begins in its source, in bytes. */
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

  /** The message as a JSON object; undefined when it is none. */
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

  /** What of it can be asked for by name. */
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

  /** Epoch milliseconds; undefined when nothing in the event tells. */
  get timeMs(): number | undefined {
    if (this.#time === unparsed) this.#time = timeOf(this);
    return this.#time;
  }

  /** `@ptr` */
  get pointer(): string {
    return btoa(encodeURIComponent(`${this.source.stream}\n${this.offset}`));
  }

  /** Forgets what can be parsed again: for events that are kept. */
  release(): void {
    // What is no JSON stays so.
    if (this.#json !== undefined) this.#json = unparsed;
    this.#named = unparsed;
  }
}

const openBrace = 0x7b;
const closeBrace = 0x7d;

/**
 * Begins and ends as an object does, blanks aside; what does not is counted without being parsed.
 */
const looksLikeObject = (text: string): boolean => {
  // Nearly all of them, and there are millions.
  if (text.charCodeAt(0) === openBrace && text.charCodeAt(text.length - 1) === closeBrace) {
    return true;
  }
  let [from, to] = [0, text.length - 1];
  while (isBlank(text[from])) from++;
  while (isBlank(text[to])) to--;
  return text[from] === '{' && text[to] === '}';
};
const isBlank = (unit: string | undefined): boolean => unit === ' ' || unit === '\t';

/** Below that, what there is counts as one field: nobody asks for it by name. */
const maxCapDepth = 100;

/** The first fields in the order of the text; the same object where there are no more. */
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

/** Counts no further than one more than `enough`. */
const leavesOf = (value: Json, enough: number, depth = 0): number => {
  if (typeof value !== 'object' || value === null || depth > maxCapDepth) return 1;
  let count = 0;
  for (const one of Object.values(value)) {
    count += leavesOf(one as Json, enough - count, depth + 1);
    if (count > enough) break;
  }
  return count;
};

/** What `@ptr` points at; undefined for a text that is none. */
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

/** Seconds since 1970 stay below this until the year 5138; milliseconds are above it since 1973. */
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

/** Reads a path below a JSON value. */
export type PathReader = (root: Json | undefined) => Value;

const memberOf = (value: Json | undefined, name: string): Json | undefined => {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) return /^\d+$/.test(name) ? value[Number(name)] : undefined;
  return Object.hasOwn(value, name) ? (value as JsonObject)[name] : undefined;
};

/**
 * A path's parts name members one below the other; where that leads nowhere, parts joined by dots
 * are tried as one member's name, since names in Kubernetes have dots in them.
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
