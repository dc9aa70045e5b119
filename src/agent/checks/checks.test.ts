// What each check finds on a node, what it reports as seen, and what it does without permission or
// support.
import { beforeEach, describe, expect, it } from 'vitest';
import { ended, MemoryHost } from '../../../test/builders/node-host.ts';
import { epochMs } from '../../api/brand.ts';
import { catalogue } from '../rules/catalogue.ts';
import { matchesAny } from './check.ts';
import { createChecks, type LookResult, Results } from './index.ts';

const start = Date.UTC(2026, 0, 1);
let host: MemoryHost;
let checks: ReturnType<typeof createChecks>;
beforeEach(() => {
  host = new MemoryHost();
  checks = createChecks();
});

const look = async (name: string, minutes = 0): Promise<LookResult> => {
  const check = checks.find((one) => one.name === name);
  if (check === undefined) throw new Error(`no check ${name}`);
  const results = new Results();
  const rule = (reason: string) => catalogue.find((one) => one.reason === reason);
  const now = epochMs(start + minutes * 60_000);
  await check.look({ host, now, signal: new AbortController().signal, rule }, results);
  return results.end();
};
const found = async (name: string, minutes = 0): Promise<readonly string[]> =>
  (await look(name, minutes)).found.map(({ reason, facts }) =>
    `${reason} ${Object.entries(facts)
      .map(([key, value]) => `${key}=${value}`)
      .join(' ')}`.trim(),
  );
const file = (path: string, text: string): void => void host.files.set(path, text);

describe('a healthy node', () => {
  it('has no findings in any check', async () => {
    for (const { name } of checks) expect(await found(name), name).toEqual([]);
  });

  it('lacks only what is not installed there', async () => {
    const lacks: string[] = [];
    for (const { name } of checks) lacks.push(...(await look(name)).lacks.map(({ why }) => why));
    expect(lacks).toEqual([]);
  });
});

describe('a node on which nothing may be read', () => {
  it('has no findings of what it hides, and says what is lacking', async () => {
    host.files.clear();
    host.programs.clear();
    for (const { name } of checks) {
      const result = await look(name);
      // Reports neither a kubelet nor an interface that does not exist.
      expect(
        result.found.map(({ reason }) => reason),
        name,
      ).toEqual([]);
      expect(result.lacks.length + result.saw.length, name).toBeGreaterThan(0);
    }
  });

  it('is not taken for healthy where reading is refused', async () => {
    host.broken.set('/proc/sys/fs/file-nr', 'denied');
    const { lacks, found: none } = await look('open-files');
    expect(none).toEqual([]);
    expect(lacks).toEqual([
      {
        reasons: ['ApproachingMaxOpenFiles'],
        why: 'read /proc/sys/fs/file-nr: the agent lacks the right to',
      },
    ]);
  });
});

describe('processes', () => {
  const zombies = (count: number): void => {
    for (let pid = 100; pid < 100 + count; pid++) file(`/proc/${pid}/stat`, `${pid} (a) b) Z 1`);
  };

  it('that nobody collects are counted', async () => {
    zombies(19);
    expect(await found('processes')).toEqual([]);
    zombies(25);
    expect(await found('processes')).toEqual(['ExcessiveZombieProcesses count=25']);
  });

  it('with large environments are named, but not those that may block the reader', async () => {
    file('/proc/7/stat', '7 (java) S 1');
    file('/proc/7/environ', 'A=1\0'.repeat(1001));
    file('/proc/8/stat', '8 (stuck) D 1');
    host.broken.set('/proc/8/environ', 'failed');
    file('/proc/8/environ', 'A=1\0'.repeat(1001));
    expect(await found('processes')).toEqual(['LargeEnvironment pid=7 count=1001']);
  });

  it('near the smaller limit of threads are told', async () => {
    file('/proc/loadavg', '0 0 0 1/22938 1');
    expect(await found('processes')).toEqual([
      'ApproachingKernelPidMax count=22938 max=32768 percent=70.0',
    ]);
    file('/proc/loadavg', '0 0 0 1/22000 1');
    expect(await found('processes')).toEqual([]);
  });

  it('of the VPC CNI are missed only where it is the CNI', async () => {
    file('/etc/cni/net.d/10-aws.conflist', '{}');
    expect(await found('processes')).toEqual(['IPAMDNotRunning']);
    file('/proc/9/stat', '9 (aws-k8s-agent) S 1');
    expect(await found('processes')).toEqual([]);
  });
});

