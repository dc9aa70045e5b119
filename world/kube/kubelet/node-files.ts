// The files and programs of a simulated Linux node that node agents read: those of a healthy node,
// changed by the active faults.
import type { ProgramOutcome } from '../../../src/ports/index.ts';
import type { Machine } from '../../contracts.ts';

export interface NodeCondition {
  readonly bootId: string;
  readonly uptimeSeconds: number;
  /** A rule drops packets to the instance metadata service. */
  readonly dropsMetadata: boolean;
  readonly isDataReadOnly: boolean;
  readonly isKubeletStopped: boolean;
}

const stalls = 'some avg10=0.00 avg60=0.00 avg300=0.00 total=1\nfull avg10=0.00 avg60=0.00 ';
const noStalls = `${stalls}avg300=0.00 total=1\n`;

/** Instance types with an NVIDIA device: `g4dn.xlarge`, `p5.48xlarge`. */
const hasGpu = ({ instanceType }: Machine): boolean => /^(?:g|gr|p)\d/.test(instanceType);

/** The root file system, and a volume for images and containers. */
const mounts = (isDataReadOnly: boolean): string => {
  const data = isDataReadOnly ? 'ro' : 'rw';
  return (
    '22 1 259:1 / / rw,noatime shared:1 - xfs /dev/nvme0n1p1 rw,attr2\n' +
    `40 22 259:2 / /var/lib/containerd rw,relatime shared:2 - ext4 /dev/nvme1n1 ${data}\n`
  );
};

export const filesOf = (machine: Machine, node: NodeCondition): ReadonlyMap<string, string> =>
  new Map([
    ['/proc/sys/kernel/random/boot_id', `${node.bootId}\n`],
    ['/proc/uptime', `${node.uptimeSeconds.toFixed(3)} 0.00\n`],
    ['/proc/loadavg', '0.10 0.20 0.30 1/200 4242\n'],
    ['/proc/sys/kernel/pid_max', '4194304\n'],
    ['/proc/sys/kernel/threads-max', `${machine.memoryMiB * 8}\n`],
    ['/proc/sys/fs/file-nr', '1600\t0\t9223372036854775807\n'],
    ['/proc/sys/net/ipv4/ip_forward', '1\n'],
    ['/proc/pressure/io', noStalls],
    ['/proc/pressure/memory', noStalls],
    ['/proc/1/mountinfo', mounts(node.isDataReadOnly)],
    ['/proc/1/stat', '1 (systemd) S 0 1\n'],
    ['/proc/1/environ', 'PATH=/bin\0'],
    ['/sys/class/net/lo/type', '772\n'],
    ['/sys/class/net/lo/flags', '0x9\n'],
    ['/sys/class/net/ens5/type', '1\n'],
    ['/sys/class/net/ens5/flags', '0x1003\n'],
    ['/sys/class/net/ens5/operstate', 'up\n'],
    ['/sys/class/net/ens5/address', '06:00:00:00:00:01\n'],
    ['/run/containerd/containerd.sock', ''],
    ['/var/lib/kubelet/kubeconfig', ''],
    ...(hasGpu(machine) ? [['/dev/nvidia0', ''] as const] : []),
  ]);

const chains = '*filter\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n';
/** The kubelet's own rule, present on every node. */
const localnet =
  '-A KUBE-FIREWALL ! -s 127.0.0.0/8 -d 127.0.0.0/8 -m comment --comment ' +
  '"block incoming localnet connections" -m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP';
/** The saved form of `iptables -I OUTPUT 1 -p tcp -d 169.254.169.254 -j DROP`. */
const dropsMetadata = '-A OUTPUT -d 169.254.169.254/32 -p tcp -j DROP\n';

const encoder = new TextEncoder();
const ended = (output: string): ProgramOutcome => ({
  kind: 'ended',
  code: 0,
  output: encoder.encode(output),
  errors: '',
  isCut: false,
});

const unit = (name: string, isActive: boolean): string =>
  `Id=${name}.service\nLoadState=loaded\nActiveState=${isActive ? 'active' : 'inactive'}\n` +
  'NRestarts=0\n';

/** Output of a program of the node; any other program does not exist. */
export const programOf = (program: string, node: NodeCondition): ProgramOutcome => {
  switch (program) {
    case 'timedatectl':
      return ended('yes\n');
    case 'iptables-nft-save':
      return ended(
        `${chains}:KUBE-FIREWALL - [0:0]\n${node.dropsMetadata ? dropsMetadata : ''}` +
          `${localnet}\nCOMMIT\n`,
      );
    case 'ip6tables-nft-save':
      return ended(`${chains}COMMIT\n`);
    case 'nft':
      return ended('{"nftables":[]}');
    case 'ctr':
      return ended('[]');
    case 'systemctl':
      return ended(`${unit('kubelet', !node.isKubeletStopped)}\n${unit('containerd', true)}`);
    default:
      return { kind: 'missing' };
  }
};
