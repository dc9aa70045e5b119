// Prints the counts of docs/designs/mutants.md: `node scripts/print-mutants.ts`. Keeps the text
// outside the marks. A test fails while the page is out of date.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mutants } from '../test/mutants/list/index.ts';
import { mutantCounts } from '../test/mutants/report.ts';
import { oracles } from '../world/check/index.ts';

export const mutantsFile = join(import.meta.dirname, '..', 'docs', 'designs', 'mutants.md');
const open = '<!-- generated: mutants -->';
const close = '<!-- end: mutants -->';

/** The document with the current counts. */
export const mutantsPage = (): string => {
  const document = readFileSync(mutantsFile, 'utf8');
  const from = document.indexOf(open);
  const to = document.indexOf(close);
  if (from < 0 || to < from) throw new Error('docs/designs/mutants.md has lost its marks');
  const names = oracles.map(({ name }) => name);
  const counts = mutantCounts(mutants, names);
  return `${document.slice(0, from + open.length)}\n\n${counts}\n\n${document.slice(to)}`;
};

if (import.meta.main) writeFileSync(mutantsFile, mutantsPage());
