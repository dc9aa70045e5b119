// Rules of AgentHealthy: whether the agent itself sees what it reports on.
import type { HealthRule } from './rule.ts';

const condition = 'AgentHealthy';
const text = { origin: 'Drover', found: [], ignored: [] } as const;

export const agentRules: readonly HealthRule[] = [
  {
    reason: 'KernelLogNotSeen',
    condition,
    severity: 'Condition',
    check: 'kernel-log',
    message: 'The agent does not see the kernel log: {detail}',
    key: 'kernel-log',
    clearAfterSeconds: 'reboot',
    text: {
      ...text,
      meaning:
        'The kernel log cannot be read, or a marker that the agent wrote to it an hour ago ' +
        'or less did not come back.',
      remedy: 'Give the agent /dev/kmsg and CAP_SYSLOG; restart it.',
      proof: 'fault',
    },
  },
  {
    reason: 'LogFlood',
    condition,
    severity: 'Event',
    check: 'kernel-log',
    message:
      '{count} lines of {source} came faster than they are read; one in {kept} was looked at',
    key: '{source}',
    clearAfterSeconds: 900,
    text: {
      ...text,
      meaning: 'A log is written so fast that the agent only samples it, to bound its own load.',
      remedy: 'Find what writes: `dmesg -w`, `journalctl -f`.',
      proof: 'written',
    },
  },
  {
    reason: 'LogRecordsLost',
    condition,
    severity: 'Event',
    check: 'kernel-log',
    message: '{count} records of the kernel log were overwritten before they were read',
    key: 'lost',
    clearAfterSeconds: 900,
    text: {
      ...text,
      meaning: 'The kernel’s ring buffer overflowed while the agent was not running or too slow.',
      remedy: 'Enlarge it with log_buf_len= on the kernel’s command line.',
      proof: 'fault',
    },
  },
];
