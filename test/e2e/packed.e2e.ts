// The packed release: `npm run build && npm pack` gives the same bytes twice, and the tarball runs
// from an empty directory without registry, sources or development tools.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');
const readyMs = 60_000;

/** Node of this test comes first, so that `npx` runs the program with it. */
const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` };

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

const pack = async (into: string): Promise<Packed> => {
  await run('npm', ['run', 'build'], { cwd: root, env, maxBuffer: 1e8 });
  const args = ['pack', '--json', '--pack-destination', into];
  const { stdout } = await run('npm', args, { cwd: root, env, maxBuffer: 1e8 });
  const [packed] = JSON.parse(stdout) as readonly Packed[];
  assert.ok(packed !== undefined);
  return packed;
};

const sha256 = async (file: string): Promise<string> =>
  createHash('sha256')
    .update(await readFile(file))
    .digest('hex');

describe('the packed release', () => {
  let folder = '';
  let packed: Packed;
  const drover = (...args: readonly string[]) =>
    run('npx', ['--no', 'drover', ...args], { cwd: folder, env });

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'drover-packed-'));
    packed = await pack(folder);
    await writeFile(join(folder, 'package.json'), '{"name":"empty","private":true}');
    const install = ['install', '--offline', '--omit=optional', `./${packed.filename}`];
    await run('npm', install, { cwd: folder, env });
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('has the same bytes when it is packed again', async () => {
    const again = await mkdtemp(join(folder, 'again-'));
    const { filename } = await pack(again);
    assert.equal(await sha256(join(again, filename)), await sha256(join(folder, filename)));
  });

  it('has program, source maps, licences and a bill of materials, and no sources', async () => {
    const paths = packed.files.map(({ path }) => path);
    for (const path of ['bin/drover.mjs', 'lib/main/drover.js', 'lib/main/drover.js.map']) {
      assert.ok(paths.includes(path), path);
    }
    assert.deepEqual(
      paths.filter((path) => /\.ts$|^(?:src|world|test|node_modules)\//.test(path)),
      [],
    );
    const installed = join(folder, 'node_modules', 'drover');
    const sbom = JSON.parse(await readFile(join(installed, 'lib', 'sbom.cdx.json'), 'utf8')) as {
      readonly bomFormat: string;
      readonly components: readonly { readonly purl: string }[];
    };
    assert.equal(sbom.bomFormat, 'CycloneDX');
    const purls = sbom.components.map(({ purl }) => purl);
    assert.ok(purls.some((purl) => purl.startsWith('pkg:npm/undici@')));
    const licenses = await readFile(join(installed, 'lib', 'THIRD-PARTY-LICENSES.txt'), 'utf8');
    for (const purl of purls) {
      const [, name = '', version] = /^pkg:npm\/(.+)@(.+)$/.exec(purl) ?? [];
      assert.ok(licenses.includes(`${name.replace('%40', '@')} ${version} (`), purl);
    }
    assert.deepEqual((await readdir(join(folder, 'node_modules'))).filter(isVisible), ['drover']);
  });

  it('checks user data', async () => {
    await writeFile(join(folder, 'user-data.sh'), '#!/bin/bash\n/etc/eks/bootstrap.sh\n');
    const failed = await drover('userdata', 'lint', 'user-data.sh').catch(
      (error: unknown) => error,
    );
    assert.match(String((failed as { readonly stdout?: string }).stdout), /SH004/);
  });

  it('starts a world, lists its groups and stops it', async () => {
    const program = join(folder, 'node_modules', 'drover', 'bin', 'drover.mjs');
    const up = spawn(process.execPath, [program, 'up', '--demo', '--port', '0'], {
      cwd: folder,
      env,
    });
    let printed = '';
    up.stdout.on('data', (text: Buffer) => {
      printed += text.toString();
    });
    const ended = new Promise((resolve) => up.once('exit', resolve));
    const limit = setTimeout(() => up.kill(), readyMs);
    try {
      await new Promise<void>((resolve, reject) => {
        up.stdout.on('data', () => printed.startsWith('ready') && resolve());
        up.once('exit', () => reject(new Error(`up ended: ${printed}`)));
      });
      const { stdout } = await drover('get', 'ng');
      assert.match(stdout, /demo-ng .* managed/);
      await drover('down');
    } finally {
      clearTimeout(limit);
      await ended;
    }
  });
});

/** npm's own notes begin with a dot. */
function isVisible(name: string): boolean {
  return !name.startsWith('.');
}
