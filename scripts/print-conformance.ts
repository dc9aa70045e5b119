// Prints the generated parts of docs/conformance.md: the AWS operations that the world answers, the
// end-to-end tests with the real clients, the scenarios of updates, the cases of the bootstrap and
// the results of moto's tests. Keeps the text outside the marks. A test fails while the page is out
// of date: `node scripts/print-conformance.ts`.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listCoverage, type ServiceCoverage } from '../src/aws-wire/index.ts';
import { awsHandlers } from '../src/main/aws-front.ts';
import { createWorld } from '../world/index.ts';
import { bootstrapList } from './conformance-bootstrap.ts';
import { kubectlTable } from './conformance-kubectl.ts';
import { motoList, specsList } from './conformance-recorded.ts';
import { updatesList } from './conformance-updates.ts';

const root = join(import.meta.dirname, '..');
export const conformanceFile = join(root, 'docs', 'conformance.md');
const e2e = join(root, 'test', 'e2e');
/** Tests that use kubectl, aws or raw HTTP as a user would. */
const listed = /^(kubectl-|aws|bad-).*\.e2e\.ts$/;

const verbOf = (name: string): string => /^(?:[A-Z][a-z]+)/.exec(name)?.[0] ?? name;

/** Names by their first word, as a shell expands braces; words with equal rests share them. */
const grouped = (names: readonly string[]): string => {
  const byVerb = [...Map.groupBy(names, verbOf)].map(
    ([verb, all]) => [verb, all.map((name) => name.slice(verb.length)).join(',')] as const,
  );
  return [...Map.groupBy(byVerb, ([, rests]) => rests)]
    .map(([rests, same]) => {
      const verbs = same.map(([verb]) => verb).join(',');
      const first = same.length === 1 ? verbs : `{${verbs}}`;
      return rests.includes(',') ? `${first}{${rests}}` : `${first}${rests}`;
    })
    .join(' ');
};

/** The shorter of two lists: the operations that work, or those that do not. */
const serviceRow = ({ service, implemented, modelled, omitted }: ServiceCoverage): string => {
  const others = [...modelled, ...omitted].toSorted();
  const which =
    others.length < implemented.length ? `all but ${grouped(others)}` : grouped(implemented);
  return `| ${service} | ${implemented.length} of ${implemented.length + others.length} | ${which} |`;
};

const awsPart = async (): Promise<string> => {
  const world = createWorld({ seed: 1, startAt: 0 });
  const services = await listCoverage(awsHandlers(world));
  const sources = [...new Set(services.map(({ source }) => source))].join(', ');
  return [
    `Models: ${sources}.`,
    '',
    '| service | operations | which |',
    '|---|---|---|',
    ...services.map(serviceRow),
  ].join('\n');
};

/** A nested `describe` only says how its stories run, so it is not a title. */
const quoted = /(^describe|\bit)\(\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")/gm;

interface Title {
  readonly title: string;
  readonly isSuite: boolean;
}

const titlesIn = (file: string): readonly Title[] => {
  const text = readFileSync(join(e2e, file), 'utf8');
  return [...text.matchAll(quoted)].map(([, kind, single, double]) => ({
    title: (single ?? double ?? '').replaceAll(/\\(.)/g, '$1'),
    isSuite: kind === 'describe',
  }));
};

const listedFiles = (): readonly string[] =>
  readdirSync(e2e)
    .filter((file) => listed.test(file))
    .sort();

const stepNames = (): readonly string[] =>
  listedFiles().flatMap((file) =>
    titlesIn(file).flatMap(({ title, isSuite }) => (isSuite ? [] : [title])),
  );

const testsPart = (): string => {
  const files = listedFiles().length;
  return `${stepNames().length} steps in ${files} files of \`test/e2e\`: \`kubectl-*\`, \`aws*\`, \`bad-*\`.`;
};

const sequences = join(root, 'test', 'sequences');
/** In these files a test's name begins with the id of its scenario. */
const scenarioFiles = [
  'updates-scenarios.test.ts',
  'updates-scenarios-courses.test.ts',
  'updates-crash.test.ts',
  'updates-blue-green.test.ts',
  'updates-blue-green-crash.test.ts',
];
const named = /\b(?:it(?:\.each\((?:.|\n)*?\))?)\(\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")/gm;

const scenarioTests = (): readonly string[] =>
  scenarioFiles.flatMap((file) =>
    [...readFileSync(join(sequences, file), 'utf8').matchAll(named)].map(
      ([, single, double]) => single ?? double ?? '',
    ),
  );

const replacePart = (document: string, name: string, part: string): string => {
  const open = `<!-- generated: ${name} -->`;
  const close = `<!-- end: ${name} -->`;
  const from = document.indexOf(open);
  const to = document.indexOf(close);
  if (from < 0 || to < from) throw new Error(`docs/conformance.md has no part ${name}`);
  return `${document.slice(0, from + open.length)}\n\n${part}\n\n${document.slice(to)}`;
};

/** The document with the current facts. */
export const conformance = async (): Promise<string> => {
  const document = readFileSync(conformanceFile, 'utf8');
  const withAws = replacePart(document, 'aws', await awsPart());
  const withRows = replacePart(withAws, 'kubectl', kubectlTable(stepNames()));
  const withUpdates = replacePart(withRows, 'updates', updatesList(scenarioTests()));
  const withBootstrap = replacePart(withUpdates, 'bootstrap', bootstrapList());
  const withMoto = replacePart(withBootstrap, 'moto', motoList());
  const withSpecs = replacePart(withMoto, 'specs', specsList());
  return replacePart(withSpecs, 'tests', testsPart());
};

if (import.meta.main) writeFileSync(conformanceFile, await conformance());
