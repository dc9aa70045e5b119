// The content of a bundle, as data: files and programs of the node, each with its entry name.
// Nothing here changes the node, except the family's own collector, which writes an archive.

export interface FileCollector {
  readonly kind: 'file';
  readonly name: string;
  readonly path: string;
}

export interface ProgramCollector {
  readonly kind: 'program';
  readonly name: string;
  readonly words: readonly [string, ...string[]];
  readonly timeoutMs?: number;
}

/** A program that writes an archive, which is added to the bundle unchanged. */
export interface ArchiveCollector {
  readonly kind: 'archive';
  readonly name: string;
  readonly words: readonly [string, ...string[]];
  readonly path: string;
  readonly timeoutMs: number;
}

export type Collector = FileCollector | ProgramCollector | ArchiveCollector;

const file = (path: string): FileCollector => ({
  kind: 'file',
  name: `files${path}`,
  path,
});

const program = (name: string, ...words: [string, ...string[]]): ProgramCollector => ({
  kind: 'program',
  name: `commands/${name}.txt`,
  words,
});

export const collectors: readonly Collector[] = [
  program('dmesg', 'dmesg', '--ctime'),
  program('journal-kubelet', 'journalctl', '-u', 'kubelet', '-n', '20000', '--no-pager'),
  program('journal-containerd', 'journalctl', '-u', 'containerd', '-n', '20000', '--no-pager'),
  program('journal-warnings', 'journalctl', '-p', 'warning', '-n', '5000', '--no-pager'),
  program('units', 'systemctl', 'list-units', '--all', '--no-pager'),
  program('kubelet-unit', 'systemctl', 'cat', 'kubelet', '--no-pager'),
  program('processes', 'ps', 'auxww'),
  program('memory', 'free', '-m'),
  program('disks', 'df', '-hT'),
  program('inodes', 'df', '-i'),
  program('block-devices', 'lsblk'),
  program('mounts', 'findmnt'),
  program('addresses', 'ip', 'address'),
  program('links', 'ip', '-s', 'link'),
  program('rules', 'ip', 'rule'),
  program('routes', 'ip', 'route', 'show', 'table', 'all'),
  program('sockets', 'ss', '-s'),
  program('iptables', 'iptables-save'),
  program('ip6tables', 'ip6tables-save'),
  program('nftables', 'nft', 'list', 'ruleset'),
  program('containers', 'crictl', 'ps', '-a'),
  program('images', 'crictl', 'images'),
  program('containerd-config', 'containerd', 'config', 'dump'),
  program('nvidia', 'nvidia-smi', '-q'),
  program('sysctls', 'sysctl', '-a'),
  file('/etc/os-release'),
  file('/proc/version'),
  file('/proc/uptime'),
  file('/proc/meminfo'),
  file('/proc/loadavg'),
  file('/proc/pressure/cpu'),
  file('/proc/pressure/io'),
  file('/proc/pressure/memory'),
  file('/proc/sys/fs/file-nr'),
  file('/proc/sys/net/netfilter/nf_conntrack_count'),
  file('/etc/kubernetes/kubelet/config.json'),
  file('/var/lib/kubelet/config.yaml'),
  file('/etc/containerd/config.toml'),
  file('/etc/resolv.conf'),
  file('/etc/cni/net.d/10-aws.conflist'),
  file('/var/log/aws-routed-eni/ipamd.log'),
  file('/var/log/cloud-init-output.log'),
];

/** By ID of /etc/os-release: the collectors that the family's vendor provides. */
export const familyCollectors: Readonly<Record<string, readonly Collector[]>> = {
  // logdog needs the host's root permissions; sheltie is that shell in the admin container.
  bottlerocket: [
    {
      kind: 'archive',
      name: 'bottlerocket-logs.tar.gz',
      words: ['apiclient', 'exec', 'admin', 'sheltie', 'logdog'],
      path: '/var/log/support/bottlerocket-logs.tar.gz',
      timeoutMs: 120_000,
    },
  ],
};
