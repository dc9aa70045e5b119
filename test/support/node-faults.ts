// Real faults on this machine, produced as root and undone: crashing programs, cgroups at their
// limits, failing loop devices, network namespaces with unexpected content.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const commandTimeoutMs = 60_000;

export const sh = (script: string): string =>
  execFileSync('sh', ['-ec', script], {
    encoding: 'utf8',
    timeout: commandTimeoutMs,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, PATH: `/usr/sbin:/sbin:${process.env.PATH ?? ''}` },
  }).trim();

/** Ignores the exit code: a crash is intended. */
export const attempt = (script: string): void => {
  try {
    sh(script);
  } catch {
    // Killed, refused or failed, as intended.
  }
};

export const lacking = (...programs: readonly string[]): string | undefined => {
  const absent = programs.filter((program) => {
    try {
      sh(`command -v ${program}`);
      return false;
    } catch {
      return true;
    }
  });
  return absent.length === 0 ? undefined : `${absent.join(', ')} not installed`;
};

/** Why no fault can be produced here; undefined when possible. */
export const whyNoFaults = (): string | undefined => {
  if (process.platform !== 'linux') return 'only Linux has the faults';
  if (process.getuid?.() !== 0) return 'it takes root to make faults';
  if (!existsSync('/dev/kmsg')) return 'there is no /dev/kmsg';
  return lacking('ip', 'python3');
};

interface Background {
  readonly child: ChildProcess;
  readonly undo: () => void;
}

/** A directory for this story's own cgroups, in either cgroup version. */
export const cgroup = (controller: 'memory' | 'pids', name: string): string | undefined => {
  const unified = '/sys/fs/cgroup/cgroup.controllers';
  if (existsSync(unified)) {
    if (!readFileSync(unified, 'utf8').split(/\s+/).includes(controller)) return undefined;
    attempt(`echo +${controller} > /sys/fs/cgroup/cgroup.subtree_control`);
    return `/sys/fs/cgroup/${name}`;
  }
  const directory = `/sys/fs/cgroup/${controller}`;
  return existsSync(`${directory}/cgroup.procs`) ? `${directory}/${name}` : undefined;
};

/** Runs a script in a cgroup with one limit, then removes the cgroup. */
export const inCgroup = (
  path: string,
  limits: Readonly<Record<string, string>>,
  script: string,
): void => {
  mkdirSync(path, { recursive: true });
  try {
    for (const [file, value] of Object.entries(limits)) {
      if (existsSync(join(path, file))) writeFileSync(join(path, file), value);
    }
    attempt(`echo $$ > ${path}/cgroup.procs; ${script}`);
  } finally {
    attempt(`sleep 0.2; rmdir ${path}`);
  }
};

export class Loop {
  readonly directory = mkdtempSync(join(tmpdir(), 'drover-loop-'));
  readonly device: string;
  readonly mount = join(this.directory, 'mnt');
  readonly image = join(this.directory, 'image');

  constructor(mebibytes: number) {
    sh(`truncate -s ${mebibytes}M ${this.image}`);
    this.device = sh(`losetup --find --show ${this.image}`);
    mkdirSync(this.mount);
  }
  get name(): string {
    return this.device.replace('/dev/', '');
  }
  format(type: 'ext4' | 'xfs', options = ''): void {
    sh(`mkfs.${type} -q ${this.device} && mount ${options} ${this.device} ${this.mount}`);
  }
  end(): void {
    attempt(`umount -l ${this.mount} 2>/dev/null || true; losetup -d ${this.device}`);
    attempt(`sleep 0.5; losetup -d ${this.device} 2>/dev/null || true`);
    rmSync(this.directory, { recursive: true, force: true });
  }
}

let namespaces = 0;

/** A network namespace without any of this machine's network. */
export class NetNamespace {
  readonly name = `drover-${process.pid}-${++namespaces}`;
  constructor() {
    sh(`ip netns add ${this.name}`);
    this.sh('ip link set lo up; echo 1 > /proc/sys/net/ipv4/ip_forward');
  }
  sh(script: string): string {
    return sh(`ip netns exec ${this.name} sh -ec '${script}'`);
  }
  end(): void {
    attempt(`ip netns del ${this.name}`);
  }
}

/** A process that runs until it is ended. */
export const background = (program: string, ...args: readonly string[]): Background => {
  const child = spawn(program, args, { stdio: 'ignore' });
  return { child, undo: () => void child.kill('SIGKILL') };
};
