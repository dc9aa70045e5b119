// The house rules that can be counted in a source file: lines, functions, headers, entries. It
// reads text as the formatter lays it out and does not parse TypeScript. Changes nothing.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const maxColumns = 100;
const maxFileLines = 400;
const maxFunctionLines = 70;
const maxHeaderLines = 6;

export interface Source {
  /** Relative to the repository. */
  readonly path: string;
  readonly text: string;
}

/** A rule counts its violations in one file. */
type Rule = (source: Source, sources: ReadonlyMap<string, Source>) => number;

/** All TypeScript files below the named trees, tests included. */
export const readSources = (root: string, trees: readonly string[]): readonly Source[] =>
  trees.flatMap((tree) =>
    readdirSync(join(root, tree), { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((file) => ({ path: relative(root, file), text: readFileSync(file, 'utf8') })),
  );

/** Tests, benchmarks and generators may import from inside rooms and may be long. */
const isOutside = (path: string): boolean =>
  path.endsWith('.test.ts') || /^(?:test|bench|scripts)\//.test(path);

/** Text in quotes, a regular expression or an import path cannot be broken by the formatter. */
const unbreakable = /['"`]|\/.{20,}\/|biome-ignore/;

const longLines: Rule = ({ text }) =>
  text.split('\n').filter((line) => {
    if (line.length <= maxColumns) return false;
    const comment = /^\s*(?:\/\/|\*|\/\*\*)/.test(line);
    return comment ? !/https?:\/\//.test(line) : !unbreakable.test(line);
  }).length;

const longFile: Rule = ({ path, text }) => {
  const lines = text.split('\n').length - 1;
  return isOutside(path) || lines <= maxFileLines ? 0 : 1;
};

/** Whether the line opens the body of a function, a method or an arrow function. */
const opensFunction = (line: string): boolean => {
  if (!line.endsWith('{')) return false;
  if (line.endsWith('=> {')) return true;
  if (/^\s*(?:\} )?(?:if|for|while|switch|else|try|catch|do|class|interface)\b/.test(line)) {
    return false;
  }
  return /\)(?:: .+)? \{$/.test(line);
};

const longFunctions: Rule = ({ path, text }) => {
  if (isOutside(path)) return 0;
  const lines = text.split('\n');
  let count = 0;
  lines.forEach((line, index) => {
    if (!opensFunction(line)) return;
    const indent = /^\s*/.exec(line)?.[0] ?? '';
    const end = lines.findIndex((other, at) => at > index && other.startsWith(`${indent}}`));
    if (end - index - 1 > maxFunctionLines) count += 1;
  });
  return count;
};

/** A file starts with a header of 1 to 6 lines that say what it does. */
const noHeader: Rule = ({ path, text }) => {
  if (isOutside(path)) return 0;
  const header = text.split('\n').findIndex((line) => !line.startsWith('//'));
  return header >= 1 && header <= maxHeaderLines ? 0 : 1;
};

const imports = /\bfrom\s+'(\.[^']+)'|\bimport\(\s*'(\.[^']+)'/g;

/** The nearest folder above `target` that has an entry and does not also contain `from`. */
const entryOf = (
  from: string,
  target: string,
  sources: ReadonlyMap<string, Source>,
): string | undefined => {
  for (let folder = dirname(target); folder.includes('/'); folder = dirname(folder)) {
    if (from.startsWith(`${folder}/`)) return undefined;
    if (sources.has(`${folder}/index.ts`)) return `${folder}/index.ts`;
  }
  return undefined;
};

/**
 * Code outside a folder with an `index.ts` imports the folder through it. Tests may import its
 * files.
 */
const pastEntry: Rule = ({ path, text }, sources) => {
  if (isOutside(path)) return 0;
  const targets = [...text.matchAll(imports)].map((match) =>
    relative(process.cwd(), resolve(process.cwd(), dirname(path), match[1] ?? match[2] ?? '')),
  );
  return targets.filter((target) => {
    const entry = entryOf(path, target, sources);
    return entry !== undefined && entry !== target;
  }).length;
};

const rules: Readonly<Record<string, Rule>> = {
  longLines,
  longFile,
  longFunctions,
  noHeader,
  pastEntry,
};

export type Counts = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** By rule and file; files without a violation are left out. */
export const countBreaches = (sources: readonly Source[]): Counts => {
  const all = new Map(sources.map((source) => [source.path, source]));
  return Object.fromEntries(
    Object.entries(rules).map(([name, rule]) => [
      name,
      Object.fromEntries(
        sources
          .map((source) => [source.path, rule(source, all)] as const)
          .filter(([, count]) => count > 0),
      ),
    ]),
  );
};

/** Counts above the list's limits, and limits that no file needs any more. */
export const compareWithList = (
  counts: Counts,
  list: Counts,
): { readonly worse: readonly string[]; readonly slack: readonly string[] } => {
  const worse: string[] = [];
  const slack: string[] = [];
  for (const rule of new Set([...Object.keys(counts), ...Object.keys(list)])) {
    const now = counts[rule] ?? {};
    const allowed = list[rule] ?? {};
    for (const path of new Set([...Object.keys(now), ...Object.keys(allowed)])) {
      const [is, may] = [now[path] ?? 0, allowed[path] ?? 0];
      if (is > may) worse.push(`${path}: ${rule} ${is}, allowed ${may}`);
      if (is < may) slack.push(`${path}: ${rule} ${is}, the list allows ${may}`);
    }
  }
  return { worse, slack };
};

/** Repository paths that a document names but that do not exist. */
export const deadPaths = (root: string, text: string): readonly string[] => {
  const named = text.matchAll(
    /(?<![\w./-])((?:src|world|test|bench|docs|scripts|deploy)\/[\w./-]*[\w-])(?![\w*])/g,
  );
  return [...new Set([...named].map(([, path = '']) => path))].filter(
    (path) => !existsSync(join(root, path)),
  );
};
