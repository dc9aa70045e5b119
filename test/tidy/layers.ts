// The table of allowed imports between rooms, as data, and a checker of a source tree against it.
// docs/ARCHITECTURE.md describes the purpose of each room.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

export interface Rule {
  /** Rooms that this one may import, besides itself. */
  readonly rooms: readonly string[] | 'all';
  /** npm packages. */
  readonly packages: readonly string[] | 'all';
  /** node: modules. */
  readonly node: readonly string[] | 'all';
}

const pure = (rooms: readonly string[], packages: readonly string[] = []): Rule => ({
  rooms,
  packages,
  node: [],
});

/**
 * The longest matching room name wins: `world/check` before `world`. A test fails for a room
 * without files and for a package that its room does not import.
 */
export const layers: Readonly<Record<string, Rule>> = {
  api: pure([]),
  // node:zlib for user data, which is often gzip: pure functions of bytes. CEL for
  // maxPodsExpression.
  formats: { rooms: ['api'], packages: ['@marcbachmann/cel-js', 'yaml'], node: ['zlib'] },
  // node:crypto for digests only: md5 and sha256 of the language.
  insights: { rooms: ['api', 'formats'], packages: [], node: ['crypto'] },
  // node:crypto for digests only: MD5 of message bodies and the SigV4 check.
  'aws-wire': { rooms: ['api'], packages: [], node: ['crypto'] },
  core: pure(['api', 'formats']),
  ports: pure(['api']),
  'aws-cloud': pure(['api', 'ports']),
  runtime: pure(['api', 'ports']),
  controllers: pure(['api', 'formats', 'core', 'ports', 'runtime']),
  // From insights only the regular expression matcher, which cannot be made to backtrack.
  agent: pure(['api', 'formats', 'insights', 'ports', 'runtime']),
  adapters: { rooms: ['api', 'ports', 'aws-cloud'], packages: 'all', node: 'all' },
  world: pure(['api', 'formats', 'insights', 'aws-wire', 'ports'], ['@marcbachmann/cel-js']),
  'world/check': pure(['api', 'formats']),
  page: pure(['api', 'core', 'ports', 'runtime']),
  'eks-face': pure(['api', 'core', 'ports', 'runtime', 'aws-wire']),
  serve: { rooms: ['api', 'ports', 'aws-wire', 'world'], packages: [], node: 'all' },
  'sim/ports': pure(['api', 'aws-cloud', 'aws-wire', 'ports', 'runtime', 'world']),
  sim: pure([
    'api',
    'formats',
    'aws-wire',
    'core',
    'ports',
    'runtime',
    'controllers',
    'world',
    'world/check',
    'eks-face',
    'sim/ports',
  ]),
  cli: pure(['api', 'formats', 'insights', 'core', 'ports'], ['commander', 'yaml']),
  main: { rooms: 'all', packages: 'all', node: 'all' },
};

const cell = (allowed: readonly string[] | 'all'): string => {
  if (allowed === 'all') return 'all';
  return allowed.length === 0 ? '-' : allowed.map((name) => `\`${name}\``).join(' ');
};

/** The table as docs/ARCHITECTURE.md shows it, one line per entry. */
export const layersTable = (): readonly string[] => [
  '| room | may import | packages | `node:` |',
  '|---|---|---|---|',
  ...Object.entries(layers).map(
    ([room, { rooms, packages, node }]) =>
      `| \`${room}\` | ${cell(rooms)} | ${cell(packages)} | ${cell(node)} |`,
  ),
];

