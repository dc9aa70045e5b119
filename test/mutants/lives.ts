// Child of run.ts, started inside a copy of the tree: lives the given seeds one after the other and
// prints one line of JSON per life. Ends at the first that one of the wanted oracles objects to.
import { parseArgs } from 'node:util';
import type { Violation } from '../../src/api/trace.ts';
import { runLife } from '../../src/sim/life.ts';

/** What became of one life. */
export interface LifeReport {
  readonly seed: number;
  /** Oracle -> what it said first. */
  readonly said: Readonly<Record<string, string>>;
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const firstOfEach = (violations: readonly Violation[]): Readonly<Record<string, string>> => {
  const said: Record<string, string> = {};
  for (const { oracle, subject, message } of violations) said[oracle] ??= `${subject}: ${message}`;
  return said;
};

const live = async (seed: number, compat: 'eks' | 'native'): Promise<LifeReport> => {
  try {
    const { violations } = await runLife({ seed, settle, compat });
    return { seed, said: firstOfEach(violations) };
  } catch (error) {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { seed, said: { 'no-exception': message } };
  }
};

const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string', default: '' },
      until: { type: 'string', default: '' },
      compat: { type: 'string' },
    },
  });
  const wanted = values.until.split(',');
  for (const seed of values.seeds.split(',').map(Number)) {
    const report = await live(seed, values.compat === 'native' ? 'native' : 'eks');
    process.stdout.write(`${JSON.stringify(report)}\n`);
    if (wanted.some((oracle) => oracle in report.said)) return;
  }
};

await main();
