// One pass over /proc: zombies, large environments, threads against their limits, and whether the
// VPC CNI's daemon runs.
import { parseProcessStat, parseThreadCount } from '../../formats/node-health/index.ts';
import type { NodeHost } from '../../ports/index.ts';
import {
  type Check,
  type CheckContext,
  limitOf,
  listIfThere,
  percentOf,
  type Results,
  readIfThere,
  readOrLack,
} from './check.ts';

/** Number of files of /proc that are open at once. */
const batchSize = 32;
const maxEnvironmentBytes = 256 * 1024;

interface Walk {
  readonly zombies: number;
  readonly names: ReadonlySet<string>;
  /** Processes with more variables than the limit. */
  readonly large: readonly { readonly pid: number; readonly count: number }[];
}

const countOfVariables = async (host: NodeHost, pid: string): Promise<number> => {
  try {
    const text = await host.read(`/proc/${pid}/environ`, { maxBytes: maxEnvironmentBytes });
    return text === undefined ? 0 : text.split('\0').filter((part) => part !== '').length;
  } catch {
    // The process ended or is not readable: neither is a finding.
    return 0;
  }
};

const walk = async (context: CheckContext): Promise<Walk> => {
  const { host } = context;
  const maxVariables = limitOf(context, 'LargeEnvironment', 1000);
  const withVariables = context.rule('LargeEnvironment') !== undefined;
  const names = new Set<string>();
  const large: { pid: number; count: number }[] = [];
  let zombies = 0;
  const look = async (pid: string): Promise<void> => {
    const stat = parseProcessStat((await readIfThere(host, `/proc/${pid}/stat`)) ?? '');
    if (stat === undefined) return;
    names.add(stat.name);
    if (stat.state === 'Z') zombies++;
    // An uninterruptible process may hold the lock that reading its memory needs.
    if (!withVariables || stat.state === 'Z' || stat.state === 'D') return;
    const count = await countOfVariables(host, pid);
    if (count > maxVariables) large.push({ pid: stat.pid, count });
  };
  const pids = (await listIfThere(host, '/proc')).filter((name) => /^\d+$/.test(name));
  for (let at = 0; at < pids.length && !context.signal.aborted; at += batchSize) {
    await Promise.all(pids.slice(at, at + batchSize).map(look));
  }
  return { zombies, names, large };
};

const lookAtThreads = async (context: CheckContext, results: Results): Promise<void> => {
  const reason = 'ApproachingKernelPidMax';
  const loadavg = await readOrLack(context, results, '/proc/loadavg', [reason]);
  const count = loadavg === undefined ? undefined : parseThreadCount(loadavg);
  const limits = await Promise.all(
    ['/proc/sys/kernel/pid_max', '/proc/sys/kernel/threads-max'].map(async (path) =>
      Number((await readIfThere(context.host, path)) ?? Number.NaN),
    ),
  );
  const max = Math.min(...limits.filter((limit) => Number.isFinite(limit) && limit > 0));
  if (count === undefined || !Number.isFinite(max)) {
    if (loadavg !== undefined) results.lacks([reason], 'the limits of threads are not known');
    return;
  }
  results.saw(`${count} of ${max} threads`);
  if ((count / max) * 100 < limitOf(context, reason, 70)) return;
  results.found(reason, { count, max, percent: percentOf(count, max) });
};

/** Whether the node's CNI is the VPC CNI. */
export const hasVpcCni = async (host: NodeHost): Promise<boolean> =>
  (await listIfThere(host, '/etc/cni/net.d')).includes('10-aws.conflist');

export const processes: Check = {
  name: 'processes',
  title: 'processes, threads and their environments',
  look: async (context, results) => {
    const { zombies, names, large } = await walk(context);
    results.saw(`${zombies} zombies`);
    if (zombies >= limitOf(context, 'ExcessiveZombieProcesses', 20)) {
      results.found('ExcessiveZombieProcesses', { count: zombies });
    }
    for (const one of large) results.found('LargeEnvironment', one);
    await lookAtThreads(context, results);
    if ((await hasVpcCni(context.host)) && !names.has('aws-k8s-agent')) {
      results.found('IPAMDNotRunning');
    }
  },
};
