// Opens and reads the logs that a command names: all are opened before one is read, so that a log that is
// rotated meanwhile stays the one that was named. What could not be read whole is told, never passed over.
import { LogError, type LogInput } from '../../ports/index.ts';
import { type CliContext, CommandError, exitCodes } from '../context.ts';
import { visible } from './visible.ts';

const progressEveryMs = 200;

export interface Reading {
  readonly files: readonly string[];
  /** Takes a log's bytes as they come; `end` after the last. */
  readonly open: (input: LogInput) => {
    readonly push: (bytes: Uint8Array) => void;
    readonly end: () => void;
  };
  /** What progress tells besides how far it is. */
  readonly progress: () => string;
}

/** Returns what could not be read, a sentence each. */
export const readLogs = async (
  context: CliContext,
  reading: Reading,
): Promise<readonly string[]> => {
  const inputs = await openAll(context, reading.files);
  const troubles: string[] = [];
  let shownAt = context.clock.now();
  try {
    for (const input of inputs) {
      const feed = reading.open(input);
      try {
        for await (const chunk of input.chunks()) {
          if (context.signal.aborted) {
            throw new CommandError(
              exitCodes.interrupted,
              'interrupted: nothing is printed of a part',
            );
          }
          feed.push(chunk);
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
  return troubles;
};

/** A file's name may have anything in it. */
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

/** Tells the troubles; a command that had any has failed. */
export const tellTroubles = (context: CliContext, troubles: readonly string[]): void => {
  for (const trouble of troubles) context.err(`! ${trouble}`);
};

export const failOn = (troubles: readonly string[]): void => {
  if (troubles.length === 0) return;
  throw new CommandError(exitCodes.failed, 'not everything could be read: see above');
};
