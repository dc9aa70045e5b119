// Prints what is generated in docs/conformance.md: the AWS operations that the world answers, the
// end-to-end tests with the real clients, the scenarios of updates, the cases of
// the bootstrap and what moto's tests gave. What stands outside the marks is written by hand and
// kept. A test fails until it was run: `node scripts/print-conformance.ts`.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listCoverage, type ServiceCoverage } from '../src/aws-wire/index.ts';
import { awsHandlers } from '../src/main/aws-front.ts';
import { createWorld } from '../world/index.ts';
import { bootstrapTable } from './conformance-bootstrap.ts';
import { kubectlTable } from './conformance-kubectl.ts';
import { motoTable } from './conformance-moto.ts';
import { updatesTable } from './conformance-updates.ts';

const root = join(import.meta.dirname, '..');
export const conformanceFile = join(root, 'docs', 'conformance.md');
const e2e = join(root, 'test', 'e2e');
/** Tests that drive kubectl, aws or raw HTTP through what a user would type. */
const listed = /^(kubectl-|aws|bad-).*\.e2e\.ts$/;

const serviceSection = (service: ServiceCoverage): string => {
  const { implemented, modelled, omitted } = service;
  const total = implemented.length + modelled.length + omitted.length;
  const answered =
    implemented.length === 0
      ? 'None yet: each operation is parsed and answered with `NotImplemented`.'
      : implemented.map((name) => `\`${name}\``).join(', ');
  return [
    `### ${service.fullName} (\`${service.service}\`, ${service.apiVersion}, ${service.protocol})`,
    '',
    `${implemented.length} of ${total} operations, model from ${service.source}.`,
    '',
    answered,
  ].join('\n');
};

const awsPart = async (): Promise<string> => {
  const world = createWorld({ seed: 1, startAt: 0 });
  const services = await listCoverage(awsHandlers(world));
  return services.map(serviceSection).join('\n\n');
};

/** A `describe` inside another only says how its stories run: it is no title. */
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

const testsPart = (): string => {
  const rows = listedFiles().map((file) => {
    const titles = titlesIn(file).filter(({ isSuite }) => isSuite);
    const steps = titlesIn(file).length - titles.length;
    return `| \`${file}\` | ${titles.map(({ title }) => title).join('; ')} | ${steps} |`;
  });
  return ['| file of `test/e2e` | stories | steps |', '|---|---|---|', ...rows].join('\n');
};

const stepNames = (): readonly string[] =>
  listedFiles().flatMap((file) =>
    titlesIn(file).flatMap(({ title, isSuite }) => (isSuite ? [] : [title])),
  );

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

/** The document as it should be. */
export const conformance = async (): Promise<string> => {
  const document = readFileSync(conformanceFile, 'utf8');
  const withAws = replacePart(document, 'aws', await awsPart());
  const withRows = replacePart(withAws, 'kubectl', kubectlTable(stepNames()));
  const withUpdates = replacePart(withRows, 'updates', updatesTable(scenarioTests()));
  const withBootstrap = replacePart(withUpdates, 'bootstrap', bootstrapTable());
  const withMoto = replacePart(withBootstrap, 'moto', motoTable());
  return replacePart(withMoto, 'tests', testsPart());
};

if (import.meta.main) writeFileSync(conformanceFile, await conformance());
