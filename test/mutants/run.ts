// `npm run mutants [-- --only NAME] [--oracle NAME] [--seeds N] [--threads N]`: proves that the
// oracles can see. First the code as it is must pass the seeds; then each mutant is applied to a
// copy of the tree and has to be found by an oracle that is named for it. Exit code 1 when one is
// not, or when the text that it changes is no longer there exactly once.
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { oracles } from '../../src/world/check/index.ts';
import { liveBatch } from './child.ts';
import { compatOf, type Finding, hunt } from './hunt.ts';
import { mutants } from './list/index.ts';
import type { Mutant } from './mutant.ts';
import { complaintsOf, reportFinding, reportOracles } from './report.ts';
import { Tree } from './tree.ts';

const repository = join(import.meta.dirname, '..', '..');
/** The whole run; what is not tried by then counts as not found. */
const limitMs = 11.5 * 60_000;
const lifeLimitMs = 120_000;

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

/** Runs `work` over the items, `threads` at a time, each with a tree of its own. */
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

interface Lives {
  readonly compat: 'eks' | 'native';
  readonly seeds: readonly number[];
}

/** True when the code as it is passes these seeds. */
const passes = async (trees: readonly Tree[], wanted: readonly Lives[]): Promise<boolean> => {
  let ok = true;
  const size = 8;
  const batches = wanted.flatMap(({ compat, seeds }) =>
    Array.from({ length: Math.ceil(seeds.length / size) }, (_, i) => ({
      compat,
      seeds: seeds.slice(i * size, (i + 1) * size),
    })),
  );
  await inParallel(trees, batches, async ({ root }, { compat, seeds }) => {
    const result = await liveBatch({ root, compat, seeds, until: [], lifeLimitMs });
    if (result.hung || result.crash !== undefined) {
      ok = false;
      print(`seeds ${seeds.join(',')}: ${result.crash ?? 'a life did not end'}`);
    }
    for (const { seed, said } of result.lives) {
      for (const [oracle, message] of Object.entries(said)) {
        ok = false;
        print(`unchanged code, ${compat}, seed ${seed}: ${oracle}: ${message}`);
      }
    }
  });
  return ok;
};

/** Seeds that prove mutants: known ones, and the first of the others. */
const baseline = (chosen: readonly Mutant[], most: number): readonly Lives[] =>
  (['eks', 'native'] as const).flatMap((compat) => {
    const ones = chosen.filter((mutant) => compatOf(mutant) === compat);
    if (ones.length === 0) return [];
    const known = ones.flatMap(({ seeds }) => seeds ?? []);
    const needsMore = ones.some(({ seeds }) => seeds === undefined);
    const first = Array.from({ length: needsMore ? Math.min(most, 8) : 0 }, (_, i) => i + 1);
    return [{ compat, seeds: [...new Set([...known, ...first])].sort((a, b) => a - b) }];
  });

/** Seeds at which mutants were found although they were not looked at before. */
const unproven = (findings: readonly Finding[], known: readonly Lives[]): readonly Lives[] =>
  (['eks', 'native'] as const).flatMap((compat) => {
    const done = new Set(known.flatMap((one) => (one.compat === compat ? one.seeds : [])));
    const seeds = findings
      .filter(({ mutant }) => compatOf(mutant) === compat)
      .flatMap(({ seed }) => (seed === undefined || done.has(seed) ? [] : [seed]));
    return seeds.length === 0 ? [] : [{ compat, seeds: [...new Set(seeds)] }];
  });

const choose = (only: string | undefined, oracle: string | undefined): readonly Mutant[] =>
  mutants.filter(
    (mutant) =>
      (only === undefined || mutant.name.includes(only)) &&
      (oracle === undefined || mutant.oracles.includes(oracle)),
  );

const run = async (): Promise<number> => {
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      oracle: { type: 'string' },
      seeds: { type: 'string', default: '40' },
      threads: { type: 'string', default: String(availableParallelism()) },
    },
  });
  const [most, threads] = [Number(values.seeds), Number(values.threads)];
  const chosen = choose(values.only, values.oracle);
  if (chosen.length === 0 || !(most > 0) || !(threads > 0)) {
    print('mutants: nothing to do; see the names in test/mutants/list, and numbers above 0');
    return 2;
  }
  const names = new Set(oracles.map(({ name }) => name));
  const complaints = complaintsOf(mutants, names);
  for (const complaint of complaints) print(complaint);
  const deadline = performance.now() + limitMs;
  const trees = Array.from({ length: threads }, () => new Tree(repository));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      for (const tree of trees) tree.remove();
      process.exit(1);
    });
  }
  try {
    const before = baseline(chosen, most);
    if (!(await passes(trees, before))) {
      print('the unchanged code does not pass its own seeds: mutants would prove nothing');
      return 1;
    }
    const findings: Finding[] = [];
    await inParallel(trees, chosen, async (tree, mutant) => {
      const finding = await hunt(tree, mutant, { most, deadline });
      tree.restore();
      findings.push(finding);
      for (const line of reportFinding(finding)) print(line);
    });
    const isClean = await passes(trees, unproven(findings, before));
    for (const line of reportOracles(findings, [...names])) print(line);
    const missed = findings.filter(({ verdict }) => verdict !== 'found').length;
    print(`${findings.length - missed} of ${findings.length} mutants found`);
    return missed === 0 && isClean && complaints.length === 0 ? 0 : 1;
  } finally {
    for (const tree of trees) tree.remove();
  }
};

process.exitCode = await run();
