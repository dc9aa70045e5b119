// Child of run.ts, started inside a copy of the tree. It runs the given seeds or stories one after
// the other and prints one line of JSON for each. It ends at the first one that violates a
// requested oracle.
import { parseArgs } from 'node:util';
import type { Violation } from '../../src/api/trace.ts';
import { runLife } from '../../src/sim/lives/life.ts';
import { tellStory } from './stories.ts';

/** The result of one life. */
export interface LifeReport {
  /** A seed or a story's name. */
  readonly life: string;
  /** Oracle -> its first violation. */
  readonly said: Readonly<Record<string, string>>;
}

type Compat = 'eks' | 'native';

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const firstOfEach = (violations: readonly Violation[]): Readonly<Record<string, string>> => {
  const said: Record<string, string> = {};
  for (const { oracle, subject, message } of violations) said[oracle] ??= `${subject}: ${message}`;
  return said;
};

const violationsOf = async (life: string, compat: Compat): Promise<readonly Violation[]> => {
  const seed = Number(life);
  if (Number.isNaN(seed)) return tellStory(life, { settle, compat });
  return (await runLife({ seed, settle, compat })).violations;
};

const live = async (life: string, compat: Compat): Promise<LifeReport> => {
  try {
    return { life, said: firstOfEach(await violationsOf(life, compat)) };
  } catch (error) {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { life, said: { 'no-exception': message } };
  }
};

const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      lives: { type: 'string', default: '' },
      until: { type: 'string', default: '' },
      compat: { type: 'string' },
    },
  });
  const wanted = values.until.split(',');
  for (const life of values.lives.split(',')) {
    const report = await live(life, values.compat === 'native' ? 'native' : 'eks');
    process.stdout.write(`${JSON.stringify(report)}\n`);
    if (wanted.some((oracle) => oracle in report.said)) return;
  }
};

await main();
