// Rules of NetworkingReady: interfaces, the packet filter, routes, the VPC CNI, the instance's
// limits.
import type { HealthRule } from './rule.ts';

const condition = 'NetworkingReady';
const quietSeconds = 900;

/** A counter of the ENA driver: `ethtool -S`. */
const allowance = (
  reason: string,
  counter: string,
  limit: number,
  meaning: string,
): HealthRule => ({
  reason,
  condition,
  severity: 'Event',
  check: 'network-limits',
  limit,
  message: `${counter} increased on interface "{device}" from {before} to {after}`,
  key: '{device}',
  clearAfterSeconds: quietSeconds,
  text: {
    meaning: `${meaning} The counter ${counter} grew by more than the limit in ten minutes.`,
    remedy: 'Choose a larger instance type, or spread the traffic.',
    origin: 'EKS',
    proof: 'written',
    found: [],
    ignored: [],
  },
});

const byLooking = { proof: 'written', found: [], ignored: [] } as const;
const byFault = { proof: 'fault', found: [], ignored: [] } as const;

export const networkingRules: readonly HealthRule[] = [
  {
    reason: 'InterfaceNotUp',
    condition,
    severity: 'Condition',
    check: 'links',
    threshold: { count: 2, withinSeconds: 900 },
    allow: [
      'docker*',
      'gre*',
      'erspan*',
      'tunl*',
      'sit*',
      'ip6tnl*',
      'ip6_vti*',
      'ib*',
      'dummy*',
      'nodelocaldns*',
      'kube-ipvs*',
      'kube-bridge*',
    ],
    message: 'Interface Name: "{device}", MAC: "{address}" is not up',
    key: '{device}',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning:
        'Two checks, at least a minute apart, found an interface of the node down. Names that ' +
        'the allow list matches (`*` stands for any text) are not checked, and neither are interfaces without broadcast and multicast.',
      remedy: 'Bring it up, `ip link set DEVICE up`, or put its name on the allow list.',
      origin: 'EKS',
      ...byFault,
    },
  },
  {
    reason: 'InterfaceNotRunning',
    condition,
    severity: 'Condition',
    check: 'links',
    threshold: { count: 2, withinSeconds: 900 },
    message: 'Interface Name: "{device}", MAC: "{address}" is not running',
    key: '{device}',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning:
        'Two checks in a row found an interface that is up but has no carrier: it is disconnected. The allow list is that of InterfaceNotUp.',
      remedy: 'Look at the other end; on EC2 detach and attach the network interface.',
      origin: 'EKS',
      ...byFault,
    },
  },
  {
    reason: 'MissingLoopbackInterface',
    condition,
    severity: 'Condition',
    check: 'links',
    message:
      'The loopback interface is missing from this instance. Without it, many services ' +
      'which depend on local connectivity will fail',
    key: 'lo',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning: 'No loopback interface exists.',
      remedy: 'Replace the node.',
      origin: 'EKS',
      ...byLooking,
    },
  },
  {
    reason: 'UnexpectedRejectRule',
    condition,
    severity: 'Event',
    check: 'packet-filter',
    allow: ['*/KUBE-*', '*/cali-*', 'calico/*', 'kube-proxy/*', '*/CILIUM_*', '*/DOCKER*'],
    message: 'Found an unexpected iptables reject rule: "{rule}"',
    key: '{rule}',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning:
        'The packet filter drops or rejects traffic by a rule, or by a chain’s policy, that no known component created. Both iptables backends, IPv4 and IPv6, and native ' +
        'nftables tables are read. Entries of the allow list are `table/chain`; `*` stands ' +
        'for any text.',
      remedy: 'Find who wrote the rule, delete it, or put its `table/chain` on the allow list.',
      origin: 'EKS',
      ...byFault,
    },
  },
  {
    reason: 'PortConflict',
    condition,
    severity: 'Event',
    check: 'packet-filter',
    limit: 10_250,
    message: 'Potential iptables rule conflict on port {port}',
    key: '{port}',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning:
        'A rule redirects the kubelet’s port (the limit) elsewhere: usually a pod’s hostPort.',
      remedy: 'Give the pod another hostPort.',
      origin: 'EKS',
      ...byFault,
    },
  },
  {
    reason: 'NetworkSysctl',
    condition,
    severity: 'Event',
    check: 'sysctls',
    message: 'A network related sysctl parameter may be misconfigured: {name} is {value}',
    key: '{name}',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning: 'net.ipv4.ip_forward is not 1: the node does not forward traffic of pods.',
      remedy: '`sysctl -w net.ipv4.ip_forward=1`, and find what resets it.',
      origin: 'EKS',
      ...byFault,
    },
  },
  {
    reason: 'IPAMDNotReady',
    condition,
    severity: 'Condition',
    lines: [
      {
        source: 'ipamd',
        pattern: 'Unable to reach API Server|Failed to check API server connectivity',
      },
    ],
    // One line at boot, before the network is up, must not mark the node unhealthy.
    threshold: { count: 3, withinSeconds: 300 },
    message:
      'IPAM-D has failed to connect to API Server which could be an issue with IPTable ' +
      'rules or any other network configuration.',
    key: 'api-server',
    clearAfterSeconds: 300,
    text: {
      meaning: 'The VPC CNI’s daemon cannot reach the API server, three times within five minutes.',
      remedy: 'Look for new packet filter rules, and at security groups and routes.',
      origin: 'EKS',
      proof: 'written',
      found: [1, 2, 3].map((n) => `{"level":"error","msg":"Unable to reach API Server, try ${n}"}`),
      ignored: ['{"level":"error","msg":"Unable to reach API Server"}'],
    },
  },
  {
    reason: 'IPAMDNotRunning',
    condition,
    severity: 'Condition',
    check: 'processes',
    threshold: { count: 2, withinSeconds: 900 },
    message: 'The AWS VPC CNI was detected on this node but IPAMD was not found running',
    key: 'ipamd',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning: 'The VPC CNI is configured, but two checks in a row found no process aws-k8s-agent.',
      remedy: 'Look at the pod aws-node of this node.',
      origin: 'EKS',
      ...byLooking,
    },
  },
  {
    reason: 'IPAMDRepeatedlyRestart',
    condition,
    severity: 'Event',
    lines: [{ source: 'ipamd', pattern: 'Starting L-IPAMD' }],
    threshold: { count: 6, withinSeconds: 3600 },
    message: 'IPAMD is restarting often which leads to other CNI components failing.',
    key: 'restart',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning: 'The VPC CNI’s daemon started six times within an hour.',
      remedy: 'Read `kubectl logs -n kube-system ds/aws-node -p`.',
      origin: 'EKS',
      proof: 'written',
      found: Array.from({ length: 6 }, () => '{"msg":"Starting L-IPAMD   ..."}'),
      ignored: ['{"msg":"Starting L-IPAMD   ..."}'],
    },
  },
  {
    reason: 'IPAMDNoIPs',
    condition,
    severity: 'Event',
    lines: [{ source: 'ipamd', pattern: 'InsufficientFreeAddressesInSubnet' }],
    message: 'There are no available IP addresses for IPAMD to assign to pods',
    key: 'addresses',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning: 'The subnet has no free addresses.',
      remedy: 'Add a subnet, use prefix delegation, or delete unused network interfaces.',
      origin: 'EKS',
      proof: 'written',
      found: [
        '{"msg":"failed to allocate: InsufficientFreeAddressesInSubnet: The subnet is full"}',
      ],
      ignored: ['{"msg":"Successfully increased IP pool"}'],
    },
  },
  {
    reason: 'KubeProxyNotReady',
    condition,
    severity: 'Event',
    lines: [
      {
        source: 'kube-proxy',
        pattern:
          'Failed to watch (?<kind>.*?): failed to list .*: the server could not find the ' +
          'requested resource',
      },
    ],
    message:
      'Kube Proxy has failed to watch or list resources, which may impact pod to service ' +
      'communication.',
    key: '{kind}',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning: 'kube-proxy requests a kind that the API server does not serve.',
      remedy: 'Update kube-proxy to the cluster’s version.',
      origin: 'EKS',
      proof: 'written',
      found: [
        'Failed to watch *v1.EndpointSlice: failed to list *v1.EndpointSlice: the server ' +
          'could not find the requested resource',
      ],
      ignored: ['Caches are synced for endpoint slice config'],
    },
  },
  {
    reason: 'MissingIPRules',
    condition,
    severity: 'Event',
    check: 'routes',
    message: 'Pod IP {address} is missing a rule to its route',
    key: '{address}',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning:
        'The VPC CNI gave an address to a pod, and no routing rule of priority 512 leads to it.',
      remedy: 'Restart aws-node on the node; delete the pod.',
      origin: 'EKS',
      ...byLooking,
    },
  },
  {
    reason: 'MissingIPRoutes',
    condition,
    severity: 'Event',
    check: 'routes',
    message: 'Pod IP {address} is missing a route',
    key: '{address}',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning: 'The VPC CNI gave an address to a pod, and no route leads to it.',
      remedy: 'Restart aws-node on the node; delete the pod.',
      origin: 'EKS',
      ...byLooking,
    },
  },
  {
    reason: 'MissingDefaultRoutes',
    condition,
    severity: 'Event',
    check: 'routes',
    message: 'Missing default route rules for table {table}',
    key: '{table}',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning: 'A table of a secondary network interface has no default route.',
      remedy: 'Restart aws-node on the node.',
      origin: 'EKS',
      ...byLooking,
    },
  },
  allowance(
    'BandwidthInExceeded',
    'bw_in_allowance_exceeded',
    180,
    'Inbound traffic was throttled to the instance’s bandwidth.',
  ),
  allowance(
    'BandwidthOutExceeded',
    'bw_out_allowance_exceeded',
    100,
    'Outbound traffic was throttled to the instance’s bandwidth.',
  ),
  allowance(
    'PPSExceeded',
    'pps_allowance_exceeded',
    320,
    'Traffic was throttled to the instance’s packets per second.',
  ),
  allowance(
    'ConntrackExceeded',
    'conntrack_allowance_exceeded',
    100,
    'The instance’s connection tracking table was full.',
  ),
  allowance(
    'LinkLocalExceeded',
    'linklocal_allowance_exceeded',
    100,
    'Traffic to the DNS, time and metadata services was throttled.',
  ),
  {
    reason: 'EFAErrorMetric',
    condition,
    severity: 'Event',
    check: 'efa',
    limit: 100,
    message: '{counter} increased from {before} to {after} for device:port [{device}]',
    key: '{device} {counter}',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning: 'An error counter of an EFA device grew faster than the limit (per second).',
      remedy: 'Look at the security group of the EFA interface and at the libfabric version.',
      origin: 'EKS',
      ...byLooking,
    },
  },
  {
    reason: 'MACAddressPolicyMisconfigured',
    condition,
    severity: 'Event',
    check: 'mac-address-policy',
    message:
      'MACAddressPolicy in {file} is set to "{value}" instead of \'none\', which may cause ' +
      'network issues',
    key: '{file}',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning: 'On Ubuntu systemd may change the addresses of the VPC CNI’s interfaces.',
      remedy: 'Write MACAddressPolicy=none in /etc/systemd/network/99-default.link.',
      origin: 'EKS',
      ...byLooking,
    },
  },
];
