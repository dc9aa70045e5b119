// drover logs query: one query over log files, standard input or the world's audit log. Reads each
// once from front to back; what could not be read whole is told, never passed over.
import {
  Execution,
  explainQueryError,
  parseQuery,
  QueryError,
  QueryLimitError,
  type QueryResult,
} from '../../insights/index.ts';
import { LogError, type LogInput } from '../../ports/index.ts';
import { type CliContext, CommandError, type Connection, exitCodes } from '../context.ts';
import { parseMoment } from './moment.ts';
import { noticesOf, type ResultFormat, renderResult, summaryOf } from './render-result.ts';

export interface QueryFlags {
  readonly start?: string;
  readonly end?: string;
  readonly output: ResultFormat;
}

/** The streams of an EKS control plane, of which a file may have the name. */
const knownStream =
  /^(?:kube-apiserver|authenticator|kube-scheduler|kube-controller-manager|cloud-controller-manager)/;

/** `@logStream` of a file: an audit log, unless its name is that of another stream. */
export const streamOf = (path: string): string => {
  const name = path === '-' ? 'stdin' : (path.split('/').at(-1) ?? path);
  const base = name.replace(/\.gz$/, '').replace(/\.(?:log|json|jsonl|ndjson)$/, '');
  return knownStream.test(base) ? base : `kube-apiserver-audit-${base}`;
};

const progressEveryMs = 200;

export const runQuery = async (
  context: CliContext,
  connection: Connection,
  request: {
    readonly query: string;
    readonly files: readonly string[];
    readonly flags: QueryFlags;
  },
): Promise<void> => {
  const { query, files, flags } = request;
  const isWorlds = files.length === 0;
  const nowMs = isWorlds ? (await context.cluster(connection)).now : context.clock.now();
  const moment = (flag: 'start' | 'end') => {
    const text = flags[flag];
    return text === undefined ? {} : { [`${flag}Ms`]: parseMoment(`--${flag}`, text, nowMs) };
  };
  const execution = explained(query, () => {
    const range: { readonly startMs?: number; readonly endMs?: number } = {
      ...moment('start'),
      ...moment('end'),
    };
    return new Execution(parseQuery(query), { nowMs, ...range });
  });
  const inputs = await openAll(context, isWorlds ? await context.auditFiles(connection) : files);
  const troubles: string[] = [];
  try {
    for (const input of inputs) await readInput(context, { execution, input, inputs, troubles });
  } finally {
    await Promise.all(inputs.map((input) => input.close()));
    context.progress('');
  }
  report(
    context,
    flags.output,
    explained(query, () => execution.finish()),
    troubles,
  );
};

/** Errors of the language with their place, of memory with their remedy. */
const explained = <T>(query: string, run: () => T): T => {
  try {
    return run();
  } catch (error) {
    if (error instanceof QueryError) {
      throw new CommandError(exitCodes.usage, explainQueryError(query, error));
    }
    if (error instanceof QueryLimitError) {
      throw new CommandError(exitCodes.refused, `refused: ${error.message}`);
    }
    throw error;
  }
};

/** All are opened before one is read: a log that is rotated meanwhile stays the one that was named. */
const openAll = async (
  context: CliContext,
  files: readonly string[],
): Promise<readonly LogInput[]> => {
  if (files.filter((file) => file === '-').length > 1) {
    throw new CommandError(exitCodes.usage, 'standard input (-) can be read once');
  }
  const opened: LogInput[] = [];
  try {
    for (const file of files) opened.push(await context.openLog(file));
    return opened;
  } catch (error) {
    await Promise.all(opened.map((input) => input.close()));
    if (error instanceof LogError) throw new CommandError(exitCodes.usage, error.message);
    throw error;
  }
};

const readInput = async (
  context: CliContext,
  reading: {
    readonly execution: Execution;
    readonly input: LogInput;
    readonly inputs: readonly LogInput[];
    readonly troubles: string[];
  },
): Promise<void> => {
  const { execution, input, inputs, troubles } = reading;
  const feed = execution.open({ stream: streamOf(input.name), log: input.name });
  let shownAt = context.clock.now();
  try {
    for await (const chunk of input.chunks()) {
      if (context.signal.aborted) {
        throw new CommandError(exitCodes.interrupted, 'interrupted: nothing is printed of a part');
      }
      explained('', () => feed.push(chunk));
      if (context.isTerminal && context.clock.now() - shownAt >= progressEveryMs) {
        shownAt = context.clock.now();
        context.progress(progressLine(execution, inputs));
      }
    }
  } catch (error) {
    if (!(error instanceof LogError)) throw error;
    troubles.push(`${error.message}; what came before it was read`);
  }
  explained('', () => feed.end());
};

const progressLine = (execution: Execution, inputs: readonly LogInput[]): string => {
  const { bytes, matched } = execution.progress;
  const sizes = inputs.map((input) => input.size);
  const done = inputs.reduce((sum, input) => sum + input.position(), 0);
  const total = sizes.reduce<number>((sum, size) => sum + (size ?? Number.NaN), 0);
  const share = Number.isNaN(total) ? '' : `${Math.floor((done / Math.max(1, total)) * 100)}%, `;
  return `${share}${Math.round(bytes / 1_000_000)} MB read, ${matched} events matched`;
};

const report = (
  context: CliContext,
  format: ResultFormat,
  result: QueryResult,
  troubles: readonly string[],
): void => {
  for (const line of renderResult(result, format)) context.out(line);
  for (const trouble of troubles) context.err(`! ${trouble}`);
  for (const notice of noticesOf(result)) context.err(`! ${notice}`);
  context.err(summaryOf(result));
  if (troubles.length > 0) {
    throw new CommandError(exitCodes.failed, 'not everything could be read: see above');
  }
};
