// Checks interfaces, sysctls and routes, and network devices' counters of exceeded limits.
import {
  parseInterfaceCounters,
  parsePodAddresses,
  parseRouteRules,
  parseRoutes,
} from '../../formats/node-health/index.ts';
import type { NodeHost } from '../../ports/index.ts';
import {
  type Check,
  type CheckContext,
  limitOf,
  listIfThere,
  matchesAny,
  outputText,
  type Results,
  readIfThere,
  readOrLack,
  runProgram,
  whyNoOutput,
} from './check.ts';
import { hasVpcCni } from './processes.ts';

const net = '/sys/class/net';
/** IFF_UP, IFF_BROADCAST, IFF_MULTICAST of netdevice(7). */
const flag = { up: 0x1, broadcast: 0x2, multicast: 0x1000 } as const;
/** ARPHRD_LOOPBACK */
const loopbackType = '772';
/** Host ends of pods' interfaces: they lose their carrier whenever a pod ends. */
const ofPods = ['veth*', 'cali*', 'eni*', 'lxc*'];

const field = async (host: NodeHost, device: string, name: string): Promise<string> =>
  ((await readIfThere(host, `${net}/${device}/${name}`)) ?? '').trim();

export const links: Check = {
  name: 'links',
  title: 'network interfaces that are down',
  look: async (context, results) => {
    const { host } = context;
    const devices = await listIfThere(host, net);
    if (devices.length === 0) {
      results.lacks(
        ['InterfaceNotUp', 'InterfaceNotRunning', 'MissingLoopbackInterface'],
        `${net} cannot be read`,
      );
      return;
    }
    const allow = context.rule('InterfaceNotUp')?.allow ?? [];
    let hasLoopback = false;
    for (const device of devices) {
      if ((await field(host, device, 'type')) === loopbackType) {
        hasLoopback = true;
        continue;
      }
      const flags = Number(await field(host, device, 'flags'));
      const isOrdinary = (flags & flag.broadcast) !== 0 && (flags & flag.multicast) !== 0;
      if (!isOrdinary || matchesAny(allow, device)) continue;
      const address = await field(host, device, 'address');
      const state = await field(host, device, 'operstate');
      if ((flags & flag.up) === 0) results.found('InterfaceNotUp', { device, address });
      else if (/^(?:down|lowerlayerdown|notpresent)$/.test(state) && !matchesAny(ofPods, device)) {
        results.found('InterfaceNotRunning', { device, address });
      }
    }
    results.saw(`${devices.length} interfaces`);
    if (!hasLoopback) results.found('MissingLoopbackInterface');
  },
};

export const sysctls: Check = {
  name: 'sysctls',
  title: 'net.ipv4.ip_forward',
  look: async (context, results) => {
    const path = '/proc/sys/net/ipv4/ip_forward';
    const text = await readOrLack(context, results, path, ['NetworkSysctl']);
    if (text === undefined) return;
    const value = text.trim();
    results.saw(`net.ipv4.ip_forward is ${value}`);
    if (value !== '1') results.found('NetworkSysctl', { name: 'net.ipv4.ip_forward', value });
  },
};

const routeReasons = ['MissingIPRules', 'MissingIPRoutes', 'MissingDefaultRoutes'];
/** The VPC CNI's rules to pods, and from pods to the tables of their network interfaces. */
const priority = { toPod: 512, fromPod: 1536 } as const;

export const routes: Check = {
  name: 'routes',
  title: 'routes and rules of the VPC CNI',
  look: async (context, results) => {
    const { host } = context;
    if (!(await hasVpcCni(host))) return results.saw('no VPC CNI');
    const checkpoint =
      (await readIfThere(host, '/var/run/aws-node/ipam.json')) ??
      (await readIfThere(host, '/run/aws-node/ipam.json'));
    if (checkpoint === undefined) return results.lacks(routeReasons, 'no checkpoint of ipamd');
    const outcomes = {
      rules: await runProgram(context, 'ip', ['-j', 'rule']),
      routes: await runProgram(context, 'ip', ['-j', 'route', 'show', 'table', 'all']),
    };
    const why = whyNoOutput('ip', outcomes.rules) ?? whyNoOutput('ip', outcomes.routes);
    const rules = parseRouteRules(outputText(outcomes.rules));
    const known = parseRoutes(outputText(outcomes.routes));
    if (why !== undefined || rules === undefined || known === undefined) {
      return results.lacks(routeReasons, why ?? 'ip prints no JSON');
    }
    const addresses = parsePodAddresses(checkpoint);
    results.saw(`${addresses.length} addresses of pods`);
    for (const address of addresses) {
      const isLedTo = rules.some(
        (one) => one.priority === priority.toPod && one.destination === address,
      );
      if (!isLedTo) results.found('MissingIPRules', { address });
      const isRouted = known.some(
        ({ destination, table }) => table === 'main' && destination === address,
      );
      if (!isRouted) results.found('MissingIPRoutes', { address });
    }
    const tables = new Set(
      rules.flatMap((one) => (one.priority === priority.fromPod ? [one.table] : [])),
    );
    for (const table of tables) {
      const hasDefault = known.some((one) => one.table === table && one.destination === 'default');
      if (table !== 'main' && !hasDefault) results.found('MissingDefaultRoutes', { table });
    }
  },
};

