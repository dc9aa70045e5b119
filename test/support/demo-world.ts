// Starts a real `drover up` as its own process on free ports and drives it with the real clients.
// Ends only what it started. Never touches the user's own kubeconfig or AWS configuration.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const drover = join(root, 'bin', 'drover.mjs');

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end; never rejects for its exit code. */
export const run = (
  file: string,
  args: readonly string[],
  options: {
    readonly env?: NodeJS.ProcessEnv;
    readonly input?: string;
    readonly timeoutMs?: number;
  } = {},
): Promise<Ran> =>
  new Promise((resolve, reject) => {
    const child = execFile(
      file,
      [...args],
      {
        env: options.env ?? process.env,
        timeout: options.timeoutMs ?? 120_000,
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

/** Undefined when `file` runs, else why it does not: for tests that then say they did not run. */
export const missing = async (
  file: string,
  args: readonly string[],
): Promise<string | undefined> => {
  try {
    const { code } = await run(file, args);
    return code === 0 ? undefined : `${file} ${args.join(' ')} exits with ${code}`;
  } catch {
    return `${file} is not installed`;
  }
};

export interface WorldOptions {
  readonly args?: readonly string[];
  readonly dataDir?: string;
}

export class ServedWorld {
  readonly dataDir: string;
  readonly readyLine: string;
  readonly env: NodeJS.ProcessEnv;
  readonly #child: ChildProcess;
  readonly #home: string;
  readonly #exited: Promise<number | null>;
  readonly #errors: () => string;

  private constructor(
    child: ChildProcess,
    dataDir: string,
    readyLine: string,
    end: { readonly exited: Promise<number | null>; readonly errors: () => string },
  ) {
    this.#child = child;
    this.#exited = end.exited;
    this.#errors = end.errors;
    this.dataDir = dataDir;
    this.readyLine = readyLine;
    this.#home = mkdtempSync(join(tmpdir(), 'drover-home-'));
    const values: Record<string, string> = {};
    for (const line of readFileSync(join(dataDir, 'env'), 'utf8').split('\n')) {
      const match = /^([A-Z_]+)='(.*)'$/.exec(line);
      if (match?.[1] !== undefined) values[match[1]] = match[2] ?? '';
    }
    // A home of its own, so that kubectl's discovery cache of an earlier world is not used.
    this.env = {
      PATH: process.env.PATH,
      ...(process.env.PYENV_ROOT === undefined ? {} : { PYENV_ROOT: process.env.PYENV_ROOT }),
      HOME: this.#home,
      AWS_PAGER: '',
      AWS_EC2_METADATA_DISABLED: 'true',
      ...values,
    };
  }

  static async start(options: WorldOptions = {}): Promise<ServedWorld> {
    const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'drover-world-'));
    const args = ['up', '--data-dir', dataDir, ...(options.args ?? ['--demo', '--port', '0'])];
    const child = spawn(process.execPath, [drover, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
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
    const line = await Promise.race([
      ready,
      exited.then((code) => {
        throw new Error(`drover up ended with ${code} before it was ready:\n${output}${errors}`);
      }),
    ]);
    return new ServedWorld(child, dataDir, line, { exited, errors: () => errors });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  kubectl(...args: readonly string[]): Promise<Ran> {
    return run('kubectl', args, { env: this.env });
  }
  kubectlInput(input: string, ...args: readonly string[]): Promise<Ran> {
    return run('kubectl', args, { env: this.env, input });
  }
  aws(...args: readonly string[]): Promise<Ran> {
    const endpoint = String(this.env.AWS_ENDPOINT_URL);
    return run('aws', [...args, '--endpoint-url', endpoint], { env: this.env });
  }
  drover(...args: readonly string[]): Promise<Ran> {
    return run(process.execPath, [drover, ...args], { env: this.env });
  }

  /** Resolves when kubectl's watch has shown the NodeDisruption in `phase`. */
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
    return readFileSync(join(this.dataDir, 'audit', 'audit.log'), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as AuditEvent);
  }

  /** Waits until the process ends by itself. */
  async ended(): Promise<{ readonly code: number | null; readonly stderr: string }> {
    const code = await this.#exited;
    return { code, stderr: this.#errors() };
  }

  /** SIGKILL, as a crash would: the data directory stays. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exited;
  }

  async stop(options: { readonly keep?: boolean } = {}): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill('SIGTERM');
    }
    await this.#exited;
    rmSync(this.#home, { recursive: true, force: true });
    if (options.keep !== true) rmSync(this.dataDir, { recursive: true, force: true });
  }
}

/** The fields of audit.k8s.io/v1 that the stories look at. */
export interface AuditEvent {
  readonly verb: string;
  readonly userAgent?: string;
  readonly user: { readonly username: string };
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
 * Polls `probe` until it gives a value. Only for what a real client must be asked for again and
 * again, such as the state of another process; 50 ms between questions.
 */
export const eventually = async <T>(
  what: string,
  probe: () => Promise<T | undefined>,
  timeoutMs = 60_000,
): Promise<T> => {
  const end = Date.now() + timeoutMs;
  for (;;) {
    const value = await probe();
    if (value !== undefined) return value;
    if (Date.now() > end) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};
