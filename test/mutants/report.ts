// What a run of the mutants says: a line per mutant, a table per oracle. Judges the list itself too.
import type { Finding } from './hunt.ts';
import type { Mutant } from './mutant.ts';

/** Per oracle at least this many mutants, at least one of timing. */
const leastPerOracle = 3;
const longestMessage = 160;

const othersText = (others: Finding['others']): string => {
  const names = Object.entries(others).map(([oracle, lives]) => `${oracle} ${lives}`);
  return names.length === 0 ? '' : ` (also ${names.join(', ')})`;
};

export const reportFinding = (finding: Finding): readonly string[] => {
  const { mutant, verdict, lives, seed, oracle, message = '', others, complaints } = finding;
  const name = mutant.name.padEnd(44);
  const effort = `${lives} ${lives === 1 ? 'life' : 'lives'}, ${finding.seconds.toFixed(0)} s`;
  const expected = mutant.oracles.join(' or ');
  switch (verdict) {
    case 'found':
      return [
        `${name} found by ${oracle} at seed ${seed}, ${effort}${othersText(others)}`,
        `    ${message.slice(0, longestMessage)}`,
      ];
    case 'elsewhere':
      return [`${name} MISSED by ${expected}, ${effort}${othersText(others)}`];
    case 'crash':
      return [`${name} ONLY CRASHED, no oracle saw it, ${effort}`, `    ${message.split('\n')[0]}`];
    case 'survived':
      return [`${name} SURVIVED ${expected}, ${effort}`];
    case 'unmatched':
      return [`${name} DOES NOT APPLY`, ...complaints.map((complaint) => `    ${complaint}`)];
  }
};

/** What is wrong with the list itself. */
export const complaintsOf = (
  mutants: readonly Mutant[],
  oracles: ReadonlySet<string>,
): readonly string[] => {
  const complaints: string[] = [];
  const names = mutants.map(({ name }) => name);
  for (const name of new Set(names.filter((one, i) => names.indexOf(one) !== i))) {
    complaints.push(`two mutants are called ${name}`);
  }
  for (const mutant of mutants) {
    for (const oracle of mutant.oracles) {
      if (!oracles.has(oracle)) complaints.push(`${mutant.name}: there is no oracle ${oracle}`);
    }
  }
  for (const oracle of oracles) {
    const ones = mutants.filter(({ oracles: [first] }) => first === oracle);
    const timing = ones.filter(({ kind }) => kind === 'timing').length;
    if (ones.length >= leastPerOracle && timing > 0) continue;
    complaints.push(`oracle ${oracle} has ${ones.length} mutants, ${timing} of timing`);
  }
  return complaints;
};

/** Per oracle: mutants that are its own, how many it found, and how many nobody else saw. */
export const reportOracles = (
  findings: readonly Finding[],
  oracles: readonly string[],
): readonly string[] => {
  const lines = ['', `${'oracle'.padEnd(32)}mutants  found  by it alone`];
  for (const oracle of oracles) {
    const ones = findings.filter(({ mutant }) => mutant.oracles[0] === oracle);
    if (ones.length === 0) continue;
    const found = ones.filter((finding) => finding.oracle === oracle);
    const alone = found.filter(({ others }) => Object.keys(others).length === 0);
    const cells = [ones.length, found.length, alone.length].map((n) => String(n).padEnd(9));
    lines.push(`${oracle.padEnd(32)}${cells.join('')}`.trimEnd());
  }
  return lines;
};