describe('the kernel’s own numbers', () => {
  it('of connections are compared whether or not the kernel says a word', async () => {
    expect((await look('conntrack')).saw).toEqual(['no connections are tracked']);
    file('/proc/sys/net/netfilter/nf_conntrack_count', '262138\n');
    file('/proc/sys/net/netfilter/nf_conntrack_max', '262144\n');
    expect(await found('conntrack')).toEqual([
      'ConntrackExceededKernel detail=: 262138 of 262144 connections',
    ]);
    file('/proc/sys/net/netfilter/nf_conntrack_count', String(Math.floor(262144 * 0.89)));
    expect(await found('conntrack')).toEqual([]);
  });

  it('of open files, stalls and compressed swap', async () => {
    file('/proc/sys/fs/file-nr', '70000\t0\t100000\n');
    expect(await found('open-files')).toEqual([
      'ApproachingMaxOpenFiles count=70000 max=100000 percent=70.0',
    ]);
    file('/proc/pressure/io', 'full avg10=9.00 avg60=55.10 avg300=1.00 total=9\n');
    file('/proc/pressure/memory', 'full avg10=9.00 avg60=21.00 avg300=1.00 total=9\n');
    expect(await found('pressure')).toEqual(['IODelays percent=55.1', 'MemoryStalls percent=21']);
    file('/sys/block/zram0/mm_stat', '  20000000 1 1\n');
    file('/sys/block/zram0/disksize', '100000000\n');
    expect(await found('zram')).toEqual(['ZramHighUsage device=zram0 percent=20.0']);
  });

  it.each([
    ['timedatectl', 'no\n', ['ClockUnsynchronized']],
    ['timedatectl', 'yes\n', []],
    ['busybox', '    mode:         0\n    status:       64 (UNSYNC)\n', ['ClockUnsynchronized']],
    ['busybox', '    status:       8193 (PLL)\n', []],
    ['adjtimex', '         mode: 0\n       status: 64\n', ['ClockUnsynchronized']],
    ['chronyc', 'Leap status     : Not synchronised\n', ['ClockUnsynchronized']],
    ['chronyc', 'Leap status     : Normal\n', []],
  ])('of the clock as %s tells them', async (program, output, reasons) => {
    host.programs.delete('timedatectl');
    host.programs.set(program, ended(output));
    expect(await found('clock')).toEqual(reasons);
  });

  it('of the clock are lacking where no program tells them', async () => {
    host.programs.set('timedatectl', ended('', 1, 'System has not been booted with systemd'));
    const { found: none, lacks } = await look('clock');
    expect(none).toEqual([]);
    expect(lacks[0]?.reasons).toEqual(['ClockUnsynchronized']);
  });
});

