// docs/features.md names existing tests. docs/node-groups.md shows a NodeGroup that the API
// accepts.
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { objectOr } from '../../src/api/json.ts';
import { GroupLife } from '../support/nodegroup-world.ts';

const table = readFileSync('docs/features.md', 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| '));

/** Matches `file` "test", "another": the tests that support a claim. */
const named = table.flatMap((row) =>
  [...row.matchAll(/`([^`\s]+)` ("[^"]+"(?:, "[^"]+")*)/g)].flatMap(([, where = '', titles = '']) =>
    [...titles.matchAll(/"([^"]+)"/g)].map(([, title = '']) => ({ where, title })),
  ),
);

describe('docs/features.md', () => {
  it.each(named)('$where: $title', ({ where, title }) => {
    const file = where.includes('/') ? where : `test/e2e/${where}.e2e.ts`;
    expect(readFileSync(file, 'utf8')).toContain(`${title}'`);
  });

  it('names enough of them, and only files that are there', () => {
    expect(named.length).toBeGreaterThan(20);
    const files = table.flatMap(
      (row) => row.match(/(?:src|test|docs)\/[\w/.-]+\.(?:ts|md)/g) ?? [],
    );
    expect(files.filter((file) => !existsSync(file))).toEqual([]);
  });

  it('marks each row as works, part or later', () => {
    const rows = table.filter((row) => /^\| 00\d /.test(row));
    expect(rows.filter((row) => !/\| (?:\*\*works\*\*|\*\*part\*\*|later)/.test(row))).toEqual([]);
    expect(new Set(rows.map((row) => row.slice(2, 5)))).toEqual(
      new Set(['001', '002', '003', '004']),
    );
  });
});

describe('docs/node-groups.md', () => {
  it('shows a NodeGroup that the API takes', async () => {
    const page = readFileSync('docs/node-groups.md', 'utf8');
    const shown = objectOr(parse(/```yaml\n([^`]+)```/.exec(page)?.[1] ?? ''));
    const life = await GroupLife.begin();
    expect(life.createGroup(shown).spec).toEqual(shown.spec);
  });
});
