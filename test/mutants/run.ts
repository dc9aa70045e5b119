// `npm run mutants [-- --mutant NAME] [--oracle NAME] [--seeds N] [--threads N] [--verbose]
// [--learn]` proves that the oracles detect faults. The unchanged code must pass first; then each
// mutant is applied to a copy of the tree, and one of its oracles must report it. Exit code 1 if
// none does, or if the text that it changes does not occur exactly once. `--learn` writes
// hints.json.
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { oracles } from '../../world/check/index.ts';
import { liveBatch } from './child.ts';
import { type Finding, hunt } from './hunt.ts';
import { mutants } from './list/index.ts';
import { compatOf, type Mutant } from './mutant.ts';
import { complaintsOf, heading, reportCanary, reportFinding, reportOracles } from './report.ts';
import { storyNames } from './stories.ts';
import { Tree } from './tree.ts';

const repository = join(import.meta.dirname, '..', '..');
const hintsFile = join(import.meta.dirname, 'hints.json');
/** Time limit of the complete run; a mutant that was not tried by then counts as not found. */
const limitMs = 11.5 * 60_000;
const lifeLimitMs = 120_000;
/** Lives of the unchanged code in one process. */
const canaryBatch = 8;

type Hints = Readonly<Record<string, string>>;
type Compat = 'eks' | 'native';

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const readHints = (): Hints => JSON.parse(readFileSync(hintsFile, 'utf8')) as Hints;

/**
 * Keeps the hints of mutants that were not hunted this time; removes those of mutants that do not
 * exist.
 */
const learn = (before: Hints, findings: readonly Finding[]): void => {
  const seen = new Map(findings.map(({ mutant, life }) => [mutant.name, life]));
  const entries = mutants.flatMap(({ name }) => {
    const life = seen.get(name) ?? before[name];
    return life === undefined || storyNames.includes(life) ? [] : [[name, life] as const];
  });
  writeFileSync(hintsFile, `${JSON.stringify(Object.fromEntries(entries), undefined, 2)}\n`);
};

/** Runs `work` over the items, one at a time in each tree. */
const inParallel = async <T>(
  trees: readonly Tree[],
  items: readonly T[],
  work: (tree: Tree, item: T) => Promise<void>,
): Promise<void> => {
  const queue = [...items];
  const worker = async (tree: Tree): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(tree, item);
  };
  await Promise.all(trees.map(worker));
};

/**
 * Runs lives with the unchanged code: an oracle that reported a mutant must not report this code.
 */
class Canary {
  readonly #trees: readonly Tree[];
  readonly #done = new Set<string>();
  readonly #startedAt = performance.now();
  readonly objections: string[] = [];

  constructor(trees: readonly Tree[]) {
    this.#trees = trees;
  }

