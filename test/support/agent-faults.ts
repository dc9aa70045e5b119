// Kernel faults that this machine can produce, with the agent's report of each: those with only a
// kernel log line, and those that turn a condition False.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { attempt, background, cgroup, inCgroup, Loop, sh } from './node-faults.ts';

/** A unique name, so that the Event of another crash is not mistaken for it. */
const named = (name: string): string =>
  `import ctypes,mmap; ctypes.CDLL(None).prctl(15, b'${name}'); `;
const crash = `python3 -c "${named('drover-segv')} ctypes.string_at(0)"`;
const trap =
  `python3 -c "${named('drover-trap')} m=mmap.mmap(-1,4096,prot=7); m.write(bytes([15,11])); ` +
  'ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(m)))()"';

export interface LogFault {
  /** The reason, and the text of the Event, if it is one. */
  readonly reason: string;
  readonly message: RegExp;
  readonly needs?: readonly string[];
  /** Produces the fault; returns a function that undoes it. Undefined when this machine cannot. */
  readonly make: () => (() => void) | undefined;
}

export const nothing = (): void => undefined;

export const logFaults: readonly LogFault[] = [
  {
    reason: 'AppCrash',
    message: /Process "drover-segv" on the node has crashed/,
    make: () => {
      attempt(crash);
      return nothing;
    },
  },
  {
    reason: 'AppCrash',
    message: /Process "drover-trap" on the node has crashed/,
    make: () => {
      attempt(trap);
      return nothing;
    },
  },
  {
    reason: 'OOMKilling',
    message: /killed process "python3?[\d.]*" .* in cgroup \S*drover-oom/,
    make: () => {
      const path = cgroup('memory', 'drover-oom');
      if (path === undefined) return undefined;
      const limits = { 'memory.limit_in_bytes': '30M', 'memory.max': '30M' };
      inCgroup(path, limits, 'exec python3 -c "x = bytearray(200_000_000)"');
      return nothing;
    },
  },
  {
    reason: 'PodOutOfPIDs',
    message: /A process in \S*drover-pids was refused/,
    make: () => {
      const path = cgroup('pids', 'drover-pids');
      if (path === undefined) return undefined;
      inCgroup(path, { 'pids.max': '3' }, 'sleep 1 & sleep 1 & sleep 1 & sleep 1 & wait');
      return nothing;
    },
  },
  {
    reason: 'BlockDeviceIOError',
    message: /I\/O error detected on block device loop\d+ at (?:sector|logical block) \d+/,
    make: () => {
      const loop = new Loop(32);
      sh(`truncate -s 1M ${loop.image}`);
      attempt(`dd if=${loop.device} of=/dev/null bs=4096 skip=4096 count=1 2>/dev/null`);
      return () => loop.end();
    },
  },
  {
    reason: 'Ext4Error',
    message: /ext4 on loop\d+ reported an error/,
    needs: ['mkfs.ext4'],
    make: () => {
      const loop = new Loop(64);
      loop.format('ext4', '-o errors=continue');
      const trigger = `/sys/fs/ext4/${loop.name}/trigger_fs_error`;
      if (!existsSync(trigger)) {
        loop.end();
        return undefined;
      }
      attempt(`echo drover > ${trigger}`);
      return () => loop.end();
    },
  },
  {
    reason: 'AppBlocked',
    message: /Process "touch" has been blocked/,
    needs: ['mkfs.ext4', 'fsfreeze'],
    make: () => {
      const sysctl = '/proc/sys/kernel/hung_task_timeout_secs';
      if (!existsSync(sysctl)) return undefined;
      const before = readFileSync(sysctl, 'utf8').trim();
      const loop = new Loop(64);
      loop.format('ext4');
      writeFileSync(sysctl, '5');
      sh(`fsfreeze -f ${loop.mount}`);
      const blocked = background('touch', join(loop.mount, 'x'));
      return () => {
        writeFileSync(sysctl, before);
        attempt(`fsfreeze -u ${loop.mount}`);
        blocked.undo();
        loop.end();
      };
    },
  },
];

export interface ConditionFault extends LogFault {
  readonly condition: string;
}

export const conditionFaults: readonly ConditionFault[] = [
  {
    condition: 'KernelReady',
    reason: 'ForkFailedOutOfPIDs',
    message: /A fork or exec call has failed/,
    make: () => {
      const path = cgroup('pids', 'system.drover-pids');
      if (path === undefined) return undefined;
      inCgroup(path, { 'pids.max': '3' }, 'sleep 1 & sleep 1 & sleep 1 & sleep 1 & wait');
      return nothing;
    },
  },
  {
    condition: 'StorageReady',
    reason: 'ReadonlyFilesystem',
    message: /File system on loop\d+ became read-only after an error/,
    needs: ['mkfs.ext4'],
    make: () => {
      const loop = new Loop(64);
      loop.format('ext4', '-o errors=remount-ro');
      const trigger = `/sys/fs/ext4/${loop.name}/trigger_fs_error`;
      if (!existsSync(trigger)) {
        loop.end();
        return undefined;
      }
      attempt(`echo drover > ${trigger}`);
      return () => loop.end();
    },
  },
  {
    condition: 'StorageReady',
    reason: 'XfsShutdown',
    message: /XFS on loop\d+ was shut down/,
    needs: ['mkfs.xfs', 'xfs_io'],
    make: () => {
      const loop = new Loop(320);
      loop.format('xfs');
      sh(`xfs_io -x -c shutdown ${loop.mount}`);
      return () => loop.end();
    },
  },
];
