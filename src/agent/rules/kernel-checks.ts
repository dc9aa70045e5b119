// Rules of KernelReady that checks evaluate: processes, files, memory, time.
import type { HealthRule } from './rule.ts';

const condition = 'KernelReady';
const quietSeconds = 900;

export const kernelCheckRules: readonly HealthRule[] = [
  {
    reason: 'ApproachingKernelPidMax',
    condition,
    severity: 'Event',
    check: 'processes',
    limit: 70,
    message: 'Approaching max number of PIDs. {count} of {max} total, {percent}%',
    key: 'pids',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning:
        'The number of threads exceeds the limit (percent) of the smaller of kernel.pid_max and ' +
        'kernel.threads-max.',
      remedy: 'Find the process with so many threads: `ps -eo nlwp,pid,comm --sort=-nlwp | head`.',
      origin: 'EKS',
      proof: 'written',
      found: [],
      ignored: [],
    },
  },
  {
    reason: 'ExcessiveZombieProcesses',
    condition,
    severity: 'Event',
    check: 'processes',
    limit: 20,
    message: 'Detected {count} zombie processes still running',
    key: 'zombies',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning:
        'More processes than the limit have ended without being collected by their parents (zombies).',
      remedy: 'Restart the parent; a container needs an init process that collects them.',
      origin: 'EKS',
      proof: 'fault',
      found: [],
      ignored: [],
    },
  },
  {
    reason: 'LargeEnvironment',
    condition,
    severity: 'Event',
    check: 'processes',
    limit: 1000,
    message: 'PID {pid} has a higher than normal environment variable count at {count}',
    key: '{pid}',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning: 'A process has more environment variables than the limit.',
      remedy: 'Set enableServiceLinks: false in pods of namespaces with many services.',
      origin: 'EKS',
      proof: 'fault',
      found: [],
      ignored: [],
    },
  },
  {
    reason: 'ApproachingMaxOpenFiles',
    condition,
    severity: 'Event',
    check: 'open-files',
    limit: 70,
    message:
      'Approaching Exhaustion of max open file descriptors. {count} of {max} total, {percent}%',
    key: 'files',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning: 'The number of open files exceeds the limit (percent) of fs.file-max.',
      remedy:
        "Find what keeps files open: `lsof -n | awk '{print $1}' | sort | uniq -c | sort -n`.",
      origin: 'EKS',
      proof: 'written',
      found: [],
      ignored: [],
    },
  },
  {
    reason: 'ClockUnsynchronized',
    condition,
    severity: 'Event',
    check: 'clock',
    message:
      'The kernel clock is not synchronized to any time source (STA_UNSYNC); time drift may ' +
      'break time-sensitive workloads',
    key: 'clock',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning: 'No daemon synchronizes the kernel’s clock.',
      remedy:
        'Start chronyd (or another time daemon) and let it reach its source, 169.254.169.123.',
      origin: 'EKS',
      proof: 'fault',
      found: [],
      ignored: [],
    },
  },
  {
    reason: 'MemoryStalls',
    condition,
    severity: 'Event',
    check: 'pressure',
    limit: 20,
    message: 'All tasks waited for memory in {percent}% of the last minute',
    key: 'memory',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning:
        'Pressure stall information shows that tasks were stalled by a lack of memory (limit: percent).',
      remedy: 'Reserve memory for the system, or lower the memory limits of pods.',
      origin: 'Drover',
      proof: 'written',
      found: [],
      ignored: [],
    },
  },
  {
    reason: 'ZramHighUsage',
    condition,
    severity: 'Event',
    check: 'zram',
    limit: 10,
    message: 'ZRAM device {device} at {percent}% capacity',
    key: '{device}',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning: 'Compressed swap in memory is used beyond the limit (percent).',
      remedy: 'Lower the memory limits of pods: the node swaps.',
      origin: 'EKS',
      proof: 'written',
      found: [],
      ignored: [],
    },
  },
  {
    reason: 'RapidCron',
    condition,
    severity: 'Event',
    lines: [{ source: 'cron', pattern: '^\\((?<user>[^)]+)\\) CMD \\((?<command>.*)\\)' }],
    threshold: { count: 2, withinSeconds: 299, of: 'same' },
    message:
      'A cron job is running faster than every 5 minutes, which can impact node ' +
      'performance: {command}',
    key: '{user} {command}',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning: 'One command of cron ran twice within five minutes.',
      remedy: 'Run it less often, or as a systemd timer with a limit.',
      origin: 'EKS',
      proof: 'written',
      found: ['(root) CMD (/usr/bin/backup)', '(root) CMD (/usr/bin/backup)'],
      ignored: ['(root) CMD (/usr/bin/backup)', '(root) CMD (/usr/bin/other)'],
    },
  },
];