  get result() {
    const seconds = (performance.now() - this.#startedAt) / 1000;
    return { lives: this.#done.size, seconds, objections: this.objections };
  }

  /** Runs the lives that have not run yet. */
  async live(compat: Compat, lives: readonly string[]): Promise<void> {
    const fresh = [...new Set(lives)].filter((life) => !this.#done.has(`${compat} ${life}`));
    for (const life of fresh) this.#done.add(`${compat} ${life}`);
    const batches = Array.from({ length: Math.ceil(fresh.length / canaryBatch) }, (_, i) =>
      fresh.slice(i * canaryBatch, (i + 1) * canaryBatch),
    );
    await inParallel(this.#trees, batches, async ({ root }, batch) => {
      const result = await liveBatch({ root, compat, lives: batch, until: [], lifeLimitMs });
      const { crash = result.hung ? 'a life did not end' : undefined } = result;
      if (crash !== undefined) this.objections.push(`${compat} ${batch.join(',')}: ${crash}`);
      for (const { life, said } of result.lives) {
        for (const [oracle, message] of Object.entries(said)) {
          this.objections.push(`${compat} ${life}: ${oracle}: ${message}`);
        }
      }
    });
  }
}

const compats = ['eks', 'native'] as const;

/** Runs the stories, the hints and the first seeds, with which most hunts start. */
const liveAtFirst = async (
  canary: Canary,
  chosen: readonly Mutant[],
  hints: Hints,
): Promise<void> => {
  for (const compat of compats) {
    const ones = chosen.filter((mutant) => compatOf(mutant) === compat);
    if (ones.length === 0) continue;
    const stories = ones.flatMap(({ story }) => (story === undefined ? [] : [story]));
    const known = ones.flatMap(({ name }) => hints[name] ?? []);
    await canary.live(compat, [...stories, ...known, '1', '2', '3']);
  }
};

/** Runs the lives in which mutants were found, if they have not run with the unchanged code. */
const liveAfterwards = async (canary: Canary, findings: readonly Finding[]): Promise<void> => {
  for (const compat of compats) {
    const ones = findings.filter(({ mutant }) => compatOf(mutant) === compat);
    await canary.live(
      compat,
      ones.flatMap(({ life }) => (life === undefined ? [] : [life])),
    );
  }
};

interface Options {
  readonly chosen: readonly Mutant[];
  readonly most: number;
  readonly isVerbose: boolean;
  readonly hints: Hints;
}

/** All findings; undefined if the unchanged code does not pass. */
const runAll = async (
  trees: readonly Tree[],
  { chosen, most, isVerbose, hints }: Options,
): Promise<readonly Finding[] | undefined> => {
  const deadline = performance.now() + limitMs;
  const canary = new Canary(trees);
  print(heading);
  await liveAtFirst(canary, chosen, hints);
  const wasClean = canary.objections.length === 0;
  for (const line of reportCanary(canary.result)) print(line);
  if (!wasClean) return undefined;
  const findings: Finding[] = [];
  await inParallel(trees, chosen, async (tree, mutant) => {
    const finding = await hunt(tree, mutant, { hint: hints[mutant.name], most, deadline });
    tree.restore();
    findings.push(finding);
    for (const line of reportFinding(finding, isVerbose)) print(line);
  });
  await liveAfterwards(canary, findings);
  for (const line of reportCanary(canary.result)) print(line);
  return canary.objections.length === 0 ? findings : undefined;
};

const choose = (only: string | undefined, oracle: string | undefined): readonly Mutant[] =>
  mutants.filter(
    (mutant) =>
      (only === undefined || mutant.name === only) &&
      (oracle === undefined || mutant.oracles.includes(oracle)),
  );

const readArgs = () =>
  parseArgs({
    options: {
      mutant: { type: 'string' },
      oracle: { type: 'string' },
      seeds: { type: 'string', default: '150' },
      threads: { type: 'string', default: String(availableParallelism()) },
      verbose: { type: 'boolean', default: false },
      learn: { type: 'boolean', default: false },
    },
  }).values;

const readArgsOrSay = (): ReturnType<typeof readArgs> | undefined => {
  try {
    return readArgs();
  } catch (error) {
    print(`mutants: ${error instanceof Error ? error.message : String(error)}`);
    print(
      'it takes --mutant NAME --oracle NAME --seeds N --threads N --verbose --learn; names: docs/designs/mutants.md',
    );
    return undefined;
  }
};

const run = async (): Promise<number> => {
  const startedAt = performance.now();
  const values = readArgsOrSay();
  if (values === undefined) return 2;
  const [most, threads] = [Number(values.seeds), Number(values.threads)];
  const chosen = choose(values.mutant, values.oracle);
  if (chosen.length === 0 || !(most > 0) || !(threads > 0)) {
    print('mutants: nothing to do; see the names in test/mutants/list, and numbers above 0');
    return 2;
  }
  const names = oracles.map(({ name }) => name);
  const known = { oracles: new Set(names), stories: new Set(storyNames) };
  const complaints = complaintsOf(mutants, known);
  for (const complaint of complaints) print(complaint);
  const trees = Array.from({ length: threads }, () => new Tree(repository));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      for (const tree of trees) tree.remove();
      process.exit(1);
    });
  }
  try {
    const hints = readHints();
    const findings = await runAll(trees, { chosen, most, isVerbose: values.verbose, hints });
    if (findings === undefined) {
      print('the code as it is does not pass: mutants would prove nothing');
      return 1;
    }
    for (const line of reportOracles(findings, names)) print(line);
    const missed = findings.filter(({ verdict }) => verdict !== 'found').length;
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
    print(`${findings.length - missed} of ${findings.length} mutants found in ${seconds} s`);
    if (values.learn) learn(hints, findings);
    return missed === 0 && complaints.length === 0 ? 0 : 1;
  } finally {
    for (const tree of trees) tree.remove();
  }
};

process.exitCode = await run();
