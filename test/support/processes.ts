// Child processes of a test: started with a log file each, waited for, and ended through their own
// handle. Never finds or ends a process by name.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const stopTimeoutMs = 10_000;
const logTailChars = 2000;

export interface Started {
  readonly name: string;
  /** Throws with the end of its log when the process has ended. */
  assertRunning(): void;
  /** Freezes or resumes the process (SIGSTOP, SIGCONT). */
  freeze(frozen: boolean): void;
  /** SIGTERM, then SIGKILL after 10 s. */
  stop(): Promise<void>;
}

const running = new Set<ChildProcess>();
// A test runner that dies must not leave servers behind.
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export const start = (options: {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly logPath: string;
  /** Added to this process's own environment. */
  readonly env?: Readonly<Record<string, string>>;
}): Started => {
  const log = openSync(options.logPath, 'a');
  const child = spawn(options.command, options.args, {
    stdio: ['ignore', log, log],
    env: { ...process.env, ...options.env },
  });
  closeSync(log);
  running.add(child);
  let ended: string | undefined;
  child.once('error', (error) => {
    ended = error.message;
    running.delete(child);
  });
  child.once('exit', (code, signal) => {
    ended = `ended with ${code ?? signal}`;
    running.delete(child);
  });
  return {
    name: options.name,
    assertRunning: () => {
      if (ended === undefined) return;
      const tail = readFileSync(options.logPath, 'utf8').slice(-logTailChars);
      throw new Error(`${options.name} ${ended}\n${tail}`);
    },
    freeze: (frozen) => void child.kill(frozen ? 'SIGSTOP' : 'SIGCONT'),
    stop: async () => {
      if (ended !== undefined) return;
      child.kill('SIGCONT'); // a frozen process would not see the SIGTERM
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs);
      await exited;
      clearTimeout(timer);
    },
  };
};

/** Polls `ready`. Throws when a process ended or on a timeout. */
export const waitUntil = async (
  what: string,
  ready: () => Promise<boolean>,
  options: { readonly processes?: readonly Started[]; readonly withinMs?: number } = {},
): Promise<void> => {
  const { processes = [], withinMs = 30_000 } = options;
  const until = performance.now() + withinMs;
  for (;;) {
    for (const process of processes) process.assertRunning();
    if (await ready()) return;
    if (performance.now() > until) throw new Error(`${what}: not within ${withinMs} ms`);
    await sleep(25);
  }
};

/** Ports of 127.0.0.1 that were free when checked. */
export const freePorts = async (count: number): Promise<readonly number[]> => {
  const servers = Array.from({ length: count }, () => createServer());
  const ports: number[] = [];
  for (const server of servers) {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const address = server.address();
    if (address !== null && typeof address === 'object') ports.push(address.port);
  }
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
};
