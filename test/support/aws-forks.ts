// Runs calls of the installed aws CLI in forks of one process that keeps its Python imported
// (aws-forks.py): same code, arguments, environment and exit code at a seventh of the CPU. A CLI
// that is not a Python script, such as v2's bundle, runs as its own process.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { accessSync, constants, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { defined } from '../../src/api/defined.ts';
import { awsVersion, clientPath, versionVariable } from './aws-client.ts';

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

/**
 * The CLI's Python script on this PATH, resolved through a pyenv shim; undefined for other CLIs.
 */
const scriptOn = (path: string): Script | undefined => {
  const found = path.split(delimiter).map((folder) => join(folder, 'aws'));
  let script = found.find(isProgram);
  if (script !== undefined && basename(join(script, '..')) === 'shims') {
    script = execFileSync('pyenv', ['which', 'aws']).toString().trim();
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
  readonly socketPath: string;
  /** False when Python cannot import the CLI. */
  readonly isReady: Promise<boolean>;

  constructor(script: Script, path: string) {
    this.#folder = mkdtempSync(join(tmpdir(), 'drover-aws-'));
    this.socketPath = join(this.#folder, 's');
    const child = spawn(script.python, [program, this.socketPath, script.path], {
      env: { PATH: path, HOME: this.#folder },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    this.#child = child;
    this.isReady = new Promise<boolean>((resolve) => {
      child.stdout.once('data', () => resolve(true));
      child.once('error', () => resolve(false));
      child.once('exit', () => resolve(false));
    }).finally(() => {
      // The child does not keep this process alive; it ends with it, when its stdin closes.
      child.unref();
      for (const stream of [child.stdin, child.stdout]) letGo(stream);
    });
    process.once('exit', () => this.end());
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

/** Rejects when the fork ends without an answer, for example on a timeout. */
const runOn = async (
  socketPath: string,
  args: readonly string[],
  { env, input = '', timeoutMs }: AwsCall,
): Promise<AwsRan> => {
  const socket = connect(socketPath);
  const timeoutSeconds = Math.ceil(timeoutMs / 1000);
  socket.write(`${JSON.stringify({ args, env, input, timeoutSeconds })}\n`);
  const answer = await text(socket);
  if (answer === '') throw new Error(`aws ${args.join(' ')} ended without an answer`);
  return JSON.parse(answer) as AwsRan;
};

/** Its socket, when the test runner shares the CLI between all stories. */
const socketVariable = 'DROVER_AWS_SOCKET';

/** Uses files in the home directory, whose path the CLI stores when it is imported. */
const isHomebound = ([first = '', second = '']: readonly string[]): boolean =>
  ['configure', 'history', 'codeartifact', 'login'].includes(first) ||
  second === 'update-kubeconfig';

let begun: Promise<AwsForks | undefined> | undefined;

/** Undefined when the CLI is not a Python script, or Python cannot import it. */
const begin = async (path: string): Promise<AwsForks | undefined> => {
  const script = isOff ? undefined : scriptOn(path);
  if (script === undefined) return undefined;
  const forks = new AwsForks(script, path);
  return (await forks.isReady) ? forks : undefined;
};

/** Runs one call; undefined when it must be a process of its own. */
export const runInFork = async (
  args: readonly string[],
  call: AwsCall,
): Promise<AwsRan | undefined> => {
  const { PATH: path } = call.env;
  // Another PATH may contain another CLI.
  if (isOff || path !== clientPath || isHomebound(args)) return undefined;
  const shared = process.env[socketVariable];
  if (shared !== undefined) return runOn(shared, args, call);
  begun ??= begin(path);
  const forks = await begun;
  return forks === undefined ? undefined : runOn(forks.socketPath, args, call);
};

/** Shares the CLI with processes that receive `env`, until `end`. */
export const shareForks = async (): Promise<{
  readonly env: NodeJS.ProcessEnv;
  readonly end: () => void;
}> => {
  const forks = await begin(clientPath);
  const env = defined({
    [versionVariable]: awsVersion,
    [socketVariable]: forks?.socketPath,
  });
  return { env, end: () => forks?.end() };
};