describe('file systems', () => {
  const mountinfo = (...lines: string[]): void => file('/proc/1/mountinfo', lines.join('\n'));

  it.each([
    ['rw', 'rw', []],
    ['rw', 'rw,emergency_ro,errors=remount-ro', ['ReadonlyFilesystem device=nvme1n1']],
    ['rw', 'ro', ['ReadonlyFilesystem device=nvme1n1']],
    // Intentionally mounted read-only, and a read-only bind mount.
    ['ro', 'ro', []],
    ['ro', 'rw', []],
  ])('mounted %s on one that is %s', async (options, superOptions, expected) => {
    mountinfo(`30 1 259:1 / /data ${options} - ext4 /dev/nvme1n1 ${superOptions}`);
    expect(await found('mounts')).toEqual(expected);
  });

  it('of the kubelet that accept no writes are found by writing', async () => {
    host.probes.set('/var/lib/kubelet', 'read-only');
    host.probes.set('/var/log', 'written');
    expect(await found('mounts')).toEqual([
      'ReadonlyFilesystem device=/var/lib/kubelet detail=: a file cannot be written in /var/lib/kubelet',
    ]);
  });

  it('of XFS that are shut down answer with errors', async () => {
    mountinfo('30 1 259:1 / /data rw - xfs /dev/nvme1n1 rw');
    host.broken.set('/data', 'failed');
    expect(await found('mounts')).toEqual(['XfsShutdown device=nvme1n1']);
    host.broken.set('/data', 'denied');
    expect(await found('mounts')).toEqual([]);
  });

  it('of XFS with small free extents', async () => {
    mountinfo('30 1 259:1 / /data rw - xfs /dev/nvme1n1 rw');
    host.programs.set('xfs_db', ended('total free extents 9\naverage free extent size 7.5\n'));
    expect(await found('xfs')).toEqual(['XFSSmallAverageClusterSize device=nvme1n1 size=7.5']);
    host.programs.delete('xfs_db');
    expect((await look('xfs')).lacks[0]?.why).toBe('xfs_db is not installed');
  });

  it('on EBS volumes that were held to their limits since the last look', async () => {
    file('/sys/class/nvme/nvme1/model', 'Amazon Elastic Block Store              \n');
    file('/sys/class/nvme/nvme1/serial', 'vol0abc\n');
    const page = (micros: bigint): void => {
      const bytes = new Uint8Array(96);
      const view = new DataView(bytes.buffer);
      view.setUint32(0, 0x3c23b510, true);
      view.setBigUint64(56, micros, true);
      host.programs.set('nvme', ended(bytes));
    };
    page(9_000_000n);
    expect(await found('ebs')).toEqual([]);
    page(9_900_000n);
    expect(await found('ebs', 5)).toEqual([]);
    page(13_000_000n);
    expect(await found('ebs', 10)).toEqual(['EBSVolumeIOPSExceeded volume=vol-0abc time=3.1s']);
    host.programs.delete('nvme');
    expect((await look('ebs')).lacks[0]?.why).toBe('nvme is not installed');
  });
});

describe('the runtime', () => {
  const units = (restarts: number, active = 'active'): void =>
    void host.programs.set(
      'systemctl',
      ended(`Id=kubelet.service\nActiveState=${active}\nNRestarts=${restarts}\n`),
    );

  it('whose units restart is told once they go on', async () => {
    units(7);
    expect(await found('units')).toEqual([]);
    expect(await found('units', 5)).toEqual([]);
    units(8);
    expect(await found('units', 10)).toEqual([
      '{unit}RepeatedRestart unit=kubelet before=7 after=8',
    ]);
  });

  it('whose kubelet failed, or whose fabric manager does not run', async () => {
    units(0, 'failed');
    expect(await found('units')).toEqual(['KubeletFailed']);
    units(0);
    file('/dev/nvidia-nvswitch0', '');
    expect(await found('units')).toEqual(['FabricManagerNotRunning active=not there']);
  });

  it('without systemd is said to be so', async () => {
    host.programs.set('systemctl', ended('', 1, 'Failed to connect to bus: Host is down'));
    expect((await look('units')).lacks[0]?.why).toBe(
      'systemctl ended with 1: Failed to connect to bus: Host is down',
    );
  });

  it('whose kubelet does not answer, once there was one', async () => {
    host.health = undefined;
    expect(await found('kubelet')).toEqual([]);
    file('/var/lib/kubelet/config.yaml', '');
    expect(await found('kubelet')).toEqual([
      'KubeletUnhealthy detail=GET http://127.0.0.1:10248/healthz: nothing answers',
    ]);
    host.health = { status: 500, body: 'syncloop failed\nmore' };
    expect(await found('kubelet')).toEqual(['KubeletUnhealthy detail=500 syncloop failed']);
  });

  it('whose containerd does not answer', async () => {
    expect(await found('containerd')).toEqual([]);
    file('/run/containerd/containerd.sock', '');
    expect((await look('containerd')).lacks[0]?.why).toBe('ctr is not installed');
    host.programs.set('ctr', { kind: 'late' });
    expect(await found('containerd')).toEqual([
      'ContainerRuntimeUnhealthy detail=ctr version does not end',
    ]);
    host.files.delete('/run/containerd/containerd.sock');
    expect(await found('containerd')).toEqual([
      'ContainerRuntimeUnhealthy detail=/run/containerd/containerd.sock is gone',
    ]);
  });

  it('that was asked for something deprecated within the hour', async () => {
    file('/run/containerd/containerd.sock', '');
    const one = (id: string, lastOccurrence: string) => ({ id, lastOccurrence, message: 'use v2' });
    const list = [one('new', '2025-12-31T23:30:00Z'), one('old', '2025-12-31T12:00:00Z'), 7];
    host.programs.set('ctr deprecations list --format=json', ended(JSON.stringify(list)));
    expect(await found('containerd-deprecations')).toEqual([
      'DeprecatedContainerdConfiguration id=new detail=use v2',
    ]);
  });
});

