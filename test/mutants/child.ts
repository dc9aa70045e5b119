// Starts lives.ts inside a copy of the tree, as its own process. Each mutant therefore loads its
// modules afresh, and a process that hangs can be killed.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { LifeReport } from './lives.ts';

export interface Batch {
  readonly root: string;
  /** Seeds and story names. */
  readonly lives: readonly string[];
  readonly compat: 'eks' | 'native';
  /** A violation of one of these oracles ends the batch. */
  readonly until: readonly string[];
  /** Time limit for one life; a longer one counts as hung. */
  readonly lifeLimitMs: number;
}

export interface BatchResult {
  readonly lives: readonly LifeReport[];
  /** Set if the process ended with an error by itself. */
  readonly crash?: string;
  readonly hung: boolean;
}

const longestTail = 2_000;

export const liveBatch = (batch: Batch): Promise<BatchResult> =>
  new Promise((resolve, reject) => {
    const { root, compat, until, lifeLimitMs } = batch;
    const script = join(root, 'test', 'mutants', 'lives.ts');
    const flags = [
      '--lives',
      batch.lives.join(','),
      '--compat',
      compat,
      '--until',
      until.join(','),
    ];
    const child = spawn(process.execPath, [script, ...flags], { cwd: root });
    const lives: LifeReport[] = [];
    let errors = '';
    let hung = false;
    const end = (): void => {
      hung = true;
      child.kill('SIGKILL');
    };
    let timer = setTimeout(end, lifeLimitMs);
    createInterface({ input: child.stdout }).on('line', (line) => {
      clearTimeout(timer);
      timer = setTimeout(end, lifeLimitMs);
      const report: LifeReport = JSON.parse(line);
      lives.push(report);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      errors = `${errors}${chunk.toString('utf8')}`.slice(-longestTail);
    });
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      const crashed = code !== 0 && !hung;
      resolve({ lives, hung, ...(crashed ? { crash: errors || `exit ${code}` } : {}) });
    });
  });
