// The `drover` that stories start: the sources of this checkout, or the release that the test
// runner built of them, which starts in half the CPU time. Starts nothing itself.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildPage } from '../../scripts/build-page.ts';

const root = join(import.meta.dirname, '..', '..');
const programVariable = 'DROVER_E2E_PROGRAM';
const fromSources = join(root, 'bin', 'drover.mjs');

export const drover = process.env[programVariable] ?? fromSources;

/**
 * Builds `web/dist` where the sources are tested. The test runner has built it with its release,
 * and stories beside this one serve it.
 */
export const ensurePage = async (): Promise<void> => {
  if (drover === fromSources) await buildPage();
};

interface Release {
  /** Processes with this environment start the release. */
  readonly env: NodeJS.ProcessEnv;
  readonly end: () => void;
}

/**
 * A package directory as npm would unpack it. Copies the output of `npm run build`, since stories
 * rebuild it in this checkout meanwhile.
 */
export const buildRelease = (): Release => {
  execFileSync(process.execPath, [join(root, 'scripts', 'build-package.ts')], { stdio: 'inherit' });
  const directory = mkdtempSync(join(tmpdir(), 'drover-release-'));
  for (const name of ['bin', 'lib', join('web', 'dist'), 'package.json']) {
    cpSync(join(root, name), join(directory, name), { recursive: true });
  }
  for (const name of ['deploy', 'node_modules'])
    symlinkSync(join(root, name), join(directory, name));
  return {
    env: { [programVariable]: join(directory, 'bin', 'drover.mjs') },
    end: () => rmSync(directory, { recursive: true, force: true }),
  };
};