describe('interfaces', () => {
  it('that are down or without carrier are told, but none on the allow list', async () => {
    file('/sys/class/net/ens5/flags', '0x1002\n');
    expect(await found('links')).toEqual(['InterfaceNotUp device=ens5 address=06:00:00:00:00:01']);
    file('/sys/class/net/ens5/flags', '0x1003\n');
    file('/sys/class/net/ens5/operstate', 'lowerlayerdown\n');
    expect(await found('links')).toEqual([
      'InterfaceNotRunning device=ens5 address=06:00:00:00:00:01',
    ]);
    file('/sys/class/net/ens5/operstate', 'up\n');
    for (const device of ['docker0', 'ibp1', 'dummy0']) {
      file(`/sys/class/net/${device}/type`, '1');
      file(`/sys/class/net/${device}/flags`, '0x1002');
    }
    file('/sys/class/net/tun0/flags', '0x90');
    expect(await found('links')).toEqual([]);
  });

  it('of pods may lose their carrier', async () => {
    file('/sys/class/net/veth1/flags', '0x1003');
    file('/sys/class/net/veth1/operstate', 'lowerlayerdown');
    expect(await found('links')).toEqual([]);
  });

  it('without a loopback', async () => {
    host.files.delete('/sys/class/net/lo/type');
    host.files.delete('/sys/class/net/lo/flags');
    expect(await found('links')).toEqual(['MissingLoopbackInterface']);
  });

  it('of ENA whose allowances were exceeded at a rate', async () => {
    file('/sys/class/net/ens5/device/vendor', '0x1d0f');
    const stats = (count: number): void =>
      void host.programs.set(
        'ethtool',
        ended(`NIC statistics:\n     pps_allowance_exceeded: ${count}\n`),
      );
    stats(1000);
    expect(await found('network-limits')).toEqual([]);
    stats(1100);
    expect(await found('network-limits', 10)).toEqual([]);
    stats(1500);
    expect(await found('network-limits', 20)).toEqual([
      'PPSExceeded device=ens5 before=1100 after=1500',
    ]);
    // Twice the time with the same count: within the rate.
    stats(1900);
    expect(await found('network-limits', 40)).toEqual([]);
  });

  it('of EFA whose error counters grow', async () => {
    const path = '/sys/class/infiniband/rdmap0s6/ports/1/hw_counters/rx_drops';
    file(path, '10\n');
    expect(await found('efa')).toEqual([]);
    file(path, '60010\n');
    expect(await found('efa', 1)).toEqual([
      'EFAErrorMetric counter=rx_drops device=rdmap0s6:1 before=10 after=60010',
    ]);
  });
});

