// Rules of StorageReady: block devices, file systems, the limits of EBS volumes.
import type { HealthRule } from './rule.ts';

const condition = 'StorageReady';
const quietSeconds = 900;

const ebs = (reason: string, message: string, meaning: string): HealthRule => ({
  reason,
  condition,
  severity: 'Event',
  check: 'ebs',
  // Milliseconds above the limit between two looks.
  limit: 1000,
  message: `Volume {volume} reported exceeded ${message} for {time}`,
  key: '{volume}',
  clearAfterSeconds: quietSeconds,
  text: {
    meaning: `${meaning} for longer than the limit (milliseconds) between two looks.`,
    remedy:
      'Raise the limit of the volume, or choose a larger instance type; find the processes that read and write.',
    origin: 'EKS',
    proof: 'written',
    found: [],
    ignored: [],
  },
});

export const storageRules: readonly HealthRule[] = [
  {
    reason: 'ReadonlyFilesystem',
    condition,
    severity: 'Condition',
    lines: [
      {
        source: 'kernel',
        pattern: '^EXT4-fs \\((?<device>[^)]+)\\): Remounting filesystem read-only',
      },
      { source: 'kernel', pattern: '^Aborting journal on device (?<device>\\S+?)-?\\d*\\.' },
    ],
    check: 'mounts',
    message: 'File system on {device} became read-only after an error{detail}',
    key: '{device}',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning:
        'A file system that was mounted for writing refuses writes: the kernel disabled them after an error. The check reads the mount table and tries a write in the ' +
        'directories of the kubelet, containerd and logs.',
      remedy: 'Replace the node. A repair of the file system and a reboot also clear it.',
      origin: 'node-problem-detector',
      proof: 'fault',
      found: ['EXT4-fs (loop0): Remounting filesystem read-only'],
      ignored: ['EXT4-fs (loop0): mounted filesystem 5e2 r/w with ordered data mode.'],
    },
  },
  {
    reason: 'XfsShutdown',
    condition,
    severity: 'Condition',
    lines: [
      {
        source: 'kernel',
        pattern:
          '^XFS \\((?<device>[^)]+)\\): .*(?:Shutting down filesystem|Filesystem has been ' +
          'shut down)',
      },
    ],
    check: 'mounts',
    message: 'XFS on {device} was shut down by the kernel after an error',
    key: '{device}',
    clearAfterSeconds: 'reboot',
    text: {
      meaning: 'XFS stopped all access to a file system after corruption or an I/O error.',
      remedy: 'Replace the node, or unmount, run xfs_repair and mount it again.',
      origin: 'node-problem-detector',
      proof: 'fault',
      found: [
        'XFS (loop1): User initiated shutdown (0x1) detected. Shutting down filesystem.',
        'XFS (nvme1n1): Corruption of in-memory data (0x8) detected at xfs_trans_cancel ' +
          '(fs/xfs/xfs_trans.c:1059).  Shutting down filesystem.',
      ],
      ignored: ['XFS (loop1): Ending clean mount'],
    },
  },
  {
    reason: 'BlockDeviceIOError',
    condition,
    severity: 'Event',
    lines: [
      {
        source: 'kernel',
        pattern:
          '(?:^|: )I/O error, dev (?<device>[\\w/-]+), (?<place>sector \\d+)(?: op ' +
          '\\w+:\\((?<operation>\\w+)\\))?',
      },
      {
        source: 'kernel',
        pattern:
          '^Buffer I/O error on (?:dev|device) (?<device>[\\w/-]+), (?<place>logical block \\d+)',
      },
    ],
    message:
      'I/O error detected on block device {device} at {place}, indicating a failed physical ' +
      'drive or EBS volume',
    key: '{device}',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning: 'A block device failed a request.',
      remedy: 'Look at the volume’s status checks; replace the volume or the node.',
      origin: 'EKS',
      proof: 'fault',
      found: [
        'I/O error, dev loop0, sector 32768 op 0x0:(READ) flags 0x800 phys_seg 1 prio class 2',
        'Buffer I/O error on dev loop0, logical block 4096, async page read',
        'blk_update_request: I/O error, dev nvme1n1, sector 1234567',
        'end_request: I/O error, dev sdb, sector 99',
      ],
      ignored: ['Some other kernel message', 'nvme nvme0: I/O timeout, reset controller'],
    },
  },
  {
    reason: 'Ext4Error',
    condition,
    severity: 'Event',
    lines: [
      { source: 'kernel', pattern: '^EXT4-fs error \\(device (?<device>[^)]+)\\): (?<what>.*)' },
    ],
    message: 'ext4 on {device} reported an error: {what}',
    key: '{device}',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning: 'ext4 found inconsistent data on the disk.',
      remedy: 'Plan a file system check or a replacement of the node.',
      origin: 'node-problem-detector',
      proof: 'fault',
      found: ['EXT4-fs error (device loop0): trigger_test_error:129: comm bash: test'],
      ignored: ['EXT4-fs warning (device loop0): ext4_dx_add_entry: Directory index full!'],
    },
  },
  {
    reason: 'Ext4Warning',
    condition,
    severity: 'Event',
    lines: [
      { source: 'kernel', pattern: '^EXT4-fs warning \\(device (?<device>[^)]+)\\): (?<what>.*)' },
    ],
    message: 'ext4 on {device} reported a warning: {what}',
    key: '{device}',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning: 'ext4 reported a problem that it could handle.',
      remedy: 'Read the warning; often a directory is full or a check is due.',
      origin: 'node-problem-detector',
      proof: 'written',
      found: [
        'EXT4-fs warning (device nvme1n1): ext4_dx_add_entry:2461: Directory (ino: 2) index ' +
          'full, reach max htree level :2',
      ],
      ignored: ['EXT4-fs error (device loop0): trigger_test_error:129: comm bash: test'],
    },
  },
  {
    reason: 'IODelays',
    condition,
    severity: 'Event',
    check: 'pressure',
    limit: 40,
    message: 'All tasks waited for I/O in {percent}% of the last minute',
    key: 'io',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning: 'Pressure stall information shows that tasks were stalled by I/O (limit: percent).',
      remedy: 'Give the volumes more IOPS and throughput, or find what reads and writes.',
      origin: 'EKS',
      proof: 'written',
      found: [],
      ignored: [],
    },
  },
  {
    reason: 'KubeletDiskUsageSlow',
    condition,
    severity: 'Event',
    lines: [
      {
        source: 'kubelet',
        pattern: 'fs: disk usage and inodes count on following dirs took (?<time>[\\d.]+\\w+)',
      },
    ],
    message:
      'Kubelet is reporting slow disk usage, which may indicate a misconfigured filesystem ' +
      'or insufficient disk I/O',
    key: 'disk-usage',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning: 'The kubelet needed seconds to count the files of a directory.',
      remedy: 'Give the root volume more IOPS; look for directories with very many files.',
      origin: 'EKS',
      proof: 'recorded',
      found: ['fs: disk usage and inodes count on following dirs took 9.537338572s: [/var/lib]'],
      ignored: ['Starting to sync pod status with apiserver'],
    },
  },
  {
    reason: 'EtcHostsMountFailed',
    condition,
    severity: 'Event',
    lines: [
      {
        source: 'containerd',
        pattern: 'error mounting.*etc-hosts.*to rootfs.*/etc/hosts',
      },
      { source: 'kubelet', pattern: 'error mounting.*etc-hosts.*to rootfs.*/etc/hosts' },
    ],
    message: 'Mounting of the kubelet generated /etc/hosts failed',
    key: 'etc-hosts',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning: 'A container could not start: /var/lib/kubelet/pods was mounted anew below it.',
      remedy: 'Mount /var/lib/kubelet before the kubelet starts.',
      origin: 'EKS',
      proof: 'recorded',
      found: [
        'error mounting "/var/lib/kubelet/pods/c02d/etc-hosts" to rootfs at "/etc/hosts": ' +
          'no such file',
      ],
      ignored: ['error mounting "/var/lib/x" to rootfs at "/data"'],
    },
  },
  {
    reason: 'XFSSmallAverageClusterSize',
    condition,
    severity: 'Event',
    check: 'xfs',
    limit: 16,
    message:
      'The XFS Average Cluster size is small, which may prevent new files from being ' +
      'created due to free space fragmentation: {size} blocks on {device}',
    key: '{device}',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning: 'The free extents of an XFS file system are smaller than the limit (blocks).',
      remedy: 'Free space on the file system or replace the node.',
      origin: 'EKS',
      proof: 'written',
      found: [],
      ignored: [],
    },
  },
  ebs('EBSVolumeIOPSExceeded', 'configured IOPS', 'A volume was held to its IOPS'),
  ebs(
    'EBSVolumeThroughputExceeded',
    'configured throughput',
    'A volume was held to its throughput',
  ),
  ebs('EBSInstanceIOPSExceeded', 'instance IOPS', 'An instance was held to its IOPS for EBS'),
  ebs(
    'EBSInstanceThroughputExceeded',
    'instance throughput',
    'An instance was held to its throughput for EBS',
  ),
];
