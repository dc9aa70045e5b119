// Rules of KernelReady. Patterns match the kernel's lines as in /dev/kmsg, without the time in
// brackets that dmesg adds.
import type { HealthRule } from './rule.ts';

const condition = 'KernelReady';
const quietSeconds = 900;
const nodesOwnCgroup =
  '^cgroup: fork rejected by pids controller in (?<cgroup>/(?:system|kubelet|runtime|init)[.]\\S*)';

export const kernelRules: readonly HealthRule[] = [
  {
    reason: 'ForkFailedOutOfPIDs',
    condition,
    severity: 'Condition',
    lines: [
      {
        source: 'kubelet',
        pattern:
          'fork/exec.*resource temporarily unavailable|failed to create new OS thread.*errno=11',
      },
      // A pod at its own limit concerns the pod; refused system services concern the node.
      {
        source: 'kernel',
        pattern: nodesOwnCgroup,
      },
    ],
    message: 'A fork or exec call has failed due to the system being out of process IDs or memory',
    key: '{cgroup}',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning: 'The kernel refused to start a process for the kubelet or a service of the node.',
      remedy:
        'Find the cause of so many processes: `ps -eLf | wc -l`, `cat /proc/sys/kernel/pid_max`, ' +
        'zombies, pids.max of the unit.',
      origin: 'EKS',
      proof: 'fault',
      found: [
        'fork/exec /usr/bin/runc: resource temporarily unavailable',
        'runtime: failed to create new OS thread (have 20 already; errno=11)',
        'cgroup: fork rejected by pids controller in /system.slice/kubelet.service',
      ],
      ignored: [
        'cgroup: fork rejected by pids controller in /kubepods.slice/kubepods-pod1.slice/x',
        'fork/exec /usr/bin/runc: no such file or directory',
      ],
    },
  },
  {
    reason: 'PodOutOfPIDs',
    condition,
    severity: 'Event',
    lines: [
      {
        source: 'kernel',
        pattern: '^cgroup: fork rejected by pids controller in (?<cgroup>\\S+)',
        unless: nodesOwnCgroup,
      },
    ],
    message: 'A process in {cgroup} was refused: its cgroup is at its limit of processes',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning: 'A cgroup reached pids.max; its processes cannot start others.',
      remedy: 'Raise the pod’s process limit (podPidsLimit) or fix what forks.',
      origin: 'Drover',
      proof: 'fault',
      found: ['cgroup: fork rejected by pids controller in /kubepods/pod1'],
      ignored: ['cgroup: cgroup2: unknown option "foo"'],
    },
  },
  {
    reason: 'SoftLockup',
    condition,
    severity: 'Event',
    lines: [
      {
        source: 'kernel',
        pattern:
          'BUG: soft lockup - CPU#(?<cpu>\\d+) stuck for (?<time>\\S+?)! \\[(?<process>.*):\\d+\\]',
      },
    ],
    message: 'CPU stuck for {time}',
    key: '{cpu}',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning: 'A processor ran kernel code without a break for longer than the watchdog allows.',
      remedy: 'Look for overload and for a kernel bug in the trace that follows the line.',
      origin: 'EKS',
      proof: 'written',
      found: ['watchdog: BUG: soft lockup - CPU#6 stuck for 23s! [VM Thread:4054]'],
      ignored: ['watchdog: Delayed init of the lockup detector failed: -19'],
    },
  },
  {
    reason: 'KernelBug',
    condition,
    severity: 'Event',
    lines: [
      // A soft lockup is a BUG line too, with a rule of its own.
      { source: 'kernel', pattern: '^(?:watchdog: )?BUG: (?<what>.*)', unless: 'BUG: soft lockup' },
      { source: 'kernel', pattern: '^kernel BUG at (?<what>.*)' },
    ],
    message: 'A kernel bug was detected and reported by the Linux kernel: {what}',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning: 'A consistency check in the kernel failed.',
      remedy: 'Collect the trace (`drover agent bundle`), then replace the node or its image.',
      origin: 'EKS',
      proof: 'written',
      found: [
        'BUG: kernel NULL pointer dereference, address: 0000000000000008',
        'kernel BUG at mm/slub.c:4021!',
        'BUG: Bad page state in process kubelet  pfn:12345',
      ],
      ignored: [
        'watchdog: BUG: soft lockup - CPU#6 stuck for 23s! [VM Thread:4054]',
        'DEBUG: page table check',
      ],
    },
  },
  {
    reason: 'KernelOops',
    condition,
    severity: 'Event',
    lines: [
      { source: 'kernel', pattern: '^(?:Oops: |Unable to handle kernel|general protection fault)' },
    ],
    message: 'The kernel reported an oops: a task was killed, and the node may be unstable',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning: 'Kernel code made an invalid memory access; the kernel continues without that task.',
      remedy: 'Collect the trace (`drover agent bundle`), then replace the node or its image.',
      origin: 'node-problem-detector',
      proof: 'written',
      found: [
        'Oops: 0002 [#1] SMP PTI',
        'general protection fault, probably for non-canonical address 0x1: 0000 [#1] SMP',
      ],
      ignored: ['BUG: Bad page state in process kubelet  pfn:12345'],
    },
  },
  {
    reason: 'AppCrash',
    condition,
    severity: 'Event',
    lines: [
      { source: 'kernel', pattern: '^traps: (?<process>.*?)\\[\\d+\\] ' },
      { source: 'kernel', pattern: '^(?<process>.*?)\\[\\d+\\]: segfault at ' },
    ],
    message: 'Process "{process}" on the node has crashed',
    key: '{process}',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning: 'The kernel killed a process for an invalid memory access or instruction.',
      remedy: 'Find the pod by the name of the process; the fault is in the program.',
      origin: 'EKS',
      proof: 'fault',
      found: [
        'traps: ud2[18703] trap invalid opcode ip:55e8331ad12d sp:7ffd2fc3da30 error:0 in ud2[...]',
        'segv[18701]: segfault at 0 ip 0000560f8a7b1129 sp 00007ffc2e7a0b50 error 6 in segv[...]',
        'Web Content[77]: segfault at 10 ip 00007f error 4 in libxul.so[7f+1000]',
      ],
      ignored: ['audit: type=1701 audit(1.2:3): auid=4294967295 sig=11'],
    },
  },
  {
    reason: 'AppBlocked',
    condition,
    severity: 'Event',
    lines: [
      {
        source: 'kernel',
        pattern:
          'task (?<process>.*):\\d+ blocked(?: in I/O wait)? for more than (?<time>\\d+) seconds',
      },
    ],
    message: 'Process "{process}" has been blocked from scheduling for a long period of time',
    key: '{process}',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning:
        'A process waited for a disk, a network file system or a lock, and could not be killed.',
      remedy: 'Look at the disks and network file systems that the process uses.',
      origin: 'EKS',
      proof: 'fault',
      found: [
        'INFO: task touch:2112 blocked for more than 5 seconds.',
        'INFO: task jbd2/nvme1n1-8:211 blocked in I/O wait for more than 120 seconds.',
      ],
      ignored: ['INFO: rcu_sched self-detected stall on CPU'],
    },
  },
  {
    reason: 'OOMKilling',
    condition,
    severity: 'Event',
    lines: [
      {
        source: 'kernel',
        pattern:
          '^(?<scope>Memory cgroup out of memory|Out of memory): Killed process \\d+ ' +
          '\\((?<process>.*?)\\) total-vm:(?<vm>\\d+kB), anon-rss:(?<rss>\\d+kB)',
        after: '^oom-kill:constraint=.*,task_memcg=(?<cgroup>[^,]*),',
      },
    ],
    message: '{scope}: killed process "{process}" (anonymous memory {rss}) in cgroup {cgroup}',
    key: '{cgroup} {process}',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning: 'The kernel killed a process because its cgroup, or the node, was out of memory.',
      remedy: 'Raise the container’s memory limit or find the leak; for the node, reserve memory.',
      origin: 'node-problem-detector',
      proof: 'fault',
      found: [
        'Memory cgroup out of memory: Killed process 18705 (python3) total-vm:41236kB, ' +
          'anon-rss:30464kB, file-rss:6640kB, shmem-rss:0kB, UID:0 pgtables:116kB ' +
          'oom_score_adj:0',
        'Out of memory: Killed process 1 (a b) total-vm:1kB, anon-rss:1kB, file-rss:0kB',
      ],
      ignored: ['python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0'],
    },
  },
  {
    reason: 'ConntrackExceededKernel',
    condition,
    severity: 'Event',
    lines: [{ source: 'kernel', pattern: '(?:ip|nf)_conntrack: table full, dropping packet' }],
    check: 'conntrack',
    limit: 90,
    message: 'Connection tracking exceeded the maximum for the kernel{detail}',
    key: 'conntrack',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning:
        'The connection tracking table is full, or above the limit (percent): new connections are dropped. The kernel often logs nothing about it.',
      remedy: 'Raise net.netfilter.nf_conntrack_max, or find what opens so many connections.',
      origin: 'EKS',
      proof: 'fault',
      found: ['nf_conntrack: nf_conntrack: table full, dropping packet'],
      ignored: ['nf_conntrack: default automatic helper assignment has been turned off'],
    },
  },
  {
    reason: 'UnregisterNetDevice',
    condition,
    severity: 'Event',
    lines: [
      {
        source: 'kernel',
        pattern: 'unregister_netdevice: waiting for (?<device>\\S+) to become free',
      },
    ],
    threshold: { count: 3, withinSeconds: 1200 },
    message: 'Network device {device} cannot be removed: something still uses it',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning: 'A reference to a removed pod’s network device leaked; such leaks add up.',
      remedy: 'Restart the node when they recur; newer kernels have fewer of these leaks.',
      origin: 'node-problem-detector',
      proof: 'written',
      found: Array.from(
        { length: 3 },
        () => 'unregister_netdevice: waiting for veth1 to become free. Usage count = 1',
      ),
      ignored: ['veth1: renamed from eth0'],
    },
  },
  {
    reason: 'MachineCheckException',
    condition,
    severity: 'Event',
    lines: [
      { source: 'kernel', pattern: '^(?:mce: )?\\[Hardware Error\\]: (?<what>.*)' },
      { source: 'kernel', pattern: '^EDAC \\S+: \\d+ UE (?<what>.*)' },
    ],
    message: 'The hardware reported an error: {what}',
    key: 'hardware',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning: 'Memory or a processor reported an error to the kernel.',
      remedy: 'Replace the node when it recurs: the host below it is failing.',
      origin: 'node-problem-detector',
      proof: 'written',
      found: [
        'mce: [Hardware Error]: Machine check events logged',
        'EDAC MC0: 1 UE memory read error on CPU_SrcID#0_Ha#0_Chan#1_DIMM#0',
      ],
      ignored: ['EDAC MC: Ver: 3.0.0'],
    },
  },
];
