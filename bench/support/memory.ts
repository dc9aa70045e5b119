// Resident memory of processes from /proc, and this process's children, to sum up a control plane
// of several processes. Linux only: elsewhere every figure is undefined.
import { readdirSync, readFileSync } from 'node:fs';

export interface Memory {
  readonly rssMiB: number;
  /** Largest resident size so far. */
  readonly peakMiB: number;
}

const kibibytes = (status: string, field: string): number | undefined => {
  const match = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status);
  return match?.[1] === undefined ? undefined : Number(match[1]);
};

export const memoryOf = (pid: number): Memory | undefined => {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const rss = kibibytes(status, 'VmRSS');
    const peak = kibibytes(status, 'VmHWM');
    if (rss === undefined || peak === undefined) return undefined;
    return { rssMiB: rss / 1024, peakMiB: peak / 1024 };
  } catch {
    return undefined;
  }
};

/** Process ids of this process's children. */
export const ownChildren = (): readonly number[] => {
  try {
    const tasks = readdirSync('/proc/self/task');
    return tasks.flatMap((task) =>
      readFileSync(`/proc/self/task/${task}/children`, 'utf8')
        .split(' ')
        .filter((pid) => pid.trim() !== '')
        .map(Number),
    );
  } catch {
    return [];
  }
};
