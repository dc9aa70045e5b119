// The root file system that Containerfile describes: this machine's Node and its libraries beside
// the unpacked release, in a chroot, read-only, as the image's user, started by the image's entry
// point. No container engine is used, so the base image itself is not tried.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { skipWhen } from '../support/stories.ts';

const run = promisify(execFile);
const project = join(import.meta.dirname, '..', '..');
const isRoot = process.getuid?.() === 0;
const whyNot =
  process.platform !== 'linux' || !isRoot ? 'a chroot needs Linux and the user root' : undefined;

/** The last line of Containerfile with this instruction. */
const instruction = async (name: string): Promise<string> => {
  const lines = (await readFile(join(project, 'Containerfile'), 'utf8')).split('\n');
  const last = lines.findLast((line) => line.startsWith(`${name} `));
  assert.ok(last !== undefined, `Containerfile has no ${name}`);
  return last.slice(name.length + 1);
};

/** Shared libraries of a program, with the loader. */
const librariesOf = async (program: string): Promise<readonly string[]> => {
  const { stdout } = await run('ldd', [program]);
  return [...stdout.matchAll(/(\/\S+) \(0x/g)].map(([, path]) => path ?? '');
};

const copyInto = async (root: string, file: string, as = file): Promise<void> => {
  const target = join(root, as);
  await mkdir(dirname(target), { recursive: true });
  await cp(file, target, { dereference: true });
};

/** Runs in the root file system, which is mounted read-only but for /tmp. */
const script = `
set -e
root=$1; user=$2; shift 2
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount -t tmpfs tmpfs "$root/tmp"
mount -t proc proc "$root/proc"
exec chroot --userspec="$user" "$root" /usr/bin/env XDG_CACHE_HOME=/tmp HOME=/tmp "$@"
`;

describe('the root file system of the image', {
  skip: skipWhen('the root file system of the image', whyNot),
  timeout: 300_000,
}, () => {
  let folder = '';
  const inside = async (...args: readonly string[]): Promise<readonly string[]> => {
    const entry = JSON.parse(await instruction('ENTRYPOINT')) as readonly string[];
    const command = [join(folder, 'root'), await instruction('USER'), ...entry, ...args];
    return ['--mount', 'sh', '-c', script, 'image', ...command];
  };
  const inRoot = async (...args: readonly string[]) => run('unshare', await inside(...args));

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'drover-image-'));
    const root = join(folder, 'root');
    await run('npm', ['run', 'build'], { cwd: project });
    await run('npm', ['pack', '--pack-destination', folder], { cwd: project });
    for (const place of ['opt/drover', 'tmp', 'proc', 'nodejs/bin']) {
      await mkdir(join(root, place), { recursive: true });
    }
    const files = (await run('ls', [folder])).stdout.split('\n');
    const tarball = files.find((name) => name.endsWith('.tgz')) ?? '';
    const into = ['-C', join(root, 'opt', 'drover'), '--strip-components=1'];
    await run('tar', ['-xzf', join(folder, tarball), ...into]);
    await copyInto(root, process.execPath, '/nodejs/bin/node');
    await copyInto(root, '/usr/bin/env');
    const libraries = [
      ...(await librariesOf(process.execPath)),
      ...(await librariesOf('/usr/bin/env')),
    ];
    for (const library of new Set(libraries)) await copyInto(root, library);
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('starts the program as the image’s user, who is not root', async () => {
    assert.match(await instruction('USER'), /^[1-9]\d*:[1-9]\d*$/);
    const { version } = JSON.parse(await readFile(join(project, 'package.json'), 'utf8')) as {
      readonly version: string;
    };
    assert.equal((await inRoot('version')).stdout.trim(), version);
  });

  it('has everything that the controller loads: it asks for a cluster', async () => {
    const failed: unknown = await inRoot('controller').catch((error: unknown) => error);
    assert.match(String((failed as { readonly stderr?: string }).stderr), /kubeconfig/);
  });

  it('runs an embedded world with a read-only root, in /tmp', async () => {
    const args = await inside('up', '--demo', '--port', '0', '--data-dir', '/tmp/world');
    const up = spawn('unshare', args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = new Promise<number | null>((resolve) => up.once('exit', resolve));
    const said = new Promise<string>((resolve) => up.stdout.once('data', resolve));
    const first = await Promise.race([said, ended]);
    up.kill('SIGTERM');
    assert.match(String(first), /^ready in /);
    await ended;
  });
});
