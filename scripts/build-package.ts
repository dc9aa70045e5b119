// Builds what the packed release contains beside its sources: `lib/` with the program and every
// package that it uses as JavaScript with source maps, `lib/sbom.cdx.json` with what was bundled,
// and `lib/THIRD-PARTY-LICENSES.txt`. `npm run build` runs it, before `npm pack`. The same commit
// gives the same bytes. It downloads nothing.
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';
import { buildPage } from './build-page.ts';

const root = join(import.meta.dirname, '..');
const lib = join(root, 'lib');
/** As deep below the package's root as `src/main`, so that relative paths hold in both. */
const output = join(lib, 'main');

/** Node's own `require` would look for the package outside the bundle. */
const lazyYaml: Plugin = {
  name: 'lazy-yaml',
  transform: (code, id) => {
    if (!id.endsWith(join('src', 'main', 'connections.ts'))) return null;
    const own = 'createRequire(import.meta.url)(';
    if (!code.includes(own)) throw new Error(`${id} has no ${own}...)`);
    return { code: code.replace(own, 'require('), map: null };
  },
};

interface Component {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly directory: string;
}

/** The directory of the package that a bundled module belongs to; undefined: it is Drover's own. */
const packageOf = (module: string): string | undefined => {
  const at = module.lastIndexOf(`node_modules${sep}`);
  if (at < 0) return undefined;
  const [scope = '', name = ''] = module.slice(at + 'node_modules/'.length).split(sep);
  return join(module.slice(0, at), 'node_modules', scope, scope.startsWith('@') ? name : '');
};

const componentAt = (directory: string): Component => {
  const manifest = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as Component;
  const { name, version, license } = manifest;
  if (typeof license !== 'string') throw new Error(`${name} names no licence`);
  return { name, version, license, directory };
};

const purlOf = ({ name, version }: Component): string =>
  `pkg:npm/${name.replace('@', '%40')}@${version}`;

/** CycloneDX 1.6, without times and serial numbers: equal inputs give equal bytes. */
const sbomOf = (program: Component, components: readonly Component[]): string => {
  const entry = (one: Component, type: string): object => ({
    type,
    'bom-ref': purlOf(one),
    name: one.name,
    version: one.version,
    purl: purlOf(one),
    licenses: [{ license: { id: one.license } }],
  });
  const document = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: entry(program, 'application') },
    components: components.map((one) => entry(one, 'library')),
    dependencies: [{ ref: purlOf(program), dependsOn: components.map(purlOf) }],
  };
  return `${JSON.stringify(document, null, 2)}\n`;
};

const isLicenseFile = (name: string): boolean => /^(?:licen[cs]e|notice)(?:\.|$)/i.test(name);

const licenseText = ({ name, version, license, directory }: Component): string => {
  const files = readdirSync(directory).filter(isLicenseFile).sort();
  const texts = files.map((file) => readFileSync(join(directory, file), 'utf8').trim());
  return [`${name} ${version} (${license})`, ...texts].join('\n\n');
};

const bundle = async (): Promise<ReadonlySet<string>> => {
  const build = await rolldown({
    input: { drover: join(root, 'src', 'main', 'drover.ts') },
    cwd: root,
    platform: 'node',
    plugins: [lazyYaml],
    onLog: (level, log) => {
      // A package that could not be found would be missing in the release.
      if (level === 'warn') throw new Error(`rolldown: ${log.message}`);
    },
  });
  const { output: files } = await build.write({
    dir: output,
    format: 'esm',
    sourcemap: true,
    // A process keeps the texts of its modules; comments and blanks are a third of them.
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
  });
  await build.close();
  return new Set(files.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : [])));
};

await buildPage();
rmSync(lib, { recursive: true, force: true });
const modules = await bundle();
// Models are read when a service is first called; their names are not in the bundle's imports.
cpSync(join(root, 'src', 'aws-wire', 'models'), join(output, 'models'), { recursive: true });
/** What the built page consists of, besides Drover's own code. */
const pagePackages = ['preact', '@preact/signals', '@preact/signals-core'].map((name) =>
  join(root, 'node_modules', name),
);
const packages = new Set([
  ...[...modules].flatMap((module) => packageOf(module) ?? []),
  ...pagePackages,
]);
const components = [...packages]
  .map(componentAt)
  .toSorted((a, b) => purlOf(a).localeCompare(purlOf(b)));
writeFileSync(join(lib, 'sbom.cdx.json'), sbomOf(componentAt(root), components));
const licenses = components.map(licenseText).join(`\n\n${'-'.repeat(80)}\n\n`);
writeFileSync(join(lib, 'THIRD-PARTY-LICENSES.txt'), `${licenses}\n`);
console.log(`lib: ${modules.size} modules of ${components.length} packages; web/dist: the page`);