const allowances: readonly (readonly [counter: string, reason: string, limit: number])[] = [
  ['bw_in_allowance_exceeded', 'BandwidthInExceeded', 180],
  ['bw_out_allowance_exceeded', 'BandwidthOutExceeded', 100],
  ['pps_allowance_exceeded', 'PPSExceeded', 320],
  ['conntrack_allowance_exceeded', 'ConntrackExceeded', 100],
  ['linklocal_allowance_exceeded', 'LinkLocalExceeded', 100],
];
const allowanceMs = 600_000;

interface Reading {
  readonly at: number;
  readonly value: number;
}

/** Growth of a counter since the previous look, per `perMs`; undefined at the first look. */
const createGrowth = () => {
  const before = new Map<string, Reading>();
  return (key: string, now: Reading, perMs: number) => {
    const earlier = before.get(key);
    before.set(key, now);
    if (earlier === undefined || now.value < earlier.value || now.at <= earlier.at)
      return undefined;
    const grown = now.value - earlier.value;
    return {
      before: earlier.value,
      after: now.value,
      rate: (grown * perMs) / (now.at - earlier.at),
    };
  };
};

export const createNetworkLimits = (): Check => {
  const growth = createGrowth();
  const compare = (context: CheckContext, results: Results, device: string, text: string): void => {
    const counters = parseInterfaceCounters(text);
    for (const [counter, reason, otherwise] of allowances) {
      const value = counters.get(counter);
      if (value === undefined) continue;
      const grown = growth(`${device} ${counter}`, { at: context.now, value }, allowanceMs);
      if (grown === undefined || grown.rate <= limitOf(context, reason, otherwise)) continue;
      results.found(reason, { device, before: grown.before, after: grown.after });
    }
  };
  return {
    name: 'network-limits',
    title: 'limits of the instance’s network (ENA)',
    look: async (context, results) => {
      const { host } = context;
      const devices: string[] = [];
      for (const device of await listIfThere(host, net)) {
        const isHardware = (await listIfThere(host, `${net}/${device}/device`)).length > 0;
        if (isHardware) devices.push(device);
      }
      if (devices.length === 0) return results.saw('no network device of hardware');
      for (const device of devices) {
        const outcome = await runProgram(context, 'ethtool', ['-S', device]);
        if (outcome.kind === 'missing') {
          results.lacks(
            allowances.map(([, reason]) => reason),
            'ethtool is not installed',
          );
          return;
        }
        // ethtool fails for a device without counters: nothing to check.
        compare(context, results, device, outputText(outcome));
        results.saw(`${device} read`);
      }
    },
  };
};

const infiniband = '/sys/class/infiniband';
const efaCounters: ReadonlySet<string> = new Set([
  'rx_drops',
  'rdma_write_wr_err',
  'rdma_read_wr_err',
  'unresponsive_remote_events',
  'impaired_remote_conn_events',
  'retrans_bytes',
  'retrans_pkts',
  'retrans_timeout_events',
]);

export const createEfa = (): Check => {
  const growth = createGrowth();
  return {
    name: 'efa',
    title: 'error counters of EFA devices',
    look: async (context, results) => {
      const { host, now } = context;
      const devices = await listIfThere(host, infiniband);
      if (devices.length === 0) return results.saw('no EFA device');
      for (const name of devices) {
        for (const port of await listIfThere(host, `${infiniband}/${name}/ports`)) {
          const directory = `${infiniband}/${name}/ports/${port}/hw_counters`;
          for (const counter of await listIfThere(host, directory)) {
            if (!efaCounters.has(counter)) continue;
            const value = Number(await readIfThere(host, `${directory}/${counter}`));
            if (!Number.isFinite(value)) continue;
            const device = `${name}:${port}`;
            const grown = growth(`${device} ${counter}`, { at: now, value }, 1000);
            if (grown === undefined || grown.rate < limitOf(context, 'EFAErrorMetric', 100))
              continue;
            const { before, after } = grown;
            results.found('EFAErrorMetric', { counter, device, before, after });
          }
        }
        results.saw(`${name} read`);
      }
    },
  };
};

/** The first one that exists applies, as in systemd.link(5). */
const linkFiles = ['/etc', '/run', '/usr/lib', '/lib'].map(
  (directory) => `${directory}/systemd/network/99-default.link`,
);

export const macAddressPolicy: Check = {
  name: 'mac-address-policy',
  title: 'MACAddressPolicy of systemd on Ubuntu',
  look: async ({ host }, results) => {
    const release = (await readIfThere(host, '/etc/os-release')) ?? '';
    const isUbuntu = /^ID=ubuntu$/m.test(release);
    if (!isUbuntu || !(await hasVpcCni(host))) return results.saw('no Ubuntu with the VPC CNI');
    for (const file of linkFiles) {
      const text = await readIfThere(host, file);
      if (text === undefined) continue;
      const value = /^MACAddressPolicy=(.*)$/m.exec(text)?.[1]?.trim();
      results.saw(`MACAddressPolicy is ${value ?? 'not set'} in ${file}`);
      if (value !== undefined && value !== 'none') {
        results.found('MACAddressPolicyMisconfigured', { file, value });
      }
      return;
    }
  },
};
