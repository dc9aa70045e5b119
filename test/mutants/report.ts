// The report of a mutant run: one row per mutant, one row per oracle. It also checks the list
// itself.
import type { Finding } from './hunt.ts';
import type { Mutant } from './mutant.ts';

/** Minimum number of mutants per oracle; at least one of them is about timing. */
export const leastPerOracle = 3;
const longestMessage = 150;

const columns = [48, 28, 48, 32, 6] as const;

const row = (cells: readonly string[]): string =>
  cells.map((cell, i) => cell.padEnd(columns[i] ?? 0)).join('  ');

export const heading = row(['mutant', 'expected', 'noticed by', 'seed or story', 'lives', 's']);

const noticed = ({ verdict, noticedBy }: Finding): string => {
  const names = noticedBy.join(', ');
  switch (verdict) {
    case 'found':
      return names;
    case 'elsewhere':
      return `NOT BY IT, only by ${names}`;
    case 'crash':
      return 'NOBODY, it only crashed';
    case 'survived':
      return 'NOBODY';
    case 'unmatched':
      return 'DOES NOT APPLY';
  }
};

export const reportFinding = (finding: Finding, isVerbose: boolean): readonly string[] => {
  const { mutant, verdict, lives, life = '', seconds, message } = finding;
  const [expected] = mutant.oracles;
  const cells = [mutant.name, expected, noticed(finding), life, String(lives), seconds.toFixed(0)];
  const isTold = message !== '' && (isVerbose || verdict !== 'found');
  const [first = ''] = message.split('\n');
  return [row(cells), ...(isTold ? [`    ${first.slice(0, longestMessage)}`] : [])];
};

/** The row of the unchanged code, which no oracle may report. */
export const reportCanary = (canary: {
  readonly lives: number;
  readonly seconds: number;
  readonly objections: readonly string[];
}): readonly string[] => {
  const { lives, seconds, objections } = canary;
  const by = objections.length === 0 ? 'nobody' : 'SOMEBODY';
  const cells = ['(canary: nothing changed)', 'nobody', by, '', String(lives), seconds.toFixed(0)];
  return [row(cells), ...objections.map((objection) => `    ${objection}`)];
};

const isOwnCode = ({ edits }: Mutant): boolean =>
  edits.every(({ file }) => file.startsWith('src/core/') || file.startsWith('src/controllers/'));

/** The faults of the list itself. */
export const complaintsOf = (
  mutants: readonly Mutant[],
  known: { readonly oracles: ReadonlySet<string>; readonly stories: ReadonlySet<string> },
): readonly string[] => {
  const complaints: string[] = [];
  const names = mutants.map(({ name }) => name);
  for (const name of new Set(names.filter((one, i) => names.indexOf(one) !== i))) {
    complaints.push(`two mutants are called ${name}`);
  }
  for (const { name, oracles, story } of mutants) {
    for (const oracle of oracles) {
      if (!known.oracles.has(oracle)) complaints.push(`${name}: there is no oracle ${oracle}`);
    }
    if (story !== undefined && !known.stories.has(story)) {
      complaints.push(`${name}: there is no story ${story}`);
    }
  }
  for (const oracle of known.oracles) {
    const ones = mutants.filter(({ oracles: [first] }) => first === oracle).filter(isOwnCode);
    const timing = ones.filter(({ kind }) => kind === 'timing').length;
    if (ones.length >= leastPerOracle && timing > 0) continue;
    complaints.push(
      `oracle ${oracle} has ${ones.length} mutants of core or controllers, ${timing} of timing; ` +
        `it needs ${leastPerOracle}, one of timing`,
    );
  }
  return complaints;
};

/** Per oracle: its own mutants, how many it reported, and how many no other oracle reported. */
export const reportOracles = (
  findings: readonly Finding[],
  oracles: readonly string[],
): readonly string[] => {
  const lines = ['', `${'oracle'.padEnd(32)}mutants  found  by it alone`];
  for (const oracle of oracles) {
    const ones = findings.filter(({ mutant }) => mutant.oracles[0] === oracle);
    if (ones.length === 0) continue;
    const found = ones.filter(({ noticedBy, verdict }) => {
      return verdict === 'found' && noticedBy.includes(oracle);
    });
    const alone = found.filter(({ noticedBy }) => noticedBy.length === 1);
    const [all, seen, only] = [ones.length, found.length, alone.length];
    lines.push(`${oracle.padEnd(32)}${String(all).padEnd(9)}${String(seen).padEnd(7)}${only}`);
  }
  return lines;
};

/** The counts of docs/designs/mutants.md. */
export const mutantCounts = (mutants: readonly Mutant[], oracles: readonly string[]): string => {
  const timing = mutants.filter(({ kind }) => kind === 'timing').length;
  const story = mutants.filter(({ story: told }) => told !== undefined).length;
  const server = mutants.filter((mutant) => !isOwnCode(mutant)).length;
  return (
    `${mutants.length} mutants for ${oracles.length} oracles: ${timing} are about timing, ` +
    `${story} are found by a story, ${server} are planted in the world's API server.`
  );
};
