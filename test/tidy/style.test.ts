import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Counts, compareWithList, countBreaches, deadPaths, readSources } from './style.ts';

const root = join(import.meta.dirname, '..', '..');
/**
 * Files that break a rule at present. The list may only shrink: `node scripts/print-style-list.ts`.
 */
const list = JSON.parse(
  readFileSync(join(import.meta.dirname, 'style-list.json'), 'utf8'),
) as Counts;

const longComment = `// ${'word '.repeat(25)}`;
const longCode = `const total = ${Array.from({ length: 20 }, (_, i) => `term${i}`).join(' + ')};`;
const body = (lines: number): string =>
  ['export const f = () => {', ...Array.from({ length: lines }, () => '  g();'), '};', ''].join(
    '\n',
  );
const header = '// Says what it does.\n';
const counted = (...files: readonly (readonly [string, string])[]) =>
  countBreaches(files.map(([path, text]) => ({ path, text })));

describe('the house rules that can be counted', () => {
  it('hold in every file, but for those on a list that may only shrink', () => {
    const sources = readSources(root, ['src', 'world', 'test', 'bench', 'scripts']).filter(
      ({ path }) => !path.includes('/canaries/'),
    );
    expect(sources.length).toBeGreaterThan(1_000);
    const { worse, slack } = compareWithList(countBreaches(sources), list);
    expect(worse).toEqual([]);
    expect(slack, 'print the list anew: node scripts/print-style-list.ts').toEqual([]);
  });

  it.each([
    ['longLines', 'a comment of more than 100 columns', `${header}${longComment}\n`],
    ['longLines', 'code of more than 100 columns', `${header}${longCode}\n`],
    ['longFile', 'a file of more than 400 lines', `${header}${'g();\n'.repeat(400)}`],
    ['longFunctions', 'a function of more than 70 lines', `${header}${body(71)}`],
    ['noHeader', 'a file without a header', 'export const a = 1;\n'],
    [
      'noHeader',
      'a header of more than six lines',
      `${'// word\n'.repeat(7)}export const a = 1;\n`,
    ],
  ])('%s sees %s', (rule, _what, text) => {
    expect(Object.keys(counted(['src/room/a.ts', text])[rule] ?? {})).toEqual(['src/room/a.ts']);
  });

  it.each([
    ['longLines', 'a long text in quotes', `${header}const a =\n  '${'word '.repeat(25)}';\n`],
    ['longFile', 'a file of 400 lines', `${header}${'g();\n'.repeat(399)}`],
    ['longFunctions', 'a function of 70 lines', `${header}${body(70)}`],
    ['noHeader', 'a header of six lines', `${'// word\n'.repeat(6)}export const a = 1;\n`],
  ])('%s allows %s', (rule, _what, text) => {
    expect(counted(['src/room/a.ts', text])[rule]).toEqual({});
  });

  it('pastEntry sees an import past the index.ts of a folder, and allows one inside of it', () => {
    const entry = ['src/room/inner/index.ts', `${header}export * from './a.ts';\n`] as const;
    const inner = ['src/room/inner/a.ts', `${header}export const a = 1;\n`] as const;
    const past = ['src/room/b.ts', `${header}import { a } from './inner/a.ts';\n`] as const;
    const by = ['src/room/c.ts', `${header}import { a } from './inner/index.ts';\n`] as const;
    expect(counted(entry, inner, past, by).pastEntry).toEqual({ 'src/room/b.ts': 1 });
  });

  it('a list that allows more than there is has to be printed again', () => {
    const now = { longLines: { 'a.ts': 1 } };
    expect(compareWithList(now, { longLines: { 'a.ts': 2, 'b.ts': 1 } })).toEqual({
      worse: [],
      slack: ['a.ts: longLines 1, the list allows 2', 'b.ts: longLines 0, the list allows 1'],
    });
    expect(compareWithList(now, {}).worse).toEqual(['a.ts: longLines 1, allowed 0']);
  });
});

describe('paths that documents name', () => {
  const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`);

  it.each(['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'world/README.md', ...pages])(
    'exist: %s',
    (page) => {
      expect(deadPaths(root, readFileSync(join(root, page), 'utf8'))).toEqual([]);
    },
  );

  it('are seen to be missing', () => {
    expect(deadPaths(root, 'see `src/nowhere/file.ts`, src/api and test/*.ts')).toEqual([
      'src/nowhere/file.ts',
    ]);
  });
});
