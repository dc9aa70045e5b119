// Builds the page into web/dist, unless it is as new as its sources. The directory is replaced as a
// whole, so that no server and no packer reads half of a page. `--force` always builds.
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const web = join(root, 'web');
const built = join(web, 'dist');

/** The inputs of the page: its sources, its one import from src, and the locked packages. */
const sources = (): readonly string[] => [
  ...['src', 'public']
    .flatMap((name) => readdirSync(join(web, name), { withFileTypes: true, recursive: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name)),
  ...['index.html', 'vite.config.ts', 'tsconfig.json'].map((name) => join(web, name)),
  join(root, 'src', 'api', 'page.ts'),
  join(root, 'package-lock.json'),
];

const isCurrent = (): boolean => {
  const index = join(built, 'index.html');
  if (!existsSync(index)) return false;
  const at = statSync(index).mtimeMs;
  return sources().every((file) => statSync(file).mtimeMs <= at);
};

/** Takes about two seconds when something has changed. */
export const buildPage = async (force = false): Promise<void> => {
  if (!force && isCurrent()) return;
  const { build } = await import('vite');
  const made = mkdtempSync(join(web, '.dist-'));
  try {
    const configFile = join(web, 'vite.config.ts');
    await build({ configFile, logLevel: 'warn', build: { outDir: made } });
    // mkdtemp gives the directory to its owner alone; other users must be able to read the page.
    chmodSync(made, 0o755);
    rmSync(built, { recursive: true, force: true });
    renameSync(made, built);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
};

if (import.meta.main) await buildPage(process.argv.includes('--force'));
