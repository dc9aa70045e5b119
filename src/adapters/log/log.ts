// The developer's log: JSON lines for machines, plain lines on a terminal. Facts are redacted
// before writing. Users are informed by conditions and events, never only here.
import { destination, type Logger, pino, stdTimeFunctions } from 'pino';
import type { Json, JsonObject } from '../../api/json.ts';
import type { Log } from '../../ports/index.ts';
import { redactFacts } from './redact.ts';

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

export interface LogOptions {
  readonly level: LogLevel;
  /** Plain lines instead of JSON; default: whether stderr is a terminal. */
  readonly pretty?: boolean;
  /** Destination of lines; default stderr. */
  readonly output?: { write(text: string): void };
}

const ownFields = new Set(['time', 'level', 'message']);

/** A fact with one of the line's own names would hide it: `message` becomes `fact.message`. */
const factsOf = (facts: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(redactFacts(facts)).map(([name, value]) => [
      ownFields.has(name) ? `fact.${name}` : name,
      value,
    ]),
  );

const plain = (value: Json | undefined): string =>
  typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);

/** `14:06:13 WARN  message name=value` from one JSON line. */
const prettyLine = (line: string): string => {
  const entry: JsonObject = JSON.parse(line);
  const facts = Object.entries(entry)
    .filter(([name]) => !ownFields.has(name))
    .map(([name, value]) => ` ${name}=${plain(value)}`);
  const time = String(entry.time).slice(11, 19);
  return (
    `${time} ${String(entry.level).toUpperCase().padEnd(5)} ` +
    `${entry.message}${facts.join('')}\n`
  );
};

const wrap = (logger: Logger): Log => {
  const write =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, facts?: JsonObject): void => {
      if (!logger.isLevelEnabled(level)) return;
      logger[level](facts === undefined ? {} : factsOf(facts), message);
    };
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: (facts) => wrap(logger.child(factsOf(facts))),
  };
};

/** Writes lines synchronously, so that the last one before a crash is not lost. */
export const createLog = (options: LogOptions): Log => {
  const pretty = options.pretty ?? (options.output === undefined && process.stderr.isTTY === true);
  const output = options.output ?? destination({ fd: 2, sync: true });
  const stream = pretty
    ? { write: (line: string): void => void output.write(prettyLine(line)) }
    : { write: (line: string): void => void output.write(line) };
  const logger = pino(
    {
      level: options.level,
      base: null,
      messageKey: 'message',
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
    },
    stream,
  );
  return wrap(logger);
};