describe('the packet filter', () => {
  const drop = '-A OUTPUT -d 169.254.169.254/32 -p tcp -j DROP';
  const saved = (...rules: string[]) =>
    ended(`*filter\n:INPUT ACCEPT [0:0]\n${rules.join('\n')}\nCOMMIT\n`);
  const nft = (table: string, family = 'inet') =>
    ended(
      JSON.stringify({
        nftables: [{ rule: { family, table, chain: 'c', expr: [{ drop: null }] } }],
      }),
    );
  const rules = async (): Promise<readonly string[]> =>
    (await look('packet-filter')).found.map(({ reason, facts }) => `${reason} ${facts.rule ?? ''}`);

  it('is read in both backends of iptables', async () => {
    host.programs.set('iptables-nft-save', saved(drop));
    expect(await rules()).toEqual([`UnexpectedRejectRule ${drop}`]);
    host.programs.set('iptables-nft-save', saved());
    host.programs.set('iptables-legacy-save', saved(drop));
    expect(await rules()).toEqual([]);
    file('/proc/net/ip_tables_names', 'filter\n');
    expect(await rules()).toEqual([`UnexpectedRejectRule ${drop}`]);
  });

  it('is not asked in the legacy backend where it has no tables', async () => {
    host.programs.set('iptables-legacy-save', saved(drop));
    file('/proc/net/ip_tables_names', '');
    expect(await rules()).toEqual([]);
    expect(host.ran).not.toContain('iptables-legacy-save');
  });

  it('is read in IPv6, by policies, and in native nftables', async () => {
    host.programs.set('ip6tables-nft-save', saved('-A INPUT -j REJECT'));
    host.programs.set('iptables-nft-save', ended('*filter\n:INPUT DROP [0:0]\nCOMMIT\n'));
    host.programs.set('nft', nft('mine'));
    expect(await rules()).toEqual([
      'UnexpectedRejectRule :INPUT DROP',
      'UnexpectedRejectRule -A INPUT -j REJECT',
      'UnexpectedRejectRule inet mine c: drop',
    ]);
  });

  it('tells rules of iptables once, though nft lists them too', async () => {
    host.programs.set('iptables-nft-save', saved(drop));
    host.programs.set('nft', nft('filter', 'ip'));
    expect(await rules()).toEqual([`UnexpectedRejectRule ${drop}`]);
    host.programs.set('iptables-nft-save', ended('', 1, 'table `filter` is incompatible'));
    expect(await rules()).toEqual(['UnexpectedRejectRule ip filter c: drop']);
  });

  it.each([
    '-A KUBE-FORWARD -m conntrack --ctstate INVALID -m nfacct --nfacct-name ct_state_invalid_dropped_pkts -j DROP',
    '-A KUBE-IPVS-FILTER -m set --match-set KUBE-LOAD-BALANCER dst,dst -j REJECT --reject-with icmp-port-unreachable',
    '-A cali-tw-eni59dda123e85 -m comment --comment "cali:x" -m comment --comment "Drop if no profiles matched" -j DROP',
    '-A FORWARD -d 169.254.172.0/22 -m comment --comment "Block Node Local Pod access via IPv4" -j REJECT --reject-with icmp-port-unreachable',
    '-A KUBE-FIREWALL ! -s 127.0.0.0/8 -d 127.0.0.0/8 -m comment --comment "block incoming localnet connections" -j DROP',
  ])('expects %s', async (rule) => {
    host.programs.set('iptables-nft-save', saved(rule));
    expect(await rules()).toEqual([]);
  });

  it('takes an allow entry for its table alone, and a malformed one for nothing', async () => {
    const rule = '-A MY-CUSTOM-CHAIN -j DROP';
    const results = new Results();
    const check = checks.find(({ name }) => name === 'packet-filter');
    host.programs.set(
      'iptables-nft-save',
      ended(`*filter\n${rule}\nCOMMIT\n*raw\n${rule}\nCOMMIT\n`),
    );
    const allow = ['filter/MY-CUSTOM-CHAIN', 'MY-CUSTOM-CHAIN', '*', '/', 'raw/'];
    const known = catalogue.find(({ reason }) => reason === 'UnexpectedRejectRule');
    const context = {
      host,
      now: epochMs(start),
      signal: new AbortController().signal,
      rule: () => (known === undefined ? undefined : { ...known, allow }),
    };
    await check?.look(context, results);
    expect(results.end().found).toHaveLength(1);
  });

  it('tells of ports of the kubelet that are redirected', async () => {
    const rule = '-A CNI-DN-1 -p tcp -m tcp --dport 10250 -j DNAT --to-destination 10.0.0.1:80';
    host.programs.set('iptables-nft-save', ended(`*nat\n${rule}\nCOMMIT\n`));
    expect(await found('packet-filter')).toEqual(['PortConflict port=10250']);
  });

  it('is lacking without tools, and where a tool fails', async () => {
    for (const name of ['iptables-nft-save', 'ip6tables-nft-save', 'nft'])
      host.programs.delete(name);
    expect((await look('packet-filter')).lacks[0]?.why).toBe(
      'neither iptables-save nor nft is installed',
    );
    host.programs.set('iptables-save', saved(drop));
    host.programs.set('ip6tables-save', ended('', 3, 'Permission denied'));
    const { lacks, found: some } = await look('packet-filter');
    expect(lacks[0]?.why).toBe('ip6tables-save ended with 3: Permission denied');
    expect(some).toHaveLength(1);
  });

  it('is bounded in what it tells', async () => {
    const many = Array.from({ length: 500 }, (_, n) => `-A INPUT -s 10.0.0.${n} -j DROP`);
    host.programs.set('iptables-nft-save', saved(...many));
    expect(await rules()).toHaveLength(20);
  });
});

