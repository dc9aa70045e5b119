// Runs a node's programs for the agent: limited in time and output, without a shell, at low
// priority so that checks never take processor time from workloads.
import { type ChildProcess, spawn } from 'node:child_process';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import type { ProgramOptions, ProgramOutcome } from '../../ports/index.ts';

const niceness = 10;
const maxErrorLength = 1_000;
const environment = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LC_ALL: 'C',
  TERM: 'dumb',
};
/** Exit code of chroot(1) when the program does not exist. */
const notFound = 127;

/** With a `root` other than `/`: the node's own programs, from a container that mounts its root. */
export const spawnOn = (root: string, program: string, words: readonly string[]): ChildProcess => {
  const [command, args] = root === '/' ? [program, words] : ['chroot', [root, program, ...words]];
  const child = spawn(command, args, {
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: root === '/' ? '/' : join(root, '/'),
  });
  try {
    if (child.pid !== undefined) setPriority(child.pid, niceness);
  } catch {
    // The program has already ended, or the agent may not lower its priority, which it then keeps.
  }
  return child;
};

/** Keeps a program's output up to a limit: all lines, or only the requested ones. */
class Output {
  readonly #chunks: Buffer[] = [];
  readonly #maxBytes: number;
  readonly #keepLine: ((line: string) => boolean) | undefined;
  #size = 0;
  #rest = '';
  isCut = false;

  constructor({ maxBytes, keepLine }: ProgramOptions) {
    this.#maxBytes = maxBytes;
    this.#keepLine = keepLine;
  }

  take(chunk: Buffer): void {
    if (this.#keepLine === undefined) {
      this.#keep(chunk);
      return;
    }
    const lines = `${this.#rest}${chunk.toString('utf8')}`.split('\n');
    this.#rest = (lines.pop() ?? '').slice(0, this.#maxBytes);
    for (const line of lines) if (this.#keepLine(line)) this.#keep(Buffer.from(`${line}\n`));
  }

  end(): Buffer {
    if (this.#rest !== '' && this.#keepLine?.(this.#rest) === true) {
      this.#keep(Buffer.from(this.#rest));
    }
    return Buffer.concat(this.#chunks);
  }

  #keep(chunk: Buffer): void {
    const room = this.#maxBytes - this.#size;
    if (chunk.length > room) this.isCut = true;
    if (room <= 0) return;
    const kept = chunk.length > room ? chunk.subarray(0, room) : chunk;
    this.#chunks.push(kept);
    this.#size += kept.length;
  }
}

export const runProgram = (
  root: string,
  program: string,
  words: readonly string[],
  options: ProgramOptions,
): Promise<ProgramOutcome> =>
  new Promise((resolve) => {
    const { timeoutMs, signal } = options;
    const output = new Output(options);
    let errors = '';
    let outcome: ProgramOutcome | undefined;
    const child = spawnOn(root, program, words);
    const kill = (): void => {
      outcome ??= { kind: 'late' };
      child.kill('SIGKILL');
      // An uninterruptible process ends later; it is not waited for.
      child.stdout?.destroy();
      child.stderr?.destroy();
      child.unref();
      done();
    };
    const timer = setTimeout(kill, timeoutMs);
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', kill);
      resolve(outcome ?? { kind: 'missing' });
    };
    signal?.addEventListener('abort', kill, { once: true });
    child.stdout?.on('data', (chunk: Buffer) => output.take(chunk));
    child.stderr?.on('data', (chunk: Buffer) => {
      if (errors.length < maxErrorLength) errors += chunk.toString('utf8');
    });
    child.on('error', () => {
      outcome ??= { kind: 'missing' };
      done();
    });
    child.on('close', (code) => {
      const isMissing = root !== '/' && code === notFound;
      outcome ??= isMissing
        ? { kind: 'missing' }
        : {
            kind: 'ended',
            code: code ?? -1,
            output: output.end(),
            errors: errors.slice(0, maxErrorLength),
            isCut: output.isCut,
          };
      done();
    });
  });
