// drover logs query: one query over log files, standard input or the world's audit log. Reads each
// from start to end, once for the query and once for each subquery.
import { defined } from '../../api/defined.ts';
import {
  cloudFieldCap,
  Execution,
  explainQueryError,
  type FieldCap,
  parseQuery,
  QueryError,
  QueryLimitError,
} from '../../insights/index.ts';
import { type CliContext, CommandError, type Connection, exitCodes } from '../context.ts';
import { failOn, readLogs, reportProblems } from './inputs.ts';
import { readLookupTables } from './lookup-tables.ts';
import { parseMoment } from './moment.ts';
import { noticesOf, type ResultFormat, renderResult, summaryOf } from './render-result.ts';

export interface QueryFlags {
  readonly start?: string;
  readonly end?: string;
  readonly limit?: string;
  readonly fieldCap?: string;
  /** `NAME=FILE` each. */
  readonly lookupTable?: readonly string[];
  /** If given, the query runs in CloudWatch Logs. */
  readonly logGroup?: readonly string[];
  readonly region?: string;
  readonly output: ResultFormat;
}

const maxRows = 100_000;

/** The streams of an EKS control plane, which a file's name may contain. */
const knownStream =
  /^(?:kube-apiserver|authenticator|kube-scheduler|kube-controller-manager|cloud-controller-manager)/;

/** `@logStream` of a file: an audit log, unless its name contains another stream. */
export const streamOf = (path: string): string => {
  const name = path === '-' ? 'stdin' : (path.split('/').at(-1) ?? path);
  const base = name.replace(/\.(?:gz|zst)$/, '').replace(/\.(?:log|json|jsonl|ndjson)$/, '');
  return knownStream.test(base) ? base : `kube-apiserver-audit-${base}`;
};

/** CloudWatch's limits for a query's rows. Throws CommandError. */
export const parseLimit = (text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,5}$/.test(text) && Number(text) <= maxRows) return Number(text);
  throw new CommandError(exitCodes.usage, `--limit takes 1 to ${maxRows} rows, not ${text}`);
};

const maxFieldCap = 100_000;

/** Throws CommandError. */
const parseFieldCap = (text: string | undefined): FieldCap | undefined => {
  if (text === undefined || text === 'none') return undefined;
  if (/^[1-9]\d{0,5}$/.test(text) && Number(text) <= maxFieldCap) {
    return { fields: Number(text), cut: 0 };
  }
  throw new CommandError(
    exitCodes.usage,
    `--field-cap takes none or a number of fields (CloudWatch: ${cloudFieldCap}), not ${text}`,
  );
};

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
  if (flags.region !== undefined) {
    const message =
      '--region says where log groups are: name one with --log-group, or leave it out';
    throw new CommandError(exitCodes.usage, message);
  }
  const limit = parseLimit(flags.limit);
  const cap = parseFieldCap(flags.fieldCap);
  const lookupTables = await readLookupTables(context, flags.lookupTable ?? []);
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
    return new Execution(parseQuery(query), {
      nowMs,
      ...range,
      lookupTables,
      ...defined({ defaultLimit: limit }),
    });
  });
  let pass = 0;
  const own = isWorlds ? await context.auditFiles(connection) : files;
  refuseReadingTwice(execution.sources, own);
  const troubles = new Set<string>();
  const hints = new Set<string>();
  do {
    const source = execution.sources[pass++];
    const read = await readLogs(context, {
      files: source === undefined ? own : [source],
      open: ({ name }) => {
        const feed = execution.open({
          stream: streamOf(name),
          log: name,
          ...defined({ cap }),
        });
        return {
          push: (bytes) => explained(query, () => feed.push(bytes)),
          end: () => explained(query, () => feed.end()),
        };
      },
      isDone: () => execution.isDone,
      progress: () => {
        const { bytes, matched } = execution.progress;
        return `${Math.round(bytes / 1_000_000)} MB read, ${matched} events matched`;
      },
    });
    for (const told of read.troubles) troubles.add(told);
    for (const told of read.hints) hints.add(told);
  } while (explained(query, () => execution.advance()));
  const read = { troubles: [...troubles], hints: [...hints] };
  const finished = explained(query, () => execution.finish());
  const result = { ...finished, notices: [...finished.notices, ...cutNotices(cap)] };
  for (const line of renderResult(result, flags.output)) context.out(line);
  reportProblems(context, read);
  for (const notice of noticesOf(result)) context.err(`! ${notice}`);
  context.err(summaryOf(result));
  failOn(read);
};

/** Throws CommandError. */
const refuseReadingTwice = (
  sources: readonly (string | undefined)[],
  files: readonly string[],
): void => {
  const times = sources.filter((source) => source === undefined || source === '-').length;
  if (times < 2 || !(files.includes('-') || sources.includes('-'))) return;
  throw new CommandError(
    exitCodes.usage,
    'standard input (-) can be read once, and the subquery reads it too: write it to a file ' +
      'and name that',
  );
};

const cutNotices = (cap: FieldCap | undefined): readonly string[] =>
  cap === undefined || cap.cut === 0
    ? []
    : [
        `${cap.cut} ${cap.cut === 1 ? 'event has' : 'events have'} more than ${cap.fields} ` +
          'fields: the others have no ' +
          'names (--field-cap none), `parse` and `jsonParse(@message)` find them',
      ];

/** Adds the place to errors of the language, and the remedy to errors of memory. */
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
