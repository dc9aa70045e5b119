// Starts a real `drover up` as its own process on free ports and drives it with real clients. Ends
// only what it started. Never uses the user's own kubeconfig or AWS configuration.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { defined } from '../../src/api/defined.ts';
import type { TraceEntry } from '../../src/api/trace.ts';
import { awsVersion, clientPath } from './aws-client.ts';
import { runInFork } from './aws-forks.ts';
import { drover } from './program.ts';

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface RunOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly input?: string;
  readonly timeoutMs?: number;
}
const runTimeoutMs = 120_000;

/** Runs a program to its end; never rejects for its exit code. Uses the preloaded aws CLI. */
export const run = async (
  file: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Ran> => {
  const { env = process.env, timeoutMs = runTimeoutMs } = options;
  const ran = file === 'aws' ? await runInFork(args, { ...options, env, timeoutMs }) : undefined;
  return ran ?? runAlone(file, args, options);
};

/** Like `run`, always as a process of its own. */
export const runAlone = (
  file: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Ran> =>
  new Promise((resolve, reject) => {
    const child = execFile(
      file,
      [...args],
      {
        env: options.env ?? process.env,
        timeout: options.timeoutMs ?? runTimeoutMs,
        maxBuffer: 64 * 1024 * 1024,
      },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : error.code;
        if (typeof code !== 'number') reject(error);
        else resolve({ code, stdout, stderr });
      },
    );
    if (options.input !== undefined) child.stdin?.end(options.input);
  });

/** Why `file` does not run, or undefined; for tests that are then reported as skipped. */
export const missing = async (
  file: string,
  args: readonly string[],
): Promise<string | undefined> => {
  if (file === 'aws' && awsVersion !== undefined) {
    process.stdout.write(`with ${awsVersion}\n`);
    return undefined;
  }
  try {
    const { code } = await runAlone(file, args, { env: { ...process.env, PATH: clientPath } });
    return code === 0 ? undefined : `${file} ${args.join(' ')} exits with ${code}`;
  } catch {
    return `${file} is not installed`;
  }
};

export interface WorldOptions {
  /** Arguments of `drover up`; `--demo --port 0` by default. */
  readonly args?: readonly string[];
  readonly dataDir?: string;
}

interface Process {
  readonly child: ChildProcess;
  readonly readyLine: string;
  readonly exited: Promise<number | null>;
  readonly errors: () => string;
}

/** A cache independent of a story's home: code compiled for one story serves the next. */
const compileCache =
  process.env.NODE_COMPILE_CACHE ?? join(homedir(), '.cache', 'drover', 'compiled');

/** Set to play a failed story again: every world then has this seed. */
const givenSeed = process.env.DROVER_STORY_SEED;

/**
 * A busy machine takes some seconds. A world that is never ready must not delay its story longer.
 */
const readyLimitMs = 120_000;

/** Starts `drover up`; resolves when it printed its line that starts with `ready`. */
const startProcess = async (args: readonly string[]): Promise<Process> => {
  const child = spawn(process.execPath, [drover, 'up', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const exited = new Promise<number | null>((resolve) => child.on('close', resolve));
  const ready = new Promise<string>((resolve) => {
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      const line = output.split('\n').find((text) => text.startsWith('ready'));
      if (line !== undefined) resolve(line);
    });
  });
  const limit = setTimeout(() => child.kill('SIGKILL'), readyLimitMs);
  const readyLine = await Promise.race([
    ready,
    exited.then((code) => {
      throw new Error(`drover up ended with ${code} before it was ready:\n${output}${errors}`);
    }),
  ]).finally(() => clearTimeout(limit));
  return { child, readyLine, exited, errors: () => errors };
};

export class ServedWorld {
  readonly dataDir: string;
  /** The story's actions on the world that no log contains, in order. */
  readonly faults: TraceEntry[] = [];
  #process: Process;
  #env: NodeJS.ProcessEnv;
  #auditLogPath: string;
  #refresh: (() => void) | undefined;
  readonly #home: string;
  /** The address with which `drover world` finds this world. */
  readonly #droverUrl: string | undefined;

  private constructor(begun: Process, dataDir: string) {
    this.#process = begun;
    this.dataDir = dataDir;
    this.#home = mkdtempSync(join(tmpdir(), 'drover-home-'));
    const values: Record<string, string> = {};
    for (const line of readFileSync(join(dataDir, 'env'), 'utf8').split('\n')) {
      const match = /^([A-Z_]+)='(.*)'$/.exec(line);
      if (match?.[1] !== undefined) values[match[1]] = match[2] ?? '';
    }
    // A home of its own, so that kubectl's discovery cache of an earlier world is not used.
    this.#env = {
      PATH: clientPath,
      ...defined({ PYENV_ROOT: process.env.PYENV_ROOT }),
      HOME: this.#home,
      NODE_COMPILE_CACHE: compileCache,
      AWS_PAGER: '',
      AWS_EC2_METADATA_DISABLED: 'true',
      ...values,
    };
    this.#droverUrl = values.DROVER_URL;
    this.#auditLogPath = join(dataDir, 'audit', 'audit.log');
  }

  /** From now on kubectl and drover use this cluster, and the world is only its cloud. */
  beCloudOf(cluster: {
    readonly kubeconfigPath: string;
    readonly auditLogPath: string;
    /** Updates the file when a server of another owner writes a different one. */
    readonly refresh?: () => void;
  }): void {
    this.#env = { ...this.#env, KUBECONFIG: cluster.kubeconfigPath, DROVER_URL: undefined };
    this.#auditLogPath = cluster.auditLogPath;
    this.#refresh = cluster.refresh;
  }

  static async start(options: WorldOptions = {}): Promise<ServedWorld> {
    const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'drover-world-'));
    const args = options.args ?? ['--demo', '--port', '0'];
    const seed =
      givenSeed === undefined || args.includes('--seed') || options.dataDir !== undefined
        ? []
        : ['--seed', givenSeed];
    const begun = await startProcess(['--data-dir', dataDir, ...args, ...seed]);
    return new ServedWorld(begun, dataDir);
  }

  get env(): NodeJS.ProcessEnv {
    return this.#env;
  }
  get isCloudAlone(): boolean {
    return this.#auditLogPath !== join(this.dataDir, 'audit', 'audit.log');
  }
  get auditLogPath(): string {
    return this.#auditLogPath;
  }
  get readyLine(): string {
    return this.#process.readyLine;
  }
  get pid(): number {
    return this.#process.child.pid ?? 0;
  }
  /** The seed of this world's randomness. */
  get seed(): number {
    const settings = JSON.parse(readFileSync(join(this.dataDir, 'settings.json'), 'utf8'));
    return Number(settings.seed);
  }

  kubectl(...args: readonly string[]): Promise<Ran> {
    return run('kubectl', args, { env: this.env });
  }
  kubectlInput(input: string, ...args: readonly string[]): Promise<Ran> {
    return run('kubectl', args, { env: this.env, input });
  }
  /** Calls another cloud than this world's. */
  awsAt(endpoint: string, env: Readonly<Record<string, string>>, ...args: readonly string[]) {
    return run('aws', [...args, '--endpoint-url', endpoint], { env: { ...this.env, ...env } });
  }
  aws(...args: readonly string[]): Promise<Ran> {
    const endpoint = String(this.env.AWS_ENDPOINT_URL);
    return run('aws', [...args, '--endpoint-url', endpoint], { env: this.env });
  }
  drover(...args: readonly string[]): Promise<Ran> {
    const env = args[0] === 'world' ? { ...this.env, DROVER_URL: this.#droverUrl } : this.env;
    return run(process.execPath, [drover, ...args], { env });
  }

  /** Resolves when kubectl's watch shows the NodeDisruption in `phase`. */
  untilPhase(name: string, phase: string): Promise<void> {
    const watch = spawn(
      'kubectl',
      ['get', 'nodedisruptions', '--watch', '-o', 'json', '--output-watch-events'],
      { env: this.env, stdio: ['ignore', 'pipe', 'inherit'] },
    );
    let seen = '';
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        watch.kill();
        reject(new Error(`${name} was not seen in phase ${phase}`));
      }, 60_000);
      watch.stdout.on('data', (chunk: Buffer) => {
        seen += chunk.toString();
        const phases = [...seen.matchAll(/"phase":\s*"(\w+)"/g)].map((match) => match[1]);
        const created = phase === 'Pending' && seen.includes(name);
        if (!created && !phases.includes(phase)) return;
        clearTimeout(timer);
        watch.kill();
        resolve();
      });
    });
  }

  /** Audit events so far, oldest first. */
  audit(): readonly AuditEvent[] {
    this.#refresh?.();
    const text = readFileSync(this.#auditLogPath, 'utf8');
    // The last line may be incomplete.
    return text
      .slice(0, text.lastIndexOf('\n') + 1)
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as AuditEvent);
  }

  /** Waits until the process ends by itself. */
  async ended(): Promise<{ readonly code: number | null; readonly stderr: string }> {
    const code = await this.#process.exited;
    return { code, stderr: this.#process.errors() };
  }

  /** SIGKILL, as in a crash: the data directory stays. */
  async kill(): Promise<void> {
    this.#process.child.kill('SIGKILL');
    await this.#process.exited;
    this.recordCrash();
  }

  /** Records for the oracles that a Drover process was killed. */
  recordCrash(): void {
    const last = this.audit().at(-1)?.requestReceivedTimestamp ?? '';
    const at = Date.parse(last) * 1000;
    this.faults.push({ kind: 'fault', at, fault: 'F3-crash-after-write', what: 'fired' });
  }

  /** Restarts the killed or stopped world on its earlier ports. */
  async restart(args: readonly string[] = []): Promise<void> {
    this.#process = await startProcess(['--data-dir', this.dataDir, ...args]);
  }

  /** Ends the process like ^C; its files stay readable. */
  async halt(): Promise<void> {
    const { child, exited } = this.#process;
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
    await exited;
  }

  async stop(options: { readonly keep?: boolean } = {}): Promise<void> {
    await this.halt();
    rmSync(this.#home, { recursive: true, force: true });
    if (options.keep !== true) rmSync(this.dataDir, { recursive: true, force: true });
  }
}

/** The fields of audit.k8s.io/v1 that the stories use. */
export interface AuditEvent {
  readonly verb: string;
  readonly userAgent?: string;
  readonly user: { readonly username: string; readonly groups?: readonly string[] };
  readonly objectRef?: {
    readonly resource: string;
    readonly namespace?: string;
    readonly name?: string;
    readonly subresource?: string;
    readonly apiVersion?: string;
  };
  readonly responseStatus?: { readonly code: number; readonly status?: string };
  readonly requestObject?: Readonly<Record<string, unknown>>;
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
}

/**
 * Polls `probe` until it returns a value: every 50 ms at first, after 20 seconds every second, as
 * each look starts a client. Only for state that a real client must poll, such as that of another
 * process.
 */
export const eventually = async <T>(
  what: string,
  probe: () => Promise<T | undefined>,
  timeoutMs = 60_000,
): Promise<T> => {
  const began = Date.now();
  for (;;) {
    const value = await probe();
    if (value !== undefined) return value;
    const waitedMs = Date.now() - began;
    if (waitedMs > timeoutMs) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    const pauseMs = Math.min(Math.max(50, waitedMs / 20), 1000);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
};