describe('routing', () => {
  it('of pods is forwarded', async () => {
    file('/proc/sys/net/ipv4/ip_forward', '0\n');
    expect(await found('sysctls')).toEqual(['NetworkSysctl name=net.ipv4.ip_forward value=0']);
  });

  it('of the VPC CNI has a rule and a route for each pod, and a default route in each table', async () => {
    file('/etc/cni/net.d/10-aws.conflist', '{}');
    expect((await look('routes')).lacks[0]?.why).toBe('no checkpoint of ipamd');
    file(
      '/var/run/aws-node/ipam.json',
      '{"allocations":[{"ipv4":"10.0.0.5"},{"ipv4":"10.0.0.6"}]}',
    );
    const rules = [
      { priority: 512, dst: '10.0.0.5', table: 'main' },
      { priority: 1536, src: '10.0.0.6', table: '2' },
    ];
    host.programs.set('ip -j rule', ended(JSON.stringify(rules)));
    host.programs.set('ip -j route show table all', ended('[{"dst":"10.0.0.5"}]'));
    expect(await found('routes')).toEqual([
      'MissingIPRules address=10.0.0.6',
      'MissingIPRoutes address=10.0.0.6',
      'MissingDefaultRoutes table=2',
    ]);
  });

  it('of Ubuntu with the VPC CNI keeps the addresses of interfaces', async () => {
    file('/etc/cni/net.d/10-aws.conflist', '{}');
    file('/etc/os-release', 'NAME="Ubuntu"\nID=ubuntu\n');
    file('/usr/lib/systemd/network/99-default.link', '[Link]\nMACAddressPolicy=persistent\n');
    expect(await found('mac-address-policy')).toEqual([
      'MACAddressPolicyMisconfigured file=/usr/lib/systemd/network/99-default.link value=persistent',
    ]);
    file('/etc/systemd/network/99-default.link', '[Link]\nMACAddressPolicy=none\n');
    expect(await found('mac-address-policy')).toEqual([]);
  });
});

describe('patterns of allow lists', () => {
  it.each([
    ['filter/X', 'filter/X', true],
    ['filter/X', 'filter/XY', false],
    ['*/KUBE-*', 'nat/KUBE-SVC-1', true],
    ['*/KUBE-*', 'nat/MY-KUBE-', false],
    ['*', 'anything', true],
    ['a*b*c', 'a-b-c', true],
    ['a*b*c', 'a-c', false],
    ['a*a', 'a', false],
  ])('%s matches %s: %s', (pattern, text, isMatch) => {
    expect(matchesAny([pattern], text)).toBe(isMatch);
  });
});
