// Prints test/tidy/style-list.json: the files that break a counted house rule today. Refuses to add
// a breach: a file that is new on the list has to be fixed instead.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Counts, compareWithList, countBreaches, readSources } from '../test/tidy/style.ts';

process.chdir(join(import.meta.dirname, '..'));
const file = join('test', 'tidy', 'style-list.json');
const sources = readSources('.', ['src', 'world', 'test', 'bench', 'scripts']);
const counts = countBreaches(sources.filter(({ path }) => !path.includes('/canaries/')));
const { worse } = compareWithList(counts, JSON.parse(readFileSync(file, 'utf8')) as Counts);
if (worse.length > 0) {
  console.error(`refused, the list may only shrink:\n${worse.join('\n')}`);
  process.exitCode = 3;
} else {
  writeFileSync(file, `${JSON.stringify(counts, null, 2)}\n`);
}
