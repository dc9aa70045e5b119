// bin/drover.mjs as a process: long-running commands start with a small young generation under the
// same process id; short ones, and explicit settings, are left unchanged and load little. The
// installed release is tested by test/e2e/packed.e2e.ts.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

const program = join(import.meta.dirname, '..', '..', 'bin', 'drover.mjs');
const directory = mkdtempSync(join(tmpdir(), 'drover-entry-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** The process's state in /proc once `up` has found its directory unwritable, and its output. */
const started = async (flags: readonly string[], args: readonly string[], more: object = {}) => {
  const child = spawn(process.execPath, [...flags, program, ...args], {
    env: { ...process.env, NODE_OPTIONS: '', XDG_CACHE_HOME: directory, ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let cmdline = '';
  let environ = '';
  const look = (chunk: Buffer): void => {
    output += chunk.toString();
    if (cmdline === '' && existsSync(`/proc/${child.pid}/cmdline`)) {
      cmdline = readFileSync(`/proc/${child.pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      environ = readFileSync(`/proc/${child.pid}/environ`, 'utf8').replaceAll('\0', ' ');
    }
    child.kill('SIGTERM');
  };
  child.stdout.on('data', look);
  child.stderr.on('data', look);
  await once(child, 'close');
  return { output, cmdline, environ };
};

describe.skipIf(!existsSync('/proc/self/cmdline'))('the entry', () => {
  it('keeps the memory of a process that stays small: young generation, arenas', async () => {
    const up = ['up', '--port', '0', '--data-dir', join(directory, 'world')];
    const { output, cmdline, environ } = await started([], up);
    expect(output).toMatch(/^ready in/);
    expect(cmdline).toContain('--max-semi-space-size=2');
    expect(cmdline).not.toContain('--v8-pool-size');
    expect(environ).toContain('MALLOC_ARENA_MAX=2');
    expect(existsSync(join(directory, 'drover', 'compiled'))).toBe(true);
  });
  it('gives the controller one thread beside its own, and leaves what was chosen of arenas', async () => {
    const env = { KUBECONFIG: join(directory, 'none'), MALLOC_ARENA_MAX: '7' };
    const { cmdline, environ } = await started([], ['controller'], env);
    expect(cmdline).toContain('--max-semi-space-size=2 --v8-pool-size=1');
    expect(environ).toContain('MALLOC_ARENA_MAX=7');
  });
  it('leaves a size that was chosen, and commands that end, alone', async () => {
    const up = ['up', '--port', '0', '--data-dir', join(directory, 'world')];
    const { cmdline } = await started(['--max-semi-space-size=8'], up);
    expect(cmdline).toContain('--max-semi-space-size=8 ');
    expect(cmdline).not.toContain('--max-semi-space-size=2');
    const { output } = await started([], ['--version']);
    expect(output).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe('a command', () => {
  it.each([
    ['of the cluster', 'get nodes', '/src/adapters/kube/client.ts'],
    ['of the embedded world', 'world status', '/src/main/world-control.ts'],
  ])('%s loads no undici: `%s`', (_of, words, needed) => {
    const coverage = mkdtempSync(join(directory, 'coverage-'));
    const kubeconfig = join(coverage, 'kubeconfig');
    const nobody = 'http://127.0.0.1:9';
    const [cluster, user, context] = [`{server: "${nobody}"}`, '{}', '{cluster: c, user: u}'];
    writeFileSync(
      kubeconfig,
      `{clusters: [{name: c, cluster: ${cluster}}], users: [{name: u, user: ${user}}], ` +
        `contexts: [{name: x, context: ${context}}], current-context: x}`,
    );
    const env = { ...process.env, NODE_V8_COVERAGE: coverage, XDG_CACHE_HOME: directory };
    const { stderr } = spawnSync(process.execPath, [program, ...words.split(' ')], {
      encoding: 'utf8',
      env: { ...env, KUBECONFIG: kubeconfig, DROVER_URL: nobody },
    });
    const loaded = readdirSync(coverage)
      .filter((name) => name.endsWith('.json'))
      .map((name) => readFileSync(join(coverage, name), 'utf8'))
      .join('');
    expect(stderr).toContain('answer');
    expect(loaded).toContain(needed);
    expect(loaded).not.toContain('/node_modules/undici/');
  });
});

describe('what the entry says of a failure', () => {
  it('is no command for a terminal, whatever a file is called', () => {
    const entry = join(import.meta.dirname, '..', '..', 'bin', 'drover.mjs');
    const words = [entry, 'userdata', 'lint', '/nowhere/\u001b[2J'];
    const { stderr, status } = spawnSync(process.execPath, words, { encoding: 'utf8' });
    expect(stderr).toContain('/nowhere/\\u001b[2J');
    expect(stderr).not.toContain('\u001b');
    expect(status).not.toBe(0);
  });
});

describe('standard input named -', () => {
  it('may be a socket, as which spawn gives it', async () => {
    const child = spawn(
      process.execPath,
      [program, 'userdata', 'lint', '-', '--family', 'al2023'],
      {
        stdio: ['pipe', 'pipe', 'ignore'],
      },
    );
    child.stdin.end('no user data');
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    const [code] = await once(child, 'close');
    expect(output).toMatch(/^-:1:1: error/);
    expect(code).toBe(3);
  });
});
