// --lookup-table NAME=FILE: CSV files as lookup tables of a query, with CloudWatch's limits.
import { type LookupTable, type LookupTables, readLookupTable } from '../../insights/index.ts';
import { LogError } from '../../ports/index.ts';
import { type CliContext, CommandError, exitCodes } from '../context.ts';
import { visible } from '../visible.ts';

/** Maximum size of a table in CloudWatch. */
const maxBytes = 10 * 1024 * 1024;

/** Throws CommandError. */
export const readLookupTables = async (
  context: CliContext,
  pairs: readonly string[],
): Promise<LookupTables> => {
  const tables = new Map<string, LookupTable>();
  for (const pair of pairs) {
    const [, name, path] = /^([A-Za-z0-9_-]{1,256})=(.+)$/s.exec(pair) ?? [];
    if (name === undefined || path === undefined) {
      throw usage(
        `--lookup-table takes NAME=FILE, a name of letters, digits, _ and -, not ${pair}`,
      );
    }
    if (tables.has(name)) throw usage(`two lookup tables are called ${name}`);
    tables.set(name, await tableIn(context, path));
  }
  return tables;
};

const usage = (message: string): CommandError =>
  new CommandError(exitCodes.usage, visible(message));

const because = (error: unknown): string => (error instanceof Error ? error.message : `${error}`);

/** Reads no further than the limit: a file may be endless. */
const textIn = async (context: CliContext, path: string): Promise<string> => {
  const chunks: Uint8Array[] = [];
  try {
    const input = await context.openLog(path);
    try {
      let bytes = 0;
      for await (const chunk of input.chunks()) {
        bytes += chunk.length;
        if (bytes > maxBytes) {
          const most = 'larger than 10 MB, the most that CloudWatch takes';
          throw usage(`the lookup table ${path} is ${most}`);
        }
        // The source reuses a chunk's memory.
        chunks.push(Uint8Array.from(chunk));
      }
    } finally {
      await input.close();
    }
  } catch (error) {
    if (!(error instanceof LogError)) throw error;
    throw usage(`cannot read the lookup table ${path}: ${because(error.cause ?? error)}`);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
};

const tableIn = async (context: CliContext, path: string): Promise<LookupTable> => {
  const text = await textIn(context, path);
  try {
    return readLookupTable(text);
  } catch (error) {
    throw usage(`the lookup table ${path} cannot be read: ${because(error)}`);
  }
};
