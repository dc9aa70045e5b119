// Runs calls of the installed aws CLI in forks of one process that keeps its Python imported
// (aws-forks.py): the same code, arguments, environment and exit code at a seventh of the CPU.
// Not for a CLI that is no Python script, such as v2's own bundle: such calls run as they are.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { accessSync, constants, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';

const program = join(import.meta.dirname, 'aws-forks.py');
/** Set to run every call as a process of its own. */
const isOff = process.env.DROVER_AWS_FORKS === 'off';

export interface AwsRan {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface Script {
  readonly python: string;
  readonly path: string;
}

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** The CLI's Python script that this PATH leads to, past a shim of pyenv; undefined for others. */
const scriptOn = (path: string, env: NodeJS.ProcessEnv): Script | undefined => {
  const found = path.split(delimiter).map((folder) => join(folder, 'aws'));
  let script = found.find(isProgram);
  if (script !== undefined && basename(join(script, '..')) === 'shims') {
    script = execFileSync('pyenv', ['which', 'aws'], { env }).toString().trim();
  }
  if (script === undefined || !existsSync(script)) return undefined;
  const [, python] = /^#! *(\S*python[\d.]*)\s*\n/.exec(readFileSync(script, 'latin1')) ?? [];
  return python === undefined ? undefined : { python, path: script };
};

const letGo = (stream: object): void => {
  if ('unref' in stream && typeof stream.unref === 'function') stream.unref();
};

class AwsForks {
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly #socketPath: string;
  /** False where Python cannot import the CLI. */
  readonly isReady: Promise<boolean>;

  constructor(script: Script, env: NodeJS.ProcessEnv) {
    this.#folder = mkdtempSync(join(tmpdir(), 'drover-aws-'));
    this.#socketPath = join(this.#folder, 's');
    const child = spawn(script.python, [program, this.#socketPath, script.path], {
      env,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    this.#child = child;
    this.isReady = new Promise<boolean>((resolve) => {
      child.stdout.once('data', () => resolve(true));
      child.once('error', () => resolve(false));
      child.once('exit', () => resolve(false));
    });
    // It keeps no story alive: it ends when this process does, and its stdin with it.
    child.unref();
    for (const stream of [child.stdin, child.stdout]) letGo(stream);
    process.once('exit', () => this.end());
  }

  /** Rejects where the fork ends without an answer, as when its time is over. */
  async run(args: readonly string[], options: AwsCall): Promise<AwsRan> {
    const socket = connect(this.#socketPath);
    const { env, input = '', timeoutMs } = options;
    const timeoutSeconds = Math.ceil(timeoutMs / 1000);
    socket.write(`${JSON.stringify({ args, env, input, timeoutSeconds })}\n`);
    const answer = await text(socket);
    if (answer === '') throw new Error(`aws ${args.join(' ')} ended without an answer`);
    return JSON.parse(answer) as AwsRan;
  }

  end(): void {
    this.#child.kill('SIGKILL');
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

export interface AwsCall {
  readonly env: NodeJS.ProcessEnv;
  readonly input?: string;
  readonly timeoutMs: number;
}

/** By home directory: the CLI works out some paths below it while it is imported. */
const byHome = new Map<string, AwsForks>();

/** Runs one call; undefined where the CLI is no Python script, or is not to be kept. */
export const runInFork = async (
  args: readonly string[],
  call: AwsCall,
): Promise<AwsRan | undefined> => {
  const { HOME: home, PATH: path } = call.env;
  if (isOff || home === undefined || path === undefined) return undefined;
  let forks = byHome.get(home);
  if (forks === undefined) {
    const script = scriptOn(path, call.env);
    if (script === undefined) return undefined;
    forks = new AwsForks(script, call.env);
    byHome.set(home, forks);
  }
  return (await forks.isReady) ? forks.run(args, call) : undefined;
};

/** Ends what was kept for this home directory. */
export const endForks = (home: string): void => {
  byHome.get(home)?.end();
  byHome.delete(home);
};
