// Opens and reads the logs of a command. All are opened before one is read, so that a rotation
// meanwhile does not replace a named log. Logs that could not be read completely are reported,
// never skipped silently.
import { LogError, type LogInput } from '../../ports/index.ts';
import { type CliContext, CommandError, exitCodes } from '../context.ts';
import { visible } from '../visible.ts';

const progressEveryMs = 200;

export interface Reading {
  readonly files: readonly string[];
  /** Receives a log's bytes as they arrive; `end` after the last. */
  readonly open: (input: LogInput) => {
    readonly push: (bytes: Uint8Array) => void;
    readonly end: () => void;
  };
  /** True once nothing more needs to be read. */
  readonly isDone?: () => boolean;
  /** Additional text for the progress line. */
  readonly progress: () => string;
}

/** Remarks about what was read, a sentence each. */
export interface Read {
  /** What could not be read. */
  readonly troubles: readonly string[];
  /** Logs that seem to have another format, and what to do. */
  readonly hints: readonly string[];
}

export const readLogs = async (context: CliContext, reading: Reading): Promise<Read> => {
  const hints: string[] = [];
  const inputs = await openAll(context, reading.files);
  const troubles: string[] = [];
  let shownAt = context.clock.now();
  try {
    for (const input of inputs) {
      const feed = reading.open(input);
      let isFirst = true;
      try {
        for await (const chunk of input.chunks()) {
          if (context.signal.aborted) {
            throw new CommandError(
              exitCodes.interrupted,
              'interrupted: nothing is printed of a part',
            );
          }
          if (isFirst) hints.push(...otherFormat(input, chunk));
          isFirst = false;
          feed.push(chunk);
          // Stopped early, so the rest of the log is not checked.
          if (reading.isDone?.() === true) return { troubles, hints };
          if (context.isTerminal && context.clock.now() - shownAt >= progressEveryMs) {
            shownAt = context.clock.now();
            context.progress(`${shareOf(inputs)}${reading.progress()}`);
          }
        }
      } catch (error) {
        if (!(error instanceof LogError)) throw error;
        if (error.code === 'packed') throw usageError(error);
        troubles.push(`${visible(error.message)}; what came before it was read`);
      }
      feed.end();
    }
  } finally {
    await Promise.all(inputs.map((input) => input.close()));
    context.progress('');
  }
  return { troubles, hints };
};

const looksAt = 4096;

/**
 * The start of documents that contain events in a list, and the jq filter that prints one event per
 * line.
 */
const documents: readonly (readonly [begins: RegExp, filter: string, what: string])[] = [
  [/^\s*\{\s*"Records":\s*\[/, '.Records[]', ' (a CloudTrail file)'],
  [/^\s*\[\s*(?:\{|$)/, '.[]', ''],
  [/^\s*\{\s*\n.*"items":\s*\[/s, '.items[]', ''],
  [/^\s*\{\s*\n/, '.', ''],
];

/**
 * A file's name, quoted for a shell; `./` precedes a leading dash, which would make it an option.
 */
const wordOf = (path: string): string => {
  const name = path.startsWith('-') ? `./${path}` : path;
  return /^[\w.:/@=,+-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`;
};

/**
 * A file may be one JSON document instead of one event per line: a CloudTrail file, or `kubectl get
 * -o json`. Its lines are read as they are; this hint explains why they contain no events.
 */
const otherFormat = (input: LogInput, chunk: Uint8Array): readonly string[] => {
  const begins = Buffer.from(chunk.subarray(0, looksAt)).toString('latin1');
  const found = documents.find(([pattern]) => pattern.test(begins));
  if (found === undefined) return [];
  const [, filter, what] = found;
  const packing = input.packing();
  const isPiped = input.name === '-';
  const from = isPiped ? '... | ' : '';
  // Given the file name, `gzip` refuses a file that does not end in .gz.
  const unpack = packing === undefined ? '' : `${packing} -dc${isPiped ? '' : ' <'}`;
  const file = isPiped ? '' : ` ${wordOf(input.name)}`;
  const jq = `jq -c '${filter}'`;
  const how = unpack === '' ? `${jq}${file}` : `${unpack}${file} | ${jq}`;
  const name = isPiped ? 'standard input' : input.name;
  const told = `${name} is one JSON document${what}, not a line for each event`;
  return [visible(`${told}: \`${from}${how} | drover logs ... -\``)];
};

/** A file's name may contain control characters. */
const usageError = ({ message }: LogError): CommandError =>
  new CommandError(exitCodes.usage, visible(message));

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
    if (error instanceof LogError) throw usageError(error);
    throw error;
  }
};

const shareOf = (inputs: readonly LogInput[]): string => {
  const done = inputs.reduce((sum, input) => sum + input.position(), 0);
  const total = inputs.reduce<number>((sum, input) => sum + (input.size ?? Number.NaN), 0);
  return Number.isNaN(total) ? '' : `${Math.floor((done / Math.max(1, total)) * 100)}%, `;
};

/** Prints problems and hints; a command with a problem fails. */
export const reportProblems = (context: CliContext, { troubles, hints }: Read): void => {
  for (const told of [...troubles, ...hints]) context.err(`! ${told}`);
};

export const failOn = ({ troubles }: Read): void => {
  if (troubles.length === 0) return;
  throw new CommandError(exitCodes.failed, 'not everything could be read: see above');
};