/** Names that only implementations of `Clock` and `Random`, adapters, serve and main may use. */
const ambient =
  /\b(?:Date\.now|new Date\(\)|setTimeout|setInterval|setImmediate|process\.(?:env|argv|nextTick|hrtime)|Math\.random|performance\.now|crypto\.random\w*|fetch\()/;
const ambientAllowed = new Set(['adapters', 'serve', 'main']);

/** A file's path in terms of rooms: below `src`, or `world/...`; undefined outside both. */
const placeOf = (root: string, file: string): string | undefined => {
  const path = relative(root, file);
  if (path.startsWith('src/')) return path.slice('src/'.length);
  return path.startsWith('world/') ? path : undefined;
};

export const roomOf = (path: string): string | undefined => {
  const parts = path.split('/');
  const two = parts.slice(0, 2).join('/');
  if (Object.hasOwn(layers, two)) return two;
  return parts[0] !== undefined && Object.hasOwn(layers, parts[0]) ? parts[0] : undefined;
};

/** Every source file of the product and of its embedded world, without tests. */
export const filesUnder = (root: string): string[] =>
  ['src', 'world']
    .flatMap((dir) => readdirSync(join(root, dir), { withFileTypes: true, recursive: true }))
    .filter(
      (entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts'),
    )
    .map((entry) => join(entry.parentPath, entry.name));

const importPattern =
  /(?:^|\n)\s*(?:import|export)\b[^'";]*?from\s*['"]([^'"]+)['"]|(?:^|\n)\s*import\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/g;

/** The module names that a file imports or re-exports, as written. */
export const importsOf = (text: string): readonly string[] =>
  [...text.matchAll(importPattern)].map((match) => match[1] ?? match[2] ?? match[3] ?? '');

/** The number of files in a room. */
export const filesIn = (root: string, room: string): number =>
  filesUnder(root).filter((file) => roomOf(placeOf(root, file) ?? '') === room).length;

/** The npm packages that the files of a room import. */
export const packagesOf = (root: string, room: string): ReadonlySet<string> => {
  const files = filesUnder(root).filter((file) => roomOf(placeOf(root, file) ?? '') === room);
  const specifiers = files.flatMap((file) => importsOf(readFileSync(file, 'utf8')));
  const foreign = specifiers.filter((one) => !one.startsWith('.') && !one.startsWith('node:'));
  return new Set(foreign.map(packageName));
};

const packageName = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

const listed = (allowed: readonly string[] | 'all', name: string): boolean =>
  allowed === 'all' || allowed.includes(name);

const stripComments = (text: string): string =>
  text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|[^:'"`])\/\/[^\n]*/g, '$1');

/** Every violation below `src` and `world`, as a sentence; and the number of files checked. */
export const checkLayers = (
  root: string,
): { readonly files: number; readonly breaches: string[] } => {
  const breaches: string[] = [];
  const files = filesUnder(root);
  for (const file of files) {
    const path = placeOf(root, file) ?? '';
    const room = roomOf(path);
    const rule = room === undefined ? undefined : layers[room];
    if (room === undefined || rule === undefined) {
      breaches.push(`${path} stands in no known room`);
      continue;
    }
    const text = readFileSync(file, 'utf8');
    for (const specifier of importsOf(text)) {
      const complaint = breachOf(root, file, room, rule, specifier);
      if (complaint !== undefined) breaches.push(`${path} ${complaint}`);
    }
    const used = ambientAllowed.has(room) ? null : ambient.exec(stripComments(text));
    if (used !== null) breaches.push(`${path} uses ${used[0]}: take it as a port or argument`);
  }
  return { files: files.length, breaches };
};

const webPackages = ['preact', 'preact/hooks', '@preact/signals'];

/** The page in the browser takes types of the API and nothing else of `src/`; see `web/src`. */
export const checkWeb = (texts: ReadonlyMap<string, string>): readonly string[] =>
  [...texts].flatMap(([path, text]) =>
    [...text.matchAll(/(?:^|\n)import (type )?[^;]*?['"]([^'"]+)['"];/g)].flatMap(
      ([, isType, specifier = '']) => {
        if (specifier.includes('/src/')) {
          const isFine = specifier.endsWith('/src/api/page.ts') && isType !== undefined;
          return isFine ? [] : [`${path} imports ${specifier}`];
        }
        if (specifier.startsWith('.')) return [];
        return webPackages.includes(specifier) ? [] : [`${path} imports ${specifier}`];
      },
    ),
  );

const breachOf = (
  root: string,
  file: string,
  room: string,
  rule: Rule,
  specifier: string,
): string | undefined => {
  if (specifier.startsWith('node:')) {
    return listed(rule.node, specifier.slice(5)) ? undefined : `imports ${specifier}`;
  }
  if (!specifier.startsWith('.')) {
    const name = packageName(specifier);
    return listed(rule.packages, name) ? undefined : `imports the package ${name}`;
  }
  const target = placeOf(root, resolve(file, '..', specifier));
  if (target === undefined) return `imports ${specifier} outside src and world`;
  const other = roomOf(target);
  if (other === room) return undefined;
  if (other === undefined) return `imports ${specifier} of no known room`;
  return listed(rule.rooms, other) ? undefined : `imports the room ${other} (${specifier})`;
};
