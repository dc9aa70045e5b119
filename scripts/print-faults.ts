// Prints the table of docs/fault-kinds.md: every kind of fault and its possible targets. Marks
// kinds that no file checks for. Keeps the text outside the marks. A test fails while the page is
// out of date: `node scripts/print-faults.ts`.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type FaultKind, faultKinds } from '../world/faults/index.ts';

const root = join(import.meta.dirname, '..');
export const faultsFile = join(root, 'docs', 'fault-kinds.md');
const open = '<!-- generated: faults -->';
const close = '<!-- end: faults -->';
/** World control carries out faults that happen once; the world itself checks for all others. */
const controlFile = join(root, 'src', 'main', 'control-routes.ts');

/** Lists every kind, so a kind that occurs only here has no effect. */
const registry = join('world', 'faults', 'faults.ts');

export const kinds = Object.keys(faultKinds) as readonly FaultKind[];

const worldSources = (): readonly { readonly file: string; readonly text: string }[] => {
  const rooms = [join(root, 'world'), join(root, 'src', 'sim')];
  return rooms
    .flatMap((room) =>
      readdirSync(room, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
        .sort()
        .map((name) => join(room, name)),
    )
    .map((path) => ({ file: relative(root, path), text: readFileSync(path, 'utf8') }));
};

/** Kinds in the table of things that happen once, at the moment of the call. */
const happening = (): readonly string[] => {
  const table = /const happen\b[\s\S]*?\n};/.exec(readFileSync(controlFile, 'utf8'))?.[0] ?? '';
  return kinds.filter((kind) => new RegExp(`^  '?${kind}'?:`, 'm').test(table));
};

/** The generated part, also for a `sources` that stands in for the world's. */
export const faultTable = (sources = worldSources(), once = happening()): string => {
  const rows = kinds.map((kind) => {
    const { targets } = faultKinds[kind];
    const asked = new RegExp(`(?:active(?:Since)?\\(|kind === )'${kind}'`);
    const listed = new RegExp(`^  '${kind}': `, 'm');
    const asks = sources.filter(
      ({ file, text }) =>
        file !== registry && (asked.test(text) || (file.startsWith('world') && listed.test(text))),
    );
    const none = asks.length === 0 ? '**it has no effect yet**' : '';
    const note = once.includes(kind) ? 'happens once' : none;
    const aims = targets.map((target) => `--${target}`).join(' ') || 'everything';
    return `| \`${kind}\` | ${aims} | ${note} |`;
  });
  return ['| kind | aimed with | note |', '|---|---|---|', ...rows].join('\n');
};

/** The document with the current facts. */
export const faultsPage = (): string => {
  const document = readFileSync(faultsFile, 'utf8');
  const from = document.indexOf(open);
  const to = document.indexOf(close);
  if (from < 0 || to < from) throw new Error('docs/fault-kinds.md has lost its marks');
  return `${document.slice(0, from + open.length)}\n\n${faultTable()}\n\n${document.slice(to)}`;
};

if (import.meta.main) writeFileSync(faultsFile, faultsPage());
