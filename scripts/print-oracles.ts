// Prints the list of docs/designs/oracles.md from the oracles themselves: the rule of each, and
// `*` where it has exemptions. Text outside the marks is written by hand and kept. A test compares:
// `node scripts/print-oracles.ts`.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { oracles } from '../world/check/index.ts';

export const oraclesFile = join(import.meta.dirname, '..', 'docs', 'designs', 'oracles.md');
const open = '<!-- generated: oracles -->';
const close = '<!-- end: oracles -->';

const row = ({ name, what, exemptions = [] }: (typeof oracles)[number]): string =>
  `- \`${name}\`${exemptions.length > 0 ? ' *' : ''}: ${what}`;

/** The document with the current rules. Throws when its marks are missing. */
export const oraclesPage = (): string => {
  const document = readFileSync(oraclesFile, 'utf8');
  const from = document.indexOf(open);
  const to = document.indexOf(close);
  if (from < 0 || to < from) throw new Error('docs/designs/oracles.md has lost its marks');
  const list = oracles.map(row).join('\n');
  return `${document.slice(0, from + open.length)}\n\n${list}\n\n${document.slice(to)}`;
};

if (import.meta.main) writeFileSync(oraclesFile, oraclesPage());
